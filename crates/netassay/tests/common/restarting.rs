//! Two machines for tests that really restart: virtual machines with a Debian kernel and an sshd of
//! their own.
//!
//! Their root file system is an initramfs of files of this machine: busybox, sshd, ip, ethtool,
//! and the libraries that `ldd` names. Management goes over QEMU's user-mode network with a
//! forwarded port, the traffic over a link of datagrams between the two. Machine 1 has a command
//! `reboot`; machine 2 has none, so that only the kernel's own request restarts it. Each start has
//! a new boot id. What netassay keeps on a machine outlives its end, on a small disk: its undo
//! journal among it.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long a machine may take to start and answer over ssh: some 8 s on an idle machine.
const TO_START: Duration = Duration::from_secs(90);

/// What it is made of.
const PROGRAMS: [&str; 7] = [
    "/usr/sbin/sshd",
    "/usr/sbin/ethtool",
    "/bin/ip",
    "/bin/busybox",
    "/usr/bin/qemu-system-x86_64",
    "/usr/bin/ldd",
    "/usr/sbin/mke2fs",
];

/// Makes the initramfs. `$1`: the directory with the keys; `$2`: the kernel's; `$3`: netassay.
const MAKE: &str = r#"
cd "$1"
mkdir -p root/bin root/dev root/proc root/sys root/tmp root/admin/.ssh root/etc/ssh root/run/sshd root/var/lib root/modules
cp /bin/busybox root/bin/busybox
for applet in $(busybox --list); do case $applet in reboot|ip|busybox) ;; *) ln -sf busybox root/bin/$applet;; esac; done
for program in /usr/sbin/sshd /usr/sbin/ethtool /bin/ip $(ls /usr/lib/openssh/sshd-* 2>/dev/null); do
  mkdir -p root$(dirname $program); cp $program root$program
done
{ ldd /usr/sbin/sshd; ldd /usr/sbin/ethtool; ldd /bin/ip; ldd "$3" || true; } | grep -o '/[^ ]*' | sort -u | while read -r file; do
  mkdir -p root$(dirname $file); cp -L $file root$file
done
for module in virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net virtio_blk; do
  find "$2"/lib/modules/ -name $module.ko\* -exec cp {} root/modules/ \;
done
cp init root/init; chmod 755 root/init
cp host root/etc/ssh/host; chmod 600 root/etc/ssh/host
cp user.pub root/admin/.ssh/authorized_keys
printf 'HostKey /etc/ssh/host\nPermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\nStrictModes no\nUseDNS no\nMaxSessions 20\n' > root/etc/ssh/sshd_config
printf 'root:x:0:0::/admin:/bin/sh\nsshd:x:100:100::/run/sshd:/bin/false\n' > root/etc/passwd
printf 'root:x:0:\nsshd:x:100:\n' > root/etc/group
(cd root && find . | busybox cpio -o -H newc) > initramfs
rm -r root
"#;

/// The first program of a machine.
const INIT: &str = r#"#!/bin/sh
export PATH=/bin:/usr/sbin
mount -t devtmpfs dev /dev; mount -t proc proc /proc; mount -t sysfs sys /sys; ln -s /proc/self/fd/0 /dev/stdin
for pass in 1 2 3 4; do for file in /modules/*; do insmod $file 2>/dev/null; done; done
machine=$(sed 's/.*machine=\([12]\).*/\1/' /proc/cmdline)
if [ $machine = 1 ]; then printf '#!/bin/sh\nexec busybox reboot -f\n' > /bin/reboot; chmod 755 /bin/reboot; fi
ip link set lo up
ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up
mount /dev/vda /var/lib
if [ $machine = 2 ]; then ip link set eth1 name data0; data=data0; else data=eth1; fi
ip addr add 10.78.0.$machine/24 dev $data; ip link set $data up
exec /usr/sbin/sshd -D -e -f /etc/ssh/sshd_config
"#;

/// A machine; dropping it ends it.
struct Guest(Child);

