#!/bin/sh
# CAN controllers, and what goes wrong on a bus: remote, error and lost frames, bus-off, an adapter on a serial line (slcan).
#: modules vcan slcan
#: can
#: host-root
#: clock real
#: timeout 600
# shellcheck disable=SC2086 # flags: one word each
. /lib.sh

N=${COUNT:-100}
IDS="--request-id 7e0 --response-id 7e8"
NODE=$LAB_ROOT/lab/peers/can_node.py

ip link add vcan0 type vcan
ip link set vcan0 up

# What is wrong with an interface. More of it: the plan can-bus.
refused 3 'the interface can0 is down' exchange can://can0 $IDS
refused 3 'the interface can0 is down' serve can://can0 $IDS
for n in 0 1; do
    host_run ip link set can$n type can bitrate 500000
    host_run ip link set can$n up
done
refused 2 'can0 has no CAN FD' exchange can://can0 $IDS --fd
refused 2 'can0 has no CAN FD' exchange can://can0 $IDS --fd --isotp
wiregauge devices --json >/runs/devices.json
wiregauge devices

# Our own responder, on vcan and between two controllers.
serve can://vcan0 $IDS
# Remote frames with the identifier of responses, and error frames, are counted and are no answers.
host_background cangen vcan0 -g 50 -I 7e8 -L 0 -R -n 200
measure remote exchange can://vcan0 $IDS --no-calibration --rate 100 --duration 2s
end_host
after vcan0 60 host_run cansend vcan0 20000020#0000000000000000 &
measure error-frame exchange can://vcan0 $IDS --no-calibration --rate 100 --duration 8s
wait $!
# A controller that leaves the bus ends the run.
after vcan0 60 host_run cansend vcan0 20000040#0000000000000000 &
refused 3 'the controller of vcan0 is bus-off' exchange can://vcan0 $IDS --no-calibration --rate 100 --duration 20s
wait "$background" && fail "the responder outlived its controller"
serve can://vcan0 $IDS
# Frames that come while the program does not run: the socket takes some, and counts the others.
wiregauge exchange can://vcan0 $IDS --no-calibration --rate 100 --duration 4s --timeout 3s --store /runs/overrun &
stopped=$!
after vcan0 60 kill -STOP "$stopped"
host_run cangen vcan0 -g 0 -p 10 -I 7e8 -L 8 -n 5000
kill -CONT "$stopped"
wait "$stopped"
end_background
# The same through ISO-TP, whose sockets carry no error frames.
serve can://vcan0 $IDS --isotp --protocol echo
after vcan0 60 host_run cansend vcan0 20000020#0000000000000000 &
measure isotp-error-frame exchange can://vcan0 $IDS --isotp --protocol echo --no-calibration --rate 100 --duration 8s
end_background
serve can://can1 $IDS
exchanges controllers can://can0 $IDS --out 1,8
end_background
serve can://can1 $IDS --isotp
exchanges controllers-isotp can://can0 $IDS --isotp --protocol wiregauge --in 100
end_background

# Nobody is there.
ip link set can1 down
refused 3 'no answer' exchange can://can0 $IDS --count 3 --timeout 100ms --store /runs/silent

# An adapter on a serial line (slcan), whose controller leaves the bus before a run, and within one.
mkdir -p /dev/pts
mount -t devpts devpts /host/dev/pts
host_background "$LAB_PYTHON" "$NODE" adapter /tmp/leave >/tmp/adapter
wait_for 120 "the adapter" grep -q ready /tmp/adapter
host_run ip link set can2 type can bitrate 500000
host_run ip link set can2 up
after can2 20 touch /tmp/leave &
refused 3 'the controller of can2 is bus-off' exchange can://can2 $IDS --isotp --protocol echo --out 7 --no-calibration \
    --rate 50 --duration 30s
refused 3 'the controller of can2 is bus-off' exchange can://can2 $IDS
wiregauge devices | tee /runs/devices-bus-off.txt
end_host
echo "lab: can is done"
