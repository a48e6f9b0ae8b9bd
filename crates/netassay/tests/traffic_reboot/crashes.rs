//! A machine whose kernel panics in a run, with a console and a reset button.

use std::process::Command;

use super::{Watched, World, expect, stderr, stdout};

/// Long enough for a machine in software to be told to panic.
const LONG: &[&str] = &["--hosts", "hosts.toml", "--set", "duration=15s"];

pub(super) fn a_panic_in_a_run_is_named_and_the_study_goes_on(world: &World) {
    let [console, power] = world.machines.management_of_b();
    let hosts = format!(
        "[transmitter]\nssh = \"a\"\ninterface = \"eth1\"\n[receiver]\nssh = \"b\"\ninterface = \"data0\"\n\
         console = {console:?}\npower = {power:?}\n"
    );
    world.bench.write("hosts.toml", &hosts);
    let mut controller = Watched::start(world.netassay(LONG));
    controller.wait_for("boot 1 of 2: testbed built");
    world.machines.let_b_panic();
    controller.wait_for("it crashed the receiver (b), which no longer answers");
    let (code, said) = controller.finish();
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("sysrq triggered crash"), "{said}");
    assert!(said.contains("1 run left out") && said.contains("--again tries them again"), "{said}");

    // The other condition of that boot, and the next boot, were measured after the power cycle.
    let database = world.bench.database();
    let counted = |which: &str| -> u32 {
        let text = format!("SELECT count(*) FROM run WHERE {which}");
        database.query_row(&text, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(counted("status = 'ok'"), 3, "{said}");
    let crash = "status = 'failed' AND number = 1 AND json_array_length(detail, '$.crash[0].console') > 3";
    assert_eq!(counted(crash), 1, "{said}");
    assert_eq!(counted("reason LIKE '%sysrq triggered crash%'"), 1, "{said}");

    let complete = world.netassay(&[LONG, &["--resume", "1"]].concat()).output().unwrap();
    expect(&complete, 4);
    assert!(stderr(&complete).contains("--again tries that too"), "{}", stderr(&complete));
    let again = world.netassay(&[LONG, &["--resume", "1", "--again"]].concat()).output().unwrap();
    expect(&again, 0);
    assert!(!stdout(&again).contains("are missing"), "{}", stdout(&again));
    assert_eq!(counted("status = 'ok'"), 4);
    // The command that reads the console has ended with each session.
    let command_line = console.join(" ").replace('+', "[+]");
    let left = Command::new("pgrep").args(["-f", &command_line]).output().unwrap();
    assert!(!left.status.success(), "{}", stdout(&left));
}
