#!/bin/sh
# Linux's Gadget Zero streamed by wiregauge and by the kernel's own usbtest driver, in turns.
#: modules dummy_hcd usb_f_ss_lb usbtest
#: peer lab/peers/usbtest.c
. /lib.sh

# With Gadget Zero's own numbers: the driver takes no others.
gadget SourceSink.0
lab=/sys/kernel/config/usb_gadget/lab
controller=$(cat "$lab/UDC")
echo "" >"$lab/UDC"
echo 0x0525 >"$lab/idVendor"
echo 0xa4a0 >"$lab/idProduct"
echo "$controller" >"$lab/UDC"
wait_usb 0525 a4a0
# shellcheck disable=SC2154 # set by wait_usb
device=${found##*/}
node=$(printf '/dev/bus/usb/%03d/%03d' "$(cat "/sys/bus/usb/devices/$device/busnum")" \
    "$(cat "/sys/bus/usb/devices/$device/devnum")")

for round in 1 2; do
    for way in in out; do
        for size in 512 4096 65536; do
            for queue in 1 32; do
                usbtest "$node" 0 "$way" "$size" "$queue" 128 >>/runs/usbtest.jsonl
            done
        done
    done
    measure "stream-$round" stream 'usb://0525:a4a0#interface=0' --protocol raw --direction in,out \
        --transfer 512,4k,64k --queue 1,32 --settle 5ms --duration 30ms
done
