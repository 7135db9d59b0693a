#!/bin/sh
# An instrument on USB (FunctionFS on dummy_hcd): Linux's usbtmc driver, wiregauge without a driver, pyvisa-py, faults, bad input.
#: modules dummy_hcd usb_f_fs usbtmc
#: host-root
#: clock real
#: timeout 240
# shellcheck disable=SC2086 # flags: one word each
. /lib.sh

N=${COUNT:-60}
FILE=usbtmc:///dev/usbtmc0
DEVICE=usbtmc://1d6b:0104
PEER=$LAB_ROOT/lab/peers/usbtmc_visa.py

instrument() {
    background wiregauge serve usb-gadget --function tmc --serial scope --quiet "$@"
    wait_for 20 "the instrument" test -c /dev/usbtmc0
}
gone() { ! [ -e /dev/usbtmc0 ]; }
leave() {
    end_background
    wait_for 20 "the end of the instrument" gone
}
# exchanges NAME ADDRESS COUNT ARGUMENTS...: queries; the arguments are not printed.
exchanges() {
    name=$1
    address=$2
    count=$3
    shift 3
    echo "lab: $name"
    wiregauge exchange "$address" --protocol scpi --no-calibration --count "$count" --store "/runs/$name" --quiet "$@"
}
# The bytes 0 to 255 as a regular expression, so often.
counted() {
    bytes=
    for high in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
        for low in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do bytes="$bytes\\x$high$low"; done
    done
    printf '(?s-u)^#%d%d(?:%s){%d}$' "$(printf %d $((256 * $1)) | wc -c)" $((256 * $1)) "$bytes" "$1"
}

instrument
wiregauge devices | tee /runs/devices.txt
cat /sys/bus/usb/devices/*/usb488_interface_capabilities >/runs/capabilities.txt
for way in file device; do
    case $way in file) address=$FILE ;; device) address=$DEVICE ;; esac
    exchanges "$way-idn" $address "$N" --send '*IDN?\n' --expect '^wiregauge,.*,0,'
    # Its end is that of the message, not a newline.
    measure "$way-no-newline" exchange $address --no-calibration --count "$N" --protocol text --send '*OPC?' --expect '^1$'
    # Transfers that fill their last packet, and a block of several packets with what must be in it.
    exchanges "$way-packets" $address "$N" --send 'CURV? 492\n' --send 'CURV? 493\n' --send 'CURV? 494\n' --send 'CURV? 495\n' --expect '(?s-u)^#349[2-5]'
    exchanges "$way-block" $address 20 --send 'CURV? 15360\n' --expect "$(counted 60)"
    # Longer than what is asked for at once.
    exchanges "$way-waveform" $address 3 --send 'CURV? 1048576\n' --expect '(?s-u)^#71048576' --timeout 20s
    [ -c /dev/usbtmc0 ] || wait_for 20 "the driver, put back" test -c /dev/usbtmc0
done
exchanges spin $DEVICE "$N" --send '*IDN?\n' --wait spin --expect '^wiregauge,'
exchanges each $DEVICE 10 --send '*IDN?\n' --connect each --expect '^wiregauge,'
wait_for 20 "the driver, put back" test -c /dev/usbtmc0

# The same instrument, by programs that are not ours.
host_run "$LAB_PYTHON" "$PEER" file /dev/usbtmc0 "$N" >/runs/peers.jsonl
host_run "$LAB_PYTHON" "$PEER" visa 1d6b 0104 "$N" >>/runs/peers.jsonl
cat /runs/peers.jsonl
leave

# A query without a reply: lost, and nothing after it.
instrument --drop every=9
for way in file device; do
    case $way in file) address=$FILE ;; device) address=$DEVICE ;; esac
    exchanges "$way-lost" $address 30 --send '*IDN?\n' --send '*OPC?\n' --expect '^(wiregauge,|1$)' --timeout 200ms
    wait_for 20 "the driver, put back" test -c /dev/usbtmc0
done
leave

# Messages of any size, back as they were.
instrument --protocol echo
for way in file device; do
    case $way in file) address=$FILE ;; device) address=$DEVICE ;; esac
    measure "$way-echo" exchange $address --protocol echo --no-calibration --out 1,2,3,4,500,512,5000,100000 --count 10 --timeout 5s
    wait_for 20 "the driver, put back" test -c /dev/usbtmc0
done

# Bad input.
mkdir -p /etc
echo 'nobody:x:65534:65534::/:/bin/sh' >/etc/passwd
denied() {
    code=0
    su -s /bin/sh nobody -c "wiregauge exchange $1 --protocol echo" >/tmp/denied 2>&1 || code=$?
    cat /tmp/denied
    [ "$code" = 3 ] || fail "without permission the exit code is $code"
    grep -qF "$2" /tmp/denied || fail "no udev rule is printed"
}
denied $FILE 'SUBSYSTEM=="usbmisc", ATTRS{idVendor}=="1d6b"'
denied $DEVICE 'SUBSYSTEM=="usb", ATTR{idVendor}=="1d6b"'
refused 3 '/dev/usbtmc7 does not exist; attached USBTMC instruments: 1d6b:0104' exchange usbtmc:///dev/usbtmc7 --protocol echo
refused 2 "/dev/null is not a file of the kernel's usbtmc driver" exchange usbtmc:///dev/null --protocol echo
refused 3 'no such device; attached devices: 1d6b:0104' exchange usbtmc://1209:0001 --protocol echo
refused 2 'no USBTMC interface 3' exchange "$DEVICE#interface=3" --protocol echo
refused 2 'cannot stream' stream $FILE

# Unplugged while it is measured: what was measured is kept.
# shellcheck disable=SC2010 # the kernel's own names
is_open_by_file() { ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q /dev/usbtmc0; }
is_open_by_device() { gone; }
for way in file device; do
    case $way in file) address=$FILE ;; device) address=$DEVICE ;; esac
    [ -c /dev/usbtmc0 ] || instrument --protocol echo
    measure "$way-unplugged" exchange $address --protocol echo --duration 60s --no-calibration 2>/tmp/unplugged &
    measuring=$!
    wait_for 60 "the measurement" "is_open_by_$way"
    sleep 1
    leave
    code=0
    wait "$measuring" || code=$?
    cat /tmp/unplugged
    [ "$code" = 3 ] || fail "exchanges with an instrument that was unplugged ended with $code, not 3"
done

background wiregauge serve usb-gadget --function bulk --quiet
wait_usb 1d6b 0104
refused 2 'the device has no USBTMC interface (class 0xfe, subclass 3); its interfaces: vendor' exchange $DEVICE --protocol echo
end_background
echo "lab: usbtmc is done"
