//! An agent under attack through its pipes: hostile bytes cost it little memory, it ends with its
//! controller in every state, and it keeps no more privileges than it needs.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use common::Bench;

/// How long a busy machine may take for what takes an agent half a second.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent at work.
struct Agent {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    /// The id of the last request.
    asked: u64,
    _bench: Bench,
}

impl Agent {
    /// In namespaces of its own; as the user who runs the tests, or as an ordinary one.
    fn start(ordinary: bool) -> Self {
        Self::start_as(ordinary, "null")
    }

    /// As a controller on this machine starts it.
    fn start_here(ordinary: bool) -> Self {
        Self::start_as(ordinary, &std::process::id().to_string())
    }

    fn start_as(ordinary: bool, parent: &str) -> Self {
        let bench = Bench::new();
        let arguments = ["agent"];
        let mut command =
            if ordinary { bench.netassay_as_nobody(&arguments) } else { bench.netassay(&arguments) };
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        let mut agent = Self { process, to, from, asked: 0, _bench: bench };
        agent.say(&format!(r#"{{"isolation":"user_and_network","cpus":[],"parent":{parent}}}"#));
        agent
    }

    fn say(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line.as_bytes()).unwrap();
        to.write_all(b"\n").unwrap();
    }

    /// Whether it answers the first question.
    fn greets(&mut self) -> bool {
        let hello = format!(r#"{{"hello":{{"protocol":{}}}}}"#, agent::message::PROTOCOL);
        self.ask(&hello).contains("hello")
    }

    /// Asks with the next id, and has the answer with it.
    fn ask(&mut self, request: &str) -> String {
        self.begin(request);
        let mut answer = String::new();
        self.from.read_line(&mut answer).unwrap();
        answer.strip_prefix(&format!("{} ", self.asked)).expect(&answer).to_owned()
    }

    /// Asks without a wait.
    fn begin(&mut self, request: &str) {
        self.asked += 1;
        self.say(&format!("{} 900000 {request}", self.asked));
    }

    /// The first word of a line of `/proc/PID/status`.
    fn status(&self, field: &str) -> String {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim_start_matches(':').split_whitespace().next().unwrap().to_owned()
    }

    /// The most memory that it ever had, in KiB.
    fn memory(&self) -> u64 {
        self.status("VmHWM").parse().unwrap()
    }

    /// Waits for its end; whether it ends.
    fn ends(&mut self) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if self.process.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Closes its input, as a controller that is gone does; whether the agent then exits without
    /// finishing its work. The answer shows that it finished: after 3 s of waiting for an
    /// interface, 5 s of connecting, and longer for exact work with large messages.
    fn ends_when_left(&mut self) -> bool {
        drop(self.to.take());
        if !self.ends() {
            return false;
        }
        let mut answer = String::new();
        self.from.read_to_string(&mut answer).unwrap();
        answer.is_empty()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What an agent answers, and its exit code, whose standard input is this and ends.
fn told(input: &str) -> (String, Option<i32>) {
    let bench = Bench::new();
    let mut command = bench.netassay(&["agent"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn().unwrap();
    process.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = process.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn a_first_line_that_launches_nothing_is_refused_with_its_reason() {
    for (line, reason) in [
        ("garbage", "not a message of this protocol"),
        (r#"{"isolation":"none","cpus":[99999],"parent":null}"#, "cannot pin this thread to CPUs 99999"),
        (r#"{"isolation":"none","cpus":[],"parent":null,"more":1}"#, "unknown field `more`"),
        (
            r#"{"isolation":{"network_of":999999999},"cpus":[],"parent":null}"#,
            "cannot join the net namespace",
        ),
    ] {
        let (answer, code) = told(&format!("{line}\n"));
        assert!(answer.starts_with("0 {") && answer.contains(r#""broken":true"#), "{line}: {answer}");
        assert!(answer.contains(reason), "{line}: {answer}");
        assert_eq!(code, Some(3), "{line}");
    }
    assert_eq!(told(""), (String::new(), Some(0)), "a controller that says nothing wants nothing");
}

#[test]
fn hostile_requests_cost_an_agent_little_memory() {
    for ordinary in [false, true] {
        let mut agent = Agent::start(ordinary);
        assert!(agent.greets());
        let before = agent.memory();
        let list = |length: usize, item: &str| vec![item; length].join(",");
        let hostile = [
            (r#"{"steer_new":{"cpus":[4294967295]}}"#.to_owned(), "no machine has a CPU"),
            (r#"{"steer":{"interface":"lo","cpus":[0,4294967294]}}"#.to_owned(), "no machine has a CPU"),
            (format!(r#"{{"steer_new":{{"cpus":[{}]}}}}"#, list(2 << 20, "0")), "at most 8192"),
            (format!(r#"{{"abandon":[{}]}}"#, list(2 << 20, "0")), "at most 8192"),
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
        let grown = agent.memory() - before;
        // The longest line has 4 MiB, and lies in memory up to three times while it is put
        // together.
        assert!(grown < 32 << 10, "{grown} KiB more than before");
        assert!(agent.greets(), "it still serves");
    }
}

#[test]
fn a_request_is_given_up_at_the_end_of_its_time_with_nothing_done() {
    let mut agent = Agent::start(false);
    assert!(agent.greets());
    let mut say = |lines: &str| agent.say(lines);
    // The window is longer than the time for the answer.
    let watch = |window_ns: u64| {
        format!(
            r#"{{"watch":{{"processes":[],"cpus":[0],"underlay":null,"ramp_ns":0,"window_ns":{window_ns}}}}}"#
        )
    };
    say(&format!("2 500 {}", watch(600_000_000_000)));
    // The time of the second is over before the first is done.
    say(&format!("3 60000 {}\n4 50 {{\"create_bridge\":{{\"name\":\"b\"}}}}", watch(300_000_000)));
    say(r#"5 60000 {"await_running":{"interface":"b"}}"#);
    say("x 60000 \"abandon\"\n6 60000 \"abandon\"");
    let answers: Vec<String> = (&mut agent.from).lines().take(6).collect::<Result<_, _>>().unwrap();
    let begin =
        ["2 {\"failed\"", "3 {\"watched\"", "4 {\"failed\"", "5 {\"failed\"", "0 {\"failed\"", "6 \"done\""];
    for (answer, begin) in answers.iter().zip(begin) {
        assert!(answer.starts_with(begin), "{answer}");
    }
    assert!(answers[0].contains("its time of 0.5 s"), "{}", answers[0]);
    assert!(answers[2].contains("its time of 0.05 s"), "{}", answers[2]);
    assert!(answers[3].contains("no interface"), "{}", answers[3]);
}

#[test]
fn an_agent_whose_answers_nobody_reads_ends() {
    for ordinary in [false, true] {
        let mut agent = Agent::start(ordinary);
        assert!(agent.greets());
        for id in 2..100 {
            agent.say(&format!(r#"{id} 200 {{"environment":{{"interfaces":["lo"]}}}}"#));
        }
        assert!(agent.ends(), "it waits for a reader");
    }
}

/// A transmitter's side of one flow of datagrams.
fn spec(kind: &str, message: u32) -> String {
    format!(
        r#"{{"traffic":{{"kind":"{kind}","message":{message},"response":0,"flows":1,"threads":null,"direction":"forward",
        "sender":"send","reader":"recv","in_flight":1,"rate":null,"pacing":null,"busy_poll":null,"congestion_control":"system",
        "dscp":null,"nodelay":null,"connected":true,"socket_buffer":null,"checksum":true,"port":null,"verify":false}},
        "local":"127.0.0.1","cpus":[]}}"#
    )
    .replace(['\n', ' '], "")
}

#[test]
fn an_agent_ends_with_its_controller_in_every_state() {
    let configure = r#"{"configure":{"interface":"lo","addresses":[]}}"#.to_owned();
    let listen = format!(r#"{{"open":{{"spec":{},"interface":"lo"}}}}"#, spec("tcp_stream", 1));
    // Nobody answers there: the connection waits for its first packet to be lost often enough.
    let nowhere = "{\"create_discard\":{\"name\":\"hole\",\"device\":null,\"addresses\":[[\"10.9.0.1\",24]],\"behind\":[\"10.9.0.2\"]}}";
    let connect = format!(
        r#"{{"open":{{"spec":{},"endpoints":["10.9.0.2:9"],"interface":"hole","underlay":null}}}}"#,
        spec("tcp_stream", 1).replace("127.0.0.1", "10.9.0.1")
    );
    let exact = format!(
        r#"{{"exact":{{"spec":{0},"receiver":{{"in":{{"process":PID,"spec":{0}}}}}}}}}"#,
        spec("tcp_stream", 8 << 20)
    );
    let watch =
        r#"{"watch":{"processes":[],"cpus":[0],"underlay":null,"ramp_ns":0,"window_ns":600000000000}}"#;
    let measure = r#"{"measure":{"ramp_ns":600000000000,"window_ns":1,"step_ns":0}}"#;
    // What is asked and answered before, and what the agent is busy with when the controller goes.
    let states: [(&str, Vec<&str>, &str); 7] = [
        ("idle", vec![], ""),
        ("half a request", vec![], r#"1 60000 {"hello""#),
        (
            "waiting for an interface",
            vec![r#"{"create_veth":{"name":"a","peer":"b","peer_pid":PID}}"#],
            r#"{"await_running":{"interface":"a"}}"#,
        ),
        ("watching", vec![], watch),
        ("connecting", vec![nowhere], &connect),
        ("exact work", vec![&configure], &exact),
        ("measuring", vec![&configure, &listen], measure),
    ];
    let end = |ordinary: bool, (state, before, busy): &(&str, Vec<&str>, &str)| {
        let mut agent = Agent::start(ordinary);
        assert!(agent.greets());
        let own = agent.process.id().to_string();
        for line in before {
            let answer = agent.ask(&line.replace("PID", &own));
            assert!(!answer.contains("failed"), "{state}: {answer}");
        }
        if busy.ends_with('}') {
            agent.begin(&busy.replace("PID", &own));
            std::thread::sleep(Duration::from_millis(100));
        } else {
            agent.to.as_mut().unwrap().write_all(busy.as_bytes()).unwrap();
        }
        assert!(agent.ends_when_left(), "{state}: the agent goes on without a controller");
    };
    // They mostly wait.
    std::thread::scope(|scope| {
        for (ordinary, state) in
            [false, true].into_iter().flat_map(|who| states.iter().map(move |one| (who, one)))
        {
            let end = &end;
            scope.spawn(move || end(ordinary, state));
        }
    });
}

/// CAP_NET_BIND_SERVICE, NET_ADMIN, IPC_LOCK, SYS_RESOURCE, SYSLOG, PERFMON and BPF.
const NEEDED: u64 = 1 << 10 | 1 << 12 | 1 << 14 | 1 << 24 | 1 << 34 | 1 << 38 | 1 << 39;

/// CAP_SYS_ADMIN, which exact mode needs, and so the agents of a guest.
const OF_GUESTS: u64 = 1 << 21;

#[test]
fn an_agent_keeps_few_capabilities_gets_no_new_ones_and_inherits_no_files() {
    for ordinary in [false, true] {
        // A file that the controller's starter left open.
        let file = std::fs::File::open("/proc/self/status").unwrap();
        // SAFETY: an open descriptor, and no flags: children inherit it.
        assert_eq!(unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(&file), libc::F_SETFD, 0) }, 0);
        let mut agent = Agent::start_here(ordinary);
        let mut of_guest = Agent::start(ordinary);
        drop(file);
        for (agent, needed) in [(&mut agent, NEEDED), (&mut of_guest, NEEDED | OF_GUESTS)] {
            assert!(agent.greets());
            for set in ["CapEff", "CapPrm", "CapBnd"] {
                let capabilities = u64::from_str_radix(&agent.status(set), 16).unwrap();
                assert_eq!(capabilities, needed, "{set} {capabilities:x}");
            }
        }
        assert_eq!(
            (agent.status("CapInh").as_str(), agent.status("NoNewPrivs").as_str()),
            ("0000000000000000", "1")
        );
        let open = std::fs::read_dir(format!("/proc/{}/fd", agent.process.id())).unwrap();
        for fd in open.flatten() {
            let to = std::fs::read_link(fd.path()).unwrap_or_default();
            let kind = to.to_string_lossy().into_owned();
            // Its own: netlink sockets.
            assert!(
                ["0", "1", "2"].iter().any(|own| fd.file_name() == *own) || kind.starts_with("socket:"),
                "{:?} is {kind}",
                fd.file_name()
            );
        }
    }
}
