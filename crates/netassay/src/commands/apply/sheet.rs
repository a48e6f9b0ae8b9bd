//! What is to be set on which interface of one machine, and what is left with the reason.

use host::InterfaceEnvironment;
use report::views::{PlannedSetting, PlannedSettings};
use results::advice::{HostCommand, HostInterface};
use testbed::InterfaceSettings;

/// The interfaces of a machine by their role.
#[derive(Debug)]
pub(super) struct Roles {
    pub(super) traffic: String,
    /// The one under a tunnel, if the user named it.
    pub(super) underlay: Option<String>,
}

/// The settings of one machine.
#[derive(Debug)]
pub(super) struct Sheet {
    /// Under the tunnel first: it must carry what the tunnel adds.
    underlay: Option<(InterfaceEnvironment, InterfaceSettings)>,
    traffic: (InterfaceEnvironment, InterfaceSettings),
    pub(super) reasons: Vec<String>,
    pub(super) needs: Vec<String>,
    pub(super) left: Vec<String>,
}

impl Sheet {
    /// An empty one of the interfaces as `look` finds them.
    pub(super) fn new<E>(
        roles: &Roles,
        mut look: impl FnMut(&str) -> Result<InterfaceEnvironment, E>,
    ) -> Result<Self, E> {
        let underlay = roles.underlay.as_ref().map(|name| look(name)).transpose()?;
        Ok(Self {
            underlay: underlay.map(|now| (now, InterfaceSettings::default())),
            traffic: (look(&roles.traffic)?, InterfaceSettings::default()),
            reasons: Vec::new(),
            needs: Vec::new(),
            left: Vec::new(),
        })
    }

    /// Adds what is recommended.
    pub(super) fn fill(&mut self, planned: &PlannedSettings, trade_offs: bool) {
        for one in &planned.settings {
            match self.add(one, trade_offs) {
                Ok(()) => {
                    add_new(&mut self.reasons, &one.reasons);
                    add_new(&mut self.needs, &one.needs);
                }
                Err(why) => self.left.push(format!("{}: {why}", one.command)),
            }
        }
        self.left.extend(planned.left.iter().cloned());
    }

    fn add(&mut self, setting: &PlannedSetting, trade_offs: bool) -> Result<(), String> {
        if let Some(why) = &setting.against {
            return Err(why.clone());
        }
        if setting.is_trade_off && !trade_offs {
            return Err("a trade-off, which --trade-offs sets".to_owned());
        }
        match &setting.command {
            HostCommand::Feature { interface, name, on, .. } => {
                let (now, wanted) = self.of(*interface)?;
                wanted.add(name, *on, now)
            }
            HostCommand::Mtu { interface, bytes, .. } => {
                let (now, wanted) = self.of(*interface)?;
                if let Some(most) = now.link.max_mtu.filter(|most| *most > 0 && bytes > most) {
                    return Err(format!("the interface {} has {most} bytes at most", now.link.name));
                }
                wanted.mtu = Some(*bytes);
                Ok(())
            }
            HostCommand::Sysctl { .. } => Err(BY_HAND.to_owned()),
        }
    }

    fn of(
        &mut self,
        interface: HostInterface,
    ) -> Result<(&InterfaceEnvironment, &mut InterfaceSettings), String> {
        let (now, wanted) = match interface {
            HostInterface::Traffic => &mut self.traffic,
            HostInterface::Underlay => self.underlay.as_mut().ok_or(NO_UNDERLAY)?,
        };
        Ok((now, wanted))
    }

    /// What differs from the interfaces as they are.
    pub(super) fn wanted(self) -> Vec<(InterfaceEnvironment, InterfaceSettings)> {
        let all = self.underlay.into_iter().chain([self.traffic]);
        all.map(|(now, wanted)| (wanted.differing(&now), now)).map(|(wanted, now)| (now, wanted)).collect()
    }
}

fn add_new(known: &mut Vec<String>, new: &[String]) {
    for one in new {
        if !known.contains(one) {
            known.push(one.clone());
        }
    }
}

const NO_UNDERLAY: &str = "it is for the interface under the tunnel: name that with --underlay";

/// Why no sysctl of advice is set: there is one, the congestion control.
const BY_HAND: &str = "set it by hand: the kernel loads a module for it, which no journal can undo";
