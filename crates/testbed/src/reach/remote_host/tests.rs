//! Tests of the machines that are reached.

use std::fs;
use std::io::{self, BufRead as _};
use std::ops::Range;
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use super::*;
use crate::console::Console;

/// A program that, called with the word `hold` and a time, reads its input to the end.
fn binary() -> Binary {
    Binary::read(std::path::Path::new("/usr/bin/tr")).unwrap()
}

/// A host that is this machine, by a command of words.
fn words() -> Launcher {
    Launcher::Words(vec!["env".to_owned(), "SSH_CONNECTION=192.0.2.1 40000 192.0.2.2 22".to_owned()])
}

fn connected(launcher: &Launcher, keep: bool) -> Result<RemoteHost, Error> {
    let stay = Retention { keep, ..Retention::default() };
    RemoteHost::connect(launcher, &binary(), stay, &Interrupt::new().unwrap())
}

#[test]
fn the_program_arrives_whole_and_goes_with_the_connection() {
    let reached = connected(&words(), false).unwrap();
    let connection = reached.connection.unwrap();
    assert_eq!(connection.controller.to_string(), "192.0.2.1");
    assert_eq!(connection.host.to_string(), "192.0.2.2");
    let directory = std::path::PathBuf::from(&reached.setup.directory);
    let arrived = std::fs::read(directory.join("netassay")).unwrap();
    assert_eq!(arrived, binary().plain);
    assert!(!reached.setup.has);
    let interrupt = Interrupt::new().unwrap();
    let brought = reached.bring(b"a kernel".to_vec(), &interrupt).unwrap();
    assert_eq!(std::fs::read(&brought).unwrap(), b"a kernel");
    assert_eq!(reached.bring(b"a kernel".to_vec(), &interrupt).unwrap(), brought);
    drop(reached);
    assert!(!directory.exists());
}

#[test]
fn a_host_that_hangs_is_waited_for_as_long_as_was_said() {
    // It answers, and then hangs once the program is run there.
    let hangs = "IFS= read -r s; case \"$s\" in *'exec \"$p\"'*) echo here >&2; exec sleep 600;; \
                 *) { printf '%s\\n' \"$s\"; exec cat; } | \"$@\";; esac";
    let words = ["sh", "-c", hangs, "the-host"].map(str::to_owned).to_vec();
    let reached = connected(&Launcher::Words(words), false).unwrap();
    let begun = Instant::now();
    let error = reached.run(&["doctor"], Duration::from_secs(1), &Interrupt::new().unwrap()).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("the-host did not answer within 1 s; it said: here"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    // One that closes its output, and goes on.
    let goes_on = "exec sh -c 'exec >&- 2>&-; sleep 600'";
    let words = ["sh", "-c", goes_on].map(str::to_owned).to_vec();
    let command = Launcher::Words(words).command("", &[], Path::new("s"));
    let mut session =
        ScriptSession::start("the-host", command, Duration::from_secs(1), &Interrupt::new().unwrap())
            .unwrap();
    let error = session.line().unwrap_err();
    assert!(error.to_string().contains("the-host: it closed its output"), "{error}");
}

#[test]
fn a_program_that_is_gone_is_told_with_the_way_out() {
    let reached = connected(&words(), false).unwrap();
    std::fs::remove_dir_all(&reached.setup.directory).unwrap();
    let ran = reached.run(&["agent"], Duration::from_secs(60), &Interrupt::new().unwrap()).unwrap();
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("no longer on this machine") && ran.stderr.contains("--resume"), "{ran:?}");
}

#[test]
fn what_the_program_prints_and_its_exit_code_come_back() {
    let reached = connected(&words(), false).unwrap();
    let ran = reached.run(&["a", "b"], Duration::from_secs(60), &Interrupt::new().unwrap()).unwrap();
    assert_eq!((ran.code, ran.stdout), (Some(0), Vec::new()));
    let ran = reached.run(&[], Duration::from_secs(60), &Interrupt::new().unwrap()).unwrap();
    assert!(ran.code == Some(1) && ran.stderr.contains("missing operand"), "{ran:?}");
}

/// A host that is this machine, with this directory for the program.
fn placed(place: &Path) -> Launcher {
    Launcher::Words(vec!["env".to_owned(), format!("TMPDIR={}", place.display())])
}

