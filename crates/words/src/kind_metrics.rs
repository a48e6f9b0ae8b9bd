//! The metrics that each kind of traffic yields, and its main one.

use crate::kind::Kind;
use crate::metric::{self, Metric};
use crate::side::Side;

impl Kind {
    /// The main metric of this traffic, when a study names none.
    pub fn primary_metric(self) -> &'static Metric {
        let key = match self {
            Self::TcpStream | Self::UdpStream => "throughput",
            Self::TcpRr | Self::UdpRr | Self::TcpCrr => "transactions",
            Self::Pps => "packets",
        };
        metric::find(key).unwrap_or(&metric::METRICS[0])
    }

    /// The main metric of a study that names none. Exact mode counts instructions: the kernel's,
    /// because those of programs are netassay's own loop, which another build of it changes.
    pub fn main_metric(self, exact: bool) -> &'static Metric {
        let counted = exact.then(|| format!("kernel_instructions_{}", self.counted_work()));
        counted.and_then(|key| metric::find(&key)).unwrap_or_else(|| self.primary_metric())
    }

    /// Whether a run of this traffic can yield the metric, on a testbed that has its
    /// [requirements](Metric::needs). [`Traffic::produces`](crate::Traffic::produces) says whether
    /// it does.
    pub fn produces(self, metric: &Metric) -> bool {
        metric.source.covers(self) && (self.is_received() || metric.side != Some(Side::Receiver))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_produces_its_primary_metric() {
        for kind in Kind::ALL {
            assert!(kind.produces(kind.primary_metric()), "{kind}");
            assert_eq!(kind.main_metric(false), kind.primary_metric());
            let counted = kind.main_metric(true);
            assert!(kind.produces(counted) && !counted.includes_programs(), "{kind}");
            assert_eq!(counted.needs, metric::MetricNeeds::Exact);
        }
        assert_eq!(Kind::UdpStream.primary_metric().key, "throughput");
        assert_eq!(Kind::UdpRr.primary_metric().key, "transactions");
        assert_eq!(Kind::Pps.primary_metric().key, "packets");
    }
}
