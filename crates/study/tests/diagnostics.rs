//! What a user sees when a study file is wrong.

use netassay_study::Study;

/// A valid study, of which each case replaces or adds something.
const VALID: &str = r#"name = "tso"
question = "What does TSO give?"
scenario = "veth"

[[workload]]
kind = "tcp_stream"

[factors]
family = ["ipv4", "ipv6"]
tso = ["on", "off"]
"#;

fn problems(text: &str) -> String {
    match Study::parse("tso.toml", text) {
        Ok(_) => "no problem".to_owned(),
        Err(diagnostics) => diagnostics.to_string(),
    }
}

/// What is wrong once `old` is replaced by `new`.
fn replaced(old: &str, new: &str) -> String {
    assert!(VALID.contains(old), "{old}");
    problems(&VALID.replace(old, new))
}

/// What is wrong once `more` is added at the end.
fn added(more: &str) -> String {
    problems(&format!("{VALID}{more}"))
}

/// A snapshot without the expression it came from, which would only repeat the test.
macro_rules! shows {
    ($text:expr) => {
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!($text) })
    };
}

#[test]
fn the_valid_study_is_valid() {
    assert_eq!(problems(VALID), "no problem");
}

#[test]
fn an_empty_file_lacks_everything() {
    shows!(problems(""));
}

#[test]
fn mistakes_in_toml_look_like_all_others() {
    shows!(problems("name = \"x\nquestion = 'y'\n[factors\nscenario = veth\n"));
}

#[test]
fn all_problems_are_reported_at_once() {
    shows!(problems(
        r#"name = "my study"
question = ""
scenario = "ssh"
secnario = "veth"

[[workload]]
kind = "tcp_steam"
flows = 0

[[workload]]
kind = "udp_stream"
message = 70000
response = 1
duration = 10
ramp = "0.1sec"
port = 0x1_0000
buffer = 1

[factors]
family = ["ipv4", "ipv5"]
famly = ["ipv6"]
mtu = [1500, 67, 1500.5, "jumbo"]
tso = ["on", "maybe", true]
gso = []
tx-generic-segmentation = "off"
transmitter.mtu = 9000
receiver = "gro"

[protocol]
boots = 0
order = "random"
seed = -1

[[comparison]]
metric = "troughput"

[[comparison]]
metric = "transactions"
"#
    ));
}

#[test]
fn words_that_come_later_are_known_but_refused() {
    shows!(replaced("\"veth\"", "\"ssh\""));
}

#[test]
fn udp_messages_have_a_limit() {
    shows!(problems(
        r#"name = "x"
question = "q"
scenario = "loopback"
[[workload]]
kind = "udp_rr"
message = 65508
response = 65507
[[workload]]
kind = "tcp_rr"
message = 65508
"#
    ));
    // Over IPv6 the length field counts less.
    let ipv6 = "[factors]\nfamily = \"ipv6\"\nmessage = [65527, 65528]\n";
    shows!(problems(&format!(
        "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_stream\"\n{ipv6}"
    )));
}

#[test]
fn factors_that_cannot_act_are_refused() {
    shows!(added(
        "receiver.tso = [\"on\", \"off\"]\ntransmitter.tso = [\"on\", \"off\"]\nmessage = [1, 2]\n"
    ));
    shows!(problems(&VALID.replace("veth", "loopback").replace("tso =", "receiver.gro =")));
    shows!(problems(
        &VALID
            .replace("\"tcp_stream\"", "\"tcp_stream\"\nflows = 2")
            .replace("tso =", "flows = [1, 4]\ntso =")
    ));
}

#[test]
fn exclusions_must_exclude_something() {
    shows!(added(
        r#"
[[exclude]]
famly = "ipv6"

[[exclude]]
family = "ipv7"
tso = ["of", "on"]

[[exclude]]
reason = "all of them"

[[exclude]]
gro = "on"
reason = 5
"#
    ));
    shows!(added(
        r#"
[[exclude]]
family = "ipv6"

[[exclude]]
family = "ipv6"
tso = true
"#
    ));
}

#[test]
fn nothing_may_be_left_of_a_study() {
    shows!(added("checksum = \"off\"\n"));
}

#[test]
fn a_baseline_is_one_condition_that_is_there() {
    shows!(added(
        r#"
[[comparison]]
baseline = { family = "ipv4" }

[[comparison]]
baseline = { family = "ipv4", tso = "no" }

[[comparison]]
baseline = "ipv4"
"#
    ));
    shows!(added(
        r#"
[[exclude]]
family = "ipv4"
tso = "on"

[[comparison]]
baseline = { family = "ipv4" }

[[comparison]]
baseline = { family = "ipv4", tso = "on" }

[[comparison]]
baseline = { family = "ipv6" }

[[comparison]]
only = { family = "ipv4" }
"#
    ));
}

