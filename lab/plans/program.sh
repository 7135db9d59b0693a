#!/bin/sh
# A program's own exchanges (crates/device/examples) over the kernel's USB: bulk endpoints and a CDC-ACM tty.
#: modules dummy_hcd usb_f_fs usb_f_acm cdc_acm
#: example batch
#: example control_loop
. /lib.sh

background wiregauge serve usb-gadget --function bulk,acm
wait_usb 1d6b 0104
wait_tty /dev/ttyACM0
for address in usb://1d6b:0104 serial:///dev/ttyACM0; do
    echo "lab: batch $address"
    batch "$address" >>/runs/batch.txt || fail "batch $address ended with $?"
    control_loop "$address" >>/runs/control.txt || fail "control_loop $address ended with $?"
done
