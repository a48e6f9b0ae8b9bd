//! Containers as machines: made by hand of namespaces, with and without the right to change their
//! network, and Debian's LXC.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::common::{Bench, Watched, children_of, skip, stderr, stdout};
use super::machines::{Machine, first_difference};
use super::world::{STUDY, World};

/// A container in a machine's network: processes and mounts of its own.
struct Container {
    holder: Child,
    first: u32,
}

impl Container {
    fn make(machine: &Machine) -> Self {
        let words = [
            "unshare",
            "--pid",
            "--mount",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "--",
            "sleep",
            "infinity",
        ];
        let holder = machine.command(&words).stdin(Stdio::null()).spawn().unwrap();
        let mut first = Vec::new();
        while first.is_empty() {
            std::thread::sleep(Duration::from_millis(5));
            first = children_of(holder.id());
        }
        Self { holder, first: first[0] }
    }

    /// The entry of a file of hosts: how commands are run in it, with these capabilities only.
    fn entry(&self, capabilities: &str) -> String {
        let first = self.first.to_string();
        let enter = ["nsenter", "-t", &first, "--net", "--mount", "--pid", "--"];
        let bounds = format!("--bounding-set={capabilities}");
        let less = ["setpriv", "--no-new-privs", "--inh-caps=-all", &bounds, "--"];
        let words: Vec<String> = enter.iter().chain(&less).map(|word| format!("{word:?}")).collect();
        format!("launch = [{}]\ninterface = \"data0\"\n", words.join(", "))
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// On a busy machine nothing may arrive within one of the short windows.
#[track_caller]
fn expect_measured(done: &Output) {
    assert!(matches!(done.status.code(), Some(0 | 5)), "{}\n{}", stdout(done), stderr(done));
}

/// What Docker lets a container's processes have, and the right to change its network.
const OF_DOCKER: &str =
    "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+net_bind_service,+net_raw,+sys_chroot";

#[test]
#[ignore = "the gate proves this with a machine that any command reaches"]
fn a_container_is_measured_and_says_what_it_does_not_allow() {
    let Some(world) = World::make("a_container_is_measured_and_says_what_it_does_not_allow") else { return };
    let before = world.states();
    let containers = [&world.machines.a, &world.machines.b].map(Container::make);
    let run = |capabilities: &str, more: &[&str]| {
        let [a, b] = containers.each_ref().map(|container| container.entry(capabilities));
        let hosts =
            world.bench.write("hosts.toml", &format!("lease = \"3s\"\n[transmitter]\n{a}[receiver]\n{b}"));
        let hosts = hosts.display().to_string();
        let mut all = vec![
            "run",
            "tso.toml",
            "--hosts",
            &hosts,
            "--no-report",
            "--progress",
            "plain",
            "--set",
            "runs=1",
        ];
        all.extend(more);
        world.bench.netassay(&all)
    };
    for capabilities in ["+all".to_owned(), format!("{OF_DOCKER},+net_admin")] {
        let done = run(&capabilities, &["--addresses", "own", "--set", "mtu=1400"]).output().unwrap();
        expect_measured(&done);
        world.expect_as_before(&before, Duration::ZERO);
        // The controller is killed; process numbers are others inside.
        let mut controller =
            Watched::start(run(&capabilities, &["--set", "duration=20s", "--set", "mtu=1000"]));
        controller.wait_for("testbed built");
        let deadline = Instant::now() + Duration::from_secs(20);
        while !world.machines.b.sh("ip link show data0").contains("mtu 1000 ") {
            assert!(Instant::now() < deadline, "nothing was changed");
            std::thread::sleep(Duration::from_millis(10));
        }
        let killed = Command::new("kill").args(["-9", &controller.id().to_string()]).status().unwrap();
        assert!(killed.success());
        world.expect_as_before(&before, Duration::from_secs(15));
    }
    let done = run(OF_DOCKER, &["--set", "tso="]).output().unwrap();
    expect_measured(&done);
    let said = stderr(&done);
    assert_eq!(
        said.matches("without CAP_NET_ADMIN, so that nothing can be changed there").count(),
        2,
        "{said}"
    );
    for change in [["--set", "mtu=1400"], ["--addresses", "own"]] {
        let refused = run(OF_DOCKER, &change).output().unwrap();
        assert_ne!(refused.status.code(), Some(0), "{}", stdout(&refused));
        assert!(stderr(&refused).contains("CAP_NET_ADMIN"), "{}", stderr(&refused));
    }
    world.expect_as_before(&before, Duration::from_secs(2));
}

/// Two network namespaces with one file system, apart from that of the machine of the tests.
const NAMESPACES: &str = r#"
mount --make-rprivate /; mount -t tmpfs -o mode=755 tmpfs /run; mount -t tmpfs -o mode=755 tmpfs /var/lib
for n in a b; do ip netns add $n; ip netns exec $n sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0; done
ip link add data0 netns a type veth peer name data0 netns b
ip -n a addr add 10.78.0.1/24 dev data0; ip -n b addr add 10.78.0.2/24 dev data0; ip -n a link set data0 up; ip -n b link set data0 up
state() { sysctl vm.page-cluster; for n in a b; do ip -n $n -d link; ip -n $n addr | grep -v valid_lft; ip netns exec $n sysctl net.ipv4.ip_default_ttl; ip netns exec $n ethtool -k data0; done; }
journals() { ls /var/lib/netassay/undo | grep -c journal; }
until [ $(for n in a b; do ip -n $n -6 addr show dev data0 scope link; done | grep -c fe80) = 2 ]; do sleep 0.05; done
state > before
"$@" --set runs=1 || exit $?
state | diff before - >&2; [ "$(journals)" = 0 ]
"$@" --set runs=1 --set duration=5s & first=$!
while [ "$(journals)" != 2 ]; do kill -0 $first; sleep 0.05; done
echo other; ! "$@" --set runs=1 --beside || exit 1; echo first; wait $first
state | diff before - >&2; [ "$(journals)" = 0 ]
"#;

#[test]
#[ignore = "tests of `host` prove which ends may change a machine together"]
fn network_namespaces_of_one_file_system_are_two_ends() {
    let test = "network_namespaces_of_one_file_system_are_two_ends";
    if !super::common::is_root() {
        return skip(test, "it needs root");
    }
    let bench = Bench::to_be_sent();
    let end = |name| format!("launch = [\"ip\", \"netns\", \"exec\", \"{name}\"]\ninterface = \"data0\"\n");
    let hosts = format!("addresses = \"own\"\n[transmitter]\n{}[receiver]\n{}", end("a"), end("b"));
    bench.write("hosts.toml", &hosts);
    // One of each end, and one of the whole machine.
    let machine = "[machine]\nsysctl = { \"net.ipv4.ip_default_ttl\" = 77, \"vm.page-cluster\" = 4 }\n";
    let study = |name: &str, more: &str| bench.write(name, &format!("{STUDY}{machine}{more}"));
    study("tso.toml", "");
    study("two.toml", "[machine.receiver]\nsysctl.vm.page-cluster = \"5\"\n");
    let run = |study: &str| {
        let program = bench.path("netassay").display().to_string();
        let words =
            ["run", study, "--hosts", "hosts.toml", "--change-machine", "--set", "mtu=1400", "--no-report"];
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "--", "sh", "-ec", NAMESPACES, "sh", &program]);
        command.args(words).args(["--keep-disturbed", "--progress", "plain"]);
        command.current_dir(bench.path(".")).stdin(Stdio::null()).env("NO_COLOR", "1").output().unwrap()
    };
    let done = run("tso.toml");
    let said = stdout(&done) + &stderr(&done);
    assert!(done.status.success(), "{said}");
    assert!(said.contains("another session changes this machine"), "{said}");
    let done = run("two.toml");
    assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
    assert!(stderr(&done).contains("differently at two ends of one machine"), "{}", stderr(&done));
}

