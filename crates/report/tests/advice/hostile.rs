//! Names of others stay names, whatever the rendering; and the script is one that shells accept.

use std::io::Write as _;
use std::process::{Command, Stdio};

use netassay_report::views;
use results::advice::{Advice, AdviceGoal};

use crate::made::{advice, named as study_named, wide};

const NAMES: [&str; 6] = [
    "$(touch /tmp/owned)",
    "`id`; rm -rf ~ #",
    "'; echo owned; '",
    "line\nowned\r\u{1b}[2J\u{202e}",
    "</summary><script>alert(1)</script> | x | [a](b) @all #1",
    "-rf",
];

/// The advice of a study in which every text of others is this.
fn named(name: &str) -> Advice {
    advice(&study_named(name), &[AdviceGoal::Throughput, AdviceGoal::Cpu])
}

#[test]
fn a_name_is_one_line_of_text_and_no_markup() {
    for name in NAMES {
        let found = named(name);
        let text = wide(&found);
        assert!(!text.contains(['\u{1b}', '\r', '\u{202e}']), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("owned")), "{text}");
    }
}

/// The lines of the script that a shell may run.
fn commands(script: &str) -> Vec<&str> {
    script.lines().filter(|line| !line.trim_start().starts_with('#')).collect()
}

#[test]
fn a_name_reaches_no_command_of_the_script() {
    let plain = views::advice_script(&named("plain"));
    for name in NAMES {
        let script = views::advice_script(&named(name));
        assert_eq!(commands(&script), commands(&plain), "{name:?}");
    }
}

/// Runs the script with these arguments in an empty directory, with programs that only say what
/// they were called with: the code, and what was printed.
fn run(script: &str, folder: &std::path::Path, arguments: &[&str]) -> (i32, String) {
    let programs = folder.join("bin");
    std::fs::create_dir_all(&programs).unwrap();
    let state = folder.join("state");
    // Features read back what was set last, and are off at first.
    let ethtool = format!(
        "#!/bin/sh\ncase $1 in\n-k) printf '%s: %s\\n' tcp-segmentation-offload \"$(cat {0} 2>/dev/null || echo off)\" ;;\n-K) echo \"called: $*\"; echo \"$4\" >{0} ;;\nesac\n",
        state.display()
    );
    let program = programs.join("ethtool");
    std::fs::write(&program, ethtool).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    std::fs::write(folder.join("advice.sh"), script).unwrap();
    let output = Command::new("sh")
        .arg("advice.sh")
        .args(arguments)
        .current_dir(folder)
        .env("PATH", path)
        .env("IF", "eth0")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

#[test]
fn the_script_changes_nothing_unless_it_is_told_to_and_undoes_what_it_did() {
    let script = views::advice_script(&named("plain"));
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("netassay-advice.undo");
    for arguments in [&[][..], &["apply"], &["help"], &["undo", "transmitter"]] {
        let (code, text) = run(&script, folder.path(), arguments);
        assert_eq!(code, 2, "{text}");
        assert!(text.starts_with("usage:") && !text.contains("called:") && !journal.exists(), "{text}");
    }
    let (code, text) = run(&script, folder.path(), &["apply", "transmitter"]);
    assert_eq!((code, text.as_str()), (0, "called: -K eth0 tso on\neth0: tso is now on\n"));
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), "feature eth0 tso tcp-segmentation-offload off\n");
    let (code, text) = run(&script, folder.path(), &["apply", "transmitter"]);
    assert_eq!((code, text.as_str()), (0, "eth0: tso is on already\n"));
    let (code, text) = run(&script, folder.path(), &["undo"]);
    assert_eq!((code, text.as_str()), (0, "called: -K eth0 tso off\n"));
    assert!(!journal.exists());
    let (code, text) = run(&script, folder.path(), &["undo"]);
    assert!(code == 1 && text.contains("there is nothing to undo"), "{text}");
    // What others may lay there in a shared directory.
    let precious = folder.path().join("precious");
    std::fs::write(&precious, "precious").unwrap();
    std::os::unix::fs::symlink(&precious, &journal).unwrap();
    for arguments in [&["apply", "transmitter"][..], &["undo"]] {
        let (code, text) = run(&script, folder.path(), arguments);
        assert!(
            code == 1 && text.contains("is no regular file of yours") && !text.contains("called:"),
            "{text}"
        );
    }
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    std::fs::remove_file(&journal).unwrap();
    let (code, text) = run(&script, folder.path(), &["apply", "receiver"]);
    assert!(code == 0 && text.contains("nothing is recommended for this host"), "{text}");
}

#[test]
fn shellcheck_accepts_the_script() {
    let is_there = Command::new("shellcheck").arg("--version").stdout(Stdio::null()).status();
    if is_there.is_err() {
        assert!(std::env::var_os("CI").is_none(), "shellcheck is not installed");
        eprintln!("SKIPPED: shellcheck_accepts_the_script: shellcheck is not installed");
        return;
    }
    for name in NAMES.iter().chain(&["plain"]) {
        let script = views::advice_script(&named(name));
        let mut child = Command::new("shellcheck")
            .args(["--shell=sh", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
