//! The JUnit report of nextest: how many tests ran, how many failed, and what passing tests said.
//!
//! Not an XML parser: it reads what nextest writes (no comments, no CDATA, attributes in double
//! quotes).

use crate::tally::{Said, Skip, Tally};

/// What a report says; `None` for what is no report.
pub(crate) fn read(xml: &str) -> Option<Said> {
    let skips = announced_skips(xml);
    Some(Said { tally: tally(xml)?.announced(skips.len()), skips })
}

/// How the tests of a run ended; those that announced a skip have passed.
fn tally(xml: &str) -> Option<Tally> {
    let (_, rest) = xml.split_once("<testsuites ")?;
    let head = rest.split('>').next()?;
    let count = |key| attribute(head, key)?.parse::<u32>().ok();
    // One that leaves something behind is an error.
    let failed = count("failures")?.checked_add(count("errors")?)?;
    Some(Tally { passed: count("tests")?.checked_sub(failed)?, failed, skipped: 0 })
}

/// The passing tests that announced a skip on standard error, one [`Skip`] for each test.
fn announced_skips(xml: &str) -> Vec<Skip> {
    let mut skips = Vec::new();
    for case in xml.split("<testcase ").skip(1) {
        let case = case.split("</testcase>").next().unwrap_or_default();
        let head = case.split('>').next().unwrap_or_default();
        if case.contains("<failure") || case.contains("<error") {
            continue;
        }
        let said = unescaped(element(case, "system-err").unwrap_or_default());
        let reasons: Vec<String> = said.lines().filter_map(Skip::announced).map(|skip| skip.reason).collect();
        if !reasons.is_empty() {
            let name = |key| unescaped(attribute(head, key).unwrap_or_default());
            let test = format!("{} {}", name("classname"), name("name"));
            skips.push(Skip { test, reason: reasons.join("; ") });
        }
    }
    skips
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split(&format!("</{name}>")).next()
}

fn attribute<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("{name}=\"");
    let at = head.match_indices(&start).find(|(at, _)| *at == 0 || head[..*at].ends_with(' '))?.0;
    head[at + start.len()..].split('"').next()
}

/// `&amp;` last, so that `&amp;lt;` stays `&lt;`.
fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="4" skipped="0" failures="1" errors="1">
    <testsuite name="nx" tests="4" skipped="0" errors="1" failures="1">
        <testcase name="tests::a" classname="nx::it" timestamp="2026-11-20T13:43:27.334+00:00" time="0.007">
            <system-out>
SKIPPED: a: on stdout does not count
</system-out>
            <system-err>SKIPPED: a: no &lt;root&gt; &amp;lt; &quot;x&quot; here
more
SKIPPED: a: nor a kernel
</system-err>
        </testcase>
        <testcase name="b" classname="nx" time="0.007">
            <system-err></system-err>
        </testcase>
        <testcase name="d" classname="nx" time="0.123">
            <failure message="thread &apos;d&apos; panicked" type="test failure">x</failure>
            <system-err>SKIPPED: d: nope
</system-err>
        </testcase>
        <testcase name="leak" classname="nx" time="2.009">
            <error type="test exited with code 0, but leaked handles so was marked failed"/>
            <system-err>SKIPPED: leak: nope</system-err>
        </testcase>
    </testsuite>
</testsuites>"#;

    #[test]
    fn only_passing_tests_that_say_so_on_stderr_are_skips() {
        let expected = Skip {
            test: "nx::it tests::a".into(),
            reason: r#"no <root> &lt; "x" here; nor a kernel"#.into(),
        };
        assert_eq!(announced_skips(REPORT), [expected]);
    }

    #[test]
    fn what_leaves_something_behind_has_failed() {
        assert_eq!(tally(REPORT), Some(Tally { passed: 2, failed: 2, skipped: 0 }));
        for broken in ["", "<testsuites tests=\"4\">", "<testsuites tests=\"1\" failures=\"1\" errors=\"1\">"]
        {
            assert_eq!(tally(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_broken_report_is_no_skip_and_no_panic() {
        assert!(announced_skips("").is_empty());
        assert!(announced_skips("<testcase name=").is_empty());
        let cut = REPORT.split("more").next().unwrap();
        assert_eq!(announced_skips(cut).len(), 1);
    }
}
