//! Prints the tables of `docs/studies.md` that are made from the vocabulary: `cargo xtask generate`
//! puts them there.
#![expect(clippy::print_stdout, reason = "it is what it is for")]

use netassay_words::metric::{METRICS, Metric, MetricNeeds, Source};
use netassay_words::{KEYS, Kind, Scenario, Side};

fn main() {
    let table = match std::env::args().nth(1).as_deref() {
        Some("keys") => keys(),
        Some("metrics") => metrics(|metric| metric.side.is_none() && metric.needs != MetricNeeds::Exact),
        Some("metrics-of-sides") => metrics(|metric| metric.side == Some(Side::Transmitter)),
        Some("metrics-of-exact-mode") => metrics(|metric| metric.needs == MetricNeeds::Exact),
        other => panic!("no table is called {other:?}"),
    };
    print!("{table}");
}

/// The keys of traffic.
fn keys() -> String {
    let mut table = "| key | of | what | values | default |\n|---|---|---|---|---|\n".to_owned();
    for key in KEYS {
        let (name, of, what, values, default) =
            (key.name, kinds(key.kinds), key.help, key.range(), key.default);
        let turns = if key.in_flight().is_some() { "; in flight" } else { "" };
        let what = format!("{what}{turns}{}", if key.is_factor { "" } else { "; not a factor" });
        table.push_str(&format!("| `{name}` | {of} | {what} | {values} | {default} |\n"));
    }
    table
}

/// Names of metrics by the runs that yield them and by unit, those of a side without the side. The
/// glossary defines each.
fn metrics(is_meant: impl Fn(Metric) -> bool) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for metric in METRICS.iter().copied().filter(|metric| is_meant(*metric)) {
        let name = format!("`{}`", metric.key.trim_start_matches("transmitter."));
        let group = format!("{} ({})", of(metric), metric.unit);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, names)) => names.push(name),
            None => groups.push((group, vec![name])),
        }
    }
    groups.iter().map(|(group, names)| format!("- {group}: {}\n", names.join(", "))).collect()
}

/// The runs that yield a metric.
fn of(metric: Metric) -> String {
    let yielding: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| kind.produces(metric)).collect();
    let direction = if metric.source == Source::BothWays { " with `direction = \"both\"`" } else { "" };
    let meets = |scenario: &Scenario| metric.needs.is_met(*scenario, true);
    let scenarios: Vec<String> =
        Scenario::ALL.iter().filter(|one| meets(one)).map(|scenario| format!("`{scenario}`")).collect();
    let place = if scenarios.len() == Scenario::ALL.len() {
        String::new()
    } else {
        format!(", on {}", scenarios.join(", "))
    };
    format!("{}{direction}{place}", kinds(&yielding))
}

fn kinds(kinds: &[Kind]) -> String {
    if kinds.len() == Kind::ALL.len() {
        return "all".to_owned();
    }
    kinds.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ")
}
