#!/bin/sh
# The RP2040's real firmware, simulated, behind QEMU's UHCI or xHCI: as serial port and as bulk endpoints, in real time.
#: modules cdc_acm
#: controllers xhci uhci
#: clock real
#: host-root
#: device rp2040.py responder
. /lib.sh

wait_usb 1209 0001
wait_tty /dev/ttyACM0
wiregauge devices
host_python lab/peers/ms_os.py 1209 0001 >/runs/ms_os.json || fail "its Microsoft OS descriptors are wrong"
# Packets of 64 bytes: answers that fill their last one among them.
measure serial exchange serial:///dev/ttyACM0 --no-calibration --timeout 20s \
    --in 48,64,100,1000,4096 --depth 1,2,4 --count "${COUNT:-30}"
measure bulk exchange usb://1209:0001 --no-calibration --timeout 20s \
    --in 48,64,100,1000,4096 --depth 1,2,4 --count "${COUNT:-30}"
measure stream stream usb://1209:0001 --direction in,out,both --transfer 4096 --queue 4 --timeout 20s \
    --settle 200ms --duration "${DURATION:-1s}"
