//! Studies with a known answer.

use netassay_report::document::terminal;
use netassay_report::views;
use results::advice::{AdviceGoal, SettlingStudy, Standing};
use study::{Dropped, metric};

use crate::made::{
    Noise, QUIET, advice, brief, factorial, level, limited, measured, of_goal, on, protocol, recommendations,
    study, switch_named, wide, with_workload,
};

const TSO: &str = "transmitter.tso";
const GSO: &str = "transmitter.gso";
const GRO: &str = "receiver.gro";

/// TSO gains, GSO gains at a cost for the receiver, GRO does nothing, RX loses.
fn truth(one: &study::Condition) -> Vec<(&'static str, f64)> {
    let rate = 1000.0 * (1.0 + 0.4 * on(one, TSO) + 0.2 * on(one, GSO) - 0.1 * on(one, "receiver.rx"));
    vec![
        ("throughput", rate),
        ("transmitter.service_demand_byte", 1.0 - 0.3 * on(one, TSO)),
        ("receiver.service_demand_byte", 2.0 + 0.5 * on(one, GSO)),
    ]
}

#[test]
fn a_winner_a_trade_off_a_tie_and_a_loser_are_called_that() {
    let (study, plan) = study(&factorial(&[TSO, GSO, GRO, "receiver.rx"], 5));
    let stored = measured(&study, &plan, QUIET, 1, &truth);
    let advice = advice(&stored, &[]);
    assert_eq!(advice.goals, [AdviceGoal::Throughput, AdviceGoal::Cpu], "streams have no latency");
    let all = recommendations(&advice, AdviceGoal::Throughput);
    let tso = switch_named(all, TSO);
    assert_eq!((&tso.standing, tso.to.as_str()), (&Standing::Recommended, "on"));
    let gain = &tso.expected[0].there;
    assert_eq!(gain.base, "all off");
    let (low, high) = gain.relative_interval.unwrap();
    assert!(low < 40.0 && 40.0 < high && high - low < 4.0, "{gain:?}");
    assert_eq!(tso.apply[0].to_string(), "ethtool -K \"$IF\" tso on");
    assert_eq!(tso.undo[0].to_string(), "ethtool -K \"$IF\" tso off");
    // All on is 1500, without TSO 1100.
    let as_left = tso.as_left.as_ref().unwrap();
    // The advice sets RX off: with it off and all others on 1600, without TSO 1200.
    let there = &as_left.changes[0].there;
    assert!((there.relative.unwrap() - 100.0 / 3.0).abs() < 1.0, "{as_left:?}");
    assert_eq!(as_left.off, ["receiver.rx"]);
    let gso = switch_named(all, GSO);
    let loses = Standing::TradeOff { loses: vec![metric::SERVICE_DEMAND_BYTE.receiver] };
    assert_eq!((&gso.standing, gso.to.as_str()), (&loses, "on"));
    let gro = switch_named(all, GRO);
    assert_eq!((&gro.standing, gro.apply.len(), &gro.more), (&Standing::Tie, 0, &None));
    let rx = switch_named(all, "receiver.rx");
    assert_eq!((&rx.standing, rx.to.as_str()), (&Standing::Recommended, "off"));
    assert!(rx.expected[0].there.value > 0.0 && rx.expected[0].is_better() == Some(true), "{rx:?}");
    assert_eq!(rx.apply[0].to_string(), "ethtool -K \"$IF\" rx off");
    let cpu = recommendations(&advice, AdviceGoal::Cpu);
    assert_eq!(switch_named(cpu, TSO).standing, Standing::Recommended);
    assert_eq!(switch_named(cpu, GSO).standing, Standing::Tie, "its own side's CPU is the same");
    insta::assert_snapshot!("text", brief(&advice));
    insta::assert_snapshot!("script", views::advice_script(&advice));
}