/// Makes a container's files, on the machine that it is on. `$1`: its name.
const MAKE: &str = r#"
umask 022; cd /tmp; mkdir -p lxc/$1/rootfs; cd lxc/$1; mkdir -p rootfs/bin rootfs/dev rootfs/proc rootfs/sys rootfs/tmp rootfs/root rootfs/var/lib; cp /bin/busybox rootfs/bin/
for applet in $(busybox --list); do [ $applet = busybox ] || ln -s busybox rootfs/bin/$applet; done
printf '#!/bin/sh\nwhile :; do sleep 1; done\n' > rootfs/bin/first; chmod 755 rootfs/bin/first
cat > config <<END
lxc.uts.name = $1
lxc.rootfs.path = dir:/tmp/lxc/$1/rootfs
lxc.mount.auto = proc:rw sys:rw
lxc.apparmor.profile = unconfined
lxc.init.cmd = /bin/first
lxc.pty.max = 0
lxc.tty.max = 0
lxc.net.0.type = veth
lxc.net.0.link = bridge0
lxc.net.0.flags = up
lxc.net.0.ipv4.address = $2
END
"#;

/// A container of Debian's LXC on machine `a`.
struct Lxc<'a> {
    machine: &'a Machine,
    name: &'static str,
    monitor: Child,
}

