use std::io::{Read as _, Write as _};

use super::*;

#[test]
fn ssh_asks_nothing_forwards_nothing_and_takes_the_host_for_a_host() {
    let config = Some(PathBuf::from("/etc/my config"));
    let launcher = Launcher::Ssh { destination: "root@a".into(), config };
    let PipedCommand { command, .. } = launcher.command("echo \"$1\"", &["it's"], Path::new("/run/x/%C"));
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
    assert_eq!((command.get_program().to_str(), &*words[1]), (Some("ssh"), "/etc/my config"));
    for option in [
        "BatchMode=yes",
        "StrictHostKeyChecking=yes",
        "UpdateHostKeys=no",
        "ForwardAgent=no",
        "ForwardX11=no",
        "ClearAllForwardings=yes",
        "Tunnel=no",
        "ControlMaster=auto",
    ] {
        assert!(words.iter().any(|word| word == option), "{option}");
    }
    let host = words.iter().position(|word| word == "root@a").unwrap();
    assert_eq!(words[host - 1], "--");
    assert_eq!(words[host + 1..], [r#"exec /bin/sh -c 'IFS= read -r s; eval "$(printf %b "$s")"' netassay"#]);
    // Characters that csh and fish interpret within quotation marks.
    assert!(!READ_SCRIPT.contains(['!', '\n', '\\', '\'']));
}

/// The shells that read more of a script than they must are dash and BusyBox's.
#[test]
fn any_shell_runs_the_script_and_leaves_its_input_to_it() {
    let script = "# it's\nprintf '%s|' \"$0\" \"$@\"\nprintf 'a\\tb\\\\\\n'\nexec cat\n";
    for shell in ["sh", "bash", "busybox sh"] {
        // In place of /bin/sh.
        let swap = format!("shift; exec {shell} \"$@\"");
        let launcher = Launcher::Words(["sh", "-c", &swap, "login"].map(str::to_owned).to_vec());
        let arguments = ["it's", "", "a\\nb!", "$x ä"];
        let command = launcher.command(script, &arguments, Path::new("s"));
        let (mut started, _stderr) = command.spawn().unwrap();
        let mut input = started.stdin.take().unwrap();
        let _ = input.write_all(b"further\ninput");
        drop(input);
        let mut printed = String::new();
        started.stdout.as_mut().unwrap().read_to_string(&mut printed).unwrap();
        let is_absent = started.wait().unwrap().code() == Some(127) && shell != "sh";
        let expected = "netassay|it's||a\\nb!|$x ä|a\tb\\\nfurther\ninput";
        assert!(is_absent || printed == expected, "{shell}: {printed}");
    }
    let line = line_of(script, &["x"]);
    assert!(line.starts_with('#') && line.find('\n') == Some(line.len() - 1), "{line}");
}

#[test]
fn a_host_is_named_as_it_can_be_given() {
    for text in ["a", "root@a", "root@[2001:db8::1]", "[fe80::1%mgmt]"] {
        let spec: crate::reach::HostSpec = text.parse().unwrap();
        assert_eq!(spec.launcher.unwrap().to_string(), text);
    }
}
