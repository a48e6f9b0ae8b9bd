//! Runs one workload over loopback, both ends in this process, and prints what it measured.
//!
//!     cargo run --release -p netassay-load --example loop -- tcp_stream --tx 0 --rx 1

use std::net::IpAddr;
use std::process::ExitCode;
use std::time::Duration;

use netassay_load::{Endpoint, Kind, Pacing, Phase, Sample, Spec, Traffic};

fn main() -> ExitCode {
    match Plan::from_arguments(std::env::args().skip(1)).and_then(|plan| run(&plan)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

struct Plan {
    receiver: Spec,
    transmitter: Spec,
    window: Duration,
    ramp: Duration,
}

fn run(plan: &Plan) -> Result<(), String> {
    let words = |e: netassay_load::Error| e.to_string();
    let mut receiver = Endpoint::bind(&plan.receiver).map_err(words)?;
    let mut transmitter = Endpoint::connect(&plan.transmitter, receiver.addresses()).map_err(words)?;
    receiver.attach(transmitter.addresses()).map_err(words)?;
    receiver.start().map_err(words)?;
    transmitter.start().map_err(words)?;

    std::thread::sleep(plan.ramp);
    let first = edge(&transmitter, &receiver, Phase::Window);
    std::thread::sleep(plan.window);
    let last = edge(&transmitter, &receiver, Phase::Tail);
    let (sent, received) = (last.0.since(&first.0), last.1.since(&first.1));

    let sender = transmitter.finish().map_err(words)?;
    let sink = receiver.finish().map_err(words)?;
    let rate = |count: u64, sample: &Sample| count as f64 * 1e9 / sample.at_ns as f64;
    say(&format!("throughput   {:12.1} Mbit/s", rate(received.received.bytes * 8, &received) / 1e6));
    say(&format!("messages     {:12.0} 1/s sent", rate(sent.sent.messages, &sent)));
    say(&format!("messages     {:12.0} 1/s received", rate(received.received.messages, &received)));
    say(&format!("calls        {:12.0} 1/s sending", rate(sent.sent.calls, &sent)));
    say(&format!("calls        {:12.0} 1/s receiving", rate(received.received.calls, &received)));
    say(&format!("transactions {:12.0} 1/s", rate(sent.sent.transactions, &sent)));
    if let Some(latency) = &sender.latency {
        say(&format!("latency      {latency:?}"));
    }
    say(&format!("whole life   sent {:?}", sender.sent));
    say(&format!("             received {:?}", sink.received));
    say(&format!("buffers      {:?} -> {:?}", sender.buffers, sink.buffers));
    for note in sender.notes.iter().chain(&sink.notes) {
        say(&format!("note         {note}"));
    }
    Ok(())
}

fn text_of(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn edge(transmitter: &Endpoint, receiver: &Endpoint, phase: Phase) -> (Sample, Sample) {
    transmitter.set_phase(phase);
    receiver.set_phase(phase);
    (transmitter.sample(), receiver.sample())
}

impl Plan {
    fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let kind = arguments.next().and_then(|word| Kind::ALL.into_iter().find(|kind| kind.word() == word));
        let traffic = Traffic::new(kind.ok_or(USAGE)?);
        let mut receiver = Spec {
            traffic,
            local: "127.0.0.1".parse().expect("an address"),
            cpus: Vec::new(),
            interface: None,
        };
        let (mut tx, mut window, mut ramp) = (Vec::new(), 1.0, 0.2);
        while let Some(option) = arguments.next() {
            let value = arguments.next().ok_or(format!("{option} needs a value\n{USAGE}"))?;
            let bad = || format!("{option} {value}: not a number\n{USAGE}");
            match option.as_str() {
                "--message" => receiver.traffic.message = value.parse().map_err(|_| bad())?,
                "--response" => receiver.traffic.response = value.parse().map_err(|_| bad())?,
                "--flows" => receiver.traffic.flows = value.parse().map_err(|_| bad())?,
                "--buffer" => receiver.traffic.socket_buffer = Some(value.parse().map_err(|_| bad())?),
                "--port" => receiver.traffic.port = Some(value.parse().map_err(|_| bad())?),
                "--local" => receiver.local = value.parse::<IpAddr>().map_err(|_| bad())?,
                "--checksum" => receiver.traffic.checksum = value != "off",
                "--seconds" => window = value.parse().map_err(|_| bad())?,
                "--ramp" => ramp = value.parse().map_err(|_| bad())?,
                "--sender" => receiver.traffic.sender = value.parse().map_err(text_of)?,
                "--reader" => receiver.traffic.reader = value.parse().map_err(text_of)?,
                "--direction" => receiver.traffic.direction = value.parse().map_err(text_of)?,
                "--in-flight" => receiver.traffic.in_flight = value.parse().map_err(|_| bad())?,
                "--rate" => receiver.traffic.rate = Some(value.parse().map_err(|_| bad())?),
                "--pacing" => receiver.traffic.pacing = Some(Pacing::parse(&value).map_err(|_| bad())?),
                "--busy-poll" => {
                    let micros = value.parse().map_err(|_| bad())?;
                    receiver.traffic.busy_poll = Some(Duration::from_micros(micros));
                }
                "--rx" => receiver.cpus = cpus(&value).ok_or_else(bad)?,
                "--tx" => tx = cpus(&value).ok_or_else(bad)?,
                _ => return Err(format!("unknown option {option}\n{USAGE}")),
            }
        }
        let transmitter = Spec { cpus: tx, ..receiver.clone() };
        let window = Duration::try_from_secs_f64(window).map_err(|e| format!("--seconds: {e}"))?;
        let ramp = Duration::try_from_secs_f64(ramp).map_err(|e| format!("--ramp: {e}"))?;
        Ok(Self { receiver, transmitter, window, ramp })
    }
}

const USAGE: &str = "loop tcp_stream|udp_stream|tcp_rr|udp_rr|tcp_crr [--message BYTES] [--response BYTES] [--flows N] \
     [--buffer BYTES] [--port N] [--local ADDRESS] [--checksum off] [--sender S] [--reader R] \
     [--direction D] [--in-flight N] [--rate N] [--pacing BITS] [--busy-poll US] [--seconds S] [--ramp S] [--tx CPU,…] [--rx CPU,…]";

fn cpus(list: &str) -> Option<Vec<u32>> {
    list.split(',').map(|cpu| cpu.parse().ok()).collect()
}

#[expect(clippy::print_stdout, reason = "an example's output is its purpose")]
fn say(line: &str) {
    println!("{line}");
}

#[expect(clippy::print_stderr, reason = "an example's errors go to the terminal")]
fn fail(error: &str) -> ExitCode {
    eprintln!("{error}");
    ExitCode::from(2)
}
