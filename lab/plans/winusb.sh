#!/bin/sh
# Microsoft OS descriptors, asked for as Windows does: of the kernel's gadget (1.0) and of virtual devices (2.0).
#: modules dummy_hcd usb_f_fs usb_f_acm vhci_hcd cdc_acm usbtmc
#: host-root
#: clock real
#: timeout 240
. /lib.sh

# ask NAME DEVICE FUNCTIONS: what Windows would find, in /runs/NAME.json, and exchanges with the device afterwards.
ask() {
    background wiregauge serve "$2" --function "$3" --quiet
    wait_usb 1d6b 0104
    echo "lab: $1: $2 --function $3"
    host_python lab/peers/ms_os.py 1d6b 0104 >"/runs/$1.json" || fail "the descriptors of $1 are wrong"
    cat "/runs/$1.json"
    case $3 in
    *bulk*) measure "$1" exchange usb://1d6b:0104 --no-calibration --count 20 --timeout 5s ;;
    esac
    end_background
    wait_for 20 "the end of the device" is_gone
}
is_gone() {
    usb_devices 1d6b 0104
    [ "$count" = 0 ]
}

ask gadget-bulk usb-gadget bulk
ask gadget-composite usb-gadget acm,bulk,interrupt
ask gadget-serial usb-gadget acm
ask gadget-instrument usb-gadget tmc
ask virtual-bulk usb-virtual bulk
ask virtual-iso usb-virtual iso
ask virtual-composite usb-virtual acm,bulk,interrupt
ask virtual-serial usb-virtual acm
echo "lab: winusb is done"
