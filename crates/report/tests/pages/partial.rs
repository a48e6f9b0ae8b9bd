//! Studies that are not whole: the page says what there is, and why no more.

use record::{Cause, Detail, sample};
use store::{RunStatus, StudyStatus};

use crate::made_up::stored;
use crate::{pieces, written};

#[test]
fn a_study_without_a_run_says_so() {
    let (html, markdown) = written(&[stored(0)]);
    pieces(&html);
    for page in [html, markdown] {
        assert!(
            page.contains("Nothing valid was measured. 36 of 36 runs are missing: 36 not tried"),
            "{page}"
        );
        assert!(!page.contains("95 %"), "{page}");
    }
}

#[test]
fn a_study_of_disturbed_runs_says_what_disturbed_them() {
    let mut study = stored(3);
    for run in &mut study.runs {
        (run.status, run.reason) = (RunStatus::Invalid, Some("steal: 8 % of CPU 0".to_owned()));
    }
    let (html, markdown) = written(&[study]);
    for page in [html, markdown] {
        assert!(page.contains("36 disturbed at every try") && page.contains("steal: 8 % of CPU 0"), "{page}");
    }
}

#[test]
fn disturbed_runs_that_count_are_not_called_undisturbed() {
    let sound = "No run failed, and none was disturbed.";
    let mut study = stored(3);
    assert!(written(std::slice::from_ref(&study)).0.contains(sound));
    for run in &mut study.runs[..2] {
        let mut account = sample::account();
        account.disturbed = vec![Cause::ClockSource.into()];
        run.detail = Detail::Measured(Box::new(account));
    }
    let (html, markdown) = written(&[study]);
    for page in [html, markdown] {
        assert!(!page.contains(sound), "{page}");
        assert!(page.contains("2 runs count though something disturbed them"), "{page}");
    }
}

#[test]
fn an_interrupted_study_shows_what_it_has_below_what_is_missing() {
    let mut study = stored(2);
    study.row.status = StudyStatus::Interrupted;
    let (html, markdown) = written(&[study]);
    for page in [html, markdown] {
        let missing =
            page.find("12 of 36 runs are missing: 12 not tried (the study was interrupted)").unwrap();
        assert!(missing < page.find("tcp_stream: throughput").unwrap(), "{page}");
    }
}

#[test]
fn a_study_without_its_baseline_has_no_answer_but_values() {
    let mut study = stored(2);
    study.runs.retain(|run| run.condition == 1);
    let (html, _) = written(&[study]);
    assert!(
        html.contains("Nothing can be compared yet: no condition was") && html.contains("ipv4 offloads=none"),
        "{html}"
    );
}
