//! A flow lent to somebody who asks in place of the transmitter's threads.

use netassay_load::exact::Worker;
use netassay_load::{Endpoint, Kind, Spec, Traffic};

fn described() -> std::io::Result<Worker> {
    Ok(Worker { thread: 1, initial: 2 })
}

fn spec(kind: Kind) -> Spec {
    let response = if kind.is_rr() { 100 } else { Traffic::new(kind).response };
    let traffic = Traffic { message: 100, response, ..Traffic::new(kind) };
    Spec { traffic, local: "127.0.0.1".parse().unwrap(), cpus: vec![], interface: None }
}

fn connected(kind: Kind) -> [Endpoint; 2] {
    let mut receiver = Endpoint::bind(&spec(kind)).unwrap();
    let transmitter = Endpoint::connect(&spec(kind), receiver.addresses()).unwrap();
    receiver.attach(transmitter.addresses()).unwrap();
    [transmitter, receiver]
}

#[test]
fn each_question_of_a_lent_flow_is_answered() {
    for kind in [Kind::UdpRr, Kind::TcpRr] {
        for asleep in [true, false] {
            let [transmitter, mut receiver] = connected(kind);
            receiver.start().unwrap();
            let took = transmitter.lend(asleep, described, &mut |work| {
                assert_eq!((work.messages(), work.workers()), (1, [described().unwrap()].as_slice()));
                work.repeat(500)
            });
            assert!(took.unwrap().unwrap() > 0, "{kind} {asleep}");
            let received = receiver.sample().received;
            assert_eq!((received.messages, received.bytes), (500, 50_000), "{kind} {asleep}");
            assert_eq!(receiver.failed(), None);
        }
    }
}

#[test]
fn a_flow_that_nobody_answers_is_not_lent() {
    let [stream, _receiver] = connected(Kind::UdpStream);
    let refused = stream.lend(true, described, &mut |_| ()).unwrap_err().to_string();
    assert!(refused.contains("messages that are not answered"), "{refused}");
}

/// A receiver that has not started gives no answer.
#[test]
fn a_lent_flow_waits_for_an_answer_in_bounded_time() {
    let [silent, _receiver] = connected(Kind::UdpRr);
    let late = silent.lend(true, described, &mut |work| work.repeat(1)).unwrap().unwrap_err().to_string();
    assert!(late.contains("no answer came within 5 s"), "{late}");
}
