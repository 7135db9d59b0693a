#!/bin/sh
# What doctor sees in the kernel's own files, changes there and puts back, with the ACM gadget on dummy_hcd.
#: modules dummy_hcd usb_f_acm cdc_acm
. /lib.sh

gadget acm.0
wait_tty /dev/ttyACM0
wait_tty /dev/ttyGS0
wait_usb 1d6b 0104
control=/sys/bus/usb/devices/${found##*/}/power/control
memory=/sys/module/usbcore/parameters/usbfs_memory_mb
# By itself the kernel lets only hubs sleep.
echo auto >"$control"
wiregauge doctor serial:///dev/ttyACM0
wiregauge doctor usb://1d6b:0104 --json >/runs/before.json
wiregauge doctor usb://1d6b:0104 --only autosuspend,usbfs-memory --fix
cat "$control" "$memory" >/runs/fixed
wiregauge doctor usb://1d6b:0104 --json >/runs/after.json
wiregauge doctor --undo
cat "$control" "$memory" >/runs/undone

background wiregauge serve serial:///dev/ttyGS0
measure exchange exchange serial:///dev/ttyACM0 --no-calibration --in 48,100,512,1000,1024 --count 100
wiregauge doctor --run /runs/exchange --json >/runs/of-the-run.json
