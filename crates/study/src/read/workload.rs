//! `[[workload]]`.

use std::collections::HashSet;
use std::ops::Range;

use words::{Family, KEYS, Key, Kind, Workload};

use crate::read::part::Places;
use crate::read::{Problems, Section, factor};

pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    ["name", "kind"].into_iter().chain(KEYS.iter().map(|key| key.name))
}

#[derive(Debug)]
pub(crate) struct ParsedWorkload {
    pub(crate) workload: Workload,
    pub(crate) place: Range<usize>,
    written: Places,
}

impl ParsedWorkload {
    pub(crate) fn writes(&self, key: &str) -> bool {
        self.written.contains_key(key)
    }

    /// The place of a key, or of its workload if the key is not written.
    pub(crate) fn place_of(&self, key: &str) -> Range<usize> {
        self.written.get(key).unwrap_or(&self.place).clone()
    }
}

pub(crate) fn read(tables: Vec<Section<'_>>, problems: &mut Problems) -> (Vec<ParsedWorkload>, bool) {
    let written = tables.len();
    let workloads: Vec<ParsedWorkload> =
        tables.into_iter().filter_map(|table| read_workload(table, problems)).collect();
    let mut names = HashSet::new();
    for read in &workloads {
        if !names.insert(read.workload.name.to_lowercase()) {
            let message = format!("two workloads are called `{}`", read.workload.name);
            let place = if read.writes("name") { "name" } else { "kind" };
            problems.report(read.place_of(place), message, "give each a different `name`");
        }
    }
    let whole = workloads.len() == written;
    (workloads, whole)
}

fn read_workload(mut table: Section<'_>, problems: &mut Problems) -> Option<ParsedWorkload> {
    let (place, mut written) = (table.span.clone(), Places::new());
    let kind = table.require("kind", "`kind = \"tcp_stream\"`", problems);
    written.extend(kind.iter().map(|entry| ("kind", entry.span())));
    let kind: Option<Kind> = kind.and_then(|entry| entry.word(problems));
    let name = table.take("name");
    written.extend(name.iter().map(|entry| ("name", entry.span())));
    let name = name.and_then(|entry| entry.identifier(problems));
    let mut values = Vec::new();
    for key in KEYS {
        let Some(entry) = table.take(key.name) else { continue };
        let value = entry.of_shape(key.shape, key.has_default(), problems);
        values.extend(value.map(|value| (key, value, entry.span())));
    }
    table.finish(&keys().collect::<Vec<_>>(), problems);

    let kind = kind?;
    let mut workload = Workload::new(kind);
    workload.name = name.unwrap_or(workload.name);
    for (key, value, place) in values {
        match key.misfit(&value, kind) {
            Some(misfit) => problems.report(place.clone(), misfit.why, misfit.help),
            None => key.set(&mut workload, &value),
        }
        written.insert(key.name, place);
    }
    let mut read = ParsedWorkload { workload, place, written };
    if kind.is_rr() && !read.writes("response") {
        read.workload.traffic.response = read.workload.traffic.message;
    }
    Some(read)
}

/// Reports keys that a factor overrides, and keys that do not agree.
pub(crate) fn yield_to_factors(
    read: &mut ParsedWorkload,
    factors: &[&Key],
    family: Family,
    problems: &mut Problems,
) {
    for key in factors.iter().filter(|key| read.writes(key.name)) {
        factor::report_overridden(key.name, read.place_of(key.name), problems);
    }
    let follows = !read.writes("response") && factors.iter().any(|key| key.name == "message");
    // The response follows a message that is a factor, and is kept as 0 until then.
    if follows {
        read.workload.traffic.response = 0;
    }
    let traffic = &read.workload.traffic;
    let misfit = traffic.excess(family).or_else(|| traffic.conflict(Family::Ipv4));
    // With factors, the plan leaves out conditions whose keys do not agree.
    if let Some(misfit) = misfit.filter(|_| factors.is_empty()) {
        problems.report(read.place_of(misfit.key), misfit.why, misfit.help);
    }
}

#[cfg(test)]
mod tests {
    use crate::Study;

    fn problems(workload: &str) -> String {
        let text = format!("name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\n{workload}\n");
        Study::parse("x.toml", &text).map_or_else(|problems| problems.to_string(), |_| String::new())
    }

    #[test]
    fn what_takes_a_thread_for_each_flow_is_refused_where_it_is_written() {
        for workload in [
            "kind = \"tcp_rr\"\nflows = 100000\nthreads = 2",
            "kind = \"tcp_rr\"\nflows = 100000",
            "kind = \"tcp_stream\"\nflows = 9\nthreads = 2\npacing = \"1Mbit\"",
            "kind = \"tcp_crr\"\nflows = 2\nthreads = 2",
            "kind = \"udp_rr\"\nflows = 2\nthreads = 1024\nin_flight = 2",
        ] {
            assert_eq!(problems(workload), "", "{workload}");
        }
        for (workload, place) in [
            ("kind = \"tcp_crr\"\nflows = 3\nthreads = 2", "threads = 2"),
            ("kind = \"tcp_crr\"\nflows = 1025", "flows = 1025"),
            ("kind = \"udp_rr\"\nflows = 3\nthreads = 2\nrate = 5", "threads = 2"),
            ("kind = \"udp_stream\"\nflows = 3\nthreads = 2\nsender = \"gso\"", "threads = 2"),
            ("kind = \"udp_stream\"\nflows = 3\nthreads = 2\npacing = \"1Mbit\"", "threads = 2"),
            ("kind = \"udp_rr\"\nflows = 3\nthreads = 2\nconnected = \"off\"", "threads = 2"),
            ("kind = \"udp_rr\"\nflows = 3\nthreads = 2\nbusy_poll = \"5us\"", "threads = 2"),
            ("kind = \"tcp_rr\"\nflows = 3\nthreads = 2\nreader = \"spin\"", "threads = 2"),
            ("kind = \"udp_rr\"\nflows = 64513", "flows = 64513"),
        ] {
            let problems = problems(workload);
            assert!(problems.contains(place) && problems.contains("help: "), "{workload}: {problems}");
        }
        assert!(problems("kind = \"tcp_rr\"\nthreads = 0").contains("1 to 1024"));
        assert!(problems("kind = \"tcp_rr\"\nflows = 100001").contains("1 to 100000"));
    }

    #[test]
    fn of_levels_those_that_cannot_be_had_are_left_out_with_the_reason() {
        let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_rr\"\n\
                    [factors]\nflows = [1, 4]\nthreads = [\"default\", 2]\nin_flight = [1, 2]\n";
        let plan = Study::parse("x.toml", text).unwrap().plan();
        assert_eq!(plan.conditions.len(), 7);
        assert_eq!(plan.excluded.len(), 1);
        assert_eq!(
            plan.excluded[0].why,
            "`in_flight` = 2 needs one thread for each of the 4 flows, and `threads` is 2"
        );
    }
}