impl<'a> Lxc<'a> {
    fn start(machine: &'a Machine, name: &'static str, address: &str) -> Self {
        let made = machine.command(&["sh", "-ec", MAKE, "sh", name, address]).status().unwrap();
        assert!(made.success());
        // In the foreground: it ends with the test, and the container with it.
        let mut command =
            machine.command(&["lxc-start", "-F", "-P", "/tmp/lxc", "-n", name, "-o", "/tmp/lxc/log"]);
        // SAFETY: prctl only asks the kernel to end the child with its parent.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        let monitor = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let container = Self { machine, name, monitor };
        let deadline = Instant::now() + Duration::from_secs(20);
        while container
            .say("ip addr show eth0")
            .is_none_or(|said| !said.contains("inet 10.") || said.contains("tentative"))
        {
            assert!(Instant::now() < deadline, "{}", machine.sh("cat /tmp/lxc/log"));
            std::thread::sleep(Duration::from_millis(50));
        }
        container
    }

    fn launcher(&self) -> Vec<String> {
        let attach = ["lxc-attach", "-P", "/tmp/lxc", "-n", self.name, "--"].map(str::to_owned);
        [self.machine.launcher(), attach.to_vec()].concat()
    }

    fn say(&self, script: &str) -> Option<String> {
        let words = self.launcher();
        let done = Command::new(&words[0]).args(&words[1..]).args(["sh", "-ec", script]).output().unwrap();
        done.status.success().then(|| String::from_utf8(done.stdout).unwrap())
    }

    fn state(&self) -> String {
        let all = "ip addr | grep -v valid_lft; ip route; ip -6 route; for f in /proc/sys/net/ipv[46]/conf/eth0/* /sys/class/net/eth0/mtu \
             /sys/class/net/eth0/queues/*/?ps_cpus; do echo $f $(cat $f 2>/dev/null); done; \
             find /tmp /var/lib -name 'netassay.*' -o -name '*.journal'; ps -o args | grep -E 'netassay (agen[t]|hol[d])' || true";
        self.say(all).unwrap()
    }
}

impl Drop for Lxc<'_> {
    fn drop(&mut self) {
        let _ = self.machine.command(&["lxc-stop", "-k", "-P", "/tmp/lxc", "-n", self.name]).output();
        let _ = self.monitor.kill();
        let _ = self.monitor.wait();
    }
}

#[test]
#[ignore = "the gate proves this with a machine that any command reaches"]
fn containers_of_lxc_are_machines() {
    let Some(world) = World::make("containers_of_lxc_are_machines") else { return };
    if !std::path::Path::new("/usr/bin/lxc-start").exists() {
        return skip("containers_of_lxc_are_machines", "it needs the Debian package lxc");
    }
    let machine = &world.machines.a;
    machine.sh("ip link add bridge0 type bridge; ip link set bridge0 up");
    let containers = [("x", "10.79.0.1/24"), ("y", "10.79.0.2/24")];
    let containers = containers.map(|(name, address)| Lxc::start(machine, name, address));
    let states = || containers.each_ref().map(Lxc::state);
    let before = states();
    let [x, y] = containers.each_ref().map(|container| {
        let words: Vec<String> = container.launcher().iter().map(|word| format!("{word:?}")).collect();
        format!("launch = [{}]\ninterface = \"eth0\"\n", words.join(", "))
    });
    let hosts =
        world.bench.write("hosts.toml", &format!("lease = \"3s\"\n[transmitter]\n{x}[receiver]\n{y}"));
    let hosts = hosts.display().to_string();
    let run = |more: &[&str]| {
        let common =
            ["run", "tso.toml", "--hosts", &hosts, "--no-report", "--progress", "plain", "--set", "runs=1"];
        world.bench.netassay(&[&common, more].concat())
    };
    // The first process of the container waits for others that have ended.
    let as_before = |seconds| {
        let deadline = Instant::now() + Duration::from_secs(seconds);
        while states() != before {
            assert!(Instant::now() < deadline, "{}", first_difference(&states().concat(), &before.concat()));
        }
    };
    let done = run(&[]).output().unwrap();
    expect_measured(&done);
    assert!(super::best(&world.bench, "tso-off", "throughput") > 0.0);
    as_before(5);
    let done = run(&["--set", "family=ipv6", "--set", "mtu=1400", "--addresses", "own"]).output().unwrap();
    expect_measured(&done);
    as_before(5);
    // The controller is killed once both are changed.
    let mut controller = Watched::start(run(&["--set", "duration=20s", "--set", "mtu=1000"]));
    controller.wait_for("testbed built");
    let deadline = Instant::now() + Duration::from_secs(30);
    while containers.iter().any(|one| !one.state().contains("eth0/mtu 1000\n")) {
        assert!(Instant::now() < deadline, "{:?}", states());
    }
    assert!(Command::new("kill").args(["-9", &controller.id().to_string()]).status().unwrap().success());
    as_before(30);
}
