//! Two machines for tests that really restart: virtual machines with a Debian kernel and an sshd of
//! their own.
//!
//! They are made of files of this machine. A start reads all of an initramfs, in software, so that
//! it has only busybox and modules; sshd, ip, and the libraries that `ldd` names, are on a
//! small disk. So is what outlives a machine's end: netassay's undo journal, its program, as an
//! earlier `--keep-agent` would have left it, and two kernels. Each start has a new boot id, which
//! the console tells. Management goes over QEMU's user-mode network with a forwarded port, the
//! traffic over a link of datagrams between the two.
//!
//! Machine 1 is started by GRUB, from its disk, and has GRUB's programs and a command `reboot`.
//! Machine 2 is started by QEMU. It has kexec, and no `reboot`, so that only the kernel's own
//! request restarts it.
//!
//! Of their cards for the traffic, that of machine 1 is a vmxnet3, whose driver has rings and LRO
//! to set, and resets the card for both; that of machine 2 is a virtio-net, which hashes.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::kernel::release;

/// How long a machine may take to start and answer over ssh: some 8 s on an idle machine, and as
/// many times that as there are others on its CPU.
const TO_START: Duration = Duration::from_secs(180);

/// What it is made of.
const PROGRAMS: [&str; 11] = [
    "/usr/sbin/sshd",
    "/sbin/kexec",
    "/usr/sbin/grub-reboot",
    "/usr/sbin/grub-probe",
    "/usr/bin/grub-editenv",
    "/usr/lib/grub/i386-pc/lnxboot.img",
    "/bin/ip",
    "/bin/busybox",
    "/usr/bin/qemu-system-x86_64",
    "/usr/bin/ldd",
    "/usr/sbin/mke2fs",
];

/// Makes the initramfs of each kernel, the disks, and GRUB as an image that QEMU starts as a
/// kernel. `$1`: the directory with the keys; `$2`: netassay as it is sent; then the kernels'
/// directories, the default first.
const MAKE: &str = r#"
cd "$1"; netassay=$2; shift 2
mkdir -p root/bin root/dev root/proc root/sys root/tmp root/admin/.ssh root/etc/ssh root/run/sshd root/var/lib disk/system/usr/share/grub
cp /usr/share/grub/grub-mkconfig_lib disk/system/usr/share/grub/
cp /bin/busybox root/bin/busybox
for applet in $(busybox --list); do case $applet in reboot|ip|busybox) ;; *) ln -sf busybox root/bin/$applet;; esac; done
own="/usr/sbin/sshd /sbin/kexec /usr/bin/grub-editenv /usr/sbin/grub-probe /bin/ip"
for program in $own /usr/sbin/grub-reboot $(ls /usr/lib/openssh/sshd-* 2>/dev/null); do
  mkdir -p disk/system$(dirname $program); cp $program disk/system$program
done
for file in $own; do ldd $file; done | grep -o '/[^ ]*' | sort -u | while read -r file; do
  mkdir -p disk/system$(dirname $file); cp -L $file disk/system$file
done
for place in lib lib64 sbin usr bin/ip; do ln -s /var/lib/system/$place root/$place; done
cp init root/init; chmod 755 root/init
cp host root/etc/ssh/host; chmod 600 root/etc/ssh/host
cp user.pub root/admin/.ssh/authorized_keys
printf 'HostKey /etc/ssh/host\nPermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\nStrictModes no\nUseDNS no\nMaxSessions 20\nKexAlgorithms curve25519-sha256\nSetEnv XDG_CACHE_HOME=/var/lib/cache\n' > root/etc/ssh/sshd_config
printf 'root:x:0:0::/admin:/bin/sh\nsshd:x:100:100::/run/sshd:/bin/false\n' > root/etc/passwd
printf 'root:x:0:\nsshd:x:100:\n' > root/etc/group
sum=$(sha256sum "$netassay"); agents=disk/cache/netassay/agents/${sum%% *}
mkdir -p $agents; cp "$netassay" $agents/netassay; chmod 700 $agents $agents/netassay
mkdir -p disk/boot/grub
for kernel in "$@"; do
  release=$(basename "$kernel"/boot/vmlinuz-* | sed 's/^vmlinuz-//')
  mkdir root/modules; number=10
  for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net virtio_blk vmxnet3; do
    find "$kernel"/lib/modules/ -name $module.ko\* -exec cp {} root/modules/$number \;
    number=$((number + 1))
  done
  cp "$kernel/boot/vmlinuz-$release" disk/boot/
  (cd root && find . | busybox cpio -o -H newc) > disk/boot/initrd.img-$release
  rm -r root/modules
