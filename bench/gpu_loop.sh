#!/bin/bash
# The GPU stage of `wiregauge loop`, measured in one go: builds, looks for a GPU, runs every way of a block
# to it and the processor, and writes bench/runs/DATE-gpu. No arguments, no network once the crates are there;
# GPU_LOOP_SECONDS bounds the measuring (540). WIREGAUGE names a program that is built already.
#
# Exit codes: 0 all of it, 1 a part of it failed (the page says which), 3 there is no GPU.
set -euo pipefail
cd "$(dirname "$0")/.."

# The program: the one named, a new one, or else one that was built before.
find_wiregauge() {
    if [ -n "${WIREGAUGE:-}" ]; then
        realpath "$WIREGAUGE"
        return
    fi
    local built=${CARGO_TARGET_DIR:-target}/release/wiregauge
    if command -v cargo >/dev/null; then
        cargo build --release -p wiregauge-cli >&2 && realpath "$built" && return
        echo "gpu_loop.sh: it does not build here; looking for one that was built before" >&2
    fi
    if [ -x "$built" ]; then
        realpath "$built"
        return
    fi
    echo "gpu_loop.sh: neither cargo nor $built is here; WIREGAUGE=/path/to/wiregauge names a program" >&2
    return 1
}

wiregauge=$(find_wiregauge)

# A first block to the GPU and back; what the program says is what is missing.
if ! said=$("$wiregauge" loop virtual --gpu=pageable --rate 1M --notify 4k --duration 100ms \
    --no-calibration --no-store 2>&1 >/dev/null); then
    echo "gpu_loop.sh: no block went to a GPU and back:" >&2
    echo "$said" >&2
    exit 3
fi

if ! command -v python3 >/dev/null; then
    echo "gpu_loop.sh: python3 is missing, which makes the page" >&2
    exit 1
fi
exec env WIREGAUGE="$wiregauge" python3 bench/gpu_loop.py
