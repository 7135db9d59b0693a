#!/bin/sh
# Serial adapters on vhci_hcd with the kernel's own drivers: FTDI's latency timer at 16 ms, found and set to 1 ms by
# doctor, measured again and undone; a CP2102 and a CH340 beside it; streams at two baud rates.
#: modules vhci_hcd ftdi_sio cp210x ch341 usbmon
. /lib.sh

tty=serial:///dev/ttyUSB0
timer=/sys/bus/usb-serial/devices/ttyUSB0/latency_timer

# plug ARGUMENTS...: an adapter, until `unplug`.
plug() {
    background wiregauge serve usb-virtual "$@"
    wait_tty /dev/ttyUSB0
}
unplug() {
    end_background
    wait_for 20 "the end of the adapter" test ! -e /dev/ttyUSB0
}

# exchange NAME ARGUMENTS...: a request of 16 B and a response of 48 B, 5.6 ms on the line.
exchange() {
    name=$1
    shift
    measure "$name" exchange $tty --baud 115200 --no-calibration --in 48 --count "${COUNT:-40}" "$@"
}

# streams NAME: at the rate of the line in each direction.
streams() {
    for rate in 115200 921600; do
        measure "$1-$rate" stream $tty --baud $rate --direction in,out --transfer 64 --settle 400ms \
            --duration "${DURATION:-400ms}" --require "in.rate>$((rate / 11))B/s" --require lost=0 --undecided pass
    done
}

# timer_is MS
timer_is() {
    read -r now <$timer
    [ "$now" = "$1" ] || fail "the latency timer is $now ms, not $1"
}

# says FILE WORDS: the file has these words.
says() { grep -q -e "$2" "$1" || fail "$1 does not say: $2"; }

plug --function ftdi --trace /runs/ftdi.pcapng
timer_is 16
exchange ftdi-before --no-low-latency --depth 1,4 --usbmon
wiregauge explain /runs/ftdi-before >/runs/explained
cat /runs/explained
says /runs/explained "latency timer of the FTDI adapter, 16 ms"
# While the port is open, the low_latency flag sets the timer to 1 ms.
exchange ftdi-flag --depth 1 --require 'p50<9ms' --undecided pass
timer_is 16
wiregauge doctor $tty --json >/runs/doctor-before.json
says /runs/doctor-before.json "delays short answers by up to 16 ms"
wiregauge doctor --run /runs/ftdi-before --json >/runs/doctor-run.json
says /runs/doctor-run.json "the FTDI latency timer at its default"
wiregauge doctor $tty --only ftdi-latency --fix
timer_is 1
exchange ftdi-fixed --no-low-latency --depth 1 --require 'p50<9ms' --undecided pass
exchange ftdi-fixed-4 --no-low-latency --depth 4 --require 'p50<22ms' --undecided pass
wiregauge doctor $tty --json >/runs/doctor-after.json
says /runs/doctor-after.json "latency timer 1 ms, the minimum"
wiregauge doctor --undo
timer_is 16
exchange ftdi-undone --no-low-latency --depth 1
wiregauge explain /runs/ftdi-undone >/runs/explained-undone
says /runs/explained-undone "latency timer of the FTDI adapter, 16 ms"
unplug
plug --function ftdi
streams ftdi
unplug

plug --function cp210x
exchange cp210x --depth 1,4 --usbmon
streams cp210x
unplug

# The driver reads with two transfers of 32 B, of which a host that reports once a frame carries 32 to 64 kB/s. Behind a
# hub the host reports once a microframe.
plug --function ch341
exchange ch341 --depth 1,4 --usbmon
unplug
plug --function ch341 --hub
streams ch341
unplug
