//! Two machines for tests: network namespaces with an sshd each, a management link from each to the
//! controller's namespace, and a link between them for the traffic.
//!
//! Each has its own mount namespace with its own `/tmp`, `/var/lib` and home of root, so that their
//! journals and caches are their own. Everything ends with the value: the namespaces have no names.

#![allow(dead_code, reason = "each test binary uses its own part of this")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail in the binaries that use all of it")]

#[path = "wire.rs"]
mod wire;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use wire::Wire;

/// A machine.
pub(crate) struct Machine {
    holder: Child,
    sshd: Child,
}

/// The machines `a` and `b`, and the controller's namespace.
pub(crate) struct Machines {
    controller: Child,
    pub(crate) a: Machine,
    pub(crate) b: Machine,
    directory: tempfile::TempDir,
    _wire: Option<Wire>,
}

/// What joins the machines' interfaces `data0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    Veth,
    Taps,
}

/// Where a machine keeps programs that outlive a connection.
const KEPT: &str = "/mnt/cache";

/// The cheapest: tests make many connections.
const KEY_EXCHANGE: &str = " KexAlgorithms curve25519-sha256\n";

/// Runs a script as root, and panics with its words if it fails.
fn sh(script: &str) {
    let done = Command::new("sh").args(["-ec", script]).output().unwrap();
    assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
}

/// A process that holds new network and mount namespaces, and ends with this one.
fn holder() -> Child {
    let script = "mount --make-rprivate / && mount -t sysfs sysfs /sys && sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0 && ip link set lo up && echo ready && exec sleep infinity";
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "--", "sh", "-ec", script]).stdout(Stdio::piped());
    // SAFETY: prctl only asks the kernel to end the child with its parent.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    let mut child = command.spawn().unwrap();
    let mut word = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut word).unwrap();
    child
}

fn inside(holder: &Child, words: &[&str]) -> Command {
    let mut command = Command::new("nsenter");
    command.args(["-t", &holder.id().to_string(), "--net", "--mount", "--"]).args(words);
    command
}

impl Machines {
    /// Makes them; `None` where sshd is not installed or the test is not root.
    pub(crate) fn make() -> Option<Self> {
        Self::make_with(Data::Veth)
    }