#[test]
fn a_metric_must_come_from_the_traffic() {
    shows!(added("[[comparison]]\nmetric = \"loss\"\n[[comparison]]\nmetric = \"wombat\"\n"));
}

#[test]
fn traffic_has_what_its_kind_can_have() {
    shows!(problems(
        r#"name = "x"
question = "q"
scenario = "veth"

[[workload]]
kind = "udp_stream"
sender = "sendfile"
reader = "trunc"
in_flight = 4
rate = 1000
congestion_control = "bbr"
nodelay = "on"

[[workload]]
kind = "tcp_rr"
direction = "reverse"
pacing = "1Gbit"
connected = "off"
sender = "zerocopy"

[[workload]]
kind = "tcp_crr"
in_flight = 2
reader = "spin"

[[workload]]
kind = "tcp_stream"
reader = "trunc"
verify = true
sender = "gso"
"#
    ));
}

#[test]
fn values_of_the_traffic_have_their_limits() {
    shows!(problems(
        r#"name = "x"
question = "q"
scenario = "veth"

[[workload]]
kind = "tcp_rr"
sender = "sendfil"
in_flight = 0
rate = 0
busy_poll = "1s"
dscp = 64
congestion_control = "no such thing"
verify = "yes"

[factors]
pacing = ["500", "0Mbit", "1.5Gbit", "1500Mbit", 500]
busy_poll = ["50us", "1500ns", "default"]
verify = ["on", "off"]
"#
    ));
}

#[test]
fn levels_that_fit_no_workload_are_refused() {
    shows!(problems(
        r#"name = "x"
question = "q"
scenario = "veth"

[[workload]]
kind = "udp_stream"
sender = "gso"

[factors]
sender = ["send", "splice"]
rate = [1000, "default"]
"#
    ));
}

#[test]
fn what_nobody_receives_has_one_host() {
    let head = "name = \"x\"\nquestion = \"q\"\nscenario = \"discard\"\n[[workload]]\n";
    shows!(problems(&format!("{head}kind = \"udp_stream\"\n")));
    shows!(problems(&format!(
        "{head}kind = \"pps\"\nreader = \"gro\"\nbusy_poll = \"50us\"\nresponse = 1\n\
         [factors]\nreceiver.gro = [\"on\", \"off\"]\ndirection = [\"forward\", \"both\"]\n\
         [[comparison]]\nmetric = \"receiver.cpu\"\n[[comparison]]\nmetric = \"loss\"\n"
    )));
    shows!(replaced("\"tcp_stream\"", "\"pps\""));
    shows!(problems(&format!(
        "{head}kind = \"pps\"\n[factors]\ntso = [\"on\", \"off\"]\ntransmitter.tso = [\"on\", \"off\"]\n"
    )));
}

#[test]
fn a_direction_has_a_throughput_of_its_own_where_there_are_two() {
    shows!(added("[[comparison]]\nmetric = \"throughput_reverse\"\n"));
    let both = VALID.replace("\"tcp_stream\"", "\"tcp_stream\"\ndirection = \"both\"");
    assert_eq!(problems(&format!("{both}[[comparison]]\nmetric = \"throughput_reverse\"\n")), "no problem");
}

#[test]
fn tables_and_values_are_told_apart() {
    shows!(problems(
        "name = 5\nquestion = ['q']\nscenario = 1979-05-27\nworkload = 'tcp'\nfactors = [1]\nexclude = [2]\nprotocol = 3.5\n"
    ));
}

#[test]
fn empty_lists_and_tables_are_no_study() {
    let head = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n";
    shows!(problems(&format!("{head}workload = []\nexclude = [{{}}]\ncomparison = []\n")));
    shows!(problems(&format!(
        "{head}[[workload]]\n[[workload]]\nkind = \"udp_rr\"\n[factors]\nfamily = []\n"
    )));
}

#[test]
fn workloads_need_names_of_their_own() {
    shows!(replaced(
        "[factors]",
        "[[workload]]\nkind = \"tcp_stream\"\nmessage = 64\n\n[factors]\nworkload = 1"
    ));
}

