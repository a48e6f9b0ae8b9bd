//! Exact tests of ranks: valid for boots of any distribution, whatever a single boot does.

use crate::distribution::normal;

/// Up to this many values the distribution is counted; above, the normal one is precise enough.
const COUNTED: usize = 40;

/// Wilcoxon's signed-rank test of `differences` (Biometrics Bulletin 1, 1945), two-sided; ties have
/// the mean of their ranks and zeros none. 1 without a difference.
pub(crate) fn signed(differences: &[f64]) -> f64 {
    let nonzero: Vec<f64> = differences.iter().copied().filter(|value| *value != 0.0).collect();
    let sizes: Vec<f64> = nonzero.iter().map(|value| value.abs()).collect();
    let ranks = doubled_ranks(&sizes);
    let above: usize =
        nonzero.iter().zip(&ranks).filter(|(value, _)| **value > 0.0).map(|(_, rank)| rank).sum();
    if ranks.len() > COUNTED {
        let (sum, squares) = moments(&ranks);
        return approximate(above as f64 - sum / 2.0, squares / 4.0);
    }
    // The number of choices of signs for each sum.
    let (unit, ranks) = smallest(ranks);
    let mut ways = vec![0.0; ranks.iter().sum::<usize>() + 1];
    ways[0] = 1.0;
    let mut reached = 0;
    for rank in ranks {
        reached += rank;
        for sum in (rank..=reached).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    two_sided(&ways, above / unit)
}

/// Mann and Whitney's test of two samples (Annals of Mathematical Statistics 18, 1947), two-sided;
/// ties have the mean of their ranks.
pub(crate) fn two_samples(one: &[f64], other: &[f64]) -> f64 {
    let all: Vec<f64> = one.iter().chain(other).copied().collect();
    let ranks = doubled_ranks(&all);
    let own: usize = ranks[..one.len()].iter().sum();
    if all.len() > COUNTED {
        let (sum, squares) = moments(&ranks);
        let (m, n) = (one.len() as f64, other.len() as f64);
        let (all, mean) = (m + n, sum / (m + n));
        let variance = m * n / (all * (all - 1.0)) * (squares - all * mean * mean);
        return approximate(own as f64 - m * mean, variance);
    }
    // The number of choices of values for each sum.
    let (unit, ranks) = smallest(ranks);
    let most = ranks.iter().sum::<usize>();
    let mut ways = vec![vec![0.0; most + 1]; one.len() + 1];
    ways[0][0] = 1.0;
    let mut reached = 0;
    for (seen, rank) in ranks.into_iter().enumerate() {
        reached += rank;
        for count in (1..=one.len().min(seen + 1)).rev() {
            let (fewer, these) = ways.split_at_mut(count);
            let (fewer, these) = (&fewer[count - 1][..=reached - rank], &mut these[0][rank..=reached]);
            these.iter_mut().zip(fewer).for_each(|(ways, fewer)| *ways += fewer);
        }
    }
    two_sided(&ways[one.len()], own / unit)
}

/// The ranks in ascending order, divided by their common factor, so that sums stay small.
fn smallest(mut ranks: Vec<usize>) -> (usize, Vec<usize>) {
    let unit = if ranks.iter().all(|rank| rank % 2 == 0) { 2 } else { 1 };
    ranks.iter_mut().for_each(|rank| *rank /= unit);
    ranks.sort_unstable();
    (unit, ranks)
}

/// Twice the ranks of values, from 2, which are whole numbers even with ties.
fn doubled_ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut ranks = vec![0; values.len()];
    let mut below = 0;
    for equal in order.chunk_by(|one, other| values[*one] == values[*other]) {
        equal.iter().for_each(|place| ranks[*place] = 2 * below + equal.len() + 1);
        below += equal.len();
    }
    ranks
}

/// Sum and sum of squares.
fn moments(ranks: &[usize]) -> (f64, f64) {
    ranks.iter().fold((0.0, 0.0), |(sum, squares), rank| {
        let rank = *rank as f64;
        (sum + rank, squares + rank * rank)
    })
}

fn two_sided(ways: &[f64], at: usize) -> f64 {
    let all: f64 = ways.iter().sum();
    let (below, above): (f64, f64) = (ways[..=at].iter().sum(), ways[at..].iter().sum());
    (2.0 * below.min(above) / all).min(1.0)
}

