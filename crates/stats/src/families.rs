//! Several metrics of the same runs: each is a family of comparisons, with Holm's steps over the
//! families.

/// The significance level of each family of comparisons, so that the chance of any false finding in
/// all of them together is at most `alpha`.
///
/// `families[i]` holds the p-values of family i, already adjusted inside it (Dunnett, Tukey). While
/// m families are left, each is judged at `alpha` / m; one whose comparisons are all proven at that
/// level passes its share on to the rest. This is Holm's procedure (Scandinavian Journal of
/// Statistics 6, 1979) with families instead of single hypotheses: only a family without a true
/// null hypothesis may pass its share on, so all of its comparisons must be proven. A family
/// without p-values (too few boots) proves nothing, takes no share, and has `alpha`.
///
/// An interval of level 1 - `levels[i]` excludes zero exactly where the comparison is proven.
pub fn levels(families: &[Vec<f64>], alpha: f64) -> Vec<f64> {
    let weakest = |family: &usize| families[*family].iter().copied().fold(0.0, f64::max);
    let mut left: Vec<usize> = (0..families.len()).filter(|family| !families[*family].is_empty()).collect();
    left.sort_by(|one, other| weakest(other).total_cmp(&weakest(one)));
    let mut levels = vec![alpha; families.len()];
    // One at a time: the next ones may have a larger level.
    while let Some(strongest) = left.last() {
        let level = alpha / left.len() as f64;
        if weakest(strongest) >= level {
            left.iter().for_each(|family| levels[*family] = level);
            break;
        }
        levels[*strongest] = level;
        left.pop();
    }
    levels
}

#[cfg(test)]
mod tests;
