//! A study of many comparisons: an overview stands in for a sentence and a table for each.

use netassay_report::Layout;
use results::{ComparisonRequest, Comparisons, Results};
use store::StoredStudy;
use study::Study;

use crate::made::{level, stored, wobble};
use crate::shown::Shown as _;

/// Two workloads at two MTUs, each compared with all on in these metrics. Only `big` pays for
/// segmentation in software.
fn made(metrics: &[&str]) -> StoredStudy {
    let compared: String = [1500, 9000]
        .iter()
        .flat_map(|mtu| {
            metrics.iter().map(move |metric| {
                format!(
                    "[[comparison]]\nonly = {{ mtu = {mtu} }}\nbaseline = {{ tso = \"on\", gso = \"on\" }}\nmetric = \"{metric}\"\n"
                )
            })
        })
        .collect();
    let workload =
        |name: &str| format!("[[workload]]\nname = \"{name}\"\nkind = \"tcp_stream\"\nduration = \"1s\"\n");
    let text = format!(
        "name = \"many\"\nquestion = \"which offload pays?\"\nscenario = \"veth\"\n{}{}\
         [factors]\nmtu = [1500, 9000]\ntso = [\"on\", \"off\"]\ngso = [\"on\", \"off\"]\n[protocol]\nboots = 3\nruns = 2\n{compared}",
        workload("big"),
        workload("small"),
    );
    let study = Study::parse("many", &text).unwrap();
    stored(&study, &study.plan(), |condition, boot, repeat| {
        let off = ["tso", "gso"].iter().filter(|name| level(condition, name) == "off").count() as f64;
        let pays = if condition.workload.name == "big" { off } else { 0.0 };
        let noise = 1.0 + 0.001 * wobble(boot, repeat, condition.index);
        vec![
            ("throughput", (1000.0 - 200.0 * pays) * noise),
            ("transmitter.cpu", (50.0 + 10.0 * pays) * noise),
        ]
    })
}

fn page(study: &StoredStudy, layout: Layout) -> String {
    Results::new(study).unwrap().text(layout)
}

#[test]
fn many_comparisons_are_rows_of_one_table_for_each_metric() {
    let study = made(&["throughput", "transmitter.cpu"]);
    insta::assert_snapshot!("overview", page(&study, Layout::PLAIN));
    // Every comparison is still told elsewhere.
    let compared = Comparisons::new(&study, &ComparisonRequest::default()).unwrap();
    assert_eq!(compared.text(Layout::PLAIN).matches("Answer: Against ").count(), 8);
    assert_eq!(page(&study, Layout::WIDE).matches("\n  against ").count(), 8);
}

#[test]
fn few_comparisons_have_a_table_each() {
    let text = page(&made(&["throughput"]), Layout::PLAIN);
    assert_eq!(text.matches("Answer: ").count(), 2, "{text}");
    assert_eq!(text.matches("limited by").count() + text.matches("  verdict").count(), 2, "{text}");
    assert!(!text.contains("proven differences"), "{text}");
}

/// Two workloads at three MTUs, in each of which every combination of three offloads was measured:
/// segmentation in software costs `big` a fifth, and nothing else does anything.
fn design() -> StoredStudy {
    let comparisons: String = [1500, 4000, 9000]
        .iter()
        .flat_map(|mtu| {
            ["throughput", "transmitter.service_demand_byte"]
                .map(|metric| format!("[[comparison]]\nonly = {{ mtu = {mtu} }}\nmetric = \"{metric}\"\n"))
        })
        .collect();
    let workload =
        |name: &str| format!("[[workload]]\nname = \"{name}\"\nkind = \"tcp_stream\"\nduration = \"1s\"\n");
    let text = format!(
        "name = \"large\"\nquestion = \"which offload pays?\"\nscenario = \"veth\"\n{}{}\
         [factors]\nmtu = [1500, 4000, 9000]\n\
         [design]\nkind = \"factorial\"\noffloads = [\"tso\", \"tx\", \"receiver.gro\"]\n\
         [protocol]\nboots = 5\nruns = 2\n{comparisons}",
        workload("big"),
        workload("small"),
    );
    let study = Study::parse("large", &text).unwrap();
    stored(&study, &study.plan(), |condition, boot, repeat| {
        let is_cut = condition.workload.name == "big" && level(condition, "tso") == "off";
        let noise = 1.0 + 0.001 * wobble(boot, repeat, condition.index);
        vec![
            ("throughput", if is_cut { 800.0 } else { 1000.0 } * noise),
            ("transmitter.service_demand_byte", if is_cut { 1.25 } else { 1.0 } * noise),
            // GRO finds nothing to merge, though it is on.
            ("receiver.wire_packets", 1000.0),
            ("receiver.segments", 1000.0),
            ("receiver.bytes_per_wire_packet", 1500.0),
        ]
    })
}

#[test]
fn a_large_design_is_told_in_few_lines() {
    let study = design();
    let text = page(&study, Layout::PLAIN);
    insta::assert_snapshot!("large_design", text);
    assert!(text.lines().count() < 100, "{text}");
    // Each condition and each share is still told elsewhere.
    let wide = page(&study, Layout::WIDE);
    let (open, all) = (wide.matches("no difference proven").count(), study.plan.conditions.len());
    assert!(open >= all / 2 && wide.matches("\nCredit (").count() == 6, "{wide}");
}
