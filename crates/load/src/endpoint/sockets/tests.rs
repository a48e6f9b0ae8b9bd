use super::*;
use std::time::Instant;

use words::{Kind, Traffic};

use crate::{Endpoint, Spec};

fn spec(kind: Kind) -> Spec {
    Spec { traffic: Traffic::new(kind), local: "127.0.0.1".parse().unwrap(), cpus: vec![], interface: None }
}

#[test]
fn a_transmitter_greets_once_before_its_first_datagram() {
    for kind in [Kind::UdpStream, Kind::UdpRr] {
        let peers: Vec<_> = (0..2).map(|_| std::net::UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
        let addresses: Vec<_> = peers.iter().map(|peer| peer.local_addr().unwrap()).collect();
        let mut spec = spec(kind);
        spec.traffic.flows = 2;
        let end = Endpoint::connect(&spec, &addresses).unwrap();
        peers.iter().for_each(|peer| peer.set_nonblocking(true).unwrap());
        let mut room = [1; 4];
        assert_eq!(peers[0].recv_from(&mut room).unwrap(), (0, end.addresses()[0]));
        assert!(peers[0].recv(&mut room).is_err() && peers[1].recv(&mut room).is_err());
    }
}

#[test]
fn what_nobody_receives_begins_without_a_greeting() {
    let bystander = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let _end = Endpoint::connect(&spec(Kind::Pps), &[bystander.local_addr().unwrap()]).unwrap();
    bystander.set_nonblocking(true).unwrap();
    assert!(bystander.recv(&mut [0; 4]).is_err());
}

#[test]
fn a_receiver_waits_for_the_greeting_and_discards_what_came_before() {
    let spec = spec(Kind::UdpStream);
    let mut receiver = Endpoint::bind(&spec).unwrap();
    let to = receiver.addresses()[0];
    let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    peer.send_to(b"of somebody else", to).unwrap();
    let local = peer.local_addr().unwrap();
    let late = Duration::from_millis(200);
    let begin = Instant::now();
    let greeter = std::thread::spawn(move || {
        std::thread::sleep(late);
        peer.send_to(&[], to).unwrap();
        peer
    });
    receiver.attach(&[local]).unwrap();
    assert!(begin.elapsed() >= late, "{:?}", begin.elapsed());
    let _peer = greeter.join().unwrap();
    assert_eq!(receiver.finish().unwrap().received.messages, 0);
}

#[test]
fn a_greeting_that_is_lost_ends_the_wait_in_time() {
    let spec = spec(Kind::UdpStream);
    let mut receiver = Endpoint::bind(&spec).unwrap();
    let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let begin = Instant::now();
    receiver.attach(&[peer.local_addr().unwrap()]).unwrap();
    assert!(begin.elapsed() >= WAIT, "{:?}", begin.elapsed());
}
