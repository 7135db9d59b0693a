#!/bin/sh
# A bulk gadget through FunctionFS on dummy_hcd at high speed: exchanges, sizes x depth.
#: modules dummy_hcd usb_f_fs
. /lib.sh

background wiregauge serve usb-gadget --function bulk --transfers "${TRANSFERS:-queued=16}"
wait_usb 1d6b 0104
measure exchange exchange usb://1d6b:0104 --no-calibration \
    --in 64,512,4096 --depth 1,2,4,32 --count "${COUNT:-200}"
