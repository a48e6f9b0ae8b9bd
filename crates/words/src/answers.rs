//! Which metrics traffic of a kind yields, and which is its main one.

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

    /// The same in exact mode, which counts instructions.
    pub fn exact_metric(self) -> &'static Metric {
        metric::find(&format!("instructions_{}", self.counted_work()))
            .unwrap_or_else(|| self.primary_metric())
    }

    /// Whether a run of this traffic can yield the metric, on a testbed that has what it
    /// [needs](Metric::needs). [`Traffic::produces`](crate::Traffic::produces): whether it does.
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
            assert!(kind.produces(kind.exact_metric()), "{kind}");
            assert_eq!(kind.exact_metric().needs, metric::Needs::Exact);
        }
        assert_eq!(Kind::UdpStream.primary_metric().key, "throughput");
        assert_eq!(Kind::UdpRr.primary_metric().key, "transactions");
        assert_eq!(Kind::Pps.primary_metric().key, "packets");
    }
}
