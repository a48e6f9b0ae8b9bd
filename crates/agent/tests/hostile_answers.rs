//! An agent that answers with as much as it can, or what nobody asked: it costs its controller a
//! bounded amount of memory and time, whatever it says.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]
#![expect(clippy::print_stderr, reason = "a controller tells its test what became of each answer")]

mod common;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::answers;
use netassay_agent::message::{Answer, Request};
use netassay_agent::{CallError, Client, FrameError, Interrupt, MAX_FRAME};
use serde_json::Value;

/// The most that a line may hold, less a little for what it begins and ends with. The longest lines
/// have no structure: each of the many with one has at most 4 MiB.
const MOST_VALUES: usize = 299_000;
const MOST_BYTES: usize = MAX_FRAME - 1000;

/// The tests that are run again as a controller.
const TEST: &str = "a_hostile_answer_costs_a_controller_little_memory_and_time";
const ENDLESS: &str = "endless_output_costs_a_controller_little_time";

/// The variable that makes this test's program a controller.
const CONTROLLER: &str = "NETASSAY_TEST_CONTROLLER";

/// The cost of an answer to a controller, and its error.
struct Heard {
    /// The most memory that it ever had, in KiB.
    memory: u64,
    /// The CPU time that this answer took, in ms.
    time: u64,
    /// The most time that it may take at the speed that the machine had just then, in ms.
    limit: u64,
    error: String,
}

/// Asks, and hears answers from standard input until it ends, and tells what became of each. Before
/// each request it gives one up.
fn be_controller() {
    let nowhere = File::options().write(true).open("/dev/null").unwrap();
    let from = io::stdin().as_fd().try_clone_to_owned().unwrap();
    let mut client = Client::new("receiver", nowhere, from, Interrupt::new().unwrap());
    let mut reading_before = reading_time();
    loop {
        client.send(&Request::Quiet, Duration::from_secs(60)).unwrap();
        let before = host::ProcessTimes::read();
        let error = match client.order(&Request::Start, Duration::from_secs(60)) {
            Ok(()) => None,
            Err(CallError::Gone { .. }) => return,
            Err(error) => Some(error),
        };
        let spent = host::ProcessTimes::read().since(&before);
        let time = (spent.user_ns + spent.system_ns) / 1_000_000;
        let reading_after = reading_time();
        let limit = 5 * (PARTS / 2) * (reading_before + reading_after) / 1000;
        reading_before = reading_after;
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let said = error.as_ref().map_or(String::new(), CallError::to_string);
        eprintln!("HEARD {} {time} {limit} {said}", memory.trim().trim_end_matches(" kB"));
        if matches!(error, Some(CallError::Garbled { source: FrameError::TooLong, .. })) {
            return;
        }
    }
}

/// The id of the request that is answered by the line of this number, from 0; the one before was
/// given up.
fn id(number: usize) -> usize {
    2 * number + 2
}

/// The line by which a request is answered.
fn answering(id: usize, answer: &[u8]) -> Vec<u8> {
    [format!("{id} ").as_bytes(), answer].concat()
}

