//! The command line as a study of one condition.

use agent::Interrupt;
use study::{Condition, CongestionControl, Diagnostics, Scenario, Study};
use testbed::{Options, RunOrder};
use words::Kind;

use crate::cli::{Load, Said, option};
use crate::failure::Failure;
use crate::here;

/// One workload, and where it runs.
#[derive(Debug, Clone)]
pub(in crate::commands) struct Asked {
    pub(in crate::commands) scenario: Scenario,
    pub(in crate::commands) condition: Condition,
    pub(in crate::commands) order: RunOrder,
    pub(in crate::commands) inside_guest: bool,
    discard_device: Option<host::DiscardDevice>,
}

impl Asked {
    /// Reads the command line as a study.
    ///
    /// # Errors
    /// [`Failure::Usage`] naming what is not supported, why, and the remedy.
    pub(super) fn read(flags: &Load) -> Result<Self, Failure> {
        let kind = flags.workload;
        let scenario = match kind.is_received() {
            true if flags.hosts.names_any() => Scenario::Ssh,
            true => Scenario::Veth,
            false => Scenario::Discard,
        };
        let asked = Self::of(kind, scenario, &flags.said)?;
        if flags.discard_device.is_some() && asked.scenario != Scenario::Discard {
            return Err(Failure::Usage(format!(
                "--discard-device: {} does not discard packets; use it with the scenario discard",
                asked.scenario
            )));
        }
        let step = flags.interval.map_or(asked.order.step, |interval| interval.min(asked.order.step));
        Ok(Self { order: RunOrder { step, ..asked.order }, discard_device: flags.discard_device, ..asked })
    }

    /// Reads options as a study of this kind of traffic, in this scenario unless they name another.
    ///
    /// # Errors
    /// As [`Asked::read`].
    pub(in crate::commands) fn of(kind: Kind, scenario: Scenario, said: &Said) -> Result<Self, Failure> {
        let text = format!(
            "name = \"load\"\nquestion = \"How fast?\"\nscenario = \"{scenario}\"\n[[workload]]\nkind = \"{kind}\"\n"
        );
        let study = Study::parse_with("load", &text, &said.0).map_err(|why| refused(&why))?;
        if let Some(several) = said.0.iter().find(|said| said.values.len() > 1) {
            let option = option(&several.key);
            return Err(Failure::Usage(format!("{option}: one value; to compare several, write a study")));
        }
        let plan = study.plan();
        let Some(condition) = plan.conditions.into_iter().next() else {
            let why = plan.excluded.into_iter().next().map(|dropped| dropped.why);
            return Err(Failure::Usage(why.unwrap_or_default()));
        };
        Ok(Self {
            scenario: study.scenarios()[0],
            order: runner::order_of(&condition),
            condition,
            inside_guest: study.inside_guest,
            discard_device: None,
        })
    }

    /// Whether the testbed chooses TCP's congestion control.
    pub(in crate::commands) fn leaves_congestion_control_open(&self) -> bool {
        let traffic = &self.order.traffic;
        traffic.kind.is_tcp() && traffic.congestion_control == CongestionControl::Unpaced
    }

    pub(in crate::commands) fn options(
        &self,
        rootless: bool,
        interrupt: &Interrupt,
    ) -> Result<Options, Failure> {
        Ok(Options {
            discard_device: self.discard_device,
            families: vec![self.condition.family],
            state: self.condition.boot.clone(),
            inside_guest: self.inside_guest,
            ..here::options(self.scenario, rootless, interrupt)?
        })
    }
}

/// What is wrong with the options, without the lines of the study: the user did not write it.
fn refused(diagnostics: &Diagnostics) -> Failure {
    let sentences = diagnostics.problems.iter().map(|problem| match &problem.help {
        Some(help) => format!("{}; {help}", problem.message),
        None => problem.message.clone(),
    });
    Failure::Usage(sentences.collect::<Vec<_>>().join("\n"))
}