/// With all off the receiver's CPU time cannot be told from zero, so there is no percentage of it.
#[test]
fn a_proven_loss_without_a_percentage_is_a_trade_off_and_a_small_one_with_it_is_none() {
    let (study, plan) = study(&factorial(&[TSO, GRO], 5));
    let stored = measured(&study, &plan, QUIET, 1, &|one| {
        vec![
            ("throughput", 1000.0 * (1.0 + 0.4 * on(one, TSO) + 0.2 * on(one, GRO))),
            ("transmitter.service_demand_byte", 2.0 * (1.0 + 0.01 * on(one, GRO))),
            ("receiver.service_demand_byte", 0.5 * on(one, TSO)),
        ]
    });
    let advice = advice(&stored, &[AdviceGoal::Throughput]);
    let all = recommendations(&advice, AdviceGoal::Throughput);
    let loss = |factor: &str, metric: &str| {
        let one = switch_named(all, factor);
        let change = one.elsewhere.iter().find(|change| change.metric.key == metric).unwrap();
        assert_eq!(change.is_better(), Some(false), "{change:?}");
        (change.there.relative.map(f64::round), one.standing.clone(), one.to.as_str())
    };
    let loses = Standing::TradeOff { loses: vec![metric::SERVICE_DEMAND_BYTE.receiver] };
    assert_eq!(loss(TSO, "receiver.service_demand_byte"), (None, loses, "on"));
    let small = (Some(1.0), Standing::Recommended, "on");
    assert_eq!(loss(GRO, "transmitter.service_demand_byte"), small);
}

#[test]
fn a_rate_that_the_link_sets_is_saturated_and_the_cpu_decides() {
    for (label, limit) in [("link", "the link"), ("pacing", "pacing")] {
        let (study, plan) = study(&factorial(&[TSO, GRO], 4));
        let mut stored = measured(&study, &plan, QUIET, 2, &|one| {
            vec![("throughput", 1000.0), ("transmitter.service_demand_byte", 2.0 - on(one, TSO))]
        });
        limited(&mut stored, label);
        let advice = advice(&stored, &[]);
        for one in recommendations(&advice, AdviceGoal::Throughput) {
            assert_eq!(one.standing, Standing::Saturated { limit: limit.to_owned() });
            assert!(one.apply.is_empty() && one.more.is_none(), "{one:?}");
        }
        assert_eq!(
            switch_named(recommendations(&advice, AdviceGoal::Cpu), TSO).standing,
            Standing::Recommended
        );
        assert_eq!(advice.summaries[0].rows[0].why, Some(format!("saturated: {limit}")));
    }
}

#[test]
fn one_boot_is_no_evidence_and_three_are_the_least() {
    let (study, plan) = study(&factorial(&[TSO, GRO], 1));
    let advice = advice(&measured(&study, &plan, QUIET, 3, &truth), &[AdviceGoal::Throughput]);
    for one in recommendations(&advice, AdviceGoal::Throughput) {
        assert!(matches!(one.standing, Standing::Unknown { .. }), "{one:?}");
        assert!(one.apply.is_empty());
        assert_eq!(
            one.more,
            Some(SettlingStudy { boots: 3, seconds: 180.0, set: Vec::new(), detects: None })
        );
    }
    let text = wide(&advice);
    assert!(
        text.contains("3 boots are the least (about 3 min 00 s: netassay run made --set boots=3)"),
        "{text}"
    );
    assert!(!text.contains("called proven"), "nothing was judged: {text}");
}

#[test]
fn counts_are_judged_by_their_resolution() {
    let (study, mut plan) = study(&factorial(&[TSO, GRO], 1));
    plan.exact = true;
    let none = Noise { boot: 0.0, cell: 0.0, run: 0.0 };
    let stored = measured(&study, &plan, none, 4, &|one| {
        vec![("kernel_instructions_byte", 10.0 - 2.0 * on(one, TSO) + 0.000_1 * on(one, GRO))]
    });
    let advice = advice(&stored, &[AdviceGoal::Throughput, AdviceGoal::Cpu]);
    let cpu = recommendations(&advice, AdviceGoal::Cpu);
    assert_eq!(switch_named(cpu, TSO).standing, Standing::Recommended);
    assert_eq!(switch_named(cpu, TSO).expected[0].there.interval, None);
    assert_eq!(switch_named(cpu, GRO).standing, Standing::Tie);
    let why = "exact mode counts instructions, it measures no rate".to_owned();
    assert_eq!(
        switch_named(recommendations(&advice, AdviceGoal::Throughput), TSO).standing,
        Standing::Unknown { why }
    );
    let text = wide(&advice);
    assert!(text.contains("above the resolution of counts is real") && !text.contains("Holm"), "{text}");
}