/// A controller of its own, which is this test.
fn controller(test: &str) -> (Child, ChildStdin) {
    let mut controller = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--include-ignored"])
        .env(CONTROLLER, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let to = controller.stdin.take().unwrap();
    (controller, to)
}

/// A controller of its own hears the lines.
fn hear(lines: &[Vec<u8>]) -> Vec<Heard> {
    let (controller, mut to) = controller(TEST);
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
    let heard = said.lines().filter_map(|line| line.strip_prefix("HEARD "));
    let read = |line: &str| {
        let [memory, time, limit, error] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let [memory, time, limit] = [memory, time, limit].map(|number| number.parse().unwrap());
        Heard { memory, time, limit, error: error.to_owned() }
    };
    heard.map(read).collect()
}

/// Every copy of `value` in which one list or map has about `left` bytes, or as many values as a
/// line may hold, or one text is far too long. As text: trees of so many values take far longer.
fn filled(value: &Value, left: usize) -> Vec<String> {
    let mut all = Vec::new();
    let times = |item: &str, values: usize| (MOST_VALUES / values).min(left / (item.len() + 1));
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let mut others = fields.clone();
                others.insert(name.clone(), "filled".into());
                let others = Value::Object(others).to_string();
                all.extend(filled(field, left).iter().map(|field| others.replacen("\"filled\"", field, 1)));
            }
            // A map, to some.
            let one = fields.values().next().cloned().unwrap_or(Value::Null);
            let (count, one) = (1 + values(&one), one.to_string());
            let mut map = String::from("{");
            for (name, field) in fields {
                write!(map, "{name:?}:{field},").unwrap();
            }
            for number in 0..times(&format!("\"x000000\":{one}"), count) {
                write!(map, "\"x{number:06}\":{one},").unwrap();
            }
            all.push(format!("{}}}", map.trim_end_matches(',')));
        }
        Value::Array(items) => {
            let mut kinds = [items.as_slice(), &[Value::from(0), Value::Array(vec![])]].concat();
            kinds.dedup();
            for item in &kinds {
                let text = item.to_string();
                all.push(format!("[{}]", vec![text.as_str(); times(&text, values(item))].join(",")));
            }
            let changed = items.iter().take(1).flat_map(|item| filled(item, left));
            all.extend(changed.map(|item| format!("[{item}]")));
        }
        Value::String(_) => all.push(format!("{:?}", "x".repeat(256 << 10))),
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

/// The longest line is read in parts, else the reading would be the most memory that a controller
/// has.
const PARTS: u64 = 32;

/// The CPU time, in µs, in which this machine reads a part of a text of escapes as long as the
/// longest line: the measure of its speed, which changes within seconds where others share its
/// CPUs.
fn reading_time() -> u64 {
    let escapes = MOST_BYTES / PARTS as usize;
    let text = format!("\"{}\"", "\\n".repeat(escapes));
    let before = host::ProcessTimes::read();
    assert_eq!(serde_json::from_str::<String>(&text).unwrap().len(), escapes);
    let spent = host::ProcessTimes::read().since(&before);
    (spent.user_ns + spent.system_ns) / 1_000
}

/// Judges what controllers have heard, against an honest answer.
struct Judge {
    honest: Heard,
    /// The most memory, in KiB, and the most time, in % of its limit, of any answer.
    most: (u64, u64),
}

impl Judge {
    fn new() -> Self {
        let honest = hear(&[answering(id(0), b"\"done\"")]).remove(0);
        assert_eq!(honest.error, "");
        Self { honest, most: (0, 0) }
    }

    fn judge(&mut self, name: &str, Heard { memory, time, limit, error }: &Heard) {
        let grown = memory.saturating_sub(self.honest.memory);
        assert!(grown < 64 << 10, "{name}: {grown} KiB more than an honest answer");
        assert!(time < limit, "{name}: {time} ms, more than {limit} ms");
        assert!(error.len() < 1500 && words::is_plain(error), "{name}: {} bytes: {error:.200}", error.len());
        self.most = (self.most.0.max(grown), self.most.1.max(100 * time / limit));
    }

    fn refuses(&mut self, name: &str, heard: &Heard) {
        self.judge(name, heard);
        let error = &heard.error;
        let is_refused = error.contains("the receiver's agent: ") && error.ends_with("on both ends");
        // An answer within all bounds is one to another request.
        let is_answer = error.starts_with("receiver: ") || error.contains("an answer to another kind");
        assert!(is_refused || is_answer, "{name}: {error}");
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        eprintln!("at most {} KiB, and {} % of the time", self.most.0, self.most.1);
    }
}

