#!/bin/sh
# The closed loop over snd-aloop, by an hrtimer and by the kernel's ticks: the round trip, and a preload too small.
#: modules snd_dummy snd_aloop
#: parameters snd_dummy.hrtimer=1 snd_dummy.id=Clock
#: parameters snd_aloop.enable=1,1 snd_aloop.id=Fine,Coarse snd_aloop.timer_source=hw:Clock.0.0
. /lib.sh

# What is played on one device of a loopback card is captured on the other.
fine=alsa:hw:Fine,1/hw:Fine,0
coarse=alsa:hw:Coarse,1/hw:Coarse,0
frame=4
common="--rate 48k --channels 2 --settle 100ms --duration ${DURATION:-1s} --no-calibration"

for frames in 64 256 1024; do
    notify=$((frames * frame))
    # A card called Fine moves on when a block of the card Clock ends, so that one has to run in blocks as long; an
    # hrtimer drives it. The card called Coarse moves with the kernel's ticks, every 4 ms.
    background wiregauge loop "alsa:hw:Clock#marker=off" --rate 48k --channels 2 --notify "$notify" --ring 32k \
        --preload 16k --duration 1h --no-calibration --no-store --quiet
    # shellcheck disable=SC2086 # flags
    measure "fine-$frames" loop "$fine" --notify "$notify" --find $common
    # shellcheck disable=SC2086 # flags
    measure "fine-$frames-short" loop "$fine" --notify "$notify" --preload "$notify" $common
    end_background
    # shellcheck disable=SC2086 # flags
    measure "coarse-$frames" loop "$coarse" --notify "$notify" --find $common
done
# shellcheck disable=SC2086 # flags
measure hybrid loop "$coarse" --notify 256 --preload 4k --wait hybrid:100us $common
# Nothing is played on the device that this one captures from.
# shellcheck disable=SC2086 # flags
measure no-cable loop alsa:hw:Coarse,1/hw:Coarse,1 --notify 256 --preload 4k $common

# refused CODE WORDS ARGUMENTS...: a loop that ends with this code, telling these words.
refused() {
    expected=$1
    words=$2
    shift 2
    code=0
    wiregauge loop "$@" --no-store --no-calibration >/tmp/refused 2>&1 || code=$?
    cat /tmp/refused
    [ "$code" = "$expected" ] || fail "loop $* ended with $code, not $expected"
    grep -q "$words" /tmp/refused || fail "loop $* did not say: $words"
}
refused 3 "hw:Fine (card 1; device 0: capture and playback" alsa:hw:Nothing --rate 48k --notify 256
refused 2 "8000 to 192000 samples/s" "$coarse" --rate 1M --notify 256
refused 2 "hint: use --notify 64 (16 frames)" "$coarse" --rate 48k --channels 2 --notify 32
wiregauge loop "$coarse" --rate 48k --notify 1k --preload 8k --duration 20s --no-calibration --no-store --quiet >/dev/null &
sleep 0.2
refused 3 "in use by process $!" alsa:hw:Coarse,1,0/hw:Coarse,0,0 --rate 48k --notify 1k
kill -INT $!
wait $! || true
