//! Offload features of a wire.

use std::collections::BTreeMap;
use std::process::Command;

use netassay_host::machine::{FeatureRequest, Interface, Machine, MachineRequest, Target};
use netassay_host::{Error, Ethtool, Features, HostEnvironment, Links, LocatedInterface, namespace};

use crate::devices::ip;
use crate::harness::{Stage, skipped};
use crate::wire::connect;

const TSO: &str = "tx-tcp-segmentation";
const TSO6: &str = "tx-tcp6-segmentation";
const CHECKSUM: &str = "tx-checksum-ip-generic";

fn requested(list: &[(&str, bool)]) -> BTreeMap<String, bool> {
    list.iter().map(|(name, on)| ((*name).to_owned(), *on)).collect()
}

/// Whether nothing changed beside what was asked for.
fn nothing_else(before: &Features, asked: &[&str], after: &Features) -> bool {
    before.iter().all(|(name, was)| asked.contains(&name.as_str()) || after[name] == *was)
}

pub(crate) fn set_and_read_back(stage: &mut Stage) {
    connect(stage);
    let mut ethtool = Ethtool::open().unwrap();
    let before = ethtool.features(&stage.here).unwrap();
    assert!(before[TSO6].active && before[TSO6].wanted && before[TSO6].changeable, "{:?}", before[TSO6]);

    let change = ethtool.set(&stage.here, &requested(&[(TSO6, false), ("rx-gro", true)])).unwrap();
    assert_eq!(change.refused, BTreeMap::new());
    assert!(nothing_else(&before, &[TSO6, "rx-gro"], &change.after));
    assert!(!change.after[TSO6].active && change.after["rx-gro"].active && change.after[TSO].active);
    assert_eq!(ethtool.features(&stage.here).unwrap(), change.after);

    let change = ethtool.set(&stage.here, &requested(&[(TSO6, true), ("rx-gro", false)])).unwrap();
    assert_eq!(change.refused, BTreeMap::new());
    assert_eq!(change.after, before);
    let nothing = ethtool.set(&stage.here, &requested(&[])).unwrap();
    assert_eq!(nothing.after, before);
}

pub(crate) fn dragged(stage: &mut Stage) {
    connect(stage);
    let mut ethtool = Ethtool::open().unwrap();
    let before = ethtool.features(&stage.here).unwrap();
    let change = ethtool.set(&stage.here, &requested(&[(CHECKSUM, false)])).unwrap();
    assert!(change.refused.is_empty());
    for feature in [TSO, TSO6] {
        assert!(before[feature].active);
        let state = change.after[feature];
        assert!(!state.active && state.wanted, "wanted all the time: {state:?}");
    }
    let change = ethtool.set(&stage.here, &requested(&[(TSO, true)])).unwrap();
    assert!(change.refused.len() == 1 && change.refused[TSO].contains("depends on"), "{:?}", change.refused);
    let change = ethtool.set(&stage.here, &requested(&[(CHECKSUM, true)])).unwrap();
    assert!(change.after[TSO].active, "{:?}", change.after[TSO]);
}

pub(crate) fn refused(stage: &mut Stage) {
    connect(stage);
    let mut ethtool = Ethtool::open().unwrap();
    let before = ethtool.features(&stage.here).unwrap();
    let fixed: Vec<&String> =
        before.iter().filter(|(_, state)| !state.changeable).map(|(name, _)| name).collect();
    assert!(fixed.len() > 5, "{fixed:?}");
    let mut asked: BTreeMap<String, bool> =
        fixed.iter().map(|name| ((*name).clone(), !before[*name].active)).collect();
    asked.insert("tx-by-pigeon".to_owned(), true);
    asked.insert(TSO.to_owned(), false);

    let change = ethtool.set(&stage.here, &asked).unwrap();
    assert!(!change.after[TSO].active, "what can be had is had all the same");
    assert_eq!(change.refused.len(), fixed.len() + 1);
    for (name, reason) in &change.refused {
        let expected = if name == "tx-by-pigeon" { "no such feature" } else { "[fixed]" };
        assert!(reason.contains(expected), "{name}: {reason}");
    }

    let error = ethtool.features("nothing").unwrap_err();
    assert!(matches!(&error, Error::NoInterface { name, .. } if name == "nothing"), "{error:?}");
    let error = ethtool.set("nothing", &asked).unwrap_err().to_string();
    assert!(error.contains("no interface \"nothing\""), "{error}");
    assert!(matches!(ethtool.features("a/b"), Err(Error::InterfaceName { .. })));
}