#[test]
fn a_hostile_answer_costs_a_controller_little_memory_and_time() {
    if std::env::var_os(CONTROLLER).is_some() {
        return be_controller();
    }
    let mut judge = Judge::new();
    let mut hostile: Vec<(String, Vec<u8>)> = vec![
        ("deep".into(), format!("{{\"settled\":{}", "[".repeat(4 << 20)).into()),
        (
            "deep, within the number of values".into(),
            format!("{{\"settled\":{}", "[".repeat(MOST_VALUES)).into(),
        ),
        ("deep in another way".into(), "{\"a\":".repeat(MOST_VALUES).into()),
        ("wide".into(), format!("{{\"sockets\":[{}0]}}", "0,".repeat(2 << 20)).into()),
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
    for (name, answer) in hostile {
        judge.refuses(&name, &hear(&[answering(id(0), &answer)]).remove(0));
    }
    for (name, line, said) in answers_to_no_request() {
        let heard = hear(&[line]).remove(0);
        judge.judge(name, &heard);
        let is_so = if said.is_empty() { heard.error.is_empty() } else { heard.error.contains(said) };
        assert!(is_so, "{name}: {}", heard.error);
    }
}

#[test]
#[ignore = "a host floods its controller for 6 s"]
fn endless_output_costs_a_controller_little_time() {
    if std::env::var_os(CONTROLLER).is_some() {
        let nowhere = File::options().write(true).open("/dev/null").unwrap();
        let from = io::stdin().as_fd().try_clone_to_owned().unwrap();
        let mut client = Client::new("receiver", nowhere, from, Interrupt::new().unwrap());
        client.send(&Request::Start, Duration::from_secs(5)).unwrap();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(6) && client.receive().is_ok() {}
        let spent = host::ProcessTimes::read();
        return eprintln!("HEARD {}", (spent.user_ns + spent.system_ns) / 1_000_000);
    }
    let round = answers().into_iter().find(|answer| matches!(answer, Answer::TracedRound(_))).unwrap();
    let round = netassay_agent::answer_line(1, &round).unwrap();
    for (name, piece) in [
        ("signs of life", vec![b'\n'; 64 << 10]),
        ("signs of life, one by one", vec![b'\n']),
        ("zeros", vec![0; 64 << 10]),
        ("rounds of a trace", round),
    ] {
        let (controller, mut to) = controller(ENDLESS);
        thread::spawn(move || while to.write_all(&piece).is_ok() {});
        let said = String::from_utf8(controller.wait_with_output().unwrap().stderr).unwrap();
        let time: u64 = said.lines().find_map(|line| line.strip_prefix("HEARD ")).unwrap().parse().unwrap();
        eprintln!("{name}: {time} ms");
        assert!(time < 1000, "{name}: {time} ms");
    }
}

#[test]
#[ignore = "fills each list of each answer: the gate has an answer of each form"]
fn each_answer_filled_as_far_as_it_goes_costs_little_memory_and_time() {
    let mut judge = Judge::new();
    for answer in answers() {
        let filled = filled(&serde_json::to_value(&answer).unwrap(), 4 << 20);
        let lines = filled.into_iter().enumerate();
        let lines: Vec<_> = lines.map(|(number, line)| answering(id(number), line.as_bytes())).collect();
        let heard = hear(&lines);
        assert_eq!(heard.len(), lines.len(), "{answer:?}");
        for (number, heard) in heard.iter().enumerate() {
            judge.refuses(&format!("{number} of {:.40}", format!("{answer:?}")), heard);
        }
    }
}

/// Lines of an agent that answer no open request, each with the resulting error; empty if the
/// controller goes on to the next answer.
fn answers_to_no_request() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let long = "x".repeat(MOST_BYTES);
    let line = |text: String| text.into_bytes();
    vec![
        ("another request's id", line(format!("77 {long}")), "answered request 77, but request 2 was asked"),
        ("no request's id", line("0 \"done\"".to_owned()), "answered request 0, but request 2 was asked"),
        ("a late answer", line(format!("1 {long}\n2 \"done\"")), ""),
        (
            "a late answer, twice",
            line("1 \"done\"\n1 \"done\"".to_owned()),
            "answered request 1, but request 2 was asked",
        ),
        ("an answer before, without an id", line("\"done\"\n2 \"done\"".to_owned()), "no id of a request"),
        ("an endless id", line("7".repeat(MOST_BYTES)), "no id of a request"),
        ("signs of life", line(format!("{}2 \"done\"", "\n".repeat(4 << 20))), ""),
        (
            "another kind",
            line("2 {\"told\":[\"\u{1b}]0;x\u{7}\u{202e}\"]}".to_owned()),
            "sent an answer to another kind of request: Told",
        ),
    ]
}
