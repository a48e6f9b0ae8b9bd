//! The plans of the bundled studies.

use netassay_study::{
    Condition, Dropped, Family, Offloads, Plan, PlannedComparison, Scenario, Study, bundled,
    expected_duration, feature, format_duration,
};

use crate::{labels, slugs};

/// A plan as a dry run may show it.
pub(crate) fn listing(study: &Study, plan: &Plan) -> String {
    let protocol = &study.protocol;
    let time = format_duration(expected_duration(plan, protocol));
    let per_boot = format!("{} warm-up + {} recorded", protocol.warmup, protocol.runs);
    let mut lines = vec![format!("{} boots x ({per_boot}), {}, {time}", protocol.boots, protocol.order)];
    lines.extend(
        plan.conditions
            .iter()
            .map(|Condition { index, label, slug, .. }| format!("{index} {slug} | {label}")),
    );
    lines.extend(plan.excluded.iter().map(|Dropped { label, why }| format!("excluded {label}: {why}")));
    lines.extend(plan.merged.iter().map(|Dropped { label, why }| format!("merged {label}: {why}")));
    lines.extend(plan.comparisons.iter().map(
        |PlannedComparison { workload, metric, baseline, conditions, .. }| {
            format!("{workload}: {metric} of {conditions:?} against {baseline}")
        },
    ));
    lines.join("\n")
}

#[test]
fn bundled_studies_come_down_to_these_plans() {
    for bundled in bundled::list() {
        let study = bundled.study();
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(format!("bundled_{}", bundled.name), listing(&study, &study.plan()));
        });
    }
}

/// The reference study R1 and the names of its sample files.
#[test]
fn udp_loopback_has_the_conditions_and_the_names_of_the_published_study() {
    let study = bundled::find("udp-loopback").unwrap().study();
    assert_eq!(study.scenarios(), [Scenario::Loopback]);
    assert_eq!(
        slugs(&study.plan()),
        [
            "udp4_default_nocksum",
            "udp4_nooffload_nocksum",
            "udp4_default",
            "udp4_nooffload",
            "udp6_default",
            "udp6_nooffload",
        ]
    );
    assert_eq!((study.protocol.boots, study.protocol.warmup, study.protocol.runs), (3, 1, 10));
}

/// The reference study R2: IPv4 with the checksum, without, and IPv6, in packets per second.
#[test]
fn udp_send_discard_has_the_conditions_of_the_published_study() {
    let study = bundled::find("udp-send-discard").unwrap().study();
    let plan = study.plan();
    assert_eq!(study.scenarios(), [Scenario::Discard]);
    assert_eq!(slugs(&plan), ["pps4", "pps4_nocksum", "pps6"]);
    assert_eq!((study.protocol.boots, study.protocol.warmup, study.protocol.runs), (3, 1, 10));
    assert!(plan.conditions.iter().all(|one| format_duration(one.workload.duration) == "2m"));
    assert_eq!((plan.comparisons[0].metric.as_str(), plan.comparisons[0].baseline), ("packets", 0));
}

#[test]
fn quick_is_what_the_issue_asks_for() {
    let study = bundled::find("quick").unwrap().study();
    let plan = study.plan();
    assert_eq!(
        labels(&plan),
        ["ipv4 offloads=default", "ipv4 offloads=none", "ipv6 offloads=default", "ipv6 offloads=none"]
    );
    assert_eq!(slugs(&plan), ["tcp4_default", "tcp4_nooffload", "tcp6_default", "tcp6_nooffload"]);
    assert_eq!((study.protocol.boots, study.protocol.warmup, study.protocol.runs), (7, 0, 1));
    let condition = &plan.conditions[3];
    assert_eq!((condition.family, condition.transmitter.offloads), (Family::Ipv6, Offloads::None));
    assert_eq!(condition.receiver.wanted().len(), feature::OFFLOADS.len());
    assert_eq!(
        condition.levels,
        [("family".to_owned(), "ipv6".to_owned()), ("offloads".to_owned(), "none".to_owned())]
    );
}
