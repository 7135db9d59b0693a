#!/bin/sh
# The kernel's ACM gadget on dummy_hcd at high speed: sizes x depth, tty on both ends.
#: modules dummy_hcd usb_f_acm cdc_acm
. /lib.sh

gadget acm.0
wait_tty /dev/ttyACM0
wait_tty /dev/ttyGS0
background wiregauge serve serial:///dev/ttyGS0
measure exchange exchange serial:///dev/ttyACM0 --no-calibration \
    --in 100,1000,2000,8000 --out 16 --depth 1,4 --count "${COUNT:-200}"
