//! Exact mode: instructions counted in one emulated guest instead of time measured.

use study::metric::Metric;

/// Counts are the same to this share, in %, on any machine whatever else it does; what differs by more is a difference.
pub(crate) const RESOLUTION: f64 = 0.1;

/// Does the metric count instructions?
pub(crate) fn is_count(metric: &Metric) -> bool {
    metric.key.contains("instructions_")
}
