#!/bin/sh
# Linux's Gadget Zero streamed by wiregauge and by the kernel's own usbtest driver, in turns.
#: modules dummy_hcd usb_f_ss_lb usbtest
#: peer lab/peers/usbtest.c
. /lib.sh

gadget SourceSink.0
wait_usb 1d6b 0104
# shellcheck disable=SC2154 # set by wait_usb
device=${found##*/}
node=$(printf '/dev/bus/usb/%03d/%03d' "$(cat "/sys/bus/usb/devices/$device/busnum")" \
    "$(cat "/sys/bus/usb/devices/$device/devnum")")

# With the numbers of Gadget Zero, as which usbtest knows what to do with it.
echo "1d6b 0104 0 0525 a4a0" >/sys/bus/usb/drivers/usbtest/new_id
for round in 1 2 3; do
    for way in in out; do
        for size in 512 4096 65536; do
            for queue in 1 32; do
                usbtest "$node" 0 "$way" "$size" "$queue" 640 >>/runs/usbtest.jsonl
            done
        done
    done
    measure "stream-$round" stream 'usb://1d6b:0104#interface=0' --protocol raw --direction in,out \
        --transfer 512,4k,64k --queue 1,32 --settle 10ms --duration 60ms
done
