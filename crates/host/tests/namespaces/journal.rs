//! The undo journal on the running kernel: features of an interface and sysctls of a namespace.

use netassay_host::Ethtool;
use netassay_host::journal::Journal;
use netassay_host::machine::{FeatureWish, Machine, Target, Wishes};

use crate::harness::Stage;
use crate::wire::connect;

/// Checksums off drags segmentation off; both come back, and so does a sysctl.
pub(crate) fn undone(stage: &mut Stage) {
    connect(stage);
    let features = || Ethtool::open().unwrap().features(&stage.here).unwrap();
    let before = features();
    let machine = Machine::system();
    let ttl = Target::Sysctl { name: "net.ipv4.ip_default_ttl".to_owned() };
    let ttl_before = machine.read(&ttl).unwrap();
    let off = |names: &[&str]| FeatureWish {
        interface: stage.here.clone(),
        features: names.iter().map(|name| (*name).to_owned()).collect(),
        on: false,
    };
    let wishes = Wishes {
        sysctls: [("net.ipv4.ip_default_ttl".to_owned(), "77".to_owned())].into(),
        features: vec![off(&["tx-checksum-ip-generic", "tx-checksum-ipv4"]), off(&["tx-tcp6-segmentation"])],
        ..Wishes::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let undo = directory.path().join("undo");
    let mut journal = Journal::new(&undo, Machine::system());
    for (target, value) in wishes.settings(&machine).unwrap() {
        journal.change(&target, &value).unwrap();
    }
    let changed = features();
    assert!(!changed["tx-checksum-ip-generic"].active && !changed["tx-tcp-segmentation"].active);
    assert_eq!(machine.read(&ttl).unwrap(), "77");
    let done = journal.undo().unwrap();
    assert_eq!(done.len(), 3, "what this kernel lacks, and what was dragged along, is no change: {done:?}");
    assert_eq!(features(), before);
    assert_eq!(machine.read(&ttl).unwrap(), ttl_before);
    assert_eq!(std::fs::read_dir(&undo).unwrap().count(), 0);
    let lacking = Wishes { features: vec![off(&["nonsense"])], ..Wishes::default() };
    let text = lacking.settings(&machine).unwrap_err().to_string();
    assert!(text.contains("cannot switch nonsense"), "{text}");
}
