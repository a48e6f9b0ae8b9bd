use std::time::Duration;

use super::*;
use crate::expected_duration;

#[test]
fn every_bundled_study_is_valid_and_goes_by_its_file_name() {
    for bundled in list() {
        let study = Study::parse(bundled.name, bundled.text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(study.name, bundled.name);
        assert_eq!(study.text, bundled.text);
        assert!(bundled.text.starts_with("# "), "{}: begins with its question and source", bundled.name);
        assert!(!study.plan().comparisons.is_empty(), "{}", bundled.name);
    }
}

#[test]
fn every_study_file_is_bundled() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|file| file.strip_suffix(".toml").map(str::to_owned))
        .collect();
    files.sort_unstable();
    let mut names: Vec<&str> = list().iter().map(|study| study.name).collect();
    names.sort_unstable();
    assert_eq!(names, files);
}

#[test]
fn quick_is_quick() {
    let study = find("quick").unwrap().study();
    let plan = study.plan();
    assert_eq!(plan.conditions.len(), 4);
    assert!(expected_duration(&plan, &study.protocol) <= Duration::from_secs(15));
}

#[test]
fn the_shortest_comes_first() {
    let time = |bundled: &Bundled| {
        let study = bundled.study();
        expected_duration(&study.plan(), &study.protocol)
    };
    let most = list().iter().map(time).collect::<Vec<_>>();
    assert!(most.is_sorted(), "{most:?}");
}

#[test]
fn the_ladder_shows_every_sender_and_every_reader_in_well_under_half_an_hour() {
    let study = find("sender-ladder").unwrap().study();
    let plan = study.plan();
    assert!(expected_duration(&plan, &study.protocol) <= Duration::from_secs(20 * 60));
    for (kind, senders, readers) in [("udp_stream", 4, 3), ("tcp_stream", 3, 3)] {
        let of_kind = || plan.conditions.iter().filter(|one| one.workload.name == kind);
        let distinct = |key: usize| {
            let mut levels: Vec<&str> = of_kind().map(|one| one.levels[key].1.as_str()).collect();
            levels.sort_unstable();
            levels.dedup();
            levels.len()
        };
        assert_eq!((distinct(1), distinct(2)), (senders, readers), "{kind}");
    }
}

#[test]
fn an_unknown_name_is_not_found() {
    assert_eq!(find("slow"), None);
}
