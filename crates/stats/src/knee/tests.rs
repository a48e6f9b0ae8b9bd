use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

const CAPACITY: f64 = 1000.0;
const POINTS: u32 = 20;

/// A queue with one server, measured up to nearly its capacity, each mean with an error of up
/// to this share.
fn queue(error: f64, random: &mut ChaCha8Rng) -> Vec<KneePoint> {
    (1..POINTS)
        .map(|part| {
            let offered = CAPACITY * f64::from(part) / f64::from(POINTS);
            let latency = 1.0 / (CAPACITY - offered);
            let wrong = 1.0 + error * (2.0 * random.random::<f64>() - 1.0);
            KneePoint { offered, served: offered, latency: latency * wrong }
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
    let curve: Vec<KneePoint> = [200.0, 600.0, 1000.0, 1400.0]
        .map(|offered| KneePoint {
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
    let scaled: Vec<KneePoint> =
        curve.iter().map(|point| KneePoint { latency: point.latency * 1e9, ..*point }).collect();
    assert_eq!(of_curve(&scaled), knee);
    let shorter: Vec<KneePoint> = curve.iter().copied().filter(|point| point.offered < 800.0).collect();
    assert_eq!(of_curve(&shorter), knee);
}

#[test]
fn the_interval_holds_the_knee_as_often_as_it_says() {
    const EXPERIMENTS: u32 = 2000;
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut held = 0;
    for _ in 0..EXPERIMENTS {
        let curves: Vec<Vec<KneePoint>> = (0..6).map(|_| queue(0.1, &mut random)).collect();
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
    let flat = |most: f64| -> Vec<KneePoint> {
        let loads = [0.25, 0.5, 1.0].map(|part| part * most);
        loads.map(|load| KneePoint { offered: load, served: load, latency: 1.0 }).to_vec()
    };
    let most = |curves: [Vec<KneePoint>; 2]| of_repeats(&curves).unwrap().is_beyond(CAPACITY);
    assert!(most([flat(CAPACITY), flat(CAPACITY)]));
    assert!(!most([flat(CAPACITY), flat(CAPACITY / 2.0)]), "one repeat has its knee below");
}

#[test]
fn too_little_has_no_knee() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let empty = KneePoint { offered: 1.0, served: 0.0, latency: 0.0 };
    assert_eq!(of_curve(&[]), None);
    assert_eq!(of_curve(&[empty]), None);
    assert_eq!(of_repeats(&[queue(0.0, &mut random)]), None);
    assert_eq!(of_repeats(&[queue(0.0, &mut random), vec![empty]]), None);
}
