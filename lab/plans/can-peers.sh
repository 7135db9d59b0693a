#!/bin/sh
# CAN with programs that are not ours: can-utils, python-can and udsoncan, on vcan.
#: modules vcan can_raw can_isotp
#: host-root
#: clock real
#: timeout 600
# shellcheck disable=SC2086 # flags: one word each
. /lib.sh

N=${COUNT:-100}
IDS="--request-id 7e0 --response-id 7e8"
NODE=$LAB_ROOT/lab/peers/can_node.py
LONG="--request-id 18da10f1 --response-id 18daf110"

ip link add vcan0 type vcan
ip link set vcan0 mtu 72
ip link set vcan0 up

# python-can answers; candump has seen the frames.
$HOST candump -L vcan0,7e0:7ff -n 3 >/runs/candump.txt &
dump=$!
host_background "$LAB_PYTHON" "$NODE" echo vcan0 7e0 7e8 >/tmp/echo
wait_for 120 "python-can" grep -q ready /tmp/echo
exchanges python-can can://vcan0 $IDS --out 8
end_host
wait "$dump"
host_background "$LAB_PYTHON" "$NODE" echo vcan0 18da10f1 18daf110 fd >/tmp/echofd
wait_for 120 "python-can with FD" grep -q ready /tmp/echofd
exchanges python-can-fd can://vcan0 $LONG --fd --out 64
end_host

# An ECU that is not ours, and udsoncan as the client of the kernel's ISO-TP sockets.
host_background "$LAB_PYTHON" "$NODE" ecu vcan0 7e0 7e8 >/tmp/ecu
wait_for 120 "the ECU" grep -q ready /tmp/ecu
exchanges ecu can://vcan0 $IDS --isotp --protocol text --send '\x22\xf1\x87' --send '\x10\x01' --expect '^\x62'
host_run "$LAB_PYTHON" "$NODE" client vcan0 7e0 7e8 5 >/runs/udsoncan.jsonl
end_host
# udsoncan against our responder, which echoes: no UDS, and it says so.
serve can://vcan0 $IDS --isotp --protocol echo
host_run "$LAB_PYTHON" "$NODE" client vcan0 7e0 7e8 3 >>/runs/udsoncan.jsonl
# isotpsend and isotprecv: 200 bytes to our echo come back as they were.
$HOST isotprecv -s 7e0 -d 7e8 vcan0 >/runs/isotprecv.txt &
receiver=$!
sleep 0.5
seq 1 200 | while read -r byte; do printf '%02x ' "$byte"; done >/runs/isotpsend.txt
host_run isotpsend -s 7e0 -d 7e8 vcan0 </runs/isotpsend.txt
wait_for 10 "the message of isotprecv" test -s /runs/isotprecv.txt
kill "$receiver" 2>/dev/null || true
end_background

# A flood that is not ours, on another identifier, does not disturb.
serve can://vcan0 $IDS
host_background cangen vcan0 -g 1 -I 123 -n 5000
exchanges flood can://vcan0 $IDS --out 8
end_host
end_background
