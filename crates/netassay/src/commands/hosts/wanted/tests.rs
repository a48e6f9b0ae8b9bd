use std::fs;

use super::*;
use crate::cli::Login;

fn file(text: &str) -> Result<Option<HostFlags>, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hosts.toml");
    fs::write(&path, text).unwrap();
    let login = Login { ssh_config: Some("/etc/other".into()), agent_binary: None };
    let flags = HostFlags { hosts: Some(path), login, ..HostFlags::default() };
    read(&flags).map_err(|failure| failure.to_string())
}

#[test]
fn a_file_of_hosts_names_them_by_ssh_or_by_any_command() {
    let wanted = file(
            "addresses = \"own\"\nlease = \"5s\"\n[transmitter]\nssh = \"root@a:eth0\"\n[receiver]\nlaunch = [\"docker\", \"exec\", \"-i\", \"c1\"]\ninterface = \"eth1\"\n",
        )
        .unwrap()
        .unwrap();
    assert_eq!(wanted.addresses, Some(AddressesOf::Own));
    assert_eq!(wanted.lease, Some(Duration::from_secs(5)));
    let transmitter = wanted.transmitter.unwrap();
    let config = Some("/etc/other".into());
    assert_eq!(transmitter.launcher, Some(Launcher::Ssh { destination: "root@a".into(), config }));
    let receiver = wanted.receiver.unwrap();
    assert_eq!(
        (receiver.launcher.unwrap().to_string().as_str(), receiver.interface.as_deref()),
        ("docker exec -i c1", Some("eth1"))
    );
    let text =
        "[transmitter]\ninterface = \"eth0\"\n[receiver]\nssh = \"b\"\nconsole = [\"tail\", \"-F\", \"x\"]\n";
    let wanted = file(text).unwrap().unwrap();
    assert!(wanted.transmitter.unwrap().launcher.is_none());
    let management = wanted.receiver.unwrap().management;
    assert_eq!((management.console.len(), management.power.len()), (3, 0));
}

const PAIR: &str = "[[pair]]\nname = \"a\"\ntransmitter = { ssh = \"x\" }\nreceiver = { ssh = \"y\" }\n";

const OTHER: &str = "[[pair]]\nname = \"b\"\ntransmitter = { ssh = \"v\" }\nreceiver = { ssh = \"w\" }\n";

/// A launcher may choose the machines itself.
#[test]
fn the_same_launcher_is_no_same_pair() {
    let pair = |name: &str| {
        format!(
            "[[pair]]\nname = \"{name}\"\ntransmitter = {{ launch = [\"srun\", \"-r0\"] }}\nreceiver = {{ launch = [\"srun\", \"-r1\"] }}\n"
        )
    };
    let error = file(&format!("{}{}", pair("a"), pair("b"))).map(|_| ()).unwrap_err();
    assert!(error.contains("2 pairs: choose one"), "{error}");
}

#[test]
fn ten_thousand_pairs_are_read() {
    use std::fmt::Write as _;
    let mut text = String::new();
    for pair in 0..10_000 {
        write!(
            text,
            "[[pair]]\nname = \"p{pair}\"\ntransmitter = {{ ssh = \"root@a{pair}:ens1\" }}\nreceiver = {{ ssh = \"root@b{pair}:ens1\" }}\nlabels = {{ rack = \"{}\" }}\n",
            pair / 40
        )
        .unwrap();
    }
    let error = file(&text).map(|_| ()).unwrap_err();
    assert!(error.contains("names 10000 pairs: choose one with --pair p0"), "{error}");
}

#[test]
fn the_only_pair_of_a_file_needs_no_choice() {
    let wanted = file(PAIR).unwrap().unwrap();
    assert_eq!(wanted.receiver.unwrap().launcher.unwrap().to_string(), "y");
}

#[test]
fn a_wrong_file_of_hosts_is_named_with_what_is_wrong() {
    for (text, why) in [
        ("", "hosts.toml names no machine: add [transmitter] and [receiver]"),
        ("[transmitter]\n", "for this machine give `interface` alone"),
        ("[transmitter]\nssh = \"a\"\nlaunch = [\"x\"]\n", "`launch = [\"COMMAND\", …]`, not both"),
        ("[receiver]\nlaunch = []\n", "a host has `ssh"),
        (
            "[receiver]\nssh = \"a\"\ninterface = \"e/../th\"\n",
            "`e/../th` cannot be the name of an interface",
        ),
        ("[receiver]\nssh = \"a\"\npower = []\n", "this is no command"),
        ("[receiver]\nssh = \"a\"\nconsole = [\"\", \"x\"]\n", "this is no command"),
        ("[receiver]\nssh = \"a\"\nconsole = [\"a\\u0000\"]\n", "this is no command"),
        ("[receiver]\nssh = \"a\"\nconsole = \"tail -F x\"\n", "invalid type"),
        ("[receiver]\ninterface = \"eth0\"\npower = [\"x\"]\n", "netassay runs on it"),
        ("[receiver]\ninterface = \"eth0\"\n", "both ends are this machine"),
        ("[receiver]\nssh = \"-oProxyCommand=x\"\n", "begins with \"-\""),
        ("[sender]\nssh = \"a\"\n", "unknown field"),
        ("addresses = \"mine\"\n", "unknown variant"),
        ("pair = [1]\n", "expected a table of a pair"),
        ("receiver = \"a\"\n", "expected a table of a host"),
        ("[[pair]]\nname = \"a\"\n", "missing field"),
        (&format!("{PAIR}{PAIR}"), "pair \"a\": two pairs have this name"),
        (&PAIR.replace("\"a\"", "\"../a\""), "a name has 1 to 64 letters"),
        (&PAIR.replace("\"y\"", "\"x\""), "its transmitter and its receiver are the same"),
        (&format!("{PAIR}{OTHER}"), "2 pairs: choose one with --pair a"),
        (
            &format!("{PAIR}{}", PAIR.replace("\"a\"", "\"b\"")),
            "pair \"b\": its machines are those of pair \"a\", and would count twice",
        ),
        (
            &format!(
                "{PAIR}{}",
                PAIR.replace("\"a\"", "\"b\"").replace("\"x\"", "\"x\", console = [\"cat\"]")
            ),
            "pair \"b\": its machines are those of pair \"a\", and would count twice",
        ),
        (&PAIR.replace("\"y\"", "\"x\", power = [\"cat\"]"), "its transmitter and its receiver are the same"),
        (
            &PAIR.replace("\"a\"", &format!("\"{}\"", "n".repeat(1000))),
            &format!("pair \"{}\": ", "n".repeat(64)),
        ),
        (&format!("{PAIR}labels = {{ {} = \"\" }}\n", "k".repeat(1000)), &format!("{}\" is", "k".repeat(64))),
        (
            &format!("{PAIR}reference = true\n{OTHER}reference = true\n"),
            "pair \"b\": `reference = true` stands at pair \"a\" too",
        ),
        (&format!("{PAIR}[transmitter]\nssh = \"z\"\n"), "beside [transmitter]"),
        ("lease = \"1s\"\n[receiver]\nssh = \"a\"\n", "a lease is 2 to 30 s"),
    ] {
        let error = file(text).map(|_| ()).unwrap_err();
        assert!(error.contains("hosts.toml") && error.contains(why), "{text}: {error}");
    }
}
