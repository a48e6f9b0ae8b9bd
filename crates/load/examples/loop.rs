//! Runs one workload over loopback, both ends in this process, and prints what it measured.
//!
//! `cargo run --release -p netassay-load --example loop -- tcp_stream --message 16384 --seconds 2 --tx 0 --rx 1`

use std::net::IpAddr;
use std::process::ExitCode;
use std::time::Duration;

use netassay_load::{Kind, Phase, Receiver, Sample, Spec, Transmitter};

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
    let mut receiver = Receiver::bind(&plan.receiver).map_err(words)?;
    let mut transmitter = Transmitter::connect(&plan.transmitter, receiver.endpoints()).map_err(words)?;
    receiver.attach(transmitter.locals()).map_err(words)?;
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
    say(&format!("throughput   {:12.1} 10^6 bits/s", rate(received.total.bytes * 8, &received) / 1e6));
    say(&format!("messages     {:12.0} 1/s sent", rate(sent.total.messages, &sent)));
    say(&format!("messages     {:12.0} 1/s received", rate(received.total.messages, &received)));
    say(&format!("calls        {:12.0} 1/s sending", rate(sent.total.calls, &sent)));
    say(&format!("calls        {:12.0} 1/s receiving", rate(received.total.calls, &received)));
    say(&format!("transactions {:12.0} 1/s", rate(sent.total.transactions, &sent)));
    if let Some(latency) = &sender.latency {
        say(&format!("latency      {latency:?}"));
    }
    say(&format!("whole life   sent {:?}", sender.totals));
    say(&format!("             received {:?}", sink.totals));
    say(&format!("buffers      {:?} -> {:?}", sender.buffers, sink.buffers));
    say(&format!("retransmits  {:?}", sender.retransmits()));
    Ok(())
}

fn edge(transmitter: &Transmitter, receiver: &Receiver, phase: Phase) -> (Sample, Sample) {
    transmitter.set_phase(phase);
    receiver.set_phase(phase);
    (transmitter.sample(), receiver.sample())
}

impl Plan {
    fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let kind = match arguments.next().as_deref() {
            Some("tcp_stream") => Kind::TcpStream,
            Some("udp_stream") => Kind::UdpStream,
            Some("tcp_rr") => Kind::TcpRr,
            Some("udp_rr") => Kind::UdpRr,
            other => return Err(format!("{USAGE}\nnot a workload: {}", other.unwrap_or("nothing"))),
        };
        let message = match kind {
            Kind::TcpStream => 16384,
            Kind::UdpStream => 1472,
            Kind::TcpRr | Kind::UdpRr => 1,
        };
        let mut receiver = Spec {
            kind,
            local: "127.0.0.1".parse().expect("an address"),
            message,
            response: u32::from(kind.is_rr()),
            flows: 1,
            socket_buffer: None,
            udp_checksum: true,
            port: None,
            cpus: Vec::new(),
        };
        let (mut tx, mut window, mut ramp) = (Vec::new(), 1.0, 0.2);
        while let Some(option) = arguments.next() {
            let value = arguments.next().ok_or(format!("{option} needs a value\n{USAGE}"))?;
            let bad = || format!("{option} {value}: not a number\n{USAGE}");
            match option.as_str() {
                "--message" => receiver.message = value.parse().map_err(|_| bad())?,
                "--response" => receiver.response = value.parse().map_err(|_| bad())?,
                "--flows" => receiver.flows = value.parse().map_err(|_| bad())?,
                "--buffer" => receiver.socket_buffer = Some(value.parse().map_err(|_| bad())?),
                "--port" => receiver.port = Some(value.parse().map_err(|_| bad())?),
                "--local" => receiver.local = value.parse::<IpAddr>().map_err(|_| bad())?,
                "--checksum" => receiver.udp_checksum = value != "off",
                "--seconds" => window = value.parse().map_err(|_| bad())?,
                "--ramp" => ramp = value.parse().map_err(|_| bad())?,
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

const USAGE: &str = "loop tcp_stream|udp_stream|tcp_rr|udp_rr [--message BYTES] [--response BYTES] [--flows N] \
     [--buffer BYTES] [--port N] [--local ADDRESS] [--checksum off] [--seconds S] [--ramp S] [--tx CPU,…] [--rx CPU,…]";

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
