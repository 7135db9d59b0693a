#!/bin/sh
# QEMU's UHCI, EHCI and xHCI with a CDC device behind them, in real time: sizes x depth.
#: modules cdc_acm
#: controllers uhci ehci xhci
#: clock real
#: device usbredir.py cdc
. /lib.sh

wait_tty /dev/ttyACM0
measure exchange exchange serial:///dev/ttyACM0 --no-calibration \
    --in 48,100,1000,3500,8000 --depth 1,2,4 --count "${COUNT:-50}"
