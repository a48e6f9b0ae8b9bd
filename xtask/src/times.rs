//! What nextest says of each test: its outcome and its time.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use crate::Result;
use crate::test::Tier;

const HEAD: &str = "test\ttier\tseconds\twaited_for\n";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Test {
    binary: String,
    name: String,
    seconds: f64,
    pub(crate) outcome: Outcome,
    /// The lowest tier that runs it.
    pub(crate) tier: Tier,
    /// The group of tests in whose queue it stood.
    pub(crate) waited_for: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    /// It passed, and said with this reason that it tested nothing.
    Skipped(String),
}

impl Test {
    /// As `nextest list` writes it.
    pub(crate) fn id(&self) -> String {
        format!("{} {}", self.binary, self.name)
    }

    fn queue(&self) -> &str {
        self.waited_for.as_deref().unwrap_or("-")
    }
}

/// Reads nextest's JUnit report.
pub(crate) fn of_junit(xml: &str) -> Result<Vec<Test>> {
    let document = Document::parse(xml).map_err(|error| format!("nextest's JUnit report: {error}"))?;
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let tests: Option<Vec<Test>> = cases.map(test).collect();
    tests.ok_or_else(|| "nextest's JUnit report has a test without name or time".to_owned())
}

fn test(case: Node) -> Option<Test> {
    let children = |name| case.children().filter(move |node| node.has_tag_name(name));
    let said = children("system-err").filter_map(|node| node.text()).flat_map(str::lines);
    let reasons: Vec<&str> = said.filter_map(skip_reason).collect();
    // A test that leaves a process behind is an error.
    let outcome = if children("failure").chain(children("error")).next().is_some() {
        Outcome::Failed
    } else if reasons.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Skipped(reasons.join("; "))
    };
    Some(Test {
        binary: case.attribute("classname")?.to_owned(),
        name: case.attribute("name")?.to_owned(),
        seconds: case.attribute("time")?.parse().ok()?,
        outcome,
        tier: Tier::Gate,
        waited_for: None,
    })
}

/// The reason in a line `SKIPPED: <test>: <reason>`.
fn skip_reason(line: &str) -> Option<&str> {
    let announcement = line.trim().strip_prefix("SKIPPED:")?;
    let reason = announcement.split_once(": ").map_or("", |(_, reason)| reason.trim());
    Some(if reason.is_empty() { "no reason given" } else { reason })
}

fn slowest_first(tests: &[Test]) -> Vec<&Test> {
    let mut tests: Vec<&Test> = tests.iter().collect();
    tests.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    tests
}

/// The times of all tests, for programs.
pub(crate) fn table(tests: &[Test]) -> String {
    let mut text = HEAD.to_owned();
    for test in slowest_first(tests) {
        let tier = if test.tier == Tier::All { "all" } else { "gate" };
        text.push_str(&format!("{}\t{tier}\t{:.3}\t{}\n", test.id(), test.seconds, test.queue()));
    }
    text
}

/// The slowest tests, and the sum of each binary, for people.
pub(crate) fn summary(tests: &[Test]) -> String {
    let mut text = "\nthe 20 slowest tests:\n".to_owned();
    for test in slowest_first(tests).into_iter().take(20) {
        text.push_str(&format!("{:>8.1} s  {:<10} {}\n", test.seconds, test.queue(), test.id()));
    }
    let mut sums: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for test in tests {
        let (seconds, count) = sums.entry(&test.binary).or_default();
        *seconds += test.seconds;
        *count += 1;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(_, (one, _)), (_, (other, _))| other.total_cmp(one));
    text.push_str("\nthe sum of each binary:\n");
    for (binary, (seconds, count)) in sums {
        text.push_str(&format!("{seconds:>8.1} s  {count:>4} tests  {binary}\n"));
    }
    text
}

/// A report, for tests.
#[cfg(test)]
pub(crate) const EXAMPLE: &str = r#"<testsuites><testsuite>
<testcase name="tests::a" classname="nx::it" time="0.007">
    <system-out>SKIPPED: a: standard output does not count</system-out>
    <system-err>SKIPPED: a: no &lt;root&gt; &amp;lt; here
SKIPPED: a: nor a kernel</system-err>
</testcase>
<testcase name="b" classname="nx" time="2.5"><system-err></system-err></testcase>
<testcase name="d" classname="nx" time="0.123">
    <failure message="panicked">x</failure><system-err>SKIPPED: d: nope</system-err>
</testcase>
<testcase name="leak" classname="nx" time="2.009"><error type="leaked handles"/></testcase>
</testsuite></testsuites>"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read() {
        let tests = of_junit(EXAMPLE).unwrap();
        let skipped = Outcome::Skipped("no <root> &lt; here; nor a kernel".into());
        let outcomes: Vec<&Outcome> = tests.iter().map(|test| &test.outcome).collect();
        assert_eq!(outcomes, [&skipped, &Outcome::Passed, &Outcome::Failed, &Outcome::Failed]);
        assert!(of_junit("").is_err() && of_junit("<testcase name='a' classname='b'/>").is_err());
    }

    #[test]
    fn times_are_written_slowest_first_and_summed() {
        let mut tests = of_junit(EXAMPLE).unwrap();
        tests[0].tier = Tier::All;
        tests[1].waited_for = Some("traffic".into());
        let lines = "nx b\tgate\t2.500\ttraffic\nnx leak\tgate\t2.009\t-\nnx d\tgate\t0.123\t-\nnx::it tests::a\tall\t0.007\t-\n";
        assert_eq!(table(&tests), format!("{HEAD}{lines}"));
        assert!(summary(&tests).contains("     4.6 s     3 tests  nx\n"), "{}", summary(&tests));
    }
}