done
rm -r root
cp "$1"/boot/vmlinuz-* kernel; cp disk/boot/initrd.img-"$(basename "$1"/boot/vmlinuz-* | sed 's/^vmlinuz-//')" initramfs
cp grub.cfg disk/boot/grub/; grub-editenv disk/boot/grub/grubenv create; grub-editenv disk/boot/grub/grubenv set saved_entry=kept
for number in 1 2; do truncate -s 256M disk$number; mke2fs -q -t ext4 -O ^has_journal -d disk disk$number; done
rm -r disk
grub-mkimage -O i386-pc -p '(hd0)/boot/grub' -o core biosdisk ext2 normal linux loadenv test echo serial terminal
cat /usr/lib/grub/i386-pc/lnxboot.img core > grub
"#;

/// GRUB's menu, as grub-mkconfig writes it, without what looks for the disk: `DEFAULT` and `OTHER`
/// are the kernels' releases.
const MENU: &str = r#"
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="0"
fi

if [ x"${feature_menuentry_id}" = xy ]; then
  menuentry_id_option="--id"
else
  menuentry_id_option=""
fi
export menuentry_id_option
serial
terminal_output serial
set timeout=0
menuentry 'Debian GNU/Linux' --class debian --class gnu-linux --class gnu --class os $menuentry_id_option 'gnulinux-simple-0a1b' {
	echo	'Loading Linux DEFAULT ...'
	linux	/boot/vmlinuz-DEFAULT COMMAND
	echo	'Loading initial ramdisk ...'
	initrd	/boot/initrd.img-DEFAULT
}
submenu 'Advanced options for Debian GNU/Linux' $menuentry_id_option 'gnulinux-advanced-0a1b' {
	menuentry 'Debian GNU/Linux, with Linux DEFAULT' --class debian --class os $menuentry_id_option 'gnulinux-DEFAULT-advanced-0a1b' {
		linux	/boot/vmlinuz-DEFAULT COMMAND
		initrd	/boot/initrd.img-DEFAULT
	}
	menuentry 'Debian GNU/Linux, with Linux OTHER (recovery mode)' --class debian --class os $menuentry_id_option 'gnulinux-OTHER-recovery-0a1b' {
		linux	/boot/vmlinuz-OTHER COMMAND single
		initrd	/boot/initrd.img-OTHER
	}
	menuentry 'Debian GNU/Linux, with Linux OTHER' --class debian --class os $menuentry_id_option 'gnulinux-OTHER-advanced-0a1b' {
		linux	/boot/vmlinuz-OTHER COMMAND
		initrd	/boot/initrd.img-OTHER
	}
}
"#;

/// The first program of a machine.
const INIT: &str = r#"#!/bin/sh
export PATH=/bin:/usr/sbin
mount -t devtmpfs dev /dev; mount -t proc proc /proc; mount -t sysfs sys /sys; ln -s /proc/self/fd/0 /dev/stdin
for file in /modules/*; do insmod $file; done
mount /dev/vda /var/lib; ln -s /var/lib/boot /boot
machine=$(sed 's/.*machine=\([12]\).*/\1/' /proc/cmdline)
if [ $machine = 1 ]; then rm -f /sbin/kexec; printf '#!/bin/sh\nexec busybox reboot -f\n' > /bin/reboot; chmod 755 /bin/reboot; else rm -f /usr/sbin/grub-reboot; fi
ip link set lo up
ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up
if [ $machine = 2 ]; then ip link set eth1 name data0; data=data0; else data=eth1; fi
ip addr add 10.78.0.$machine/24 dev $data; ip link set $data up
# Without a carrier the first packet of a connection is lost, and the next one comes seconds later (a guess).
until [ "$(cat /sys/class/net/eth0/carrier)" = 1 ]; do sleep 0.1; done
echo "boot id $(cat /proc/sys/kernel/random/boot_id)"
exec /usr/sbin/sshd -D -e -f /etc/ssh/sshd_config
"#;

/// A machine; dropping it ends it.
struct Guest(Child);

/// The machines `a` and `b`.
pub(crate) struct Machines {
    _a: Guest,
    b: Guest,
    ports: [u16; 2],
    directory: tempfile::TempDir,
}

