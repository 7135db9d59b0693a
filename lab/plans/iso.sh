#!/bin/sh
# Isochronous streams: from and to wiregauge's own device on vhci_hcd, and to QEMU's sound card.
#: modules vhci_hcd
#: controllers uhci xhci
#: sound
. /lib.sh

short="--settle 20ms --duration ${DURATION:-400ms}"

# iso NAME ARGUMENTS...: an isochronous stream with the virtual device.
iso() {
    name=$1
    shift
    # shellcheck disable=SC2086 # flags
    measure "$name" stream usb://1d6b:0104 --type isochronous $short "$@"
}

# setting: the alternate setting of the virtual device's interface.
setting() {
    usb_devices 1d6b 0104
    # shellcheck disable=SC2154 # set by usb_devices
    path=/sys/bus/usb/devices/${found##*/}
    cat "$path/${found##*/}:1.0/bAlternateSetting"
}

# gone: true if there is no virtual device.
gone() {
    usb_devices 1d6b 0104
    # shellcheck disable=SC2154 # set by usb_devices
    [ "$count" = 0 ]
}

background wiregauge serve usb-virtual --function iso
wait_usb 1d6b 0104
for packet in 192 1023; do
    iso "full-in-$packet" --packet "$packet" --queue 2,8 --pattern counter --check
    iso "full-out-$packet" --packet "$packet" --queue 8 --direction out
done
# With one transfer at a time the bus has nothing to do until the next one.
iso full-synchronous --packet 192 --queue 1 --pattern counter --check
setting >/runs/setting
# The same as a limit of a script.
refused 1 "limit missed: missed=0" stream usb://1d6b:0104 --type isochronous --packet 192 --queue 1 --duration 100ms \
    --require missed=0 --no-store
refused 2 "packets of 1024 B are too large" stream usb://1d6b:0104 --type isochronous --packet 1024
refused 2 "no such endpoints" exchange usb://1d6b:0104 --count 1
end_background
wait_for 20 "the end of the device" gone

background wiregauge serve usb-virtual --function iso --speed high --interval 250us
wait_usb 1d6b 0104
iso high-in --packet 1024 --queue 8 --transfer 8k,32k
end_background
wait_for 20 "the end of the device" gone

background wiregauge serve usb-virtual --function iso --drop every=50
wait_usb 1d6b 0104
iso dropped-in --packet 192 --queue 8 --pattern counter --check
iso dropped-out --packet 192 --queue 8 --direction out
end_background

# The sound card takes 48 samples of two channels, 16 bits each, in a frame.
wait_usb 46f4 0002
# shellcheck disable=SC2086 # flags
measure sound stream usb://46f4:0002 --type isochronous --packet 192 --queue 8 --direction out $short
refused 2 "no such isochronous IN endpoint" stream usb://46f4:0002 --type isochronous --packet 192
