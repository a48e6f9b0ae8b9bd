//! The size of pages.

use study::metric::{METRICS, MetricNeeds};

use crate::made_up::stored;
use crate::{Piece, pieces, written};

/// A study of so many runs, with every metric that its traffic has, each with all its digits.
fn large(runs: usize) -> store::StoredStudy {
    let mut study = stored(u32::try_from(runs.div_ceil(12)).unwrap());
    let kind = study.plan.conditions[0].workload.traffic.kind;
    let metrics =
        || METRICS.iter().filter(|metric| metric.needs == MetricNeeds::Nothing && kind.produces(**metric));
    // A linear congruential generator (Knuth, MMIX): digits that do not repeat.
    let mut state = 1_u64;
    for run in &mut study.runs {
        for metric in metrics() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = (state >> 11) as f64 / (1_u64 << 53) as f64;
            run.metrics.insert(*metric, 1000.0 * (1.0 + run.condition as f64) + noise);
        }
    }
    study
}

#[test]
fn a_thousand_runs_have_less_than_a_megabyte() {
    let study = large(1000);
    assert!(study.runs.len() >= 1000 && study.runs[0].metrics.len() > 40);
    let (html, markdown) = written(&[study]);
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
    assert!(markdown.len() < 200_000, "{} bytes", markdown.len());
}

#[test]
fn the_download_holds_the_packed_measurements() {
    use base64::Engine as _;
    use std::io::Read as _;
    let study = large(24);
    let (html, _) = written(std::slice::from_ref(&study));
    let found = pieces(&html).into_iter().find_map(|piece| match piece {
        Piece::Element(_, attributes) => attributes.into_iter().find_map(|(name, value)| {
            Some(value.strip_prefix("data:application/gzip;base64,").filter(|_| name == "href")?.to_owned())
        }),
        Piece::Text(_) => None,
    });
    let bytes = base64::engine::general_purpose::STANDARD.decode(found.unwrap()).unwrap();
    let mut json = String::new();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut json).unwrap();
    let packed = store::export::packed(&study);
    assert_eq!(json, serde_json::to_string(&packed).unwrap());
}
