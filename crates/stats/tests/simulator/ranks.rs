//! The Mann-Whitney U test.

use stats::distribution::normal;

use super::world::ALPHA;

/// Whether two samples differ by Mann and Whitney's test (Annals of Mathematical Statistics 18,
/// 1947): normal approximation with continuity correction and the variance that ties leave.
pub(super) fn differ(one: &[f64], other: &[f64], work: &mut Vec<(f64, bool)>) -> bool {
    work.clear();
    work.extend(one.iter().map(|value| (*value, true)));
    work.extend(other.iter().map(|value| (*value, false)));
    work.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let (mut below, mut ranks, mut tied) = (0.0, 0.0, 0.0);
    for equal in work.chunk_by(|one, other| one.0 == other.0) {
        let t = equal.len() as f64;
        let own = equal.iter().filter(|(_, is_one)| *is_one).count() as f64;
        ranks += own * (below + (t + 1.0) / 2.0);
        below += t;
        tied += t * (t * t - 1.0);
    }
    let (m, n) = (one.len() as f64, other.len() as f64);
    let all = m + n;
    let u = ranks - m * (m + 1.0) / 2.0;
    let variance = m * n / 12.0 * (all + 1.0 - tied / (all * (all - 1.0)));
    let z = ((u - m * n / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    2.0 * normal::sf(z) < ALPHA
}
