//! The command line as a study of one condition.

use agent::Interrupt;
use study::{Condition, CongestionControl, Diagnostics, Scenario, Study};
use testbed::{Options, RunOrder};

use crate::cli::{Load, option};
use crate::failure::Failure;
use crate::here;

/// One workload, and where it runs.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) scenario: Scenario,
    pub(super) condition: Condition,
    pub(super) order: RunOrder,
    pub(super) inside_guest: bool,
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
        let text = format!(
            "name = \"load\"\nquestion = \"How fast?\"\nscenario = \"{scenario}\"\n[[workload]]\nkind = \"{kind}\"\n"
        );
        let study = Study::parse_with("load", &text, &flags.said.0).map_err(|why| refused(&why))?;
        if let Some(several) = flags.said.0.iter().find(|said| said.values().len() > 1) {
            let option = option(several.key());
            return Err(Failure::Usage(format!("{option}: one value; to compare several, write a study")));
        }
        let plan = study.plan();
        let Some(condition) = plan.conditions.into_iter().next() else {
            let why = plan.excluded.into_iter().next().map(|dropped| dropped.why);
            return Err(Failure::Usage(why.unwrap_or_default()));
        };
        let scenario = study.scenarios()[0];
        if flags.discard_device.is_some() && scenario != Scenario::Discard {
            return Err(Failure::Usage(format!(
                "--discard-device: {scenario} does not discard packets; use it with the scenario discard"
            )));
        }
        let order = runner::order_of(&condition);
        let step = flags.step.unwrap_or(order.step);
        let step = flags.interval.map_or(step, |interval| step.min(interval));
        Ok(Self {
            scenario,
            order: RunOrder { step, ..order },
            condition,
            inside_guest: study.inside_guest(),
            discard_device: flags.discard_device,
        })
    }

    /// Whether the testbed chooses TCP's congestion control.
    pub(super) fn leaves_congestion_control_open(&self) -> bool {
        let traffic = &self.order.traffic;
        traffic.kind.is_tcp() && traffic.congestion_control == CongestionControl::Unpaced
    }

    pub(super) fn options(&self, rootless: bool, interrupt: &Interrupt) -> Result<Options, Failure> {
        Ok(Options {
            discard_device: self.discard_device,
            state: self.condition.boot.clone(),
            inside_guest: self.inside_guest,
            ..here::options(self.scenario, rootless, interrupt)?
        })
    }
}

/// What is wrong with the options, without the lines of the study: the user did not write it.
fn refused(diagnostics: &Diagnostics) -> Failure {
    let sentences = diagnostics.problems().iter().map(|problem| match &problem.help {
        Some(help) => format!("{}; {help}", problem.message),
        None => problem.message.clone(),
    });
    Failure::Usage(sentences.collect::<Vec<_>>().join("\n"))
}
