# shellcheck shell=sh
# What plans use in the guest. Sourced first: . /lib.sh

# Fails the plan.
fail() {
    echo "lab: $*"
    exit 1
}

# wait_for SECONDS WHAT TEST...: waits until the test holds.
wait_for() {
    tries=$(($1 * 20))
    what=$2
    shift 2
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || fail "$what did not come"
        sleep 0.05
    done
}

# wait_tty PATH: waits for a tty.
wait_tty() { wait_for 20 "$1" test -c "$1"; }

# background COMMAND...: starts a server, whose words go to /tmp/servers, and which must not end.
background() {
    "$@" >>/tmp/servers 2>&1 &
    background=$!
    sleep 0.1
    kill -0 "$background" 2>/dev/null || {
        cat /tmp/servers
        fail "$* ended at once"
    }
}

# measure NAME ARGUMENTS...: wiregauge, its run stored as /runs/NAME.
measure() {
    name=$1
    shift
    echo "lab: $name: wiregauge $*"
    wiregauge "$@" --store "/runs/$name" --quiet
}

# serve ARGUMENTS...: a responder in the background.
serve() { background wiregauge serve "$@" --quiet; }

# exchanges NAME ARGUMENTS...: $N exchanges, their run stored as /runs/NAME.
exchanges() {
    name=$1
    shift
    measure "$name" exchange "$@" --no-calibration --count "$N" --timeout 5s
}

# after IFACE PACKETS COMMAND...: runs the command once so many packets were sent from now on: then a measurement runs.
after() {
    sent=/sys/class/net/$1/statistics/tx_packets
    until_sent=$(($(cat "$sent") + $2))
    shift 2
    until [ "$(cat "$sent")" -ge "$until_sent" ]; do sleep 0.05; done
    "$@"
}

# refused CODE WORDS ARGUMENTS...: wiregauge ends with this code and says these words.
refused() {
    expected=$1
    words=$2
    shift 2
    code=0
    wiregauge "$@" >/tmp/refused 2>&1 || code=$?
    echo "lab: refused ($code): wiregauge $*"
    cat /tmp/refused
    [ "$code" = "$expected" ] || fail "the exit code is $code, not $expected"
    grep -qF -e "$words" /tmp/refused || fail "it does not say: $words"
}

# gadget FUNCTION...: a gadget 1d6b:0104 with these configfs functions, on the first device controller. A function that is
# there already (its attributes are set before) is kept as it is.
gadget() {
    g=/sys/kernel/config/usb_gadget/lab
    mkdir -p "$g/strings/0x409" "$g/configs/c.1/strings/0x409"
    echo 0x1d6b >"$g/idVendor"
    echo 0x0104 >"$g/idProduct"
    echo lab >"$g/strings/0x409/serialnumber"
    for function in "$@"; do
        mkdir -p "$g/functions/$function"
        ln -s "$g/functions/$function" "$g/configs/c.1/"
    done
    find /sys/class/udc -mindepth 1 -maxdepth 1 | head -n 1 | xargs -r basename >"$g/UDC"
}

# usb_devices VENDOR PRODUCT: sets $found to a USB link for each configured device of these numbers, and
# $count to how many there are. Without a process: while a plan waits, emulated processes are what takes time.
usb_devices() {
    found=
    count=0
    for device in /sys/bus/usb/devices/*; do
        read -r vendor 2>/dev/null <"$device/idVendor" || continue
        read -r product 2>/dev/null <"$device/idProduct" || continue
        [ "$vendor:$product" = "$1:$2" ] || continue
        configuration=
        read -r configuration 2>/dev/null <"$device/bConfigurationValue" || continue
        [ -n "$configuration" ] || continue
        found="$found usb://${device##*/}"
        count=$((count + 1))
    done
}

# at_least N VENDOR PRODUCT: true if so many devices of these numbers are configured.
at_least() {
    usb_devices "$2" "$3"
    [ "$count" -ge "$1" ]
}

# wait_usb VENDOR PRODUCT [N]: waits for so many (1) such devices.
wait_usb() { wait_for 20 "USB device $1:$2" at_least "${3:-1}" "$1" "$2"; }

# end_background: ends the last server and waits until it has cleaned up.
end_background() {
    kill -INT "$background"
    wait "$background" || true
}

# What runs a program of the host, in a plan with `#: host-root`.
HOST_ENV="PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1"
HOST="/bin/chroot /host /usr/bin/env $HOST_ENV"

# host_run PROGRAM...: a program of the host. It sees the host's files, read-only, and the guest's /dev, /proc, /sys and
# /tmp.
host_run() {
    [ -e /host/usr ] || fail "the host's file system is not there: the plan needs #: host-root"
    $HOST "$@"
}

# host_background PROGRAM...: the same without waiting; end_host ends it.
host_background() {
    $HOST "$@" &
    host=$!
}

# end_host: ends the last of them. The shell lets such programs ignore SIGINT.
end_host() {
    kill "$host" 2>/dev/null || true
    wait "$host" || true
}

# host_python SCRIPT...: a script of this repository (its path in it), with the packages of `.venv`.
host_python() {
    script=$1
    shift
    host_run "$LAB_PYTHON" "$LAB_ROOT/$script" "$@"
}
