#!/bin/sh
# Several pairs of one device at once, interrupt endpoints, a device unplugged in mid-stream, devices of the literature.
#: modules dummy_hcd usb_f_fs vhci_hcd cdc_acm
. /lib.sh

background wiregauge serve usb-gadget --function bulk=2,interrupt
wait_usb 1d6b 0104
one='usb://1d6b:0104#interface=0'
two='usb://1d6b:0104#interface=1'
interrupt='usb://1d6b:0104#type=interrupt'
short="--settle 10ms --duration ${DURATION:-40ms}"
# shellcheck disable=SC2086 # flags
measure bulk-pairs stream "$one" "$two" --direction both --transfer 4k --queue 4 $short
measure interrupt-exchange exchange "$interrupt" --no-calibration --in 48,512,1000 --count "${COUNT:-40}"
# shellcheck disable=SC2086 # flags
measure interrupt-stream stream "$interrupt" --direction in,out --transfer 512 --queue 4 $short

# What was measured is kept when the device goes.
measure unplugged stream "$one" --direction in --transfer 512 --queue 4 --settle 10ms --duration 20s 2>/tmp/unplugged &
streaming=$!
sleep 0.3
for gadget in /sys/kernel/config/usb_gadget/*; do echo "" >"$gadget/UDC"; done
code=0
wait "$streaming" || code=$?
cat /tmp/unplugged
[ "$code" = 3 ] || fail "a stream whose device was unplugged ended with $code, not 3"
end_background

background wiregauge serve usb-virtual --profile pic32mx --function bulk
wait_usb 1d6b 0104
measure pic32mx stream usb://1d6b:0104 --direction in --transfer 64 --queue 32 --settle 60ms --duration "${DURATION:-100ms}"
end_background

background wiregauge serve usb-virtual --profile at91sam3u-ehci --function acm
wait_tty /dev/ttyACM0
measure at91sam3u-ehci exchange serial:///dev/ttyACM0 --no-calibration --in 48,4000 --count "${COUNT:-400}"
end_background
