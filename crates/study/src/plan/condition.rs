//! One reachable combination of levels, resolved into settings.

use serde::{Deserialize, Serialize};
use words::{Copies, Family, Side, Workload};

use crate::model::boot_state::BootState;
use crate::model::factor::{Factor, Level, Subject};
use crate::model::grid::Cell;
use crate::model::guest::Guest;
use crate::model::study::Study;
use crate::plan::settings::SideSettings;
use crate::plan::underlay::Underlay;

/// One combination of levels, and what it asks of the testbed and of the traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Its place in the plan, from 0.
    pub index: usize,
    /// Its name for people: `ipv4 offloads=none`.
    pub label: String,
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
    /// What the transmitter's interface is set to.
    pub transmitter: SideSettings,
    /// What the receiver's interface is set to. On `loopback` it equals the transmitter's: it is
    /// the same interface. On `discard` nobody receives, and it means nothing.
    pub receiver: SideSettings,
    /// What the interfaces under the tunnel are set to, where there is one.
    pub underlay: Underlay,
    /// What it takes a fresh boot to have.
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

    /// Its label of the factor `twin`, which keeps it apart from conditions that are the same in
    /// everything else.
    pub fn twin(&self) -> Option<&str> {
        self.levels.iter().find(|(factor, _)| factor == "twin").map(|(_, label)| label.as_str())
    }

    /// How its virtual machine copies; where there is none, as by default.
    pub fn copies(&self) -> Copies {
        self.boot.guest.as_ref().map_or(Copies::Words, |guest| guest.copies)
    }

    /// What a combination of levels asks for, over what the study says of all. Index, label and
    /// slug are given with the plan.
    pub(crate) fn resolve(study: &Study, cell: &Cell) -> Self {
        let (factors, workloads) = (study.factors(), study.workloads());
        let levels: Vec<(&Factor, &Level)> =
            factors.iter().zip(cell).map(|(factor, &level)| (factor, factor.level(level))).collect();
        let workload = levels.iter().find_map(|(_, level)| match level {
            Level::Workload(index, _) => Some(*index),
            _ => None,
        });
        let mut condition = Self {
            index: 0,
            label: String::new(),
            slug: String::new(),
            levels: levels.iter().map(|(factor, level)| (factor.name().to_owned(), level.text())).collect(),
            workload: workloads[workload.unwrap_or(0)].clone(),
            family: Family::Ipv4,
            mtu: None,
            transmitter: SideSettings::of(Side::Transmitter, false, &levels),
            receiver: SideSettings::of(Side::Receiver, false, &levels),
            underlay: Underlay {
                mtu: study.underlay_mtu,
                transmitter: SideSettings::of(Side::Transmitter, true, &levels),
                receiver: SideSettings::of(Side::Receiver, true, &levels),
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

    /// Sets what is not of one side.
    fn apply(&mut self, subject: &Subject, level: &Level) {
        match (subject, level) {
            (Subject::Scenario, Level::Scenario(scenario)) => self.boot.scenario = *scenario,
            (Subject::Family, Level::Family(family)) => self.family = *family,
            (Subject::Mtu, Level::Number(mtu)) => self.mtu = *mtu,
            (Subject::Key(key), Level::Value(value)) => key.set(&mut self.workload, value),
            (Subject::UnderlayMtu, Level::Number(mtu)) => self.underlay.mtu = *mtu,
            (Subject::UnderlayFamily, Level::Family(family)) => self.boot.underlay_family = *family,
            (_, level) => {
                if let Some(guest) = &mut self.boot.guest {
                    apply_to(guest, subject, level);
                }
            }
        }
    }
}

/// Sets what a level of a factor says of a virtual machine, if it does.
fn apply_to(guest: &mut Guest, subject: &Subject, level: &Level) {
    match (subject, level) {
        (Subject::Kernel, Level::Kernel(kernel)) => guest.kernel.clone_from(kernel),
        (Subject::CommandLine, Level::CommandLine(added)) => {
            guest.command_line = added.clone().unwrap_or_default();
        }
        (Subject::Vcpus, Level::Number(Some(vcpus))) => guest.vcpus = *vcpus,
        (Subject::Nic, Level::Nic(nic)) => guest.nic = *nic,
        (Subject::Copies, Level::Copies(copies)) => guest.copies = *copies,
        _ => {}
    }
}