#[test]
fn counts_that_do_not_repeat_prove_nothing() {
    let (study, mut plan) = study(&factorial(&[TSO, GRO], 2));
    plan.exact = true;
    let noisy = Noise { boot: 0.01, cell: 0.01, run: 0.0 };
    let stored = measured(&study, &plan, noisy, 4, &|one| {
        vec![("kernel_instructions_byte", 10.0 - 2.0 * on(one, TSO))]
    });
    for one in recommendations(&advice(&stored, &[AdviceGoal::Cpu]), AdviceGoal::Cpu) {
        assert!(
            matches!(&one.standing, Standing::Unknown { why } if why.contains("do not repeat")),
            "{one:?}"
        );
    }
}

#[test]
fn a_noisy_study_has_no_evidence_and_says_how_much_more_settles_it() {
    let (study, plan) = study(&factorial(&[TSO, GRO], 4));
    let noise = Noise { boot: 0.05, cell: 0.05, run: 0.02 };
    let stored = measured(&study, &plan, noise, 5, &|_| vec![("throughput", 1000.0)]);
    let advice = advice(&stored, &[AdviceGoal::Throughput]);
    for one in recommendations(&advice, AdviceGoal::Throughput) {
        assert_eq!(one.standing, Standing::NoEvidence, "{one:?}");
        let more = one.more.as_ref().unwrap();
        assert!(more.boots > 20 && more.detects == Some(2.0), "{more:?}");
        assert!((more.seconds - 60.0 * f64::from(more.boots)).abs() < 1e-9, "{more:?}");
    }
    assert!(
        views::advice_script(&advice).contains("nothing is recommended for this host"),
        "{}",
        views::advice_script(&advice)
    );
}

#[test]
fn what_settles_one_row_leaves_out_what_that_row_does_not_need() {
    let tables = format!("[factors]\nmtu = [1500, 9000]\nfamily = [\"ipv4\", \"ipv6\"]\n{}", protocol(4));
    let (study, plan) = study(&tables);
    let noise = Noise { boot: 0.05, cell: 0.05, run: 0.02 };
    let mut stored = measured(&study, &plan, noise, 5, &|_| vec![("throughput", 1000.0)]);
    // A boot lasts a minute: 20 s to build it, and 5 s for each of its eight runs.
    let mut seen = std::collections::BTreeMap::new();
    for run in &mut stored.runs {
        let begun = stored.boots.iter().find(|boot| boot.number == run.boot).unwrap().started_unix_ms;
        let place = seen.entry(run.boot).or_insert(0);
        run.started_unix_ms = begun + 20_000 + 5_000 * *place;
        *place += 1;
    }
    let advice = advice(&stored, &[AdviceGoal::Throughput]);
    let open: Vec<_> = advice.studies[0].cases.iter().map(|case| &case.goals[0].recommendations[0]).collect();
    assert_eq!(open.len(), 2);
    for (one, family) in open.into_iter().zip(["ipv4", "ipv6"]) {
        let more = one.more.as_ref().unwrap_or_else(|| panic!("{one:?}"));
        let set: Vec<String> = more.set.iter().map(ToString::to_string).collect();
        assert_eq!(set, [format!("family={family}")]);
        assert!((more.seconds - 40.0 * f64::from(more.boots)).abs() < 1e-6, "{more:?}");
    }
    let text = wide(&advice);
    assert!(text.contains("netassay run made --set family=ipv6 --set boots="), "{text}");
}

#[test]
fn opposite_effects_by_the_other_switches_are_no_recommendation() {
    let (study, plan) = study(&factorial(&[TSO, GSO], 5));
    // Alone TSO gains much; beside GSO it loses.
    let stored = measured(&study, &plan, QUIET, 6, &|one| {
        vec![("throughput", 1000.0 + on(one, TSO) * (600.0 - 700.0 * on(one, GSO)) + 500.0 * on(one, GSO))]
    });
    let advice = advice(&stored, &[AdviceGoal::Throughput]);
    let tso = switch_named(recommendations(&advice, AdviceGoal::Throughput), TSO);
    assert_eq!((&tso.standing, tso.apply.len()), (&Standing::Depends, 0));
    let row = advice.summaries[0].rows.iter().find(|row| row.factors == [TSO]).unwrap();
    assert_eq!((row.to.as_deref(), row.apply.len()), (None, 0));
}

