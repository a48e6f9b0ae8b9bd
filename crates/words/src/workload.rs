//! A piece of traffic with its name and its times.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::duration;
use crate::kind::Kind;
use crate::traffic::Traffic;

/// The traffic of a condition, with all defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name in the study, by default its kind. Comparisons stay within one name.
    pub name: String,
    /// The traffic.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// The window: how long a run is measured.
    #[serde(with = "duration::text")]
    pub duration: Duration,
    /// The time that traffic flows before the window opens.
    #[serde(with = "duration::text")]
    pub ramp: Duration,
}

impl Workload {
    /// The defaults of a kind, under the kind's name.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self {
            name: kind.word().to_owned(),
            traffic: Traffic::new(kind),
            duration: Duration::from_secs(10),
            ramp: Duration::from_millis(500),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacing::Pacing;

    #[test]
    fn a_stored_workload_reads_back() {
        let mut workload =
            Workload { duration: Duration::from_millis(1_500), ..Workload::new(Kind::UdpStream) };
        workload.traffic.pacing = Pacing::parse("1.5Mbit").ok();
        workload.traffic.busy_poll = Some(Duration::from_micros(50));
        let json = serde_json::to_string(&workload).unwrap();
        for part in ["\"1s500ms\"", "\"1500kbit\"", "\"50us\"", "\"kind\":\"udp_stream\""] {
            assert!(json.contains(part), "{part}: {json}");
        }
        assert_eq!(serde_json::from_str::<Workload>(&json).unwrap(), workload);
    }
}
