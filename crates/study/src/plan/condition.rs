//! One reachable combination of levels, resolved into settings.

use serde::{Deserialize, Serialize};
use words::{Copies, Family, Field, Side, Value, Workload};

use crate::model::boot_state::BootState;
use crate::model::factor::{Factor, Subject};
use crate::model::grid::Cell;
use crate::model::name::Name;
use crate::model::study::Study;
use crate::plan::settings::{SideSettings, Underlay};

/// A combination of levels, and its requests to the testbed and to the traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Its place in the plan, from 0.
    pub index: usize,
    /// Its name for people: `ipv4 offloads=none`.
    pub label: Name,
    /// Its name for files, unique in the plan, of `a-z0-9_.-` only: `tcp4_nooffload`.
    pub slug: String,
    /// The level of every factor of the file, in file order.
    pub levels: Vec<(String, String)>,
    /// The traffic.
    pub workload: Workload,
    /// The version of IP.
    pub family: Family,
    /// The MTU of the interfaces in bytes; `None` leaves them as the scenario makes them.
    pub mtu: Option<u32>,
    /// Settings of the transmitter's interface.
    pub transmitter: SideSettings,
    /// Settings of the receiver's interface. On `loopback` they equal the transmitter's: it is the
    /// same interface. On `discard` there is no receiver, and they have no meaning.
    pub receiver: SideSettings,
    /// The settings of the interfaces under the tunnel, where there is one.
    pub underlay: Underlay,
    /// The state that only a fresh boot gives it.
    pub boot: BootState,
}

impl Condition {
    /// The settings of one side.
    pub fn side(&self, side: Side) -> &SideSettings {
        match side {
            Side::Transmitter => &self.transmitter,
            Side::Receiver => &self.receiver,
        }
    }

    /// Its label of the factor `twin`, which separates conditions that are otherwise the same.
    pub fn twin(&self) -> Option<&str> {
        self.levels.iter().find(|(factor, _)| factor == "twin").map(|(_, label)| label.as_str())
    }

    /// The instructions with which its virtual machine copies memory; without one, the default.
    pub fn copies(&self) -> Copies {
        self.boot.guest.as_ref().map_or(Copies::Words, |guest| guest.copies)
    }

    /// The settings of a combination of levels, on top of the study's own. The plan sets index,
    /// label and slug.
    pub(crate) fn resolve(study: &Study, cell: &Cell) -> Self {
        let (factors, workloads) = (study.factors(), study.workloads());
        let levels: Vec<(&Factor, &Value)> =
            factors.iter().zip(cell).map(|(factor, &level)| (factor, factor.level(level))).collect();
        let named = levels.iter().find(|(factor, _)| *factor.subject() == Subject::Workload);
        let named = named.map(|(_, name)| name.to_string());
        let is_named = |one: &&Workload| named.as_ref().is_none_or(|name| one.name == *name);
        let mut condition = Self {
            index: 0,
            label: Name::default(),
            slug: String::new(),
            levels: levels
                .iter()
                .map(|(factor, level)| (factor.name().to_owned(), level.to_string()))
                .collect(),
            workload: workloads.iter().find(is_named).unwrap_or(&workloads[0]).clone(),
            family: Family::Ipv4,
            mtu: None,
            transmitter: SideSettings::from_levels(Side::Transmitter, false, &levels),
            receiver: SideSettings::from_levels(Side::Receiver, false, &levels),
            underlay: Underlay {
                mtu: study.underlay_mtu,
                transmitter: SideSettings::from_levels(Side::Transmitter, true, &levels),
                receiver: SideSettings::from_levels(Side::Receiver, true, &levels),
            },
            boot: study.boot.clone(),
        };
        for (factor, level) in &levels {
            condition.apply(factor.subject(), level);
        }
        condition.boot.without_the_absent(study.inside_guest());
        if !condition.boot.scenario.has_tunnel() {
            condition.underlay = Underlay::default();
        }
        let traffic = &mut condition.workload.traffic;
        // A response that the file leaves out follows the message, which may be a factor.
        if traffic.kind.is_rr() && traffic.response == 0 {
            traffic.response = traffic.message;
        }
        condition
    }

    /// Sets a level that is not of one side.
    fn apply(&mut self, subject: &Subject, level: &Value) {
        match subject {
            Subject::Scenario => self.boot.scenario.set(level),
            Subject::Family => self.family.set(level),
            Subject::Mtu => self.mtu.set(level),
            Subject::Key(key) => key.set(&mut self.workload, level),
            Subject::Underlay("mtu") => self.underlay.mtu.set(level),
            Subject::Underlay(_) => self.boot.underlay_family.set(level),
            Subject::Guest(key) => {
                if let Some(guest) = &mut self.boot.guest {
                    guest.set(key, level);
                }
            }
            Subject::Workload
            | Subject::Twin
            | Subject::Offloads(_)
            | Subject::Device(..)
            | Subject::Tuning(..)
            | Subject::Feature(..) => {}
        }
    }
}