#[test]
fn a_switch_that_did_not_move_is_named_and_not_judged() {
    let (study, plan) = study(&factorial(&[TSO, GRO, "receiver.lro"], 4));
    // LRO reads back off whatever was asked.
    let reads: Vec<Vec<Option<bool>>> = plan
        .conditions
        .iter()
        .map(|one| vec![Some(on(one, TSO) > 0.0), Some(on(one, GRO) > 0.0), Some(false)])
        .collect();
    let gone = Dropped { label: "receiver.lro".to_owned(), why: "it stays off".to_owned() };
    let (plan, _) = plan.settled(&reads, vec![gone.clone()]);
    let advice = advice(&measured(&study, &plan, QUIET, 7, &truth), &[AdviceGoal::Throughput]);
    assert_eq!(advice.studies[0].switches.absent, [gone]);
    assert_eq!(recommendations(&advice, AdviceGoal::Throughput).len(), 2);
    assert!(wide(&advice).contains("Not switched: receiver.lro: it stays off."));
}

#[test]
fn of_several_levels_the_winner_beats_each_other_one() {
    let mtus = "[factors]\nmtu = [1500, 4000, 9000]\n";
    let (study, plan) = study(&format!("{mtus}{}", protocol(5)));
    let rate = |of: [f64; 3]| {
        move |one: &study::Condition| {
            let place = ["1500", "4000", "9000"].iter().position(|mtu| level(one, "mtu") == *mtu).unwrap();
            vec![("throughput", of[place])]
        }
    };
    let stored = measured(&study, &plan, QUIET, 8, &rate([1000.0, 1500.0, 2000.0]));
    let found = advice(&stored, &[AdviceGoal::Throughput]);
    let [one] = recommendations(&found, AdviceGoal::Throughput) else { panic!("{found:?}") };
    assert_eq!((&one.standing, one.to.as_str(), one.from.as_str()), (&Standing::Recommended, "9000", "4000"));
    assert_eq!(one.apply[0].to_string(), "ip link set dev \"$IF\" mtu 9000");
    assert_eq!(one.undo[0].to_string(), "ip link set dev \"$IF\" mtu 4000");
    assert_eq!(one.side, None);
    // The two best cannot be told apart: no winner.
    let stored = measured(&study, &plan, QUIET, 8, &rate([1000.0, 2000.0, 2000.0]));
    let found = advice(&stored, &[AdviceGoal::Throughput]);
    let [one] = recommendations(&found, AdviceGoal::Throughput) else { panic!("{found:?}") };
    assert!(!one.standing.is_proven() && one.apply.is_empty(), "{one:?}");
}

#[test]
fn the_tail_of_the_latency_and_a_setting_of_the_kernel() {
    let levels = "[factors]\ncongestion_control = [\"cubic\", \"reno\"]\n";
    let (study, plan) = with_workload("kind = \"tcp_rr\"", &format!("{levels}{}", protocol(5)));
    let stored = measured(&study, &plan, QUIET, 9, &|one| {
        let is_reno = level(one, "congestion_control") == "reno";
        vec![("latency_p99", if is_reno { 5000.0 } else { 8000.0 }), ("transactions", 20_000.0)]
    });
    let found = advice(&stored, &[]);
    assert_eq!(found.goals, [AdviceGoal::Throughput, AdviceGoal::Cpu, AdviceGoal::Latency]);
    let [one] = recommendations(&found, AdviceGoal::Latency) else { panic!("{found:?}") };
    assert_eq!((&one.standing, one.to.as_str()), (&Standing::Recommended, "reno"));
    assert_eq!(one.apply[0].to_string(), "sysctl -w net.ipv4.tcp_congestion_control=reno");
    let [one] = recommendations(&found, AdviceGoal::Throughput) else { panic!("{found:?}") };
    assert_eq!(one.standing, Standing::Tie);
    insta::assert_snapshot!("script_sysctl", views::advice_script(&found));
}

