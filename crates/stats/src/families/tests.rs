use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn proven(families: &[Vec<f64>], alpha: f64) -> Vec<Vec<bool>> {
    let levels = levels(families, alpha);
    families.iter().zip(levels).map(|(family, level)| family.iter().map(|p| *p < level).collect()).collect()
}

#[test]
fn one_family_keeps_the_whole_level() {
    assert_eq!(levels(&[vec![0.2, 0.001]], 0.05), [0.05]);
    assert_eq!(levels(&[], 0.05), Vec::<f64>::new());
}

#[test]
fn a_family_that_is_proven_whole_hands_its_share_on() {
    let families = [vec![0.001, 0.002], vec![0.02, 0.3], vec![]];
    assert_eq!(levels(&families, 0.05), [0.025, 0.05, 0.05]);
    // The strongest first; the last one has the whole.
    assert_eq!(levels(&[vec![0.01], vec![0.001], vec![0.002]], 0.06), [0.06, 0.02, 0.03]);
    // One comparison of the first is not proven, so its share stays.
    let families = [vec![0.001, 0.2], vec![0.03]];
    assert_eq!(levels(&families, 0.05), [0.025, 0.025]);
}

/// R 4.2: `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` is 0.03, 0.06, 0.06, 0.02.
#[test]
fn single_hypotheses_are_judged_as_r_adjusts_them() {
    let families = [0.01, 0.04, 0.03, 0.005].map(|p| vec![p]);
    let adjusted = [0.03, 0.06, 0.06, 0.02];
    for alpha in [0.015, 0.025, 0.035, 0.05, 0.055, 0.065] {
        assert_eq!(proven(&families, alpha), adjusted.map(|p| vec![p < alpha]), "{alpha}");
    }
}

#[test]
fn any_false_finding_at_all_is_as_rare_as_stated() {
    // Three metrics of three comparisons; some differ truly (p near 0), the others' p-values
    // are uniform, and inside a family adjusted by Bonferroni.
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let experiments = 20_000;
    for truths in [[0, 0, 0], [3, 0, 0], [3, 3, 2], [1, 1, 1], [2, 3, 0]] {
        let wrong = (0..experiments)
            .filter(|_| {
                let families: Vec<Vec<f64>> = truths
                    .iter()
                    .map(|true_ones| {
                        let mut p = |i| if i < *true_ones { 1e-9 } else { 3.0 * random.random::<f64>() };
                        (0..3).map(|i| p(i).min(1.0)).collect()
                    })
                    .collect();
                let found = proven(&families, 0.05);
                found.iter().zip(truths).any(|(family, true_ones)| family[true_ones..].contains(&true))
            })
            .count();
        let most = 0.05 + 3.3 * (0.05_f64 * 0.95 / f64::from(experiments)).sqrt();
        assert!((wrong as f64) < most * f64::from(experiments), "{wrong} of {experiments} with {truths:?}");
    }
}

proptest! {
    #[test]
    fn with_one_comparison_each_it_is_holm(p in proptest::collection::vec(0.0..0.2f64, 1..8)) {
        let families: Vec<Vec<f64>> = p.iter().map(|p| vec![*p]).collect();
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
        let mut holm = vec![vec![false]; p.len()];
        for (step, index) in order.iter().enumerate() {
            if p[*index] >= 0.05 / (p.len() - step) as f64 {
                break;
            }
            holm[*index] = vec![true];
        }
        prop_assert_eq!(proven(&families, 0.05), holm);
    }
}
