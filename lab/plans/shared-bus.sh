#!/bin/sh
# Two and four virtual full-speed devices on one modelled bus: each alone, then all at once.
#: modules vhci_hcd
. /lib.sh

for devices in 2 4; do
    background wiregauge serve usb-virtual --speed full --function bulk --devices "$devices"
    wait_usb 1d6b 0104 "$devices"
    # shellcheck disable=SC2154,SC2086 # one word a device
    measure "$devices" stream $found --direction in \
        --transfer 4k --queue 8 --settle 60ms --duration "${DURATION:-100ms}"
    end_background
done
