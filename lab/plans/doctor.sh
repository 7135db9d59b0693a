#!/bin/sh
# What doctor sees in the kernel's own files, changes there and puts back, with the ACM gadget on dummy_hcd.
#: modules dummy_hcd usb_f_acm cdc_acm
. /lib.sh

gadget acm.0
wait_tty /dev/ttyACM0
wait_tty /dev/ttyGS0
wait_usb 1d6b 0104
control=/sys/bus/usb/devices/${found##*/}/power/control
# The kernel lets hubs alone sleep unless told otherwise.
echo auto >"$control"
wiregauge doctor serial:///dev/ttyACM0
wiregauge doctor serial:///dev/ttyACM0 --json >/runs/before.json
wiregauge doctor serial:///dev/ttyACM0 --only autosuspend --fix
cat "$control" >/runs/fixed
wiregauge doctor serial:///dev/ttyACM0 --json >/runs/after.json
wiregauge doctor --undo
cat "$control" >/runs/undone

background wiregauge serve serial:///dev/ttyGS0
measure exchange exchange serial:///dev/ttyACM0 --no-calibration --in 48,100,512,1000,1024 --count 100
wiregauge doctor --run /runs/exchange --json >/runs/of-the-run.json
