#!/bin/sh
# Where the RTT goes: the parts of each exchange by usbmon over cdc-acm and bulk, beside the packets of a modelled bus,
# and by the kernel's time stamps over a socket.
#: modules vhci_hcd cdc_acm dummy_hcd usb_f_acm usbmon
. /lib.sh

for speed in full high; do
    background wiregauge serve usb-virtual --speed $speed --function acm --device-time 1ms \
        --trace "/runs/bus-$speed.pcapng"
    wait_tty /dev/ttyACM0
    measure "modelled-$speed" exchange serial:///dev/ttyACM0 --usbmon --no-calibration \
        --interval 5ms --count "${COUNT:-100}" --csv "/runs/modelled-$speed.csv"
    end_background
    wait_for 20 "the end of the device" test ! -e /dev/ttyACM0
done

gadget acm.0
wait_tty /dev/ttyACM0
wait_tty /dev/ttyGS0
background wiregauge serve serial:///dev/ttyGS0
measure gadget exchange serial:///dev/ttyACM0 --usbmon --no-calibration \
    --in 48,1000,8000 --depth 1,4 --count "${COUNT:-100}"
end_background

background wiregauge serve tcp://127.0.0.1:7700
wait_for 20 "the responder" grep -q ":1E14 " /proc/net/tcp
measure sockets exchange tcp://127.0.0.1:7700 --timestamps kernel --no-calibration --count "${COUNT:-100}"
