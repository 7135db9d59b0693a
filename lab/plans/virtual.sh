#!/bin/sh
# wiregauge's own USB devices on vhci_hcd: one, two and four on one modelled full-speed bus.
#: modules vhci_hcd cdc_acm
. /lib.sh

background wiregauge serve usb-virtual --speed full --function bulk,acm
wait_usb 1d6b 0104
wait_tty /dev/ttyACM0
measure exchange exchange serial:///dev/ttyACM0 --no-calibration \
    --in 48,100,1000,2000,4000,8000 --depth 1,2,4 --count "${COUNT:-40}"
measure whole-packets exchange usb://1d6b:0104 --no-calibration --in 64,128,4096 --depth 1,4 --count 50
measure writes stream serial:///dev/ttyACM0 --direction out \
    --transfer 1,2,3,4,8,16,64,512,4096 --settle 10ms --duration 50ms
measure stream stream usb://1d6b:0104 --direction in,out \
    --transfer 64,512,4k --queue 1,8 --settle 50ms --duration "${DURATION:-150ms}"
end_background
