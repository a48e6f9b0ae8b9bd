#!/bin/sh
# A Slurm of four nodes, each a network namespace, for `unshare --net --mount --pid --fork --mount-proc`. It ends with this process.
#
# Nodes share /tmp and $1, the directory of the test, and have journals and turns of their own. n1 and n2, n3 and n4 have a link for traffic, data0.
# `$1/node n1 COMMAND` runs a command on a node, `$1/daemon n1` and `$1/daemon ctl` start the daemons.
set -eu
top=$1
slurm=$top/slurm

chmod 755 "$top"
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/top /run/netassay
mount --bind "$top" /run/top
mount -t tmpfs -o mode=1777 tmpfs /tmp
mkdir -p "$top"
mount --bind /run/top "$top"
mkdir -p "$slurm/ctl" "$slurm/munge"

ip link set lo up
ip link add mgmt type bridge
ip addr add 10.79.0.1/24 dev mgmt
ip link set mgmt up
for n in 1 2 3 4; do
  # shellcheck disable=SC2016 # the inner shell expands it
  unshare --net --mount -- sh -ec '
    mount -t sysfs sysfs /sys
    mount -t tmpfs tmpfs /var/lib
    mount -t tmpfs tmpfs /run/netassay
    sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0
    ip link set lo up
    mkdir "$1"
    echo $$ > "$1/holder"
    exec sleep infinity' sh "$slurm/n$n" &
  until [ -s "$slurm/n$n/holder" ]; do sleep 0.02; done
  ip link add m$n type veth peer name mgmt netns "$(cat "$slurm/n$n/holder")"
  ip link set m$n master mgmt up
done
cat > "$top/node" <<END
#!/bin/sh
holder=\$(cat "$slurm/\$1/holder")
shift
exec nsenter -t "\$holder" --net --mount -- "\$@"
END
cat > "$top/daemon" <<END
#!/bin/sh
export SLURM_CONF="$slurm/slurm.conf"
case \$1 in
ctl) exec slurmctld ;;
*) exec "$top/node" "\$1" slurmd -N "\$1" ;;
esac
END
chmod 755 "$top/node" "$top/daemon"
for n in 1 3; do
  m=$((n + 1))
  ip link add data0 netns "$(cat "$slurm/n$n/holder")" type veth peer name data0 netns "$(cat "$slurm/n$m/holder")"
done
for n in 1 2 3 4; do
  "$top/node" n$n sh -ec "ip addr add 10.79.0.1$n/24 dev mgmt; ip addr add 10.78.$(((n + 1) / 2)).$n/24 dev data0; ip link set mgmt up; ip link set data0 up"
done

until [ "$(for n in 1 2 3 4; do "$top/node" n$n ip link; done | grep -c 'state UP')" = 8 ]; do sleep 0.05; done

chmod 755 "$slurm/munge"
head -c 1024 /dev/urandom > "$slurm/munge/key"
chmod 600 "$slurm/munge/key"
munged -S "$slurm/munge/socket" --key-file "$slurm/munge/key" --pid-file "$slurm/munge/pid" --log-file "$slurm/munge/log" --seed-file "$slurm/munge/seed" --force
cat > "$slurm/slurm.conf" <<END
ClusterName=netassay
SlurmctldHost=$(hostname)(10.79.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge/socket
StateSaveLocation=$slurm/ctl
SlurmctldPidFile=$slurm/ctl/pid
SlurmctldLogFile=$slurm/ctl/log
SlurmdSpoolDir=$slurm/%n
SlurmdPidFile=$slurm/%n/pid
SlurmdLogFile=$slurm/%n/log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
NodeName=n[1-4] NodeHostname=$(hostname) NodeAddr=10.79.0.1[1-4] CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
echo CgroupPlugin=cgroup/v1 > "$slurm/cgroup.conf"
for daemon in ctl n1 n2 n3 n4; do
  "$top/daemon" "$daemon"
done
touch "$top/ready"

# Collects the processes whose parents have ended.
while :; do
  sleep 1 &
  wait $!
done
