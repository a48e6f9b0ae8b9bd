//! The goals of advice.

use crate::SwitchEffect;
use study::metric::{self, Metric};
use study::{Kind, Side, Switch};

words::vocabulary! {
    /// A goal of advice.
    pub enum AdviceGoal: "a goal" {
        /// The rate: payload, packets or transactions per second.
        Throughput = "throughput";
        /// CPU time per unit of work, on the side where the switch is set.
        Cpu = "cpu";
        /// The time that 99 % of the transactions stay within.
        Latency = "latency";
    }
}

impl AdviceGoal {
    /// The metrics that decide on a switch. `exact`: instructions were counted.
    pub(crate) fn metrics(self, kind: Kind, exact: bool, effect: &SwitchEffect) -> Vec<Metric> {
        let of_side = |side: Side| kind.unit_of_work().service_demand[side];
        match self {
            Self::Throughput | Self::Latency if exact => Vec::new(),
            Self::Throughput => vec![kind.primary_metric()],
            Self::Latency => vec![metric::LATENCY_P99],
            Self::Cpu if exact => vec![kind.main_metric(true)],
            Self::Cpu => match side(&effect.factors) {
                Some(side) => vec![of_side(side)],
                None => Side::BOTH.map(of_side).to_vec(),
            },
        }
    }

    pub(crate) fn missing(self, kind: Kind, exact: bool) -> Option<&'static str> {
        match self {
            Self::Throughput if exact => Some("exact mode counts instructions, it measures no rate"),
            Self::Latency if exact => Some("exact mode counts instructions, it measures no latency"),
            Self::Latency if !kind.is_rr() => {
                Some("this traffic has no latency: tcp_rr, udp_rr and tcp_crr measure it")
            }
            _ => None,
        }
    }
}

pub(crate) fn side(factors: &[String]) -> Option<Side> {
    let mut sides = factors.iter().map(|factor| Switch::named(factor).and_then(|switch| switch.side()));
    let first = sides.next()??;
    sides.all(|side| side == Some(first)).then_some(first)
}
