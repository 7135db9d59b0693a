#!/bin/sh
# HID through the kernel's own usbhid and hidraw: uhid, the HID gadget on dummy_hcd, virtual devices polled every 125 us to 8 ms, and bad input.
#: modules uhid usbhid hid_generic usb_f_hid dummy_hcd vhci_hcd
. /lib.sh

# One hidraw file at a time: each part waits until that of the part before has gone.
hidraws() { [ "$(find /dev -name 'hidraw*' | wc -l)" = "$1" ]; }
come() { wait_for 20 "a HID device" hidraws 1; }
gone() {
    end_background
    wait_for 20 "the end of the HID device" hidraws 0
}
device=hid://1d6b:0104
count="--no-calibration --count ${COUNT:-60}"

# Without a bus.
background wiregauge serve uhid --protocol echo
come
# shellcheck disable=SC2086 # flags
{
    measure uhid-echo exchange "$device" --protocol echo --out 1,16,64 --depth 1,4 $count
    measure uhid-feature exchange "$device#type=feature" --protocol echo --out 16,64 $count
    measure uhid-text exchange "$device/uhid" --protocol text --send 'T?' --reply-bytes 2 --expect '^T' $count
}
refused 2 'a request of 65 B does not fit in a report of this device (64 B)' exchange $device --protocol echo --out 65
refused 2 'the wiregauge protocol needs reports of 104 B' exchange $device
refused 2 '--depth 2 is not possible: a device holds one feature report' exchange "$device#type=feature" --protocol echo --depth 2
refused 2 'no output report 3; it has input 64 B, output 64 B, feature 64 B' exchange "$device#out=3" --protocol echo
refused 2 '/dev/null is not a hidraw device' exchange hid:///dev/null --protocol echo
refused 3 'no such device; attached devices: 1d6b:0104' exchange hid://1209:0001 --protocol echo
mkdir -p /etc
echo 'nobody:x:65534:65534::/:/bin/sh' >/etc/passwd
code=0
su -s /bin/sh nobody -c "wiregauge exchange $device --protocol echo" >/tmp/denied 2>&1 || code=$?
cat /tmp/denied
[ "$code" = 3 ] || fail "without permission the exit code is $code"
grep -qF 'KERNELS=="0006:1D6B:0104.*", MODE="0660"' /tmp/denied || fail "no udev rule is printed"
wiregauge devices | tee /runs/devices.txt
gone

background wiregauge serve uhid
come
# shellcheck disable=SC2086 # flags
measure uhid-wiregauge exchange $device --out 16,128 --in 48,128 $count
background wiregauge serve uhid --serial second
wait_for 20 "a second HID device" hidraws 2
refused 2 '2 devices match' exchange $device
end_background
wait_for 20 "the end of the second HID device" hidraws 1
kill -INT "$(pidof wiregauge)"
wait_for 20 "the end of the HID device" hidraws 0

# The kernel's own function of a USB device.
background wiregauge serve usb-gadget --function hid --protocol echo
come
# shellcheck disable=SC2086 # flags
measure gadget-echo exchange $device --protocol echo --out 1,64 --depth 1,4 $count
gone

# Virtual devices on a modelled bus: the interval shows.
virtual() {
    name=$1
    shift
    background wiregauge serve usb-virtual --function hid --protocol echo "$@"
    come
    # shellcheck disable=SC2086 # flags
    measure "$name" exchange $device --protocol echo --out 16,64 --depth 1,2 $count
    gone
}
virtual full-1ms --speed full --interval 1ms
virtual full-8ms --speed full --interval 8ms
virtual high-125us --speed high --interval 125us
virtual high-8ms --speed high --interval 8ms

# Unplugged while it is measured: what was measured is kept.
background wiregauge serve usb-virtual --function hid --protocol echo
come
measure unplugged exchange $device --protocol echo --duration 60s --no-calibration 2>/tmp/unplugged &
measuring=$!
sleep 1
end_background
code=0
wait "$measuring" || code=$?
cat /tmp/unplugged
[ "$code" = 3 ] || fail "exchanges with a device that was unplugged ended with $code, not 3"