fn sh(script: &str, arguments: &[&str]) {
    let done = Command::new("sh").args(["-ec", script, "sh"]).args(arguments).output().unwrap();
    assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
}

/// Puts this thread, and what it starts, into a network namespace of its own: sessions take turns
/// in one namespace, and the machines are not this one. An ordinary user may not, and takes turns.
fn live_apart() {
    // SAFETY: the call takes only a number; it concerns this thread, and what it starts.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0 {
        sh("ip link set lo up", &[]);
    }
}

impl Machines {
    /// Makes them, with a default kernel and another one; `None` where a program that they are made
    /// of is not installed.
    pub(crate) fn make(netassay: &Path, kernels: &[PathBuf; 2]) -> Option<Self> {
        if PROGRAMS.iter().any(|program| !Path::new(program).exists()) {
            return None;
        }
        live_apart();
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).display().to_string();
        for key in ["host", "user"] {
            sh("ssh-keygen -q -t ed25519 -N '' -f \"$1\"", &[&at(key)]);
        }
        fs::write(at("init"), INIT).unwrap();
        let place = directory.path().display().to_string();
        let [default, other] = kernels.each_ref().map(|kernel| release(kernel));
        let menu = MENU.replace("DEFAULT", &default).replace("OTHER", &other);
        fs::write(at("grub.cfg"), menu.replace("COMMAND", &command_line(1))).unwrap();
        let [default, other] = kernels.each_ref().map(|kernel| kernel.display().to_string());
        sh(MAKE, &[&place, &netassay.display().to_string(), &default, &other]);
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
        let start = |number| start(directory.path(), number, ports[number - 1]);
        let (a, b) = (start(1), start(2));
        let machines = Self { _a: a, b, ports, directory };
        machines.await_both();
        Some(machines)
    }

    pub(crate) fn ssh_config(&self) -> String {
        self.directory.path().join("ssh_config").display().to_string()
    }

    /// What a machine says to a command, if it answers.
    pub(crate) fn ask(&self, name: &str, script: &str) -> Option<String> {
        let done = self.said(name, script, 5);
        done.status.success().then(|| String::from_utf8(done.stdout).unwrap())
    }

    /// What a machine says to commands that all succeed.
    #[track_caller]
    pub(crate) fn tell(&self, name: &str, script: &str) -> String {
        // It is there, on a machine that may have much else to do.
        let done = self.said(name, &format!("set -ex; {script}"), 30);
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// `patience`: how long the connection may take, in seconds.
    fn said(&self, name: &str, script: &str, patience: u32) -> Output {
        let patience = format!("ConnectTimeout={patience}");
        let options = ["BatchMode=yes", &patience, "ServerAliveInterval=10"];
        let options = options.iter().flat_map(|option| ["-o", option]).chain(["-F"]);
        Command::new("ssh").args(options).args([&self.ssh_config(), name, script]).output().unwrap()
    }

    /// The commands that show the console of machine `b` and press its reset button.
    pub(crate) fn management_of_b(&self) -> [Vec<String>; 2] {
        let at = |name: &str| self.directory.path().join(name).display().to_string();
        let console = ["tail", "-n", "+1", "-F", &at("console2")].map(str::to_owned).to_vec();
        let reset = format!("echo system_reset > {}", at("button2.in"));
        [console, ["sh", "-c", &reset].map(str::to_owned).to_vec()]
    }

    /// Lets machine `b` panic in a second, and hang.
    pub(crate) fn let_b_panic(&self) {
        let panic =
            "echo 0 > /proc/sys/kernel/panic; echo 1 > /proc/sys/kernel/sysrq; echo c > /proc/sysrq-trigger";
        self.tell("b", &format!("(sleep 1; {panic}) < /dev/null > /dev/null 2>&1 &"));
    }

    /// The machines' present boots.
    pub(crate) fn boots(&self) -> [String; 2] {
        ["a", "b"].map(|name| self.boot(name).unwrap())
    }

    /// The boot that a machine is in and answers from.
    fn boot(&self, name: &str) -> Option<String> {
        let console = self.console(name);
        let (_, last) = console.rsplit_once("boot id ")?;
        let goes = ["reboot: Restarting system", "Resetting", "Starting new kernel"];
        let (boot, then) = last.split_once('\n')?;
        let is_up = then.contains("Server listening on") && !goes.iter().any(|words| then.contains(words));
        is_up.then(|| boot.trim().to_owned())
    }

    /// Waits until each machine has left its boot; `orders` says whether what orders that lives.
    pub(crate) fn await_end_of(&self, boots: &[String; 2], orders: impl FnMut()) {
        self.await_each("go down", orders, |machine, now| now.as_ref() != Some(&boots[machine]));
    }

    /// Waits until each machine answers from another boot.
    pub(crate) fn await_next_boots(&self, boots: &[String; 2]) {
        self.await_each("restart", || {}, |machine, now| now.is_some_and(|now| now != boots[machine]));
    }

    /// Waits until both answer.
    fn await_both(&self) {
        self.await_each("start", || {}, |_, now| now.is_some());
    }

    /// By their consoles: each connection would take a second of their time, while they start.
    fn await_each(
        &self,
        what: &str,
        mut meanwhile: impl FnMut(),
        is_so: impl Fn(usize, Option<String>) -> bool,
    ) {
        let deadline = Instant::now() + TO_START;
        for (machine, name) in ["a", "b"].into_iter().enumerate() {
            while !is_so(machine, self.boot(name)) {
                meanwhile();
                assert!(Instant::now() < deadline, "{name} does not {what}:\n{}", self.console(name));
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }

    fn console(&self, name: &str) -> String {
        let number = if name == "a" { 1 } else { 2 };
        let told = fs::read(self.directory.path().join(format!("console{number}"))).unwrap_or_default();
        String::from_utf8_lossy(&told).into_owned()
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

    /// Switches machine `b` on, after it went off, and waits for both.
    pub(crate) fn switch_b_on(&mut self) {
        self.b = start(self.directory.path(), 2, self.ports[1]);
        self.await_both();
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command_line(number: usize) -> String {
    format!(
        "console=ttyS0 loglevel=6 panic=-1 random.trust_cpu=on cryptomgr.notests tsc=reliable no_timer_check mitigations=off net.ifnames=0 machine={number}"
    )
}

fn start(directory: &Path, number: usize, port: u16) -> Guest {
    let at = |name: &str, number: usize| directory.join(format!("{name}{number}")).display().to_string();
    let other = 3 - number;
    for name in ["console", "link", "monitor"] {
        let _ = fs::remove_file(at(name, number));
    }
    let button = at("button", number);
    sh("for way in in out; do [ -p \"$1.$way\" ] || mkfifo \"$1.$way\"; done", &[&button]);
    let card = if number == 1 { "vmxnet3" } else { "virtio-net-pci,rss=on,hash=on" };
    // Not pinned: tests beside this one place their traffic, and on Linux 6.18 a thread that was
    // placed on the CPU of two of these waited for it for seconds.
    let mut command = Command::new("qemu-system-x86_64");
    command
        .args(["-nodefaults", "-no-user-config", "-display", "none", "-machine", "q35,accel=tcg"])
        .args(["-cpu", "max,-erms,-fsrm", "-smp", "1", "-m", "384"])
        .args(["-serial", &format!("file:{}", at("console", number))])
        .args([
            "-netdev",
            &format!("user,id=management,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:{port}-10.0.2.15:22"),
        ])
        .args(["-device", &format!("virtio-net-pci,netdev=management,mac=52:54:00:00:01:0{number},romfile=")])
        .args([
            "-netdev",
            &format!(
                "dgram,id=data,local.type=unix,local.path={},remote.type=unix,remote.path={}",
                at("link", number),
                at("link", other)
            ),
        ])
        .args(["-device", &format!("{card},netdev=data,mac=52:54:00:00:02:0{number},romfile=")])
        .args(["-drive", &format!("if=virtio,format=raw,file={}", at("disk", number))])
        .args(["-qmp", &format!("unix:{},server=on,wait=off", at("monitor", number))])
        .args(["-chardev", &format!("pipe,id=button,path={button}"), "-mon", "chardev=button,mode=readline"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(at("said", number)).unwrap());
    let file = |name: &str| directory.join(name).display().to_string();
    if number == 1 {
        command.args(["-kernel", &file("grub")]);
    } else {
        command.args(["-kernel", &file("kernel"), "-initrd", &file("initramfs")]);
        command.args(["-append", &command_line(number)]);
    }
    // SAFETY: prctl only asks the kernel to end the child with its parent.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    Guest(command.spawn().unwrap())
}
