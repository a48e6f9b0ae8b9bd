//! Metrics and lists as people say them.

use study::Side;

use crate::data::metric::ComparedMetric;

/// A metric in a sentence: `the transmitter's CPU per byte`.
pub fn metric_words(metric: &ComparedMetric) -> String {
    spoken(metric, |side| format!("the {side}'s"))
}

/// A metric in a title: `transmitter's CPU per byte`.
pub fn metric_name(metric: &ComparedMetric) -> String {
    spoken(metric, |side| format!("{side}'s"))
}

/// A metric above a column: `tx CPU per byte`.
pub fn metric_heading(metric: &ComparedMetric) -> String {
    spoken(metric, |side| side.short().to_owned())
}

fn spoken(metric: &ComparedMetric, whose: impl Fn(Side) -> String) -> String {
    let known = match metric {
        ComparedMetric::Known(known) => known,
        // Another program's name has its own meaning.
        ComparedMetric::Foreign(name, _) => return name.replace('_', " "),
    };
    let side = known.side.map_or_else(String::new, |side| whose(side) + " ");
    let own = known.own.replace("service_demand_", "CPU per ").replace("cpu", "CPU");
    let own = own.replace("host_", "host's ").replace("instructions_", "instructions per ");
    side + &own.replace('_', " ")
}

/// A word after the one that it explains: ` (faster)`; empty for none.
pub(crate) fn in_brackets(word: Option<&str>) -> String {
    word.map_or_else(String::new, |word| format!(" ({word})"))
}

/// The labels of some conditions before a note on them; empty for all.
pub(crate) fn of_some(labels: impl Iterator<Item = String>, all: usize) -> String {
    let labels: Vec<String> = labels.collect();
    if labels.len() == all { String::new() } else { format!("{}: ", labels.join(", ")) }
}

/// A workload as the beginning of a sentence: `tcp_stream: `; empty if nobody named it.
pub fn before(workload: &str) -> String {
    if workload.is_empty() { String::new() } else { format!("{workload}: ") }
}

/// Levels of a condition without those of one factor: `mtu=1500 tso=on`.
pub fn levels_without(without: &str, levels: &[(String, String)]) -> String {
    let levels = levels.iter().filter(|(factor, _)| factor != without);
    levels.map(|(factor, level)| format!("{factor}={level}")).collect::<Vec<_>>().join(" ")
}

pub(crate) fn is(metric: &ComparedMetric) -> &'static str {
    if metric.known().is_some_and(|metric| metric.is_plural()) { "are" } else { "is" }
}

/// Each stage by where it ends; by both ends where it does not begin at the end above.
pub fn stages_by_end<'s>(steps: impl IntoIterator<Item = (&'s str, &'s str)>) -> Vec<String> {
    // A stage that begins where the one above ends is clear by its own end.
    let mut before = None;
    let name = |(from, to): (&'s str, &'s str)| match before.replace(to) == Some(from) {
        true => to.to_owned(),
        false => format!("{from} to {to}"),
    };
    steps.into_iter().map(name).collect()
}

/// `a, b and c`.
pub fn listed<S: AsRef<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [init @ .., last] => {
            let init: Vec<&str> = init.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", init.join(", "), last.as_ref())
        }
    }
}

/// Words with a capital letter at the beginning.
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The first of some names, and how many more there are; empty for none.
pub fn first_of<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let told: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    match names.len() - told.len() {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_people_write_them() {
        assert_eq!(listed::<&str>(&[]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn metrics_read_as_words() {
        let metric = |key: &str, unit: &str| ComparedMetric::of_file(key.to_owned(), unit.to_owned());
        let allocs = metric("allocs.per_op", "B");
        assert_eq!(metric_words(&metric("receiver.cpu_softirq", "%")), "the receiver's CPU softirq");
        assert_eq!(metric_words(&metric("latency_p99", "ns")), "latency p99");
        assert_eq!(metric_words(&allocs), "allocs.per op", "a file's own name has no side");
        assert_eq!(metric_words(&metric("throughput", "Mbit/s")), "throughput");
        let demand = metric("transmitter.service_demand_byte", "ns");
        assert_eq!(metric_words(&demand), "the transmitter's CPU per byte");
        let of_host = metric("receiver.host_service_demand_packet", "ns");
        assert_eq!(metric_words(&of_host), "the receiver's host's CPU per packet");
        assert_eq!(metric_heading(&of_host), "rx host's CPU per packet");
        assert_eq!(metric_name(&of_host), "receiver's host's CPU per packet");
        assert_eq!(metric_name(&metric("receiver.cpu_softirq", "%")), "receiver's CPU softirq");
        assert_eq!(metric_name(&metric("transmitter.host_cpu_vcpu", "%")), "transmitter's host's CPU vCPU");
        let instructions = metric("kernel_instructions_packet", "1");
        assert_eq!(metric_words(&instructions), "kernel instructions per packet");
        assert_eq!(is(&metric("transactions", "1/s")), "are");
        assert_eq!([is(&metric("throughput", "Mbit/s")), is(&allocs)], ["is", "is"]);
    }
}
