#!/bin/sh
# wiregauge stream beside a minimal libusb program, in turns, against the same gadget (bench/usb/README.md).
#: modules dummy_hcd usb_f_fs
#: peer bench/usb/libusb_stream.c
#: timeout 900
. /lib.sh

SETTLE=10
MEASURE=${MEASURE:-40}
background wiregauge serve usb-gadget --function bulk --transfers queued=16
wait_usb 1d6b 0104

# One turn of each, in the order that $1 says.
turn() {
    for tool in $1; do
        case $tool in
            wiregauge | wiregauge-check)
                [ "$tool" = wiregauge ] && check=--no-check || check=
                # shellcheck disable=SC2086 # no word if empty
                wiregauge stream usb://1d6b:0104 $check --direction "$way" --transfer "$size" --queue "$queue" \
                    --settle "${SETTLE}ms" --duration "${MEASURE}ms" --quiet \
                    --store "/runs/$tool-$way-$size-$queue-$round" >/dev/null
                ;;
            *)
                # A queue of one is what the synchronous calls are for.
                [ "$queue" -eq 1 ] && calls=0 || calls=$queue
                options=${tool#libusb}
                # shellcheck disable=SC2046 # one word an option
                libusb_stream "$way" "$size" "$calls" "$SETTLE" "$MEASURE" $(echo "$options" | tr - ' ') >>/runs/libusb.jsonl
                ;;
        esac
    done
}

for round in ${ROUNDS:-1 2}; do
    for way in in out; do
        for size in ${SIZES:-64 512 4096 16384 65536}; do
            for queue in ${QUEUES:-1 4 32}; do
                # Nothing is checked on the way out: there --no-check changes nothing.
                [ "$way" = in ] && checked="wiregauge-check libusb-check" || checked=
                case $round in
                    *[13579]) turn "libusb wiregauge $checked libusb-devmem" ;;
                    *) turn "libusb-devmem $checked wiregauge libusb" ;;
                esac
            done
        done
    done
    echo "lab: round $round is done"
done
