#!/bin/sh
# Every packet of a modelled bus beside what the kernel saw of the same transfers (usbmon, by Wireshark's dumpcap).
#: modules vhci_hcd cdc_acm usbmon
#: host-root
#: clock real
. /lib.sh

for speed in full high; do
    background wiregauge serve usb-virtual --speed $speed --function bulk,acm --device-time 1ms \
        --trace "/runs/bus-$speed.pcapng"
    wait_usb 1d6b 0104
    wait_tty /dev/ttyACM0
    # shellcheck disable=SC2086 # several words
    $HOST dumpcap -q -i usbmon0 -w - >"/runs/usbmon-$speed.pcapng" 2>/tmp/dumpcap &
    dump=$!
    wait_for 60 "dumpcap" grep -q "^File" /tmp/dumpcap
    measure "exchange-$speed" exchange usb://1d6b:0104 --no-calibration --in 48,4000 --depth 1,4 --count 20
    kill "$dump"
    wait "$dump" || true
    end_background
    wait_for 20 "the end of the device" test ! -e /dev/ttyACM0
    for capture in bus usbmon; do
        wiregauge explain "/runs/$capture-$speed.pcapng" --json >"/runs/$capture-$speed.json"
    done
done