/// The p-value by the normal distribution with a continuity correction of half a rank, which is 1
/// of doubled ones.
fn approximate(distance: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    normal::two_sided((distance.abs() - 1.0).max(0.0) / variance.sqrt()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_counting_by_hand_and_published_tables() {
        // All of six on one side: 2 of 64 choices of signs.
        assert_eq!(signed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 2.0 / 64.0);
        assert_eq!(signed(&[-1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 4.0 / 64.0);
        // The sums 0, 1, 2 and two ways to 3 of 256: the table's 3 at n = 8 is p 0.0391.
        assert_eq!(signed(&[-1.0, -2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), 10.0 / 256.0);
        // Four against four, apart: 2 of 70.
        assert_eq!(two_samples(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]), 2.0 / 70.0);
        assert_eq!(two_samples(&[5.0, 9.0, 7.0, 8.0], &[4.0, 6.0, 3.0, 1.0]), 4.0 / 70.0);
        assert_eq!((signed(&[]), signed(&[0.0; 5]), two_samples(&[1.0; 4], &[1.0; 5])), (1.0, 1.0, 1.0));
    }

    /// Without ties ranks are halved, with ties they are not.
    #[test]
    fn counting_equals_going_through_every_choice() {
        let share = |sums: &[usize], own: usize| {
            let at = |is_there: &dyn Fn(usize) -> bool| sums.iter().filter(|sum| is_there(**sum)).count();
            let tail = at(&|sum| sum <= own).min(at(&|sum| sum >= own));
            (2.0 * tail as f64 / sums.len() as f64).min(1.0)
        };
        for values in [[1.0, 2.0, 4.0, 3.0, 9.0, 7.0, 6.0], [1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 8.0]] {
            let ranks = doubled_ranks(&values);
            let sum = |choice: u32| (0..7).filter(|bit| choice >> bit & 1 == 1).map(|bit| ranks[bit]).sum();
            for choice in 0..1 << 7 {
                let in_choice = |bit: &usize| choice >> bit & 1 == 1;
                let own: usize = sum(choice);
                let signs: Vec<f64> =
                    (0..7).map(|bit| if in_choice(&bit) { values[bit] } else { -values[bit] }).collect();
                let all: Vec<usize> = (0..1 << 7).map(sum).collect();
                assert_eq!(signed(&signs), share(&all, own), "{signs:?}");
                let (one, other): (Vec<usize>, Vec<usize>) = (0..7).partition(in_choice);
                let of = |places: &[usize]| places.iter().map(|bit| values[*bit]).collect::<Vec<f64>>();
                let as_many = (0..1_u32 << 7).filter(|other| other.count_ones() as usize == one.len());
                let all: Vec<usize> = as_many.map(sum).collect();
                let found = two_samples(&of(&one), &of(&other));
                assert!((found - share(&all, own)).abs() < 1e-12, "{one:?}: {found}");
            }
        }
    }

    #[test]
    fn the_normal_distribution_takes_over_where_counting_ends() {
        let values: Vec<f64> =
            (0..COUNTED).map(|i| ((i * 37 + 11) % 101) as f64 - 40.0 + 0.01 * i as f64).collect();
        let by_normal = |own: usize, mean: f64, variance: f64| approximate(own as f64 - mean, variance);
        let (sum, squares) =
            moments(&doubled_ranks(&values.iter().map(|value| value.abs()).collect::<Vec<_>>()));
        let above = doubled_ranks(&values.iter().map(|value| value.abs()).collect::<Vec<_>>());
        let above = values.iter().zip(above).filter(|(value, _)| **value > 0.0).map(|(_, rank)| rank).sum();
        let (counted, normal) = (signed(&values), by_normal(above, sum / 2.0, squares / 4.0));
        assert!((counted - normal).abs() < 0.01, "{counted} {normal}");
        let (one, other) = values.split_at(COUNTED / 2);
        let own = doubled_ranks(&values)[..one.len()].iter().sum();
        let n = one.len() as f64;
        let counted = two_samples(one, other);
        let normal = by_normal(own, n * (2.0 * n + 1.0), n * n * (2.0 * n + 1.0) / 3.0);
        assert!((counted - normal).abs() < 0.01, "{counted} {normal}");
    }
}
