//! An agent that answers with as much as it can: it costs its controller a bounded amount of
//! memory, whatever it says.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]
#![expect(clippy::print_stderr, reason = "a controller tells its test so what became of it")]

mod common;

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::answers;
use netassay_agent::message::Answer;
use netassay_agent::{CallError, Client, FrameError, Interrupt, MAX_FRAME, encode};
use serde_json::Value;

/// The most that a line may hold, less a little for what it begins and ends with. The longest lines
/// have no structure: each of the many with one has at most 4 MiB.
const MOST_VALUES: usize = 299_000;
const MOST_BYTES: usize = MAX_FRAME - 1000;

const TEST: &str = "a_hostile_answer_costs_a_controller_little_memory";

/// What makes this test's program a controller.
const CONTROLLER: &str = "NETASSAY_TEST_CONTROLLER";

/// What a controller came to.
struct Heard {
    /// The most memory that it ever had, in KiB.
    memory: u64,
    error: String,
}

/// Hears answers from standard input until it ends, and tells what became of each.
fn be_controller() {
    let nowhere = File::options().write(true).open("/dev/null").unwrap();
    let from = io::stdin().as_fd().try_clone_to_owned().unwrap();
    let mut client = Client::new("receiver", nowhere, from, Interrupt::new().unwrap());
    loop {
        let error = match client.receive(Duration::from_secs(60)) {
            // Nobody asked.
            Ok(answer) => client.unexpected(&answer),
            Err(CallError::Gone { .. }) => return,
            Err(error) => error,
        };
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        eprintln!("HEARD {} {error}", memory.trim().trim_end_matches(" kB"));
        if matches!(error, CallError::Garbled { source: FrameError::TooLong, .. }) {
            return;
        }
    }
}

/// A controller of its own hears the lines.
fn hear(lines: &[&[u8]]) -> Vec<Heard> {
    let mut controller = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture"])
        .env(CONTROLLER, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = controller.stdin.take().unwrap();
    let said = thread::scope(|scope| {
        scope.spawn(move || {
            for line in lines {
                // A controller that has heard enough closes the pipe.
                if let Err(error) = to.write_all(line).and_then(|()| to.write_all(b"\n")) {
                    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
                }
            }
        });
        String::from_utf8(controller.wait_with_output().unwrap().stderr).unwrap()
    });
    let heard = said.lines().filter_map(|line| line.strip_prefix("HEARD ")?.split_once(' '));
    heard
        .map(|(memory, error)| Heard { memory: memory.parse().unwrap(), error: error.trim_end().to_owned() })
        .collect()
}

/// Every copy of `value` in which one list or map has about `left` bytes, or as many values as a
/// line may hold, or one text is far too long.
fn filled(value: &Value, left: usize) -> Vec<Value> {
    let mut all = Vec::new();
    let times = |item: &str, values: usize| (MOST_VALUES / values).min(left / (item.len() + 1));
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                all.extend(filled(field, left).into_iter().map(|changed| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), changed);
                    Value::Object(fields)
                }));
            }
            // A map, to some.
            let mut more = fields.clone();
            let one = fields.values().next().cloned().unwrap_or(Value::Null);
            let item = format!("\"x000000\":{one}");
            more.extend(
                (0..times(&item, 1 + values(&one))).map(|number| (format!("x{number:06}"), one.clone())),
            );
            all.push(Value::Object(more));
        }
        Value::Array(items) => {
            for item in items.iter().cloned().chain([Value::from(0), Value::Array(vec![])]) {
                all.push(Value::Array(vec![item.clone(); times(&item.to_string(), values(&item))]));
            }
            for changed in items.iter().take(1).flat_map(|item| filled(item, left)) {
                all.push(Value::Array(vec![changed]));
            }
        }
        Value::String(_) => all.push("x".repeat(256 << 10).into()),
        _ => {}
    }
    all
}

fn values(value: &Value) -> usize {
    match value {
        Value::Object(fields) => 1 + fields.values().map(values).sum::<usize>(),
        Value::Array(items) => 1 + items.iter().map(values).sum::<usize>(),
        _ => 1,
    }
}

#[test]
fn a_hostile_answer_costs_a_controller_little_memory() {
    if std::env::var_os(CONTROLLER).is_some() {
        return be_controller();
    }
    let honest = hear(&[encode(&Answer::Done).unwrap().trim_ascii_end()])[0].memory;
    let mut hostile: Vec<(String, Vec<u8>)> = vec![
        ("deep".into(), format!("{{\"settled\":{}", "[".repeat(4 << 20)).into()),
        (
            "deep, within the number of values".into(),
            format!("{{\"settled\":{}", "[".repeat(MOST_VALUES)).into(),
        ),
        ("deep in another way".into(), "{\"a\":".repeat(MOST_VALUES).into()),
        ("wide".into(), format!("{{\"sockets\":{{\"addresses\":[{}0]}}}}", "0,".repeat(2 << 20)).into()),
        ("no newline".into(), vec![b'x'; MAX_FRAME + (64 << 10)]),
        ("a name".into(), format!("{{\"{}\":1}}", "n".repeat(MOST_BYTES)).into()),
        ("a field's name".into(), format!("{{\"settled\":{{\"{}\":1}}}}", "n".repeat(MOST_BYTES)).into()),
        (
            "a text in a number's place".into(),
            format!("{{\"settled\":\"{}\"}}", "n".repeat(MOST_BYTES)).into(),
        ),
    ];
    for letter in ["\u{7f}", "\u{9b}", "\u{202e}", "\\u007f", "\\n", "\u{e0001}"] {
        let why = letter.repeat(MOST_BYTES / letter.len());
        hostile.push((
            format!("{letter:?}"),
            format!("{{\"failed\":{{\"why\":\"{why}\",\"broken\":false}}}}").into(),
        ));
        hostile.push((format!("{letter:?} in a name"), format!("{{\"{why}\":0}}").into()));
    }
    let judge = |name: &str, Heard { memory, error }: Heard| {
        let grown = memory - honest;
        assert!(grown < 64 << 10, "{name}: {grown} KiB more than an honest answer");
        assert!(
            error.contains("receiver") && error.len() < 1500,
            "{name}: {} bytes: {error:.200}",
            error.len()
        );
        assert!(
            error.ends_with("run the same version of netassay on both ends")
                || error.contains("answered another question")
                || error.starts_with("receiver: "),
            "{name}: {error}"
        );
    };
    for (name, line) in hostile {
        let heard = hear(&[&line]);
        judge(&name, heard.into_iter().next().unwrap());
    }
    for answer in answers() {
        let filled = filled(&serde_json::to_value(&answer).unwrap(), 4 << 20);
        let lines: Vec<String> = filled.iter().map(Value::to_string).collect();
        let heard = hear(&lines.iter().map(String::as_bytes).collect::<Vec<_>>());
        assert_eq!(heard.len(), lines.len(), "{answer:?}");
        for (number, heard) in heard.into_iter().enumerate() {
            judge(&format!("{number} of {:.40}", format!("{answer:?}")), heard);
        }
    }
}
