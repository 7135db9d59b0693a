#!/bin/sh
# Devices that know nothing of wiregauge: the functions of the kernel's Gadget Zero, and one endpoint of FunctionFS.
#: modules dummy_hcd usb_f_ss_lb usb_f_fs
. /lib.sh

lab=/sys/kernel/config/usb_gadget/lab
mkdir -p "$lab/functions/SourceSink.0"
# As the kernel's usbtest counts: position in the packet modulo 63.
echo 1 >"$lab/functions/SourceSink.0/pattern"
gadget SourceSink.0 Loopback.0
wait_usb 1d6b 0104
short="--protocol raw --settle 10ms --duration ${DURATION:-40ms}"
source='usb://1d6b:0104#interface=0'
# shellcheck disable=SC2086 # flags
{
    measure mod63 stream "$source" $short --direction in,out,both --transfer 512,4k,64k --queue 1,4 --pattern mod63 --check
    # What the source does not send is seen, and so is what the sink does not take.
    measure wrong-in stream "$source" $short --direction in --transfer 4k --pattern counter --check
    # The kernel reports each transfer that is wrong.
    echo 1 >/proc/sys/kernel/printk
    measure wrong-out stream "$source" $short --direction out --transfer 4k --pattern counter
}
echo 7 >/proc/sys/kernel/printk
measure loopback exchange 'usb://1d6b:0104#interface=1' --protocol echo --no-calibration \
    --out 64,512,1000 --depth 1,4 --count "${COUNT:-40}"

# one_way ADDRESS: a device with one bulk endpoint, 201 (octal, IN 1) or 001 (OUT 1), through FunctionFS.
one_way() {
    {
        printf '\003\000\000\000\064\000\000\000\003\000\000\000\002\000\000\000\002\000\000\000'
        # At full speed packets of 64 B, at high speed of 512 B.
        for packet in '\0100\0000' '\0000\0002'; do
            printf '%b' "\\0011\\0004\\0000\\0000\\0001\\0377\\0000\\0000\\0000" "\\0007\\0005\\0$1\\0002$packet\\0000"
        done
    } >/tmp/descriptors
    mkdir -p "$lab/functions/ffs.one" /tmp/one
    mount -t functionfs one /tmp/one
    # Open as long as the function is to be there; both are taken in one write each.
    exec 9<>/tmp/one/ep0
    cat /tmp/descriptors >&9
    printf '\002\000\000\000\020\000\000\000\000\000\000\000\000\000\000\000' >&9
    gadget ffs.one
    wait_usb 1d6b 0104
}

# unplug FUNCTION...: takes the gadget apart.
unplug() {
    echo "" >"$lab/UDC"
    for function in "$@"; do rm "$lab/configs/c.1/$function"; done
}

# refused NAME ARGUMENTS...: a usage error, its words in /runs/NAME.txt.
refused() {
    name=$1
    shift
    code=0
    wiregauge "$@" --store "/runs/$name" >"/runs/$name.txt" 2>&1 || code=$?
    cat "/runs/$name.txt"
    [ "$code" = 2 ] || fail "$name ended with $code, not 2"
}

unplug SourceSink.0 Loopback.0
one_way 201
cat /dev/zero >/tmp/one/ep1 &
device=$!
# shellcheck disable=SC2086 # flags
measure only-in stream usb://1d6b:0104 $short --direction in --transfer 4k --queue 1,4 --pattern zeros --check
refused no-exchange exchange usb://1d6b:0104 --protocol echo --count 1
refused no-responder stream usb://1d6b:0104 --direction in
refused no-out stream usb://1d6b:0104 --protocol raw --direction both
kill "$device"
exec 9>&-
unplug ffs.one
umount /tmp/one

one_way 001
cat /tmp/one/ep1 >/dev/null &
# shellcheck disable=SC2086 # flags
measure only-out stream usb://1d6b:0104 $short --direction out --transfer 4k --queue 1,4
refused no-in stream usb://1d6b:0104 --protocol raw --direction in