/// The names in a directory, in their order.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

// Moments of a connection, in ms. From [`SENDING`] on the program is sent, and a part of it there.
const MOMENTS: Range<u64> = 0..60;
const SENDING: u64 = 40;

/// The scripts that run on the host at such a moment.
fn running(launcher: &Launcher, moment: u64) -> Vec<(Child, Console)> {
    let start =
        |script, arguments: &[&str]| launcher.command(script, arguments, Path::new("s")).spawn().unwrap();
    let sum = &binary().sum;
    let mut keeper = start(KEEP, &[sum, "drop", "60s", "1"]);
    if moment < SENDING {
        thread::sleep(Duration::from_millis(moment));
        return vec![keeper];
    }
    let line = io::BufReader::new(keeper.0.stdout.as_mut().unwrap()).lines().nth(1).unwrap().unwrap();
    let directory = SetupAnswer::read(&line).unwrap().directory;
    let mut sending = start(TAKE, &[&directory, sum, "netassay"]);
    sending.0.stdin.as_mut().unwrap().write_all(&binary().plain[..10_000]).unwrap();
    thread::sleep(Duration::from_millis(moment - SENDING));
    vec![keeper, sending]
}

#[test]
fn a_controller_that_is_killed_at_any_moment_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    for moment in MOMENTS.step_by(4) {
        let running = running(&placed(place.path()), moment).into_iter();
        let mut processes: Vec<Child> = running.map(|(process, _)| process).collect();
        // The end of a process closes its ends of all pipes.
        processes.iter_mut().for_each(|process| drop((process.stdin.take(), process.stdout.take())));
        for mut process in processes {
            process.wait().unwrap();
        }
        assert_eq!(names(place.path()), [""; 0], "after {moment} ms");
    }
}

#[test]
fn what_a_kill_left_goes_with_the_next_connection_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let (launcher, path) = (placed(place.path()), |name: &str| place.path().join(name));
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap()[..8].to_owned();
    let make = |name: &str, file: &str| {
        fs::create_dir(path(name)).unwrap();
        fs::write(path(name).join(file), "").unwrap();
        name.to_owned()
    };
    let live = connected(&launcher, false).unwrap();
    let mut stay = vec![
        make(&format!("netassay.{boot}.docs00"), "thesis.tex"),
        make("netassay.20261129.backup", "netassay"),
        make("netassay.00000000.other0", "lock"),
        make("elsewhere", "lock"),
        live.setup.directory.rsplit('/').next().unwrap().to_owned(),
        format!("netassay.{boot}.link00"),
    ];
    symlink(path("elsewhere"), path(stay.last().unwrap())).unwrap();
    if is_root() {
        stay.push(make(&format!("netassay.{boot}.theirs"), "lock"));
        lchown(path(stay.last().unwrap()), Some(65534), None).unwrap();
    }
    stay.sort();
    for moment in MOMENTS.step_by(4) {
        for (mut process, _) in running(&launcher, moment) {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
    let old = make("netassay.00000000.old000", "lock");
    assert!(Command::new("touch").args(["-d", "40 days ago"]).arg(path(&old)).status().unwrap().success());
    assert!(names(place.path()).len() > stay.len() + 1);
    drop(connected(&launcher, false).unwrap());
    assert_eq!(names(place.path()), stay);
    assert!(live.run(&["a", "b"], Duration::from_secs(60), &Interrupt::new().unwrap()).is_ok());
}

#[test]
fn a_session_that_is_refused_early_does_not_go_on() {
    let place = tempfile::tempdir().unwrap();
    let number = place.path().join("number");
    for answer in ["Welcome", "'connection '", "'connection '; echo netassay m68k 0 0 no no /x; echo 'sudo '"]
    {
        let script = format!("echo $$ > {}; echo {answer}; echo; exec sleep 600", number.display());
        let words = ["sh", "-c", &script].map(str::to_owned).to_vec();
        connected(&Launcher::Words(words), false).unwrap_err();
        let number = fs::read_to_string(&number).unwrap();
        assert!(!Path::new("/proc").join(number.trim()).exists(), "{answer}");
    }
}

/// A host that is this machine, whose cache is this directory, and the place of the kept program.
fn caching(cache: &Path) -> (Launcher, PathBuf) {
    let words = vec!["env".to_owned(), format!("XDG_CACHE_HOME={}", cache.display())];
    (Launcher::Words(words), cache.join("netassay/agents").join(&binary().sum).join("netassay"))
}

#[test]
fn a_kept_program_is_not_sent_again() {
    let home = tempfile::tempdir().unwrap();
    let (launcher, kept) = caching(home.path());
    assert!(!connected(&launcher, true).unwrap().setup.has);
    let again = connected(&launcher, true).unwrap();
    assert!(again.setup.has);
    assert_eq!(again.connection, None);
    // The connection runs a copy: a change of the kept program does not reach it.
    assert!(!Path::new(&again.setup.directory).starts_with(home.path()), "{}", again.setup.directory);
    fs::write(&kept, "x").unwrap();
    assert_eq!(fs::read(Path::new(&again.setup.directory).join("netassay")).unwrap(), binary().plain);
    let brought = again.bring(b"a kernel".to_vec(), &Interrupt::new().unwrap()).unwrap();
    assert!(Path::new(&brought).exists());
    drop(again);
    assert!(!Path::new(&brought).exists(), "only the program is kept");
    // A damaged one is replaced, and what is no file is not read.
    for plant in ["printf x >", "rm -f", "rm -f \"$0\"; mkfifo", "ln -sf /dev/zero"] {
        let status = Command::new("sh").args(["-c", &format!("{plant} \"$0\"")]).arg(&kept).status().unwrap();
        assert!(status.success());
        assert!(!connected(&launcher, true).unwrap().setup.has, "{plant}");
        assert_eq!(fs::read(&kept).unwrap(), binary().plain, "{plant}");
    }
}

#[test]
fn two_hosts_may_share_the_place_where_it_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let (launcher, kept) = caching(home.path());
    let (all, keep) = ([&launcher; 4], Retention { keep: true, ..Retention::default() });
    drop(RemoteHost::connect_all(&all, &binary(), keep, &Interrupt::new().unwrap()).unwrap());
    assert_eq!(fs::read(&kept).unwrap(), binary().plain);
    let left: Vec<_> =
        fs::read_dir(kept.parent().unwrap()).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["netassay"]);
}

