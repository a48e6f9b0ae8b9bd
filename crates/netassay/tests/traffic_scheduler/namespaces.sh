#!/bin/sh
# Two hosts, the network namespaces a and b, for `unshare --net --mount`; then the task of index 0, whose files are in fleet/: killed, started again,
# and once more when it is complete.
set -eu

mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=755 tmpfs /var/lib
for n in a b; do
  ip netns add $n
  ip netns exec $n sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0
done
ip link add data0 netns a type veth peer name data0 netns b
ip -n a addr add 10.78.0.1/24 dev data0
ip -n b addr add 10.78.0.2/24 dev data0
ip -n a link set data0 up
ip -n b link set data0 up

until [ "$(for n in a b; do ip -n $n link show data0; done | grep -c 'state UP')" = 2 ]; do sleep 0.05; done
state() { for n in a b; do ip -n $n -d link; ip netns exec $n ethtool -k data0; done; }
state > before
export JOB_COMPLETION_INDEX=0 FLEET_DIR=pairs
sh fleet/task.sh > first.log 2>&1 &
until grep -q '\[2/' first.log; do
  kill -0 $! || { cat first.log >&2; exit 1; }
  sleep 0.05
done
kill -9 $!
wait $! || :
sleep 2
state | diff before - >&2
sh fleet/task.sh
state | diff before - >&2
sh fleet/task.sh
