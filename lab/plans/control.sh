#!/bin/sh
# Control transfers: vendor requests of the responder beside bulk and interrupt, GET_STATUS on any device, and refusals.
#: modules dummy_hcd usb_f_fs vhci_hcd cdc_acm
. /lib.sh

background wiregauge serve usb-gadget --function bulk,interrupt
wait_usb 1d6b 0104
measure endpoints exchange 'usb://1d6b:0104#type=bulk' \
    'usb://1d6b:0104#type=interrupt' 'usb://1d6b:0104#type=control' --no-calibration \
    --in 48,512,10000 --count "${COUNT:-40}"
measure depth exchange 'usb://1d6b:0104#type=control' --no-calibration --in 48 --depth 1,4,32 --count 64
measure large exchange 'usb://1d6b:0104#type=control' --no-calibration --out 10000 --in 100000 --count 10
measure status exchange usb://1d6b:0104 --protocol get-status --no-calibration --count "${COUNT:-40}"
measure spin exchange usb://1d6b:0104 --protocol get-status --wait spin --no-calibration --count "${COUNT:-40}"
code=0
wiregauge exchange usb://1d6b:0104 --protocol get-status --depth 2 >/tmp/refused 2>&1 || code=$?
cat /tmp/refused
[ "$code" = 2 ] || fail "GET_STATUS at depth 2 ended with $code, not 2"
grep -q "one standard request at a time" /tmp/refused || fail "no reason for refusing depth 2"
end_background

# A device that takes 3 ms for each answer, and one that loses some: a fetch waits for the one, not for ever for the other.
background wiregauge serve usb-gadget --function bulk --service-time 3ms --drop 10%
wait_usb 1d6b 0104
measure late exchange 'usb://1d6b:0104#type=control' --no-calibration --in 48 --timeout 200ms --give-up 20 --count 40
end_background

# A host that is killed gives its fetch up; the device answers it nevertheless, and serves the next host.
background wiregauge serve usb-gadget --function bulk --service-time 50ms
wait_usb 1d6b 0104
wiregauge exchange 'usb://1d6b:0104#type=control' --no-calibration --count 1000 --quiet &
host=$!
sleep 0.5
kill -KILL "$host"
sleep 0.2
measure after-kill exchange 'usb://1d6b:0104#type=control' --no-calibration --count 4
end_background

# A device without a responder behind endpoint 0, but with a kernel driver.
background wiregauge serve usb-virtual --function acm
wait_usb 1d6b 0104
wait_tty /dev/ttyACM0
measure driver exchange usb://1d6b:0104 --protocol get-status --no-calibration --count 40
[ -c /dev/ttyACM0 ] || fail "GET_STATUS took the device from its driver"
code=0
wiregauge exchange 'usb://1d6b:0104#type=control' --count 5 >/tmp/stalled 2>&1 || code=$?
cat /tmp/stalled
[ "$code" = 3 ] || fail "a device that stalls the vendor request ended with $code, not 3"
grep -q "stalls the vendor request" /tmp/stalled || fail "the stall is not explained"
