//! Holm's adjustment of single p-values.

/// The p-values adjusted so that comparing each with `alpha` makes any false finding at all at most as likely as `alpha`,
/// however they depend on each other, in the order given: Holm, Scandinavian Journal of Statistics 6 (1979).
///
/// What is NaN stays so and counts for nothing. For families of comparisons see [`families`](crate::families).
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).filter(|index| !p[*index].is_nan()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let mut adjusted = p.to_vec();
    let mut largest = 0.0;
    for (step, index) in order.iter().enumerate() {
        let left = (order.len() - step) as f64;
        largest = f64::max(largest, (left * p[*index]).min(1.0));
        adjusted[*index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// R 4.2: `p.adjust(c(...), "holm")`.
    #[test]
    fn equals_r() {
        for (p, expected) in [
            (vec![0.01, 0.04, 0.03, 0.005], vec![0.03, 0.06, 0.06, 0.02]),
            (vec![0.5, 0.9, 0.0001], vec![1.0, 1.0, 0.0003]),
            (vec![0.02, 0.02, 0.02], vec![0.06, 0.06, 0.06]),
            (vec![0.7], vec![0.7]),
            (vec![], vec![]),
        ] {
            let found = holm(&p);
            assert_eq!(found.len(), expected.len());
            let is_equal = found.iter().zip(&expected).all(|(one, other)| (one - other).abs() < 1e-15);
            assert!(is_equal, "{p:?}: {found:?} instead of {expected:?}");
        }
    }

    /// R 4.2: `p.adjust(c(0.01, NA, 0.02), "holm")`.
    #[test]
    fn what_is_missing_stays_so_and_counts_for_nothing() {
        let found = holm(&[0.01, f64::NAN, 0.02]);
        assert!(found[1].is_nan());
        assert_eq!([found[0], found[2]], [0.02, 0.02]);
    }

    proptest! {
        #[test]
        fn lies_between_p_and_bonferroni_and_keeps_the_order(p in proptest::collection::vec(0.0..1.0f64, 1..20)) {
            let adjusted = holm(&p);
            for i in 0..p.len() {
                prop_assert!(p[i] <= adjusted[i] && adjusted[i] <= (p[i] * p.len() as f64).min(1.0));
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }
}
