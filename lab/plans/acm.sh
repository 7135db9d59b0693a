#!/bin/sh
# The kernel's ACM gadget on dummy_hcd at high speed, a tty on both ends: sizes x depth, and write sizes.
#: modules dummy_hcd usb_f_acm cdc_acm
. /lib.sh

gadget acm.0
wait_tty /dev/ttyACM0
wait_tty /dev/ttyGS0
background wiregauge serve serial:///dev/ttyGS0
measure exchange exchange serial:///dev/ttyACM0 --no-calibration \
    --in 48,100,1000,2000,4000,8000 --depth 1,2,4 --count "${COUNT:-100}"
# Responses that fill their last packet: without a packet of length zero behind them they would stall.
measure whole-packets exchange serial:///dev/ttyACM0 --no-calibration --in 512,1024,4096,8192 --count 50
measure writes stream serial:///dev/ttyACM0 --direction out \
    --transfer 1,2,3,4,8,16,64,512,4096 --settle 10ms --duration "${DURATION:-50ms}"
