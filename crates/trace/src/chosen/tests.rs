use super::*;

fn place(name: &str, kind: PointKind) -> ProbePoint {
    ProbePoint { kind, name: name.to_owned(), arguments: None, packet: None }
}

fn stages() -> Vec<ResolvedStage> {
    let stage = |label: &str, found: ProbePoints| ResolvedStage {
        label: label.to_owned(),
        lane: Layer::Ip,
        at: At::Entry,
        optional: false,
        phase: JourneyPhase::Out,
        ipv4: found,
        ipv6: ProbePoints::Missing("not for IPv6".to_owned()),
    };
    let functions = vec![
        place("f", PointKind::Function),
        place("g", PointKind::Function),
        place("t", PointKind::Tracepoint),
    ];
    vec![
        stage("a", ProbePoints::Points(functions)),
        stage("b", ProbePoints::Missing("no function h".to_owned())),
        stage("c", ProbePoints::Points(vec![place("i", PointKind::Function)])),
        stage("d", ProbePoints::Points(vec![place("u", PointKind::Tracepoint)])),
    ]
}

fn points_seen(chosen: &[ChosenStage]) -> Vec<Result<(u8, &str), &str>> {
    let seen = chosen.iter().map(|stage| match &stage.seen {
        Ok(seen) => Ok((seen.point, seen.name.as_str())),
        Err(reason) => Err(reason.as_str()),
    });
    seen.collect()
}

#[test]
fn the_first_place_that_packets_pass_stands_for_its_stage() {
    let stages = stages();
    let [probes] = candidates(&stages, false, true).try_into().unwrap();
    let names: Vec<&str> = probes.iter().map(|probe| probe.place.name.as_str()).collect();
    assert_eq!(names, ["f", "g", "t", "i", "u"]);
    let tried = vec![
        (Ok(Attachment::Trampoline), 0),
        (Ok(Attachment::Kprobe), 9),
        (Ok(Attachment::Tracepoint), 9),
        (Err(TraceError::plain("refused")), 0),
        (Ok(Attachment::Tracepoint), 9),
    ];
    let chosen = choose(&stages, false, true, tried, 1);
    assert_eq!(points_seen(&chosen), [Ok((0, "g")), Err("no function h"), Err("i: refused"), Ok((1, "u"))]);
    let probe = chosen[0].probe().unwrap();
    assert_eq!((probe.number, probe.place.kind), (0, PointKind::Function));
    assert_eq!(chosen[1].probe(), None);
}

#[test]
fn where_functions_are_not_probed_tracepoints_stand_for_stages() {
    let stages = stages();
    let [probes] = candidates(&stages, false, false).try_into().unwrap();
    assert_eq!(probes.len(), 2);
    let tried = vec![(Ok(Attachment::Tracepoint), 0), (Ok(Attachment::Tracepoint), 3)];
    let chosen = choose(&stages, false, false, tried, 1);
    let none = "only functions stand for it, and they are not probed here";
    assert_eq!(points_seen(&chosen), [Err("t is not passed"), Err("no function h"), Err(none), Ok((0, "u"))]);
}

#[test]
fn on_the_way_in_a_packet_begins_where_it_is_first_given() {
    let stage = |label: &str, phase: JourneyPhase, given: bool| {
        let packet = given.then_some(Packet::Argument(0));
        let places = vec![ProbePoint { packet, ..place(label, PointKind::Function) }];
        let ipv4 = ProbePoints::Points(places);
        ResolvedStage { phase, ipv4, ..stages().remove(0) }
    };
    let mut stages = vec![
        stage("irq", JourneyPhase::Arriving, false),
        stage("poll", JourneyPhase::Arriving, false),
        stage("ip_rcv", JourneyPhase::Arriving, true),
        stage("udp_rcv", JourneyPhase::Arriving, true),
        stage("ready", JourneyPhase::Arriving, false),
        stage("recv", JourneyPhase::Reading, false),
        stage("wait", JourneyPhase::Reading, false),
        stage("free", JourneyPhase::Reading, true),
        stage("return", JourneyPhase::Reading, false),
    ];
    let chosen = |stages: &[ResolvedStage], hits: u64| {
        let tried = vec![(Ok(Attachment::Trampoline), hits); stages.len()];
        choose(stages, false, true, tried, 32)
    };
    let all = chosen(&stages, 64);
    let phases: Vec<JourneyPhase> = all.iter().map(|stage| stage.phase).collect();
    let [leading, arriving, reading] = [JourneyPhase::Leading, JourneyPhase::Arriving, JourneyPhase::Reading];
    assert_eq!(phases[..5], [leading, leading, arriving, arriving, arriving]);
    assert_eq!(phases[5..], [reading; 4]);
    let numbers = |way: Option<&Way>| -> Vec<u8> {
        needed(&all, way).unwrap().iter().map(|probe| probe.number).collect()
    };
    assert_eq!(numbers(None), [0, 2, 4, 5, 7, 8]);
    // A reader that slept goes on behind its wait.
    let way = |points: [u8; 3]| {
        let mut ends = points.map(|point| crate::Segment { point, ..crate::Segment::default() }).into_iter();
        Way { whole: ends.next().unwrap(), segments: ends.collect() }
    };
    assert_eq!(numbers(Some(&way([0, 6, 8]))), [0, 2, 4, 5, 6, 7, 8]);
    // A reader that polls gets packets without what leads to them; others had it.
    assert_eq!(numbers(Some(&way([1, 6, 8]))), [0, 1, 2, 4, 5, 6, 7, 8]);
    // What other packets of the machine pass now and then stands for nothing.
    assert!(chosen(&stages, 31)[..5].iter().all(|stage| stage.seen.is_err()));
    stages[7].ipv4 = ProbePoints::Missing("no function free".to_owned());
    let tried = vec![(Ok(Attachment::Trampoline), 64); 8];
    let error = needed(&choose(&stages, false, true, tried, 32), None).unwrap_err().to_string();
    assert_eq!(
        error,
        "no stage of the reader is seen that is given the packet; not seen: a (no function free)"
    );
}

#[test]
fn each_family_has_its_own_places() {
    let stages = stages();
    assert_eq!(candidates(&stages, true, true), Vec::<Vec<Probe>>::new());
    assert!(choose(&stages, true, true, Vec::new(), 1).iter().all(|stage| stage.seen.is_err()));
}