#[test]
fn a_program_is_kept_only_where_nobody_else_can_have_put_it() {
    let home = tempfile::tempdir().unwrap();
    let said = |cache: &Path| connected(&caching(cache).0, true).unwrap_err().to_string();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    // In each directory on the way, and through a link to it.
    for place in ["a", "a/b", "a/b/netassay", "a/b/netassay/agents"] {
        let (open, cache) = (home.path().join(place), home.path().join("a/b"));
        fs::create_dir_all(&open).unwrap();
        fs::create_dir_all(&cache).unwrap();
        let link = home.path().join("link");
        symlink(&cache, &link).unwrap();
        mode(&open, 0o777);
        for cache in [&cache, &link] {
            let text = said(cache);
            assert!(text.contains("cannot keep netassay in") && text.contains("others may write"), "{text}");
            assert!(text.contains("--keep-agent"), "{text}");
        }
        // As in /tmp, nobody can replace the directory of another one.
        mode(&open, 0o1777);
        if is_root() && place != "a/b/netassay/agents" {
            let theirs = home.path().join("a/b/netassay");
            fs::create_dir_all(&theirs).unwrap();
            lchown(&theirs, Some(65534), None).unwrap();
            let text = said(&cache);
            assert!(text.contains("netassay belongs to user 65534"), "{text}");
            lchown(&theirs, Some(0), None).unwrap();
        }
        assert!(connected(&caching(&cache).0, true).is_ok());
        fs::remove_file(&link).unwrap();
        fs::remove_dir_all(home.path().join("a")).unwrap();
    }
    if is_root() {
        let link = home.path().join("theirs");
        symlink(home.path(), &link).unwrap();
        lchown(&link, Some(65534), None).unwrap();
        assert!(said(&link).contains("theirs belongs to user 65534"), "{}", said(&link));
    }
    let text = said(Path::new("relative"));
    assert!(text.contains("does not begin with /"), "{text}");
}

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

