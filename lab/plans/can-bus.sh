#!/bin/sh
# CAN on vcan in virtual time: classic, FD and ISO-TP, a modelled bus, and what is refused.
#: modules vcan can_raw can_isotp
#: timeout 600
# shellcheck disable=SC2086 # flags: one word each
. /lib.sh

N=${COUNT:-100}
IDS="--request-id 7e0 --response-id 7e8"
LONG="--request-id 18da10f1 --response-id 18daf110"

ip link add vcan0 type vcan
ip link add vcan1 type vcan
ip link set vcan0 mtu 72
ip link set vcan1 mtu 16
ip link set vcan0 up

# A kernel without the modules.
rmmod can_isotp
refused 3 'this kernel has no ISO-TP sockets' exchange can://vcan0 $IDS --isotp
rmmod can_raw
refused 3 'this kernel has no CAN support' exchange can://vcan0 $IDS
refused 3 'this kernel has no CAN support' serve can://vcan0 $IDS
insmod /modules/can_raw.ko
insmod /modules/can_isotp.ko

# What is wrong with an interface.
for isotp in "" --isotp; do
    refused 3 'there is no interface can7' exchange can://can7 $IDS $isotp
    refused 3 'the interface vcan1 is down' exchange can://vcan1 $IDS $isotp
    refused 2 'lo is not a CAN interface' exchange can://lo $IDS $isotp
done
refused 3 'the interface vcan1 is down' serve can://vcan1 $IDS
ip link set vcan1 up
refused 2 'vcan1 has no CAN FD' exchange can://vcan1 $IDS --fd
refused 2 'vcan1 has no CAN FD' exchange can://vcan1 $IDS --fd --isotp
refused 3 'no answer to the first 3 exchanges' exchange can://vcan1 $IDS --no-calibration --timeout 20ms

serve can://vcan0 $IDS
exchanges classic can://vcan0 $IDS --out 1,8 --kernel-wait
end_background
serve can://vcan0 $LONG --fd
exchanges fd can://vcan0 $LONG --fd --out 1,12,64
end_background
serve can://vcan0 $IDS --isotp
exchanges isotp can://vcan0 $IDS --isotp --in 48 --out 16
measure long exchange can://vcan0 $IDS --isotp --in 4095 --count 20 --no-calibration --timeout 2s
end_background

# A modelled bus: the RTT is that of the bits.
serve can://vcan0 $IDS --bitrate 125k
exchanges modelled can://vcan0 $IDS --bitrate 125k --out 8
end_background
serve can://vcan0 $IDS --fd --bitrate 125k --data-bitrate 500k
exchanges modelled-fd can://vcan0 $IDS --fd --bitrate 125k --data-bitrate 500k --out 8,64
end_background
serve can://vcan0 $IDS --isotp --protocol echo --bitrate 125k
exchanges modelled-isotp can://vcan0 $IDS --isotp --protocol echo --bitrate 125k --out 7,20
end_background

# An interface that goes down while it is measured.
for isotp in "" "--isotp --protocol echo"; do
    serve can://vcan0 $IDS $isotp
    after vcan0 60 ip link set vcan0 down &
    refused 3 'the interface vcan0 is down' exchange can://vcan0 $IDS $isotp --no-calibration --rate 100 \
        --duration 20s
    wait "$background" && fail "the responder outlived its interface"
    ip link set vcan0 up
done
