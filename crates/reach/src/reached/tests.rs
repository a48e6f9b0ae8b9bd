//! Tests of the machines that are reached.

use std::path::Path;

use super::*;

/// A program that, called with the word `hold` and a time, reads its input to the end.
fn binary() -> Binary {
    Binary::read(std::path::Path::new("/usr/bin/tr")).unwrap()
}

/// A host that is this machine, by a command of words.
fn words() -> Launcher {
    Launcher::Words(vec!["env".to_owned(), "SSH_CONNECTION=192.0.2.1 40000 192.0.2.2 22".to_owned()])
}

fn connected(launcher: &Launcher, keep: bool) -> Result<Reached, Error> {
    let stay = Stay { keep, ..Stay::default() };
    Reached::connect(launcher, &binary(), stay, &Interrupt::new().unwrap())
}

#[test]
fn the_program_arrives_whole_and_goes_with_the_connection() {
    let reached = connected(&words(), false).unwrap();
    let connection = reached.connection.unwrap();
    assert_eq!(connection.controller.to_string(), "192.0.2.1");
    assert_eq!(connection.host.to_string(), "192.0.2.2");
    let directory = std::path::PathBuf::from(&reached.directory);
    let arrived = std::fs::read(directory.join("netassay")).unwrap();
    assert_eq!(arrived, binary().file.plain);
    assert!((1..binary().file.plain.len() as u64).contains(&reached.sent), "{}", reached.sent);
    let interrupt = Interrupt::new().unwrap();
    let brought = reached.bring(b"a kernel".to_vec(), &interrupt).unwrap();
    assert_eq!(std::fs::read(&brought).unwrap(), b"a kernel");
    assert_eq!(reached.bring(b"a kernel".to_vec(), &interrupt).unwrap(), brought);
    drop(reached);
    assert!(!directory.exists());
}

#[test]
fn a_host_that_hangs_is_waited_for_as_long_as_was_said() {
    // It answers, and then hangs once the program is run there: `$3` is the script.
    let hangs = "case \"$3\" in *'exec \"$p\"'*) echo here >&2; exec sleep 600;; *) exec \"$@\";; esac";
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
    let mut session =
        Session::start("the-host", Launcher::Words(words).command("", &[], Path::new("s"))).unwrap();
    let (soon, second) = (Instant::now() + Duration::from_secs(1), Duration::from_secs(1));
    let error = session.line(soon, second, &Interrupt::new().unwrap()).unwrap_err();
    assert!(error.to_string().contains("cannot reach the-host: it closed its output"), "{error}");
}

#[test]
fn a_program_that_is_gone_is_told_with_the_way_out() {
    let reached = connected(&words(), false).unwrap();
    std::fs::remove_dir_all(&reached.directory).unwrap();
    let ran = reached.run(&["agent"], Duration::from_secs(60), &Interrupt::new().unwrap()).unwrap();
    assert_eq!(ran.code, Some(1));
    assert!(ran.said.contains("no longer on this machine") && ran.said.contains("--resume"), "{ran:?}");
}

#[test]
fn what_the_program_prints_and_its_exit_code_come_back() {
    let reached = connected(&words(), false).unwrap();
    let ran = reached.run(&["a", "b"], Duration::from_secs(60), &Interrupt::new().unwrap()).unwrap();
    assert_eq!((ran.code, ran.printed), (Some(0), Vec::new()));
    let ran = reached.run(&[], Duration::from_secs(60), &Interrupt::new().unwrap()).unwrap();
    assert!(ran.code == Some(1) && ran.said.contains("missing operand"), "{ran:?}");
}

#[test]
fn a_kept_program_is_not_sent_again() {
    let home = tempfile::tempdir().unwrap();
    let cache = format!("XDG_CACHE_HOME={}", home.path().display());
    let launcher = Launcher::Words(vec!["env".to_owned(), cache]);
    assert!(connected(&launcher, true).unwrap().sent > 0);
    let again = connected(&launcher, true).unwrap();
    assert_eq!((again.sent, again.connection), (0, None));
    let place = std::path::PathBuf::from(&again.directory);
    let brought = again.bring(b"a kernel".to_vec(), &Interrupt::new().unwrap()).unwrap();
    assert!(std::path::Path::new(&brought).exists());
    drop(again);
    assert!(!std::path::Path::new(&brought).exists(), "only the program is kept");
    // A damaged one is replaced.
    std::fs::write(place.join("netassay"), "x").unwrap();
    assert!(connected(&launcher, true).unwrap().sent > 0);
    assert_eq!(std::fs::read(place.join("netassay")).unwrap(), binary().file.plain);
}

#[test]
fn two_hosts_may_share_the_place_where_it_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let cache = format!("XDG_CACHE_HOME={}", home.path().display());
    let launcher = Launcher::Words(vec!["env".to_owned(), cache]);
    let (all, keep) = ([&launcher; 4], Stay { keep: true, ..Stay::default() });
    let reached = Reached::connect_all(&all, &binary(), keep, &Interrupt::new().unwrap()).unwrap();
    let place = std::path::PathBuf::from(&reached[0].directory);
    assert_eq!(std::fs::read(place.join("netassay")).unwrap(), binary().file.plain);
    let left: Vec<_> = std::fs::read_dir(&place).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["netassay"]);
}

#[test]
fn what_is_in_the_way_is_named_with_its_host() {
    let said = |words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        connected(&Launcher::Words(words), false).unwrap_err().to_string()
    };
    let text = said(&["sh", "-c", "echo 'Host key verification failed.' >&2; exit 255", "x"]);
    assert!(text.starts_with("cannot reach sh -c") && text.contains("compare the key"), "{text}");
    let text = said(&["sh", "-c", "exit 3", "x"]);
    assert!(text.contains("exit status: 3"), "{text}");
    let text = said(&["sh", "-c", "echo Welcome; cat", "x"]);
    assert!(text.contains("answered \"Welcome\": does its shell print something at login?"), "{text}");
    let text = said(&["sh", "-c", "echo netassay m68k 0 0 no yes no /tmp/x; echo 'connection '; cat", "x"]);
    assert!(text.contains("architecture m68k") && text.contains("--agent-binary"), "{text}");
    let text = said(&["/nowhere/kubectl"]);
    assert!(text.contains("cannot start /nowhere/kubectl"), "{text}");
    let text = said(&["sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x; cat", "x"]);
    assert!(text.contains("what has no end"), "{text}");
}

#[test]
fn an_answer_has_its_seven_parts() {
    let answer = Answer::read("netassay x86_64 1000 1000 no yes no /tmp/a b").unwrap();
    let rights = Rights { user: 1000, capabilities: Some(1 << NET_ADMIN) };
    assert_eq!((answer.rights, answer.packed, answer.directory.as_str()), (rights, true, "/tmp/a b"));
    assert!(rights.has(NET_ADMIN) && !rights.has(SYS_ADMIN));
    let answer = Answer::read("netassay x86_64 0 unknown no yes no /tmp/a").unwrap();
    assert!(answer.rights.has(SYS_ADMIN));
    for line in [
        "",
        "netassay",
        "netassay x 0 0 no yes no",
        "netassay x 0 0 no maybe no /t",
        "netassay x -1 0 no no no /t",
        "netassay x 0 0x1 no no no /t",
    ] {
        assert_eq!(Answer::read(line), None, "{line}");
    }
}
