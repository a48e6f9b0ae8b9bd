//! The messages that a user sees when a study file is wrong.

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

/// The problems once `old` is replaced by `new`.
fn replaced(old: &str, new: &str) -> String {
    assert!(VALID.contains(old), "{old}");
    problems(&VALID.replace(old, new))
}

/// The problems once `more` is added at the end.
fn added(more: &str) -> String {
    problems(&format!("{VALID}{more}"))
}

/// A snapshot without the expression it came from, which would only repeat the test.
macro_rules! shows {
    ($text:expr) => {
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!($text) })
    };
}

mod comparison;
mod testbed;
mod traffic;

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
scenario = "shh"
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
    let [problem] = &diagnostics.problems[..] else { panic!("{diagnostics}") };
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

#[test]
fn conditions_that_cannot_take_turns_are_named() {
    let alternate = |more: &str| added(&format!("\n[protocol]\nalternate = \"100ms\"\n{more}"));
    assert_eq!(alternate("settle = \"50ms\""), "no problem");
    let paced = VALID.replace("tso = [\"on\", \"off\"]", "pacing = [\"100Mbit\", \"90Mbit\"]");
    let turns = "[protocol]\nalternate = \"100ms\"\n";
    assert_eq!(problems(&format!("{paced}{turns}")), "no problem");
    // A socket that was paced once is always paced.
    let unpaced = paced.replace("90Mbit", "default");
    assert!(problems(&format!("{unpaced}{turns}")).contains("no two conditions can take turns"));
    shows!(alternate("settle = \"60ms\"\norder = \"sequential\""));
    shows!(alternate("order = \"sequential\""));
    shows!(added("\n[protocol]\nalternate = \"5ms\"\nsettle = 5"));
    shows!(added("\n[protocol]\nalternate = \"off\"\nsettle = \"5ms\""));
    // TCP sizes the buffers of this study's stream, so it takes no turns by itself.
    let settles = "`settle` is a part of a turn, and no conditions take turns";
    assert!(added("\n[protocol]\nsettle = \"5ms\"").contains(settles));
    assert_eq!(added("\n[protocol]\nalternate = \"auto\"\nsettle = \"5ms\""), "no problem");
    let misspelt = added("\n[protocol]\nalternate = \"autoo\"");
    assert!(misspelt.contains("`autoo` is not a duration, `auto` or `off`"), "{misspelt}");
    assert_eq!(alternate("apart = true"), "no problem");
    // Comparing turns with runs needs turns.
    let both_ways = "\n[protocol]\nalternate = \"auto\"\napart = true\norder = \"sequential\"";
    assert!(added(both_ways).contains("not measured one after the other"));
    let unwritten = "\n[protocol]\napart = true\norder = \"sequential\"";
    assert!(added(unwritten).contains("remove `apart`, or write `order = \"interleaved\"`"));
    assert!(alternate("apart = true\nruns = 1").contains("`apart` needs two blocks in each boot"));
    assert!(added("\n[protocol]\nalternate = \"off\"\napart = true").contains("no conditions take turns"));
    let no_feature = VALID.replace("tso = [\"on\", \"off\"]", "mtu = [1500, 9000]");
    shows!(problems(&format!("{no_feature}[protocol]\nalternate = \"100ms\"\n")));
    let many = VALID.replace(
        "tso = ",
        "gro = [\"on\", \"off\"]\ngso = [\"on\", \"off\"]\ntx = [\"on\", \"off\"]\ntso = ",
    );
    shows!(problems(&format!("{many}[protocol]\nalternate = \"100ms\"\n")));
    let long = VALID.replace("kind = ", "duration = \"10m\"\nkind = ");
    shows!(problems(&format!("{long}[protocol]\nalternate = \"100ms\"\n")));
    let guests = format!("{}{turns}", VALID.replace("veth", "vm"));
    assert_eq!(problems(&guests), "no problem");
    // Their host counts for both of them, and it alone sees what is under their tunnel.
    let said = |scenario: &str, metric: &str| {
        let text =
            format!("{}{turns}[[comparison]]\nmetric = \"{metric}\"\n", VALID.replace("veth", scenario));
        problems(&text).contains("counted for whole flows, and conditions take turns in theirs")
    };
    assert!(said("vm", "receiver.host_cpu"));
    assert!(said("vm-vxlan", "receiver.underlay_packets") && !said("vxlan", "receiver.underlay_packets"));
    let asked = VALID.replace("tcp_stream", "tcp_rr");
    shows!(problems(&format!(
        "{asked}[protocol]\nalternate = \"100ms\"\n[[comparison]]\nmetric = \"latency_p99\"\n"
    )));
}