/// The machines `a` and `b`.
pub(crate) struct Machines {
    _a: Guest,
    b: Guest,
    ports: [u16; 2],
    kernel: PathBuf,
    directory: tempfile::TempDir,
}

fn sh(script: &str, arguments: &[&str]) {
    let done = Command::new("sh").args(["-ec", script, "sh"]).args(arguments).output().unwrap();
    assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
}

impl Machines {
    /// Makes them; `None` where a program that they are made of is not installed.
    pub(crate) fn make(netassay: &Path, kernel: &Path) -> Option<Self> {
        if PROGRAMS.iter().any(|program| !Path::new(program).exists()) {
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).display().to_string();
        for key in ["host", "user"] {
            sh("ssh-keygen -q -t ed25519 -N '' -f \"$1\"", &[&at(key)]);
        }
        fs::write(at("init"), INIT).unwrap();
        let place = directory.path().display().to_string();
        sh(MAKE, &[&place, &kernel.display().to_string(), &netassay.display().to_string()]);
        for disk in ["disk1", "disk2"] {
            sh("truncate -s 4M \"$1\" && mke2fs -q -t ext4 -O ^has_journal \"$1\"", &[&at(disk)]);
        }
        // Both are held until both are known.
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let ports = listeners.each_ref().map(|listener| listener.local_addr().unwrap().port());
        drop(listeners);
        let key = fs::read_to_string(at("host.pub")).unwrap();
        let known = ports.map(|port| format!("[127.0.0.1]:{port} {key}"));
        fs::write(at("known"), known.concat()).unwrap();
        let config = ["a", "b"].iter().zip(ports).map(|(name, port)| {
            format!(
                "Host {name}\n HostName 127.0.0.1\n Port {port}\n User root\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {}\n",
                at("user"),
                at("known")
            )
        });
        fs::write(at("ssh_config"), config.collect::<String>()).unwrap();
        let start = |number| start(directory.path(), kernel, number, ports[number - 1]);
        let (a, b) = (start(1), start(2));
        let machines = Self { _a: a, b, ports, kernel: kernel.to_owned(), directory };
        machines.await_ssh("a");
        machines.await_ssh("b");
        Some(machines)
    }

    pub(crate) fn ssh_config(&self) -> String {
        self.directory.path().join("ssh_config").display().to_string()
    }

    /// What a machine says to a command, if it answers.
    pub(crate) fn ask(&self, name: &str, script: &str) -> Option<String> {
        let done = self.said(name, script);
        done.status.success().then(|| String::from_utf8(done.stdout).unwrap())
    }

