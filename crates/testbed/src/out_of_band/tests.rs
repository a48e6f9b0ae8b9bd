use std::fs;

use super::*;

fn shell(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

fn with_console(script: &str) -> Arc<OutOfBand> {
    OutOfBand::new(ManagementCommands { console: shell(script), power: Vec::new() }).unwrap()
}

fn with_power(script: &str) -> Arc<OutOfBand> {
    OutOfBand::new(ManagementCommands { console: Vec::new(), power: shell(script) }).unwrap()
}

fn lines_once(is_so: impl Fn(&[String]) -> bool, of: &OutOfBand) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let lines = of.last_lines();
        if is_so(&lines) || Instant::now() > deadline {
            return lines;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn without_commands_there_is_no_management() {
    assert!(OutOfBand::new(ManagementCommands::default()).is_none());
}

#[test]
fn the_last_lines_of_a_console_are_few_and_harmless() {
    let own = with_console("seq 1000; printf 'a\\033]0;x\\007\\n%02000d\\n' 7 >&2; cat");
    own.open_console("b").unwrap();
    let is_last = |line: &String| line.starts_with("00") && line.ends_with('7');
    let lines = lines_once(|lines| lines.last().is_some_and(is_last), &own);
    assert_eq!(lines.len(), LINES, "{lines:?}");
    assert!(lines.contains(&"1000".to_owned()) && !lines.contains(&"900".to_owned()), "{lines:?}");
    assert!(lines.contains(&"a\\u{1b}]0;x\\u{7}".to_owned()), "{lines:?}");
    assert!(lines.iter().all(|line| line.len() <= words::LONGEST_REASON));
    // It is open already.
    own.open_console("b").unwrap();
    assert_eq!(own.last_lines(), lines);
}

#[test]
fn a_panic_that_hangs_is_seen_once() {
    let own = with_console("echo '[ 1.2] ---[ end Kernel panic - not syncing: x ]---'; cat");
    assert!(!own.take_panic());
    own.open_console("b").unwrap();
    lines_once(|lines| !lines.is_empty(), &own);
    assert_eq!([own.take_panic(), own.take_panic()], [true, false]);
}

#[test]
fn a_command_that_ended_is_started_anew() {
    let own = with_console("echo busy; exit 1");
    own.open_console("b").unwrap();
    let lines = lines_once(|lines| lines.len() == 2, &own);
    assert_eq!(lines, ["busy", "(the command of the console has ended)"]);
    own.open_console("b").unwrap();
    let lines = lines_once(|lines| lines.len() == 2, &own);
    assert_eq!(lines[0], "busy");
}

#[test]
fn a_console_that_cannot_be_read_is_named_without_its_arguments() {
    let console = ["/no/such/program", "-P", "secret"].map(str::to_owned).to_vec();
    let own = OutOfBand::new(ManagementCommands { console, power: Vec::new() }).unwrap();
    let error = own.open_console("root@b").unwrap_err().to_string();
    assert!(error.contains("root@b") && error.contains("/no/such/program") && error.contains("install it"));
    assert!(!error.contains("secret"), "{error}");
    for program in ["/no/such/program", "no-such-program"] {
        let power = [program, "secret"].map(str::to_owned).to_vec();
        let own = OutOfBand::new(ManagementCommands { console: Vec::new(), power }).unwrap();
        let error = own.open_console("root@b").unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("root@b: there is no program {program} for its power")),
            "{error}"
        );
    }
    with_power("true").open_console("root@b").unwrap();
}

/// A command in order ends with its input; another one, and what it started, is killed.
#[test]
fn the_command_of_a_console_ends_with_the_session() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let own = with_console(&format!("cat; echo ended > {}", at("ended")));
    own.open_console("b").unwrap();
    drop(own);
    assert!(fs::exists(at("ended")).unwrap());
    // `$$` of the inner shell is the number of its `sleep`.
    let stays = format!("trap '' TERM; sh -c 'echo $$; exec sleep 600' & cat > {}; sleep 600", at("x"));
    let own = with_console(&stays);
    own.open_console("b").unwrap();
    let started = lines_once(|lines| !lines.is_empty(), &own).concat();
    let begun = Instant::now();
    drop(own);
    assert!(begun.elapsed() < Duration::from_secs(60));
    let gone = crate::reach::look_until(begun + Duration::from_secs(60), || {
        let state = fs::read_to_string(format!("/proc/{started}/stat"));
        state.ok().is_none_or(|state| state.contains(") Z ")).then_some(())
    });
    assert!(gone.is_some() && started.parse::<u32>().is_ok(), "{started}");
}

#[test]
fn a_power_command_succeeds_fails_or_is_interrupted() {
    let interrupt = Interrupt::new().unwrap();
    assert!(with_power("cat").has_power());
    with_power("cat").cycle_power(&interrupt).unwrap();
    let error = with_power("echo no chassis >&2; exit 3").cycle_power(&interrupt).unwrap_err().to_string();
    assert!(error.contains("(sh) failed: exit status: 3; it said: no chassis"), "{error}");
    let power = vec!["/no/such/program".to_owned()];
    let own = OutOfBand::new(ManagementCommands { console: Vec::new(), power }).unwrap();
    let error = own.cycle_power(&interrupt).unwrap_err().to_string();
    assert!(error.contains("(/no/such/program) cannot be started"), "{error}");
    interrupt.trip();
    let begun = Instant::now();
    let error = with_power("exec sleep 600").cycle_power(&interrupt).unwrap_err();
    assert!(error.is_interrupt() && begun.elapsed() < Duration::from_secs(30), "{error}");
}
