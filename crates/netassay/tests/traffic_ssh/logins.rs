//! What stands between a connection and netassay's script: the login's shell with its startup
//! files, sudo, and directories that are full.

use std::fs;
use std::time::{Duration, Instant};

use super::common::{skip, stderr, stdout};
use super::world::World;

/// A case a line: its name, the login's shell, a script that makes it at `a` and one that undoes
/// it, the exit code, and parts of what is said. The home of the login is `/tmp`.
const CASES: &str = r"
csh | /bin/tcsh | : | : | 0 | ok    ipv4
csh with a startup file | /bin/tcsh | printf 'if (! $?prompt) exit\necho Welcome\n' > /tmp/.cshrc | : | 0 | ok    ipv4
csh that prints | /bin/tcsh | echo 'echo Welcome' > /tmp/.cshrc | : | 3 | a-plain answered 'Welcome' + if (! $?prompt) exit
bash | /bin/bash | echo 'case $- in *i*) ;; *) return ;; esac; echo Welcome; read x' > /tmp/.bashrc | : | 0 | ok    ipv4
a shell that prints | /bin/bash | echo 'echo Welcome' > /tmp/.bashrc | : | 3 | a-plain answered 'Welcome' + ~/.bashrc + case $- in *i*) ;; *) return ;; esac
one that prints no end of line | /bin/bash | echo 'printf Hi' > /tmp/.bashrc | : | 3 | a-plain answered 'Hi + ~/.bashrc
one that warns | /bin/bash | echo 'echo Welcome >&2' > /tmp/.bashrc | : | 0 | ok    ipv4
one that exits | /bin/bash | echo exit > /tmp/.bashrc | : | 3 | cannot reach a-plain: exit status: 0 + ~/.bashrc + case $- in
one that says why it exits | /bin/bash | echo 'echo closed on Sundays >&2; exit 7' > /tmp/.bashrc | : | 3 | cannot reach a-plain: closed on Sundays + ~/.bashrc
one that reads a line | /bin/bash | echo 'read line' > /tmp/.bashrc | : | 3 | a-plain did not answer within 20 s + reads, waits + ~/.bashrc
one that sleeps a little | /bin/bash | echo 'sleep 2' > /tmp/.bashrc | : | 0 | ok    ipv4
one that hands over to another | /bin/bash | echo 'exec sh' > /tmp/.bashrc | : | 3 | a-plain did not answer within 20 s + ~/.bashrc
no shell | /usr/sbin/nologin | : | : | 3 | a-plain answered 'This account is currently not available.'
slow sudo | /bin/sh | printf '#!/bin/sh\nsleep 40\n' > /usr/local/bin/sudo | rm /usr/local/bin/sudo | 0 | without root, so that nothing can be changed there (sudo did not answer within 5 s)
sudo that refuses | /bin/sh | printf '#!/bin/sh\necho sudo: no host a >&2; echo sudo: a password is required >&2; exit 1\n' > /usr/local/bin/sudo | rm /usr/local/bin/sudo | 0 | changed there (sudo: no host a sudo: a password is required)
a full directory | /bin/sh | mount -o remount,size=64k /tmp | mount -o remount,size=50% /tmp | 0 | ok    ipv4
a directory without programs | /bin/sh | mount -o remount,noexec /tmp | mount -o remount,exec /tmp | 0 | ok    ipv4
full directories | /bin/sh | for d in /tmp /var/tmp /dev/shm; do mount -o remount,size=64k $d; done | for d in /tmp /var/tmp /dev/shm; do mount -o remount,size=50% $d; done | 3 | a-plain: no directory takes netassay + /tmp has + KiB free; /var/tmp has + /dev/shm has + make room in one of them
";

/// ssh has 10 s for a connection, the login 20 s.
const BOUND: Duration = Duration::from_secs(40);

#[test]
#[ignore = "waits for logins that hang: unit tests prove what is said"]
fn what_stands_between_a_login_and_the_script_is_named_or_served() {
    let test = "what_stands_between_a_login_and_the_script_is_named_or_served";
    let Some(world) = World::bare(test) else { return };
    let (a, program) = (&world.machines.a, world.bench.path("netassay").display().to_string());
    a.sh("mount -t tmpfs -o mode=755 tmpfs /usr/local/bin");
    let (users, config) = (world.machines.path("passwd"), world.machines.ssh_config());
    let text = fs::read_to_string(&users).unwrap();
    let before = world.states();
    for case in CASES.lines().filter(|line| !line.is_empty()) {
        let columns: Vec<&str> = case.split('|').map(str::trim).collect();
        let [name, shell, made, undone, code, said] = columns[..] else { panic!("{case}") };
        if !fs::exists(shell).unwrap() {
            skip(test, &format!("{name}: it needs {shell}"));
            continue;
        }
        // The machines have this file mounted, so it is not replaced.
        fs::write(&users, text.replace(":4711::/tmp:/bin/sh", &format!(":4711::/tmp:{shell}"))).unwrap();
        a.sh(&format!("{made}; chmod -R a+rx /usr/local/bin"));
        let begun = Instant::now();
        let hosts = ["--transmitter", "a-plain:data0", "--receiver", "b:data0", "--ssh-config", &config];
        let done = world.machines.run(&[&[&*program, "doctor"][..], &hosts].concat());
        let took = begun.elapsed();
        let all = (stdout(&done) + &stderr(&done)).replace('"', "'");
        assert_eq!(done.status.code(), code.parse().ok(), "{name}: {all}");
        for part in said.split(" + ") {
            assert!(all.contains(part), "{name}: {part}: {all}");
        }
        assert!(took < BOUND, "{name}: {took:?}");
        a.sh(&format!("{undone}; rm -f /tmp/.bashrc /tmp/.cshrc"));
        world.expect_as_before(&before, Duration::from_secs(5));
    }
}