    /// What a machine says to commands that all succeed.
    #[track_caller]
    pub(crate) fn tell(&self, name: &str, script: &str) -> String {
        let done = self.said(name, &format!("set -ex; {script}"));
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn said(&self, name: &str, script: &str) -> Output {
        let options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-F"];
        Command::new("ssh").args(options).args([&self.ssh_config(), name, script]).output().unwrap()
    }

    fn await_ssh(&self, name: &str) {
        let deadline = Instant::now() + TO_START;
        while self.ask(name, "true").is_none() {
            assert!(Instant::now() < deadline, "{name} does not answer:\n{}", self.console(name));
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    fn console(&self, name: &str) -> String {
        let number = if name == "a" { 1 } else { 2 };
        fs::read_to_string(self.directory.path().join(format!("console{number}"))).unwrap_or_default()
    }

    /// Everything that is set on the traffic's interface of a machine, but for its index.
    pub(crate) fn state(&self, name: &str) -> Option<String> {
        self.ask(name, &STATE.replace("DATA", data_of(name)))
    }

    /// From now on, machine `b` goes off when it should restart.
    pub(crate) fn let_b_go_off(&mut self) {
        let monitor = UnixStream::connect(self.directory.path().join("monitor2")).unwrap();
        let mut answers = BufReader::new(monitor.try_clone().unwrap()).lines();
        let greeting = answers.next().unwrap().unwrap();
        assert!(greeting.contains("QMP"), "{greeting}");
        for order in [
            "{\"execute\": \"qmp_capabilities\"}",
            "{\"execute\": \"set-action\", \"arguments\": {\"reboot\": \"shutdown\"}}",
        ] {
            writeln!(&monitor, "{order}").unwrap();
            let answer = answers.next().unwrap().unwrap();
            assert!(answer.contains("return"), "{answer}");
        }
    }

    /// Switches machine `b` off, as when its power fails.
    pub(crate) fn switch_b_off(&mut self) {
        self.b.0.kill().unwrap();
    }

    /// Waits until machine `b` went off.
    pub(crate) fn await_b_off(&mut self) {
        let deadline = Instant::now() + TO_START;
        while self.b.0.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "b does not go off:\n{}", self.console("b"));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Switches machine `b` on, after it went off, and waits for both.
    pub(crate) fn switch_b_on(&mut self) {
        self.b = start(self.directory.path(), &self.kernel, 2, self.ports[1]);
        self.await_ssh("a");
        self.await_ssh("b");
    }
}

/// The traffic's interface of a machine.
pub(crate) fn data_of(name: &str) -> &'static str {
    if name == "a" { "eth1" } else { "data0" }
}

const STATE: &str = r#"
cd /sys/class/net/DATA && for f in address mtu flags tx_queue_len ifalias queues/rx-0/rps_cpus; do echo "$f $(cat $f)"; done
/bin/ip -d addr show dev DATA | sed 's/^[0-9]*: //'
/bin/ip route show table all dev DATA | sort
/bin/ip -6 route show table all dev DATA | sort
/bin/ip neigh show dev DATA nud permanent | sort
ethtool -k DATA
ethtool -g DATA
cd /proc/sys/net && for f in ipv4/conf/DATA/* ipv4/neigh/DATA/* ipv6/conf/DATA/* ipv6/neigh/DATA/*; do [ ! -f $f ] || echo "$f $(cat $f 2>/dev/null)"; done
"#;

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(directory: &Path, kernel: &Path, number: usize, port: u16) -> Guest {
    let at = |name: &str, number: usize| directory.join(format!("{name}{number}")).display().to_string();
    let image = fs::read_dir(kernel.join("boot")).unwrap().next().unwrap().unwrap().path();
    let other = 3 - number;
    for name in ["link", "monitor"] {
        let _ = fs::remove_file(at(name, number));
    }
    let mut command = Command::new("qemu-system-x86_64");
    command
        .args(["-nodefaults", "-no-user-config", "-display", "none", "-machine", "q35,accel=tcg"])
        .args(["-cpu", "max,-erms,-fsrm", "-smp", "1", "-m", "384"])
        .args(["-kernel", &image.display().to_string()])
        .args(["-initrd", &directory.join("initramfs").display().to_string()])
        .args(["-append", &format!("console=ttyS0 quiet panic=-1 random.trust_cpu=on cryptomgr.notests tsc=reliable no_timer_check mitigations=off net.ifnames=0 machine={number}")])
        .args(["-serial", &format!("file:{}", at("console", number))])
        .args(["-netdev", &format!("user,id=management,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:{port}-10.0.2.15:22")])
        .args(["-device", &format!("virtio-net-pci,netdev=management,mac=52:54:00:00:01:0{number},romfile=")])
        .args(["-netdev", &format!(
            "dgram,id=data,local.type=unix,local.path={},remote.type=unix,remote.path={}",
            at("link", number),
            at("link", other)
        )])
        .args(["-device", &format!("virtio-net-pci,netdev=data,rss=on,hash=on,mac=52:54:00:00:02:0{number},romfile=")])
        .args(["-drive", &format!("if=virtio,format=raw,file={}", at("disk", number))])
        .args(["-qmp", &format!("unix:{},server=on,wait=off", at("monitor", number))])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(at("said", number)).unwrap());
    // SAFETY: prctl only asks the kernel to end the child with its parent.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    Guest(command.spawn().unwrap())
}