#[test]
fn what_is_in_the_way_is_named_with_its_host() {
    let said = |words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        connected(&Launcher::Words(words), false).unwrap_err().to_string()
    };
    let guard = "case $- in *i*) ;; *) return ;; esac";
    let text = said(&["sh", "-c", "echo 'No such container: c1' >&2; exit 1", "x"]);
    assert!(text.starts_with("cannot reach sh -c") && text.ends_with(": No such container: c1"), "{text}");
    let text = said(&["sh", "-c", "exit 3", "x"]);
    assert!(text.contains(": exit status: 3; ") && text.contains(guard), "{text}");
    let text = said(&["sh", "-c", "echo Welcome; cat", "x"]);
    assert!(text.contains("answered \"Welcome\", and not") && text.contains(guard), "{text}");
    let text = said(&["sh", "-c", "echo 'connection '; echo no space >&2; exit 1", "host"]);
    assert!(text.starts_with("sh -c") && text.ends_with("host: no space"), "{text}");
    let m68k = "echo 'connection '; echo netassay m68k 0 0 no no /tmp/x; echo 'sudo '; cat";
    let text = said(&["sh", "-c", m68k, "x"]);
    assert!(text.contains("architecture m68k") && text.contains("--agent-binary"), "{text}");
    let text = said(&["/nowhere/kubectl"]);
    assert!(text.contains("cannot start /nowhere/kubectl"), "{text}");
    let text = said(&["sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x; cat", "x"]);
    assert!(text.contains("what has no end"), "{text}");
}

/// The answer of the first script of a connection, where programs are first looked for in this
/// directory.
fn answer_of_keep(first: &Path, room: &str) -> Output {
    let path = format!("{}:{}", first.display(), std::env::var("PATH").unwrap());
    let words = ["-c", KEEP, "netassay", "0", "drop", "15000ms", room];
    Command::new("sh").args(words).env("PATH", path).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn sudo_is_bounded_and_quoted_in_one_line() {
    let programs = tempfile::tempdir().unwrap();
    let place = |name: &str, text: &str| {
        let path = programs.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    place("id", "echo 1000");
    for (sudo, is_root, why) in [
        ("exit 0", "yes", ""),
        ("sleep 0.1; echo lecture >&2", "yes", ""),
        (
            "printf 'sudo: no host a\\nsudo:  a password\\n' >&2; exit 1",
            "no",
            "sudo: no host a sudo: a password",
        ),
        ("exit 1", "no", "sudo refuses"),
        // The bound is 5 s, as long as that takes here.
        ("exec /bin/sleep 3", "no", "sudo did not answer within 5 s"),
    ] {
        place("sudo", sudo);
        if sudo.contains("/bin/sleep") {
            place("sleep", "exit 0");
        }
        let done = answer_of_keep(programs.path(), "1");
        let said = String::from_utf8(done.stdout).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        let answer = SetupAnswer::read(lines[1]).unwrap();
        assert_eq!((answer.by_sudo, lines[2]), (is_root == "yes", &*format!("sudo {why}")), "{sudo}: {said}");
        assert!(done.status.success() && !Path::new(&answer.directory).exists(), "{sudo}");
    }
}

#[test]
fn directories_without_room_are_named() {
    let done = answer_of_keep(Path::new("/"), "9999999999999");
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.starts_with("no directory takes netassay (9999999999999 KiB): "), "{said}");
    assert!(
        said.contains("/tmp has ")
            && said.ends_with("; make room in one of them, or name another one in TMPDIR\n"),
        "{said}"
    );
    assert_eq!(done.status.code(), Some(1));
}

#[test]
fn an_answer_has_its_six_parts() {
    let answer = SetupAnswer::read("netassay x86_64 1000 1000 no no /tmp/a b").unwrap();
    assert_eq!((answer.user, answer.has, answer.directory.as_str()), (1000, false, "/tmp/a b"));
    assert!(answer.has_capability(NET_ADMIN) && !answer.has_capability(SYS_ADMIN));
    let answer = SetupAnswer::read("netassay x86_64 0 unknown no no /tmp/a").unwrap();
    assert!(answer.has_capability(SYS_ADMIN));
    for line in [
        "",
        "netassay",
        "netassay x 0 0 no no",
        "netassay x 0 0 no maybe /t",
        "netassay x -1 0 no no /t",
        "netassay x 0 0x1 no no /t",
    ] {
        assert_eq!(SetupAnswer::read(line), None, "{line}");
    }
}
