//! Noncentral t: (Z + nc) / S, the distribution of t with a true difference. For power.

use crate::distribution::numeric::over_chi;
use crate::distribution::{chi_squared, normal, student};

// From here on Z is negligible beside nc: the error is of the order df / nc^2.
const OVERWHELMING: f64 = 1e5;

/// P(T <= `x`) with noncentrality `nc`. `df` may be infinite. NaN unless `df` >= 1 and `nc` is
/// finite.
pub fn cdf(x: f64, df: f64, nc: f64) -> f64 {
    sf(-x, df, -nc)
}

/// P(T > `x`) with noncentrality `nc`. `df` may be infinite. NaN unless `df` >= 1 and `nc` is
/// finite.
pub fn sf(x: f64, df: f64, nc: f64) -> f64 {
    let is_valid = !x.is_nan() && nc.is_finite() && df >= 1.0;
    if !is_valid {
        return f64::NAN;
    }
    if x == 0.0 || x.is_infinite() {
        return normal::sf(x - nc);
    }
    if nc == 0.0 {
        return student::sf(x, df);
    }
    if nc.abs() > OVERWHELMING && df.is_finite() {
        let square = (nc / x) * (nc / x) * df;
        return match (x > 0.0, nc > 0.0) {
            // T > x where S < nc / x.
            (true, true) => chi_squared::cdf(square, df),
            (false, false) => chi_squared::sf(square, df),
            (_, is_high) => f64::from(u8::from(is_high)),
        };
    }
    // T > x where Z > x S - nc.
    let z = |s: f64| x * s - nc;
    over_chi(df, peak(x, df, nc), 1.0 / (1.0 + nc.abs()), |s| normal::sf(z(s)))[0].min(1.0)
}

/// The approximate peak, in ln S, of the product of S's density and P(Z > x S - nc).
fn peak(x: f64, df: f64, nc: f64) -> f64 {
    // The logarithms of both without slowly changing parts; they have one peak, between that of the
    // first and where the second is no longer small.
    let ln = |u: f64| {
        let z = (x * u.exp() - nc).max(0.0);
        -0.5 * (df * ((2.0 * u).exp_m1() - 2.0 * u) + z * z)
    };
    let other = match (x > 0.0, nc < 0.0) {
        (true, _) => (nc.max(1.0) / x).ln(),
        (false, true) => (nc / x).ln(),
        (false, false) => 0.0,
    };
    let (mut low, mut high) = (other.min(0.0), other.max(0.0));
    // A thousandth of the way is enough for the start of the sum.
    for _ in 0..18 {
        let (first, second) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if ln(first) < ln(second) {
            low = first;
        } else {
            high = second;
        }
    }
    0.5 * (low + high)
}
