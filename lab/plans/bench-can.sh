#!/bin/sh
# wiregauge exchange on a virtual CAN beside a minimal C program, in turns, with the same C responder (bench/can/README.md).
#: modules vcan can_raw can_isotp
#: peer bench/can/can_floor.c
#: timeout 600
. /lib.sh

N=${COUNT:-1000}
ip link add vcan0 type vcan
ip link set vcan0 mtu 72
ip link set vcan0 up

# One turn of each, in the order that $1 says.
turn() {
    for tool in $1; do
        times=
        case $tool in
            wiregauge*)
                case $kind in
                    fd) flags=--fd ;;
                    isotp) flags="--isotp --protocol echo" ;;
                    *) flags= ;;
                esac
                [ "$tool" = wiregauge ] || times=--kernel-wait
                # shellcheck disable=SC2086 # flags: one word each
                wiregauge exchange can://vcan0 --request-id 7e0 --response-id 7e8 $flags $times --out "$size" \
                    --no-calibration --count "$N" --quiet --store "/runs/$tool-$kind-$size-$round" >/dev/null
                ;;
            *)
                [ "$tool" = floor ] || times="times"
                # shellcheck disable=SC2086 # no word if empty
                can_floor ping vcan0 "$kind" 7e0 7e8 "$size" "$N" $times >>/runs/floor.jsonl
                ;;
        esac
    done
}

for case in ${CASES:-frame:1 frame:8 fd:8 fd:64 isotp:7 isotp:100}; do
    kind=${case%:*}
    size=${case#*:}
    background can_floor serve vcan0 "$kind" 7e0 7e8
    for round in ${ROUNDS:-1 2 3}; do
        case $round in
            *[13579]) turn "floor wiregauge floor-times wiregauge-times" ;;
            *) turn "wiregauge-times floor-times wiregauge floor" ;;
        esac
    done
    kill "$background"
    wait "$background" || true
    echo "lab: $case is done"
done
