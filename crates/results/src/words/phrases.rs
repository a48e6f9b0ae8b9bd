//! Metrics and lists as people say them.

use study::Side;
use study::metric::{METRICS, Metric};

/// A metric of the vocabulary by its whole key; none for what files call their values.
fn known(key: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.key == key)
}

/// A metric's key as it is spoken.
pub(crate) fn words(key: &str) -> String {
    spoken(key, |side| format!("the {side}'s"), long)
}

/// The words of a metric in a title.
#[must_use]
pub fn title(key: &str) -> String {
    spoken(key, |side| format!("{side}'s"), long)
}

/// The words of a metric in short: `the transmitter's CPU per byte`.
#[must_use]
pub fn metric_words(key: &str) -> String {
    spoken(key, |side| format!("the {side}'s"), short)
}

/// The words of a metric in the heading of a column: `tx CPU per byte`, with more room
/// `transmitter's CPU per byte`.
#[must_use]
pub fn heading(key: &str, is_wide: bool) -> String {
    spoken(key, |side| if is_wide { format!("{side}'s") } else { side.short().to_owned() }, short)
}

/// A metric in a heading, with its side if it has one: `transmitter's CPU per byte`.
#[must_use]
pub fn metric_name(key: &str) -> String {
    heading(key, true).replace("cpu", "CPU")
}

fn long(own: &str) -> String {
    // What is per a unit of work ends with that unit.
    let per = |key: &str, of: &str| key.replace(&format!("{of}_"), &format!("{of}_per_"));
    per(&per(own, "instructions"), "service_demand").replace('_', " ")
}

fn short(own: &str) -> String {
    let own = own.replace("service_demand_", "CPU per ").replace("host_", "host's ");
    own.replace("instructions_", "instructions per ").replace('_', " ")
}

/// A key with its side, if it has one, as `whose` says it, and the rest as `plain` does.
fn spoken(key: &str, whose: impl Fn(Side) -> String, plain: fn(&str) -> String) -> String {
    let metric = known(key);
    let own = plain(metric.map_or(key, |metric| metric.own));
    metric.and_then(|metric| metric.side).map_or_else(|| own.clone(), |side| format!("{} {own}", whose(side)))
}

/// A workload as the beginning of a sentence: `tcp_stream: `; empty if nobody named it.
#[must_use]
pub fn before(workload: &str) -> String {
    if workload.is_empty() { String::new() } else { format!("{workload}: ") }
}

/// Levels of a condition without those of one factor: `mtu=1500 tso=on`.
#[must_use]
pub fn levels_without(without: &str, levels: &[(String, String)]) -> String {
    let levels = levels.iter().filter(|(factor, _)| factor != without);
    levels.map(|(factor, level)| format!("{factor}={level}")).collect::<Vec<_>>().join(" ")
}

/// The verb that follows a metric.
pub(crate) fn is(key: &str) -> &'static str {
    if known(key).is_some_and(Metric::is_plural) { "are" } else { "is" }
}

/// The stages of a path in its order, each by where it ends, as it begins where the one above
/// ends; where it does not, by both.
#[must_use]
pub fn stages_by_end<'s>(steps: impl IntoIterator<Item = (&'s str, &'s str)>) -> Vec<String> {
    let mut before = None;
    let name = |(from, to): (&'s str, &'s str)| match before.replace(to) == Some(from) {
        true => to.to_owned(),
        false => format!("{from} to {to}"),
    };
    steps.into_iter().map(name).collect()
}

/// `a, b and c`.
#[must_use]
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
#[must_use]
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The first of some names, and how many more there are; empty for none.
#[must_use]
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
        assert_eq!(words("receiver.cpu_softirq"), "the receiver's cpu softirq");
        assert_eq!(words("latency_p99"), "latency p99");
        assert_eq!(words("allocs.per_op"), "allocs.per op", "a file's own name has no side");
        assert_eq!(metric_words("throughput"), "throughput");
        assert_eq!(metric_words("transmitter.service_demand_byte"), "the transmitter's CPU per byte");
        assert_eq!(
            metric_words("receiver.host_service_demand_packet"),
            "the receiver's host's CPU per packet"
        );
        let key = "receiver.host_service_demand_packet";
        assert_eq!(heading(key, false), "rx host's CPU per packet");
        assert_eq!(heading(key, true), "receiver's host's CPU per packet");
        assert_eq!(title("receiver.cpu_softirq"), "receiver's cpu softirq");
        assert_eq!(metric_words("kernel_instructions_packet"), "kernel instructions per packet");
        assert_eq!([is("transactions"), is("throughput"), is("allocs")], ["are", "is", "is"]);
    }
}
