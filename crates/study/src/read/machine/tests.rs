use words::{Placement, Side};

use crate::Study;
use crate::model::{MachineTuning, Machines};

const STUDY: &str =
    "name = \"x\"\nquestion = \"y\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n";

fn read(table: &str) -> Result<Machines, String> {
    let study = Study::parse("x.toml", &format!("{STUDY}{table}"));
    study.map(|study| study.machine.clone()).map_err(|problems| problems.to_string())
}

#[test]
fn a_study_without_the_table_wants_nothing() {
    assert!(read("").unwrap().is_empty());
}

#[test]
fn everything_is_read() {
    let machine = read(
            "[machine]\nsysctl = { \"net.core.rmem_max\" = 8388608, \"net.ipv4.tcp_rmem\" = \"4096 131072 6291456\" }\n\
             governor = \"performance\"\nirq_affinity = { eth0 = [1, 0] }\nfeatures = { eth0 = { tso = false, gro = \"on\" } }\n",
        )
        .unwrap();
    assert_eq!(machine.both.sysctl["net.core.rmem_max"], "8388608");
    assert_eq!(machine.both.sysctl["net.ipv4.tcp_rmem"], "4096 131072 6291456");
    assert_eq!(machine.both.governor.as_deref(), Some("performance"));
    assert_eq!(machine.both.irq_affinity["eth0"], [0, 1]);
    let features = machine.both.kernel_features();
    assert_eq!(features[0], ("eth0", vec!["rx-gro"], true));
    assert!(features[1].1.contains(&"tx-tcp-segmentation") && !features[1].2);
}

#[test]
fn the_machine_of_one_side_may_differ() {
    let machines = read(
            "[machine]\ngovernor = \"performance\"\ncpu_latency = 0\nplacement = { irq = 0, traffic = 1 }\n\
             sysctl = { \"net.core.rmem_max\" = 1, \"net.core.wmem_max\" = 1 }\nfeatures = { eth0 = { tso = false, gro = false } }\n\
             [machine.receiver]\ncpu_latency = 50\nsysctl.net.core.wmem_max = 2\nfeatures = { eth0 = { gro = true } }\n\
             placement = { irq = 2, traffic = 3 }\n",
        )
        .unwrap();
    assert_eq!(machines.for_side(Side::Transmitter), machines.both);
    let receiver = machines.for_side(Side::Receiver);
    assert_eq!((receiver.governor.as_deref(), receiver.cpu_latency), (Some("performance"), Some(50)));
    assert_eq!(receiver.placement, Some(Placement { irq: 2, traffic: 3 }));
    assert_eq!(
        (receiver.sysctl["net.core.rmem_max"].as_str(), receiver.sysctl["net.core.wmem_max"].as_str()),
        ("1", "2")
    );
    assert_eq!(receiver.features["eth0"], [("gro".to_owned(), true), ("tso".to_owned(), false)].into());
    assert_eq!(machines.of_two_machines(), ["[machine.receiver]", "placement"]);
    let one = Machines {
        both: MachineTuning { cpu_latency: Some(0), ..MachineTuning::default() },
        ..Machines::default()
    };
    assert_eq!(one.of_two_machines(), [""; 0]);
    assert!(!one.is_empty());
}

#[test]
fn a_sysctl_may_be_empty_or_long() {
    let long = "1024,".repeat(1000);
    let table = format!("[machine.sysctl]\nnet.ipv4.tcp_rmem = \"\"\nnet.ipv4.tcp_wmem = \"{long}\"\n");
    let machine = read(&table).unwrap();
    assert_eq!(
        (
            machine.both.sysctl["net.ipv4.tcp_rmem"].as_str(),
            machine.both.sysctl["net.ipv4.tcp_wmem"].as_str()
        ),
        ("", long.as_str())
    );
    let longer = format!("[machine.sysctl]\nnet.ipv4.tcp_rmem = \"{}\"\n", "1".repeat(70_000));
    assert!(read(&longer).unwrap_err().contains("at most 65536 bytes"));
}

#[test]
fn dotted_names_of_sysctls_need_no_quotes() {
    let machine = read("[machine.sysctl]\nnet.core.rmem_max = 1\nnet.core.wmem_max = 0x10\n").unwrap();
    assert_eq!(machine.both.sysctl["net.core.rmem_max"], "1");
    assert_eq!(machine.both.sysctl["net.core.wmem_max"], "16");
}

#[test]
fn what_is_wrong_is_reported_with_the_way_out() {
    for (table, words) in [
        ("[machine]\nsysctl = 1", "must be a table"),
        ("[machine]\nsysctl = { \"fs.file-max\" = 1 }", "it is not on the list of sysctls"),
        ("[machine]\nsysctl = { \"net..x\" = 1 }", "it is not on the list of sysctls"),
        (
            "[machine]\nsysctl = { \"net.ipv4.ip_forward\" = 1 }",
            "a study cannot set `net.ipv4.ip_forward`: it is not",
        ),
        (
            "[machine.receiver.sysctl]\nnet.core.default_qdisc = \"fq\"",
            "a study cannot set `net.core.default_qdisc`",
        ),
        (
            "[factors]\nsysctl = [{ \"net.ipv4.ip_forward\" = 1 }, \"net.core.none=1\"]",
            "a study cannot set `net.core.none`: it is not on the list",
        ),
        ("[machine]\nsysctl = { \"net.core.dev_weight\" = 1.5 }", "a whole number or a string"),
        ("[machine]\ngovernor = 1", "must be a string"),
        ("[machine]\nirq_affinity = { \"../x\" = [0] }", "cannot be the name of an interface"),
        ("[machine]\nirq_affinity = { eth0 = [] }", "must list 1 to"),
        ("[machine]\nirq_affinity = { eth0 = [-1] }", "must be 0 to"),
        ("[machine]\nfeatures = { eth0 = { tsoo = true } }", "did you mean"),
        ("[machine]\nfeatures = { eth0 = { tso = 1 } }", "on"),
        ("[machine]\nturbo = false", "unknown key `turbo`"),
        ("[machine]\ncpu_latency = -1", "must be 0 to 1000000"),
        ("[machine]\nplacement = { irq = 0 }", "`traffic`"),
        ("[machine]\nplacement = { irq = 0, traffic = 1, nic = 2 }", "unknown key `nic`"),
        ("[machine.sender]\ngovernor = \"performance\"", "unknown key `sender`"),
        ("[machine.receiver]\nturbo = false", "unknown key `turbo`"),
        ("[machine.receiver]\n[machine.receiver.receiver]\n", "unknown key `receiver`"),
    ] {
        let told = read(table).unwrap_err();
        assert!(told.contains(words), "{table}:\n{told}");
    }
}
