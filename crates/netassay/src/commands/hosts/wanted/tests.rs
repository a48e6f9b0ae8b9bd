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
    let wanted = file("[transmitter]\ninterface = \"eth0\"\n[receiver]\nssh = \"b\"\n").unwrap().unwrap();
    assert!(wanted.transmitter.unwrap().launcher.is_none());
}

const PAIR: &str = "[[pair]]\nname = \"a\"\ntransmitter = { ssh = \"x\" }\nreceiver = { ssh = \"y\" }\n";

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
        ("[receiver]\ninterface = \"eth0\"\n", "both ends are this machine"),
        ("[receiver]\nssh = \"-oProxyCommand=x\"\n", "begins with \"-\""),
        ("[sender]\nssh = \"a\"\n", "unknown field"),
        ("addresses = \"mine\"\n", "unknown variant"),
        ("[[pair]]\nname = \"a\"\n", "missing field"),
        (&format!("{PAIR}{PAIR}"), "pair \"a\": two pairs have this name"),
        (&PAIR.replace("\"a\"", "\"../a\""), "a name has 1 to 64 letters"),
        (&PAIR.replace("\"y\"", "\"x\""), "its transmitter and its receiver are the same"),
        (&format!("{PAIR}{}", PAIR.replace("\"a\"", "\"b\"")), "2 pairs: choose one with --pair a"),
        (&format!("{PAIR}[transmitter]\nssh = \"z\"\n"), "beside [transmitter]"),
        ("lease = \"1s\"\n[receiver]\nssh = \"a\"\n", "a lease is 2 to 30 s"),
    ] {
        let error = file(text).map(|_| ()).unwrap_err();
        assert!(error.contains("hosts.toml") && error.contains(why), "{text}: {error}");
    }
}