#[test]
fn a_study_has_an_end() {
    shows!(added(
        "mtu = [1280, 1500]\nsg = ['on', 'off']\ngso = ['on', 'off']\ngro = ['on', 'off']\nlro = ['on', 'off']\n\
         rx = ['on', 'off']\ntx = ['on', 'off']\nrxhash = ['on', 'off']\nntuple = ['on', 'off']\n\
         rxvlan = ['on', 'off']\ntxvlan = ['on', 'off']\nhighdma = ['on', 'off']\nrx-all = ['on', 'off']\n"
    ));
    shows!(added("[protocol]\nboots = 1000\nruns = 10000\n"));
    shows!(
        replaced("\"tcp_stream\"", "\"udp_stream\"\nport = 65000\nflows = 1000")
            + "\n\n"
            + &replaced("\"tcp_stream\"", "\"tcp_rr\"\nmessage = 16777216\nflows = 1000")
    );
    let huge = format!("{VALID}#{}", "x".repeat(1 << 20));
    shows!(problems(&huge));
}

#[test]
fn colour_is_the_callers_choice() {
    let diagnostics = Study::parse("a.toml", "nmae = 1").unwrap_err();
    assert!(!diagnostics.render(false).contains('\u{1b}'));
    assert!(diagnostics.render(true).contains('\u{1b}'));
    assert_eq!(diagnostics.to_string(), diagnostics.render(false));
}

#[test]
fn line_and_column_are_numbers_for_programs_too() {
    let diagnostics =
        Study::parse("tso.toml", &VALID.replace("[\"on\", \"off\"]", "[\"on\", \"of\"]")).unwrap_err();
    let [problem] = diagnostics.problems() else { panic!("{diagnostics}") };
    assert_eq!((problem.line, problem.column), (10, 14));
    let json = serde_json::to_value(&diagnostics).unwrap();
    assert_eq!(json["problems"][0]["line"], 10);
    assert_eq!(json["file"], "tso.toml");
}

#[test]
fn a_study_that_may_stop_says_what_it_looks_for_and_has_the_boots() {
    shows!(added("[protocol]\nboots = 5\nstop = { detect = \"2%\", looks = 5 }\n"));
    shows!(added("[protocol]\nboots = 10\nstop = { looks = 1, bounds = \"pocok\", detekt = \"2%\" }\n"));
    shows!(added("[protocol]\nboots = 10\nstop = { detect = 2 }\n"));
    shows!(added("[protocol]\nboots = 10\nstop = \"2%\"\n"));
    assert_eq!(added("[protocol]\nboots = 6\nstop = { detect = \"0.5%\" }\n"), "no problem");
}

#[test]
fn shares_are_shares() {
    shows!(added("[[comparison]]\nequivalent = \"2\"\n"));
    shows!(added("[[comparison]]\nequivalent = \"200%\"\n"));
    shows!(added("[[comparison]]\nequivalent = 0.02\n"));
}

/// A study inside or on virtual machines, with these lines at the top and at the end.
fn of_guests(scenario: &str, top: &str, end: &str) -> String {
    problems(&format!(
        "name = \"x\"\nquestion = \"q\"\nscenario = \"{scenario}\"\n{top}\n[[workload]]\nkind = \"udp_stream\"\n{end}\n"
    ))
}

#[test]
fn virtual_machines_are_asked_for_where_there_are_some() {
    shows!(of_guests("veth", "[guest]\nvcpus = 2", "[factors]\nkernel = [\"a\", \"b\"]\nnic = \"e1000e\""));
    shows!(of_guests("veth", "inside = \"guest\"", "[guest]\nnic = \"e1000e\""));
    shows!(of_guests("vm", "inside = \"guest\"", ""));
    assert_eq!(
        of_guests("vm", "", "[guest]\nnic = \"e1000e\"\nmemory = \"1 GiB\"\npin = false"),
        "no problem"
    );
}

#[test]
fn values_of_virtual_machines_have_their_limits() {
    shows!(of_guests(
        "vm",
        "",
        "[guest]\nkernel = \"\"\ncommand_line = \"quiet  nosmt\"\nvcpus = 0\nmemory = \"64MiB\"\nnic = \"virtio\"\n\
         acceleration = \"tcg\"\ncpus = 1\n\
         [factors]\ncommand_line = [\"rdinit=/bin/sh\", \"default\"]\nvcpus = [65]"
    ));
    shows!(of_guests("vm", "", "[guest]\nvcpus = 2\nmemory = \"much\"\n[factors]\nvcpus = [1, 2]"));
}

