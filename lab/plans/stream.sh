#!/bin/sh
# A bulk gadget through FunctionFS on dummy_hcd at high speed: streams by size, queue and how the device queues.
#: modules dummy_hcd usb_f_fs
. /lib.sh

# The device's side waits for each transfer (sync) or keeps several with the kernel.
for transfers in sync queued=16; do
    background wiregauge serve usb-gadget --function bulk --transfers "$transfers"
    wait_usb 1d6b 0104
    measure "${transfers%=*}" stream usb://1d6b:0104 --direction in,out,both \
        --transfer "${SIZES:-64,512,4k,64k}" --queue "${QUEUES:-1,4,32}" --settle 10ms --duration "${DURATION:-40ms}"
    # Responses that fill their last packet.
    measure "${transfers%=*}-whole-packets" exchange usb://1d6b:0104 --no-calibration \
        --in 512,1024,4096,65536 --depth 1,4 --count 50
    # So many that the device's transfers are all taken by answers and their ends, for megabytes.
    measure "${transfers%=*}-deep" exchange usb://1d6b:0104 --no-calibration \
        --in 8192,16384 --depth 8,16,32 --count 300
    end_background
done
