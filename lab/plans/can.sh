#!/bin/sh
# CAN: classic, FD and ISO-TP on vcan and on two controllers of one bus; can-utils, python-can and udsoncan as peers.
#: modules vcan
#: can
#: host-root
#: clock real
#: timeout 240
# shellcheck disable=SC2086 # flags: one word each
. /lib.sh

N=${COUNT:-200}
IDS="--request-id 7e0 --response-id 7e8"
NODE=$LAB_ROOT/lab/peers/can_node.py
LONG="--request-id 18da10f1 --response-id 18daf110"

ip link add vcan0 type vcan
ip link set vcan0 mtu 72
ip link set vcan0 up

# What is wrong with an interface, in words.
refused() {
    name=$1
    shift
    "$@" >"/runs/refused-$name.txt" 2>&1 && fail "$name was not refused"
    cat "/runs/refused-$name.txt"
}
refused unknown wiregauge exchange can://can7 $IDS
refused down wiregauge exchange can://can0 $IDS
refused not-can wiregauge exchange can://lo $IDS

for n in 0 1; do
    host_run ip link set can$n type can bitrate 500000
    host_run ip link set can$n up
done
refused no-fd wiregauge exchange can://can0 $IDS --fd
wiregauge devices --json >/runs/devices.json
wiregauge devices

# Our own responder, on vcan and between two controllers.
serve() {
    background wiregauge serve "$@" --quiet
}
exchanges() {
    name=$1
    shift
    measure "$name" exchange "$@" --no-calibration --count "$N" --timeout 500ms
}
serve can://vcan0 $IDS
exchanges classic can://vcan0 $IDS --out 1,8 --kernel-wait
# Remote frames with the identifier of responses, and error frames, are counted and are no answers.
host_background cangen vcan0 -g 50 -I 7e8 -L 0 -R -n 200
measure remote exchange can://vcan0 $IDS --no-calibration --rate 100 --duration 2s
end_host
(sleep 1; host_run cansend vcan0 20000020#0000000000000000) &
measure error-frame exchange can://vcan0 $IDS --no-calibration --rate 100 --duration 4s
wait $!
# A controller that leaves the bus ends the run.
(sleep 1; host_run cansend vcan0 20000040#0000000000000000) &
refused bus-off wiregauge exchange can://vcan0 $IDS --no-calibration --rate 100 --duration 20s --store /runs/bus-off
wait "$background" && fail "the responder outlived its controller"
serve can://vcan0 $IDS
# Frames that come while the program does not run: the socket takes some, and counts the others.
wiregauge exchange can://vcan0 $IDS --no-calibration --rate 100 --duration 4s --timeout 3s --store /runs/overrun &
stopped=$!
sleep 1
kill -STOP "$stopped"
host_run cangen vcan0 -g 0 -p 10 -I 7e8 -L 8 -n 5000
kill -CONT "$stopped"
wait "$stopped"
end_background
serve can://vcan0 $LONG --fd
exchanges fd can://vcan0 $LONG --fd --out 1,12,64
end_background
serve can://vcan0 $IDS --isotp
exchanges isotp can://vcan0 $IDS --isotp --in 48 --out 16
measure long exchange can://vcan0 $IDS --isotp --in 4095 --count 20 --no-calibration --timeout 2s
end_background
serve can://can1 $IDS
exchanges controllers can://can0 $IDS --out 1,8
end_background
serve can://can1 $IDS --isotp
exchanges controllers-isotp can://can0 $IDS --isotp --protocol wiregauge --in 100
end_background

# A modelled bus: the RTT is that of the bits.
serve can://vcan0 $IDS --bitrate 125k
exchanges modelled can://vcan0 $IDS --bitrate 125k --out 8
end_background

# python-can answers; candump has seen the frames.
$HOST candump -L vcan0,7e0:7ff -n 3 >/runs/candump.txt &
dump=$!
host_background "$LAB_PYTHON" "$NODE" echo vcan0 7e0 7e8 >/tmp/echo
wait_for 40 "python-can" grep -q ready /tmp/echo
exchanges python-can can://vcan0 $IDS --out 8
end_host
wait "$dump"
host_background "$LAB_PYTHON" "$NODE" echo vcan0 18da10f1 18daf110 fd >/tmp/echofd
wait_for 40 "python-can with FD" grep -q ready /tmp/echofd
exchanges python-can-fd can://vcan0 $LONG --fd --out 64
end_host

# An ECU that is not ours, and udsoncan as the client of the kernel's ISO-TP sockets.
host_background "$LAB_PYTHON" "$NODE" ecu vcan0 7e0 7e8 >/tmp/ecu
wait_for 40 "the ECU" grep -q ready /tmp/ecu
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

# Frames that nobody acknowledges.
ip link set can1 down
refused silent wiregauge exchange can://can0 $IDS --count 3 --timeout 100ms --store /runs/silent
# The bits of a frame, counted by can-utils.
$HOST canbusload -e vcan0@500000 >/runs/canbusload.txt &
load=$!
sleep 0.2
for frame in 000#0000000000000000 7e0#0102030405060708 18da10f1#ffffffffffffffff 555#; do
    host_run cansend vcan0 "$frame"
    sleep 1.3
done
kill "$load"
echo "lab: can is done"