#[test]
fn an_underlay_lies_under_a_tunnel() {
    shows!(of_guests(
        "veth",
        "[underlay]\nfamily = \"ipv6\"",
        "[factors]\nunderlay.tso = [\"on\", \"off\"]\n\"transmitter.underlay.gso\" = [\"on\", \"off\"]"
    ));
    shows!(of_guests(
        "vxlan",
        "",
        "[underlay]\nmtu = 9000\n[factors]\nunderlay.mtu = [1500, 9000]\nunderlay.receiver.tso = \"on\"\n\
         transmitter.underlay.mtu = 9000\nunderlay.kernel = \"a\"\nreceiver.underlay = \"off\""
    ));
    let known = "[factors]\nunderlay.family = [\"ipv4\", \"ipv6\"]\nreceiver.underlay.offloads = [\"default\", \"none\"]";
    assert_eq!(of_guests("vxlan", "", known), "no problem");
}

#[test]
fn exact_mode_has_one_cpu_and_one_guest() {
    shows!(of_guests("veth", "exact = true", "[guest]\nvcpus = 2\nacceleration = \"kvm\""));
    shows!(of_guests("veth", "exact = true", "[factors]\nvcpus = [1, 2]"));
    shows!(of_guests("vm-vxlan", "exact = true", ""));
    shows!(of_guests(
        "veth",
        "",
        "[[comparison]]\nmetric = \"instructions_packet\"\n[[comparison]]\nmetric = \"host_cpu\""
    ));
    let compared =
        "[factors]\nkernel = [\"a\", \"b\"]\n[[comparison]]\nmetric = \"kernel_instructions_packet\"";
    assert_eq!(of_guests("veth", "exact = \"on\"", compared), "no problem");
}

#[test]
fn exact_mode_is_one_thread_whose_work_is_always_the_same() {
    let exact = |rest: &str| {
        problems(&format!("name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\nexact = true\n{rest}"))
    };
    shows!(exact(
        "[[workload]]\nkind = \"tcp_crr\"\n[[workload]]\nkind = \"udp_rr\"\nflows = 2\nin_flight = 4\n\
         rate = 100\nconnected = \"off\"\n[[workload]]\nkind = \"udp_stream\"\nsender = \"zerocopy\"\n\
         reader = \"io_uring\"\ndirection = \"both\"\npacing = \"1Mbit\"\nbusy_poll = \"50us\"\nverify = true\n\
         [[workload]]\nkind = \"tcp_stream\"\nsender = \"io_uring-zerocopy\"\n"
    ));
    shows!(exact(
        "[[workload]]\nkind = \"udp_stream\"\n[[workload]]\nkind = \"udp_rr\"\n[factors]\nflows = [1, 8]\n\
         sender = [\"send\", \"gso\", \"io_uring\"]\nconnected = [\"on\", \"off\"]\nrate = [\"default\", 100]\n"
    ));
    let ladder = "[[workload]]\nkind = \"udp_stream\"\n[factors]\nsender = [\"send\", \"sendmmsg\", \"gso\", \
         \"gso+sendmmsg\"]\nreader = [\"recv\", \"recvmmsg\", \"gro\", \"spin\"]\nconnected = [\"on\", \"off\"]\n";
    assert_eq!(exact(ladder), "no problem");
}

#[test]
fn a_design_turns_features_on_and_off() {
    shows!(added(
        "[design]\nkind = \"ladder\"\noffloads = [\"tso\", \"mtu\", \"transmitter.gso\", \"gso\", \"turbo\", 1]\nmost = 8\nwidth = 1"
    ));
    shows!(added("[design]\nkind = \"star\"\noffloads = []\norder = \"given\""));
    shows!(added("[design]\nkind = \"fractional\"\norder = \"dependencies\"\noffloads = \"gso\""));
    shows!(added("[design]"));
}

#[test]
fn a_design_has_a_size() {
    let design = |kind: &str, offloads: &[&str]| {
        let names: Vec<String> = offloads.iter().map(|name| format!("\"{name}\"")).collect();
        added(&format!("[design]\nkind = \"{kind}\"\noffloads = [{}]\n", names.join(", ")))
    };
    let many = [
        "gso",
        "gro",
        "rx",
        "tx",
        "sg",
        "lro",
        "rxvlan",
        "txvlan",
        "rxhash",
        "ntuple",
        "ufo",
        "highdma",
        "rx-gro-hw",
        "rx-gro-list",
    ];
    shows!(design("factorial", &many));
    shows!(design("fractional", &many));
    let few = added("[design]\nkind = \"fractional\"\nmost = 4\noffloads = [\"gso\", \"gro\", \"rx\"]");
    shows!(few);
    assert_eq!(design("one-out", &many), "no problem");
}

#[test]
fn a_study_of_several_states_does_not_stop_early() {
    shows!(problems(
        "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\ninside = \"guest\"\n[[workload]]\nkind = \"udp_stream\"\n\
         [factors]\nvcpus = [1, 2]\n[protocol]\nboots = 10\nstop = { detect = \"2%\" }\n"
    ));
}