#[test]
fn scenarios_have_a_table_each_and_one_over_all() {
    let tables = format!(
        "[factors]\nscenario = [\"veth\", \"vxlan\"]\n{}",
        factorial(&[TSO, "transmitter.underlay.tx-udp_tnl-segmentation", GRO], 4)
    );
    let (study, plan) =
        with_workload("kind = \"udp_stream\"\nmessage = 1400", &tables.replace("[factors]", "\n[factors]"));
    let tunnel = "transmitter.underlay.tx-udp_tnl-segmentation";
    // Without a tunnel there is no interface under it.
    let is_vxlan = |one: &study::Condition| level(one, "scenario") == "vxlan";
    let reads: Vec<Vec<Option<bool>>> = plan
        .conditions
        .iter()
        .map(|one| {
            let under = is_vxlan(one).then(|| on(one, tunnel) > 0.0);
            vec![Some(on(one, TSO) > 0.0), under, Some(on(one, GRO) > 0.0)]
        })
        .collect();
    let why = "no interface here has it".to_owned();
    let gone = Dropped { label: format!("{tunnel} in veth"), why };
    let (plan, _) = plan.settled(&reads, vec![gone]);
    assert_eq!(plan.conditions.len(), 4 + 8);
    assert_eq!(plan.conditions[0].label.to_string(), "veth all on");
    let stored = measured(&study, &plan, QUIET, 10, &|one| {
        let gain =
            if is_vxlan(one) { 0.5 * on(one, tunnel) - 0.2 * on(one, TSO) } else { 0.3 * on(one, TSO) };
        vec![("throughput", 1000.0 * (1.0 + gain + 0.1 * on(one, GRO)))]
    });
    let found = advice(&stored, &[AdviceGoal::Throughput]);
    assert_eq!(found.studies[0].cases.len(), 2);
    let tso = found.studies[0]
        .cases
        .iter()
        .map(|one| switch_named(of_goal(one, AdviceGoal::Throughput), TSO).to.as_str());
    assert_eq!(tso.collect::<Vec<_>>(), ["on", "off"]);
    let text = terminal(&views::advice_tables(&found), netassay_report::Layout::PLAIN);
    insta::assert_snapshot!("scenarios", text);
    let script = views::advice_script(&found);
    assert!(!script.contains("feature \"$IF\" tso"), "scenarios contradict each other: {script}");
    assert!(script.contains("feature \"$IF\" gro generic-receive-offload on"), "{script}");
}

#[test]
fn all_offloads_of_both_ends_are_set_by_what_reads_back() {
    let (study, mut plan) = study(&format!("[factors]\noffloads = [\"default\", \"none\"]\n{}", protocol(4)));
    let side = |on: bool| serde_json::json!({"mtu": 1500, "active": {"tx-tcp-segmentation": on, "tx-scatter-gather": on, "tx-gre-segmentation": on}, "refused": {}, "follow_on": {}});
    let both = |on| serde_json::json!({"transmitter": side(on), "receiver": side(on)});
    plan.effective = serde_json::from_value(serde_json::json!([both(true), both(false)])).unwrap();
    let stored = measured(&study, &plan, QUIET, 11, &|one| {
        vec![("throughput", if level(one, "offloads") == "none" { 500.0 } else { 1000.0 })]
    });
    let found = advice(&stored, &[AdviceGoal::Throughput]);
    let text = wide(&found);
    assert!(text.contains("apply: ethtool -K \"$IF\" sg on tso on\n"), "{text}");
    assert!(text.contains("undo: ethtool -K \"$IF\" sg off tso off\n"), "{text}");
    // The answer's figure, with the other base.
    assert!(text.contains(" % lower with offloads=none; for tcp_stream throughput)"), "{text}");
    let (low, high) = found.summaries[0].rows[0].answered.unwrap();
    assert!(-51.0 < low && low <= high && high < -49.0, "{low} to {high}");
    assert!(text.contains("set offloads default at both ends: throughput +100"), "{text}");
}

#[test]
fn open_questions_of_one_traffic_share_a_sentence() {
    let tables = format!("[factors]\nmtu = [1500, 3000, 4500, 6000, 9000]\n{}", factorial(&[TSO, GRO], 4));
    let (study, plan) = study(&tables);
    let noise = Noise { boot: 0.05, cell: 0.05, run: 0.02 };
    let noisy = measured(&study, &plan, noise, 5, &|_| vec![("throughput", 1000.0)]);
    let found = advice(&noisy, &[AdviceGoal::Throughput]);
    assert_eq!(found.studies[0].cases.len(), 5);
    let text = brief(&found);
    let open = "no evidence for tso at the transmitter and gro at the receiver: a difference of 2 %";
    assert_eq!(text.matches(open).count(), 5, "{text}");
    // The largest of both answers settles both.
    assert_eq!(text.matches("; to settle it: ").count(), 5, "{text}");
}