    pub(crate) fn make_with(data: Data) -> Option<Self> {
        if !super::common::is_root() || !Path::new("/usr/sbin/sshd").exists() {
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let at = |name: &str| directory.path().join(name).display().to_string();
        sh(&format!(
            "mkdir -p /run/sshd; for k in host user; do ssh-keygen -q -t ed25519 -N '' -f {}/$k; done; cp {}/user.pub {}",
            directory.path().display(),
            directory.path().display(),
            at("authorized"),
        ));
        let users = fs::read_to_string("/etc/passwd").unwrap() + "plain:x:4711:4711::/tmp:/bin/sh\n";
        fs::write(at("passwd"), users).unwrap();
        let controller = holder();
        let [first, second] = [holder(), holder()];
        let (c, a, b) = (controller.id(), first.id(), second.id());
        sh(&format!(
            "ip link add name mgmt-a netns {c} type veth peer name mgmt netns {a}\n\
             ip link add name mgmt-b netns {c} type veth peer name mgmt netns {b}"
        ));
        let wire = match data {
            Data::Taps => Some(Wire::between([a, b], "data0")),
            Data::Veth => {
                sh(&format!("ip link add name data0 netns {a} type veth peer name data0 netns {b}"));
                None
            }
        };
        for (holder, script) in [
            (
                &controller,
                "ip addr add 10.77.1.1/24 dev mgmt-a; ip addr add 10.77.2.1/24 dev mgmt-b; ip link set mgmt-a up; ip link set mgmt-b up",
            ),
            (
                &first,
                "ip addr add 10.77.1.2/24 dev mgmt; ip link set mgmt up; ip addr add 10.78.0.1/24 dev data0; ip addr add 2001:db8:78::1/64 dev data0 nodad; ip link set data0 up; ip route add default via 10.77.1.1",
            ),
            (
                &second,
                "ip addr add 10.77.2.2/24 dev mgmt; ip link set mgmt up; ip addr add 10.78.0.2/24 dev data0; ip addr add 2001:db8:78::2/64 dev data0 nodad; ip link set data0 up; ip route add default via 10.77.2.1",
            ),
        ] {
            let done = inside(holder, &["sh", "-ec", script]).output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        }
        fs::write(
            at("sshd_config"),
            format!(
                "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\nPidFile none\nMaxSessions 20\nSetEnv XDG_CACHE_HOME={KEPT}\n",
                at("host"),
                at("authorized")
            ),
        )
        .unwrap();
        let key = fs::read_to_string(at("host.pub")).unwrap();
        fs::write(at("known"), format!("10.77.1.2 {key}10.77.2.2 {key}")).unwrap();
        let hosts = [
            ("a", "10.77.1.2"),
            ("b", "10.77.2.2"),
            ("stranger", "10.77.2.2"),
            // An ordinary user of each.
            ("a-plain", "10.77.1.2"),
            ("b-plain", "10.77.2.2"),
        ];
        let known = |name: &str| if name == "stranger" { "/dev/null".to_owned() } else { at("known") };
        let config: String = hosts
            .iter()
            .map(|(name, address)| {
                format!(
                    "Host {name}\n HostName {address}\n User {}\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {}\n{KEY_EXCHANGE}",
                    if name.ends_with("-plain") { "plain" } else { "root" },
                    at("user"),
                    known(name)
                )
            })
            .collect();
        fs::write(at("ssh_config"), config).unwrap();
        let machine = |holder: Child| {
            // Its own places for journals, caches and temporary files.
            let kept = directory.path().display().to_string();
            let script = format!(
                "mount --bind {kept}/passwd /etc/passwd; mount -t tmpfs tmpfs /mnt; mkdir /mnt/kept {KEPT} && mount --bind {kept} /mnt/kept && for d in /tmp /var/tmp /var/lib ~ /dev/shm; do mount -t tmpfs -o mode=1777 tmpfs $d; done; chmod 755 /var/lib ~; mkdir -p {kept} && mount --bind /mnt/kept {kept}; exec /usr/sbin/sshd -D -e -f {}",
                at("sshd_config")
            );
            let sshd = inside(&holder, &["sh", "-ec", &script]).stderr(Stdio::null()).spawn().unwrap();
            Machine { holder, sshd }
        };
        let machines = Self { a: machine(first), b: machine(second), controller, directory, _wire: wire };
        for machine in [&machines.a, &machines.b] {
            // The kernel notices a carrier, and makes addresses of IPv6, a moment later.
            machine.sh(
                "for i in $(seq 3000); do if ! ip link | grep -q NO-CARRIER && [ $(ip -6 addr | grep -c 'fe80.*scope link') = 2 ]; \
                 then exit 0; fi; sleep 0.02; done; ip addr >&2; exit 1",
            );
        }
        for name in ["a", "b"] {
            machines.await_ssh(name);
        }
        Some(machines)
    }

    fn await_ssh(&self, name: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let done = self.run(&["ssh", "-F", &self.ssh_config(), "-o", "BatchMode=yes", name, "true"]);
            if done.status.success() {
                return;
            }
            assert!(Instant::now() < deadline, "{name}: {}", String::from_utf8_lossy(&done.stderr));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Lets `a` be reached by IPv6 too: as `a6`, and as `a-link` by its address of the link alone.
    pub(crate) fn reach_a_by_ipv6(&self) {
        self.controller_sh("ip addr add 2001:db8:77::1/64 dev mgmt-a nodad");
        self.a.sh("ip addr add 2001:db8:77::2/64 dev mgmt nodad");
        let of_link =
            self.a.sh("ip -6 -o addr show dev mgmt scope link | awk '{sub(\"/.*\", \"\", $4); print $4}'");
        let of_link = of_link.trim();
        let key = fs::read_to_string(self.path("host.pub")).unwrap();
        let [mut config, mut known] =
            ["ssh_config", "known"].map(|name| fs::read_to_string(self.path(name)).unwrap());
        for (name, address) in [("a6", "2001:db8:77::2"), ("a-link", &format!("{of_link}%mgmt-a"))] {
            known += &format!("{address} {key}");
            config += &format!(
                "Host {name}\n HostName {}\n User root\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {}\n",
                address.replace('%', "%%"),
                self.path("user").display(),
                self.path("known").display()
            );
        }
        fs::write(self.path("ssh_config"), config).unwrap();
        fs::write(self.path("known"), known).unwrap();
        for name in ["a6", "a-link"] {
            self.await_ssh(name);
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn ssh_config(&self) -> String {
        self.path("ssh_config").display().to_string()
    }

    /// A command in the controller's network namespace.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.controller.id().to_string(), "--net", "--"]).args(words);
        command
    }

    /// A script in the controller's namespaces.
    pub(crate) fn controller_sh(&self, script: &str) {
        let done = inside(&self.controller, &["sh", "-ec", script]).output().unwrap();
        assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }
}

impl Machine {
    /// A command on this machine.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        inside(&self.holder, words)
    }

    /// The words that run a command on this machine.
    pub(crate) fn launcher(&self) -> Vec<String> {
        let holder = self.holder.id().to_string();
        ["nsenter", "-t", &holder, "--net", "--mount", "--"].map(str::to_owned).to_vec()
    }

    /// The output of a script on this machine.
    pub(crate) fn sh(&self, script: &str) -> String {
        let done = self.command(&["sh", "-ec", script]).output().unwrap();
        assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// All that a study may change of its network: links, addresses, routes, neighbours, offloads,
    /// settings of devices, queues and their CPUs, sysctls; without counters. Equal routes over
    /// several interfaces have the order in which they came, which is not one interface's to
    /// restore.
    pub(crate) fn state(&self) -> String {
        self.state_of("ls /sys/class/net; ip -d link; ip -d addr; ip -4 route show table all; ip -6 route show table all | sort", "data0 mgmt")
    }

    /// The same of the interface for the traffic alone.
    pub(crate) fn state_of_data(&self) -> String {
        let of = "dev data0";
        self.state_of(
            &format!("ip -d link show {of}; ip -d addr show {of}; ip -4 route show table all {of}; ip -6 route show table all {of} | sort"),
            "data0",
        )
    }

    fn state_of(&self, network: &str, interfaces: &str) -> String {
        self.sh(&format!(
            "{network}; for i in {interfaces}; do ip neigh show dev $i nud permanent | sort; for o in k g c l a; do ethtool -$o $i 2>&1 || true; done; \
             for f in /sys/class/net/$i/queues/*/*; do [ -f $f ] && printf '%s ' $f && {{ cat $f 2>/dev/null || echo none; }}; done; done; \
             sysctl -a 2>/dev/null | grep '^net' | grep -v -e stable_secret -e conntrack_count",
        ))
    }

    /// Gives it a program as an earlier `--keep-agent` has left it.
    pub(crate) fn keep(&self, program: &Path) {
        let script = format!(
            "umask 077; d={KEPT}/netassay/agents; mkdir -p $d/new; cat > $d/new/netassay; chmod 700 $d/new/netassay; \
             sum=$(sha256sum < $d/new/netassay); mv $d/new $d/${{sum%% *}}"
        );
        let program = fs::File::open(program).unwrap();
        let done = self.command(&["sh", "-ec", &script]).stdin(program).status().unwrap();
        assert!(done.success(), "{script}");
    }

    /// Ends all its processes at once.
    pub(crate) fn die(&self) {
        let script = "own=$(readlink /proc/$1/ns/net); for p in /proc/[0-9]*; do [ \"$(readlink $p/ns/net)\" != \"$own\" ] || kill -9 ${p#/proc/}; done";
        let done = Command::new("sh").args(["-c", script, "sh", &self.holder.id().to_string()]).status();
        assert!(done.is_ok());
    }

    /// Its file system, as seen from the machine of the tests.
    pub(crate) fn root(&self) -> PathBuf {
        format!("/proc/{}/root", self.holder.id()).into()
    }

    /// What is left in the places where a program could be.
    pub(crate) fn left(&self) -> String {
        self.sh(&format!(
            "find /tmp /var/tmp /dev/shm ~ -name 'netassay*' 2>/dev/null; find /var/lib -name '*.journal'; find {KEPT} -name 'part.*' -o -name 'try.*'; own=$(readlink /proc/self/ns/net); \
             for p in /proc/[0-9]*; do if [ \"$(readlink $p/ns/net)\" = \"$own\" ]; then tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -E 'netassay (agent|guest)|qemu-system' | grep -v 'sh -c' || true; fi; done",
        ))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for child in [&mut self.sshd, &mut self.holder] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        let _ = self.controller.kill();
        let _ = self.controller.wait();
    }
}

/// Where two states begin to differ.
pub(crate) fn first_difference(now: &str, before: &str) -> String {
    let (here, there): (Vec<&str>, Vec<&str>) = (now.lines().collect(), before.lines().collect());
    match (0..here.len().max(there.len())).find(|line| here.get(*line) != there.get(*line)) {
        None => "as before".to_owned(),
        Some(line) => {
            let around = |lines: &[&str]| {
                lines.iter().skip(line.saturating_sub(2)).take(6).copied().collect::<Vec<_>>().join("\n")
            };
            format!("line {line}, before:\n{}\nnow:\n{}", around(&there), around(&here))
        }
    }
}
