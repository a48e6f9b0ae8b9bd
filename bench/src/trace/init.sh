#!/bin/sh
# The guest of `bench trace`: documents of `netassay trace` to the second serial port, in turn
# without bpftrace and beside each of its scripts; without scripts, one a round.
export PATH=/bin HOME=/ LD_LIBRARY_PATH=/lib
busybox mkdir -p /proc /sys /tmp
busybox mount -t proc proc /proc
busybox --install -s /bin
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug
mount -t bpf bpf /sys/fs/bpf
ip link set lo up
stty -F /dev/ttyS1 raw

measure() {
    # shellcheck disable=SC2046 # Several words.
    netassay trace udp-tx message=1 $(cat /size) --format json >/dev/ttyS1
}

round=0
while [ "$round" -lt "$(cat /rounds)" ]; do
    [ -s /scripts ] || measure
    while read -r script <&3; do
        measure
        : >/tmp/said
        bpftrace "/$script" >/tmp/said 2>&1 &
        peer=$!
        waited=0
        until grep -q Attaching /tmp/said || [ "$waited" -gt 60 ]; do
            sleep 1
            waited=$((waited + 1))
        done
        # Attaching is said before it is done.
        sleep 5
        kill -0 "$peer" || cat /tmp/said
        measure
        kill -INT "$peer"
        wait "$peer"
    done 3</scripts
    round=$((round + 1))
done
poweroff -f
