//! The knee of a curve of latency against load: where more load begins to cost more latency than it
//! is worth.
//!
//! It is the load with the most *power*, the served load divided by its mean latency: the point
//! where a line from the origin touches the curve (L. Kleinrock, Power and deterministic rules of
//! thumb for probabilistic problems in computer communications, Proc. ICC 1979, pp.
//! 43.1.1-43.1.10). Unlike the sharpest bend it depends neither on the scale of the axes nor on how
//! far the curve was measured.

use serde::Serialize;

use crate::observed::median_of_sorted;

/// One measured point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The load that was offered.
    pub offered: f64,
    /// The load that was served.
    pub served: f64,
    /// The mean latency.
    pub latency: f64,
}

/// A knee, as an offered load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Knee {
    /// The median of the repeats' knees; in JSON `rate`.
    #[serde(rename = "rate")]
    pub load: f64,
    /// The least of them.
    pub lower: f64,
    /// The largest.
    pub upper: f64,
    /// The chance that the median of all such repeats lies between the two: of n repeats all lie on
    /// one side of it with a chance of 2 / 2^n.
    pub confidence: f64,
}

impl Knee {
    /// Whether no repeat had its knee below `most`, the highest load that was offered.
    pub fn is_beyond(&self, most: f64) -> bool {
        self.lower >= most
    }
}

impl Point {
    fn power(&self) -> f64 {
        if self.latency > 0.0 { self.served / self.latency } else { 0.0 }
    }
}

/// The knee of one curve, as an offered load; `None` if it has no point with a latency.
pub fn of_curve(curve: &[Point]) -> Option<f64> {
    let best = curve.iter().max_by(|one, other| one.power().total_cmp(&other.power()))?;
    (best.power() > 0.0).then_some(best.offered)
}

/// The knee of several measurements of one curve, each a repeat of its own; `None` if one of them
/// has none, or if there are fewer than two.
pub fn of_repeats(curves: &[Vec<Point>]) -> Option<Knee> {
    let mut knees: Vec<f64> = curves.iter().map(|curve| of_curve(curve)).collect::<Option<_>>()?;
    knees.sort_by(f64::total_cmp);
    let (lower, upper) = (*knees.first()?, *knees.last()?);
    let load = median_of_sorted(&knees);
    let repeats = i32::try_from(knees.len()).unwrap_or(i32::MAX);
    (repeats > 1).then(|| Knee { load, lower, upper, confidence: 1.0 - 2.0_f64.powi(1 - repeats) })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const CAPACITY: f64 = 1000.0;
    const POINTS: u32 = 20;

    /// A queue with one server, measured up to nearly its capacity, each mean with an error of up
    /// to this share.
    fn queue(error: f64, random: &mut ChaCha8Rng) -> Vec<Point> {
        (1..POINTS)
            .map(|part| {
                let offered = CAPACITY * f64::from(part) / f64::from(POINTS);
                let latency = 1.0 / (CAPACITY - offered);
                let wrong = 1.0 + error * (2.0 * random.random::<f64>() - 1.0);
                Point { offered, served: offered, latency: latency * wrong }
            })
            .collect()
    }

    #[test]
    fn the_knee_of_a_random_queue_is_half_its_capacity() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        assert_eq!(of_curve(&queue(0.0, &mut random)), Some(500.0));
    }

    #[test]
    fn the_knee_of_a_queue_that_never_waits_is_its_capacity() {
        // Latency stays the same until nothing more comes through.
        let curve: Vec<Point> = [200.0, 600.0, 1000.0, 1400.0]
            .map(|offered| Point {
                offered,
                served: offered.min(CAPACITY),
                latency: if offered > CAPACITY { 50.0 } else { 1.0 },
            })
            .to_vec();
        assert_eq!(of_curve(&curve), Some(1000.0));
    }

    #[test]
    fn neither_scale_nor_range_moves_it() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let curve = queue(0.02, &mut random);
        let knee = of_curve(&curve);
        let scaled: Vec<Point> =
            curve.iter().map(|point| Point { latency: point.latency * 1e9, ..*point }).collect();
        assert_eq!(of_curve(&scaled), knee);
        let shorter: Vec<Point> = curve.iter().copied().filter(|point| point.offered < 800.0).collect();
        assert_eq!(of_curve(&shorter), knee);
    }

    #[test]
    fn the_interval_holds_the_knee_as_often_as_it_says() {
        const EXPERIMENTS: u32 = 2000;
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut held = 0;
        for _ in 0..EXPERIMENTS {
            let curves: Vec<Vec<Point>> = (0..6).map(|_| queue(0.1, &mut random)).collect();
            let knee = of_repeats(&curves).unwrap();
            assert!((knee.confidence - 0.968_75).abs() < 1e-12);
            assert!(knee.lower <= knee.load && knee.load <= knee.upper);
            held += u32::from(knee.lower <= 500.0 && 500.0 <= knee.upper);
        }
        let (share, stated) = (f64::from(held) / f64::from(EXPERIMENTS), 0.968_75_f64);
        let deviation = (stated * (1.0 - stated) / f64::from(EXPERIMENTS)).sqrt();
        assert!(share >= stated - 3.0 * deviation, "{share}");
    }

    #[test]
    fn a_knee_at_the_highest_load_lies_beyond_it() {
        let flat = |most: f64| -> Vec<Point> {
            let loads = [0.25, 0.5, 1.0].map(|part| part * most);
            loads.map(|load| Point { offered: load, served: load, latency: 1.0 }).to_vec()
        };
        let most = |curves: [Vec<Point>; 2]| of_repeats(&curves).unwrap().is_beyond(CAPACITY);
        assert!(most([flat(CAPACITY), flat(CAPACITY)]));
        assert!(!most([flat(CAPACITY), flat(CAPACITY / 2.0)]), "one repeat has its knee below");
    }

    #[test]
    fn too_little_has_no_knee() {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let empty = Point { offered: 1.0, served: 0.0, latency: 0.0 };
        assert_eq!(of_curve(&[]), None);
        assert_eq!(of_curve(&[empty]), None);
        assert_eq!(of_repeats(&[queue(0.0, &mut random)]), None);
        assert_eq!(of_repeats(&[queue(0.0, &mut random), vec![empty]]), None);
    }
}
