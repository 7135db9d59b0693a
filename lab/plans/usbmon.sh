#!/bin/sh
# Where the time of a transfer goes, with the kernel's own record of each URB (usbmon).
#: modules dummy_hcd usb_f_fs usbmon
. /lib.sh

background wiregauge serve usb-gadget --function bulk --transfers queued=16
wait_usb 1d6b 0104
measure stream stream usb://1d6b:0104 --usbmon --direction in,out \
    --transfer 64,512,64k --queue 1,32 --settle 10ms --duration "${DURATION:-40ms}"
wiregauge explain /runs/stream
wiregauge explain /runs/stream --json >/runs/explained.json