/// Features, states and `[fixed]` marks equal those that `ethtool` prints.
pub(crate) fn as_ethtool_says(stage: &mut Stage) {
    connect(stage);
    let mut ethtool = Ethtool::open().unwrap();
    ethtool.set(&stage.here, &requested(&[(CHECKSUM, false), ("rx-gro", true)])).unwrap();
    for interface in ["lo", &stage.here] {
        let output = match Command::new("ethtool").args(["-k", interface]).output() {
            Err(error) => return skipped("features_are_those_of_ethtool", &format!("ethtool: {error}")),
            Ok(output) => String::from_utf8(output.stdout).unwrap(),
        };
        let ours = ethtool.features(interface).unwrap();
        let mut compared = 0;
        for line in output.lines() {
            let Some((name, state)) = line.trim().split_once(": ") else { continue };
            let Some(our) = ours.get(kernel_name(name)) else { continue };
            compared += 1;
            assert_eq!(state.starts_with("on"), our.active, "{interface} {line:?} {our:?}");
            assert_eq!(state.contains("[fixed]"), !our.changeable, "{interface} {line:?} {our:?}");
            let requested = our.changeable && our.active != our.wanted;
            assert_eq!(state.contains("[requested"), requested, "{interface} {line:?} {our:?}");
        }
        // An ethtool older than the kernel leaves out nothing: it takes the names from the kernel.
        assert_eq!(compared, ours.len(), "{interface}\n{output}\n{ours:?}");
    }
}

/// A few features have older names in ethtool's output.
fn kernel_name(name: &str) -> &str {
    match name {
        "rx-checksumming" => "rx-checksum",
        "generic-segmentation-offload" => "tx-generic-segmentation",
        "generic-receive-offload" => "rx-gro",
        "large-receive-offload" => "rx-lro",
        "rx-vlan-offload" => "rx-vlan-hw-parse",
        "tx-vlan-offload" => "tx-vlan-hw-insert",
        "ntuple-filters" => "rx-ntuple-filter",
        "receive-hashing" => "rx-hashing",
        name => name,
    }
}

pub(crate) fn environment(stage: &mut Stage) {
    connect(stage);
    let sysfs = namespace::mount_sysfs();
    let environment = HostEnvironment::read(&[&stage.here], "0.0.0");
    let interface = environment.interfaces[&stage.here].as_ref().unwrap();
    assert_eq!(interface.link.name, stage.here);
    let long = "an-alternative-name-of-the-left-port";
    ip(&["link", "property", "add", "dev", &stage.here, "altname", long, "altname", "left"]);
    let mut links = Links::open().unwrap();
    for name in [stage.here.as_str(), long, "left"] {
        assert_eq!(links.find(name).unwrap().name, stage.here, "{name}");
        let found = LocatedInterface::find(Some(name), &[], None, None).unwrap();
        assert_eq!((found.interface, found.addresses.len()), (stage.here.clone(), 2), "{name}");
        let off = FeatureRequest { interface: name.to_owned(), features: vec![TSO.to_owned()], on: false };
        let wanted = MachineRequest { features: vec![off], ..MachineRequest::default() };
        let interface = Interface::find(&stage.here).unwrap();
        let feature = Target::Feature { interface, feature: TSO.to_owned() };
        assert_eq!(wanted.settings(&Machine::system()).unwrap(), [(feature, "off".to_owned())], "{name}");
    }
    let error = links.find(&long.replace("left", "right")).unwrap_err();
    assert!(matches!(error, Error::NoInterface { .. }), "{error}");
    assert_eq!(interface.features, Some(Ethtool::open().unwrap().features(&stage.here).unwrap()));
    match sysfs {
        Ok(()) => assert_eq!(interface.receive_steering.keys().collect::<Vec<_>>(), ["rx-0"]),
        Err(error) => skipped("environment_shows_this_namespace, steering", &error.to_string()),
    }
}
