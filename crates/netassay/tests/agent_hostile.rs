//! An agent and whoever holds its pipes: hostile bytes cost it little.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use common::Bench;

/// An agent at work.
struct Agent {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    _bench: Bench,
}

impl Agent {
    /// In namespaces of its own; as the user who runs the tests, or as an ordinary one.
    fn start(ordinary: bool) -> Self {
        let bench = Bench::new();
        let arguments = ["agent", "--isolation", "user-and-network"];
        let mut command =
            if ordinary { bench.netassay_as_nobody(&arguments) } else { bench.netassay(&arguments) };
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, to, from, _bench: bench }
    }

    fn ask(&mut self, line: &str) -> String {
        let to = self.to.as_mut().unwrap();
        to.write_all(line.as_bytes()).unwrap();
        to.write_all(b"\n").unwrap();
        let mut answer = String::new();
        self.from.read_line(&mut answer).unwrap();
        answer
    }

    /// A number of `/proc/PID/status`: of memory in KiB.
    fn status(&self, field: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim_start_matches(':').split_whitespace().next().unwrap().parse().unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn hostile_requests_cost_an_agent_little_memory() {
    for ordinary in [false, true] {
        let mut agent = Agent::start(ordinary);
        assert!(agent.ask(r#"{"hello":{"protocol":7}}"#).contains("hello"));
        let before = agent.status("VmHWM");
        let list = |length: usize, item: &str| vec![item; length].join(",");
        let hostile = [
            (r#"{"steer_new":{"cpus":[4294967295]}}"#.to_owned(), "may have at most 8191"),
            (r#"{"steer":{"interface":"lo","cpus":[0,4294967294]}}"#.to_owned(), "may have at most 8191"),
            (format!(r#"{{"steer_new":{{"cpus":[{}]}}}}"#, list(2 << 20, "0")), "more than 300000 values"),
            (format!(r#"{{"abandon":[{}]}}"#, list(2 << 20, "0")), "more than 300000 values"),
            (
                format!(r#"{{"attach":{{"locals":[{}]}}}}"#, list(250_000, r#""10.0.0.1:1""#)),
                "at most 200000",
            ),
            (format!("{}1", "[".repeat(200_000)), "not a message"),
            (r#"{"start":{"then":1}}"#.to_owned(), "not a message"),
        ];
        for (line, why) in &hostile {
            let answer = agent.ask(line);
            assert!(
                answer.contains("failed") && answer.contains(why),
                "{}: {answer}",
                &line[..40.min(line.len())]
            );
        }
        let grown = agent.status("VmHWM") - before;
        // The longest line has 4 MiB, and lies in memory up to three times while it is put together.
        assert!(grown < 32 << 10, "{grown} KiB more than before");
        assert!(agent.ask(r#"{"hello":{"protocol":7}}"#).contains("hello"), "it still serves");
    }
}
