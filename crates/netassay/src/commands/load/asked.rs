//! The command line as a study of one condition.

use agent::Interrupt;
use study::{Assignment, Condition, CongestionControl, Family, Scenario, Study};
use testbed::{RunOrder, Testbed, TestbedOptions};
use words::{Kind, suggest};

use crate::cli::{HostFlags, LoadArgs, traffic_keys};
use crate::commands::hosts::{ReachedHosts, reach};
use crate::failure::{Failure, bail};
use crate::machine;

#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) scenario: Scenario,
    pub(crate) condition: Condition,
    pub(crate) order: RunOrder,
    pub(crate) inside_guest: bool,
    discard_device: Option<host::DiscardDevice>,
}

impl Asked {
    /// # Errors
    /// [`Failure::Usage`] naming what is not supported, why, and the remedy.
    pub(super) fn read(flags: &LoadArgs) -> Result<Self, Failure> {
        let kind = flags.workload;
        let scenario = match kind.is_received() {
            true if flags.hosts.names_any() => Scenario::Ssh,
            true => Scenario::Veth,
            false => Scenario::Discard,
        };
        let asked = Self::from_keys(kind, scenario, &flags.keys)?;
        if flags.discard_device.is_some() && asked.scenario != Scenario::Discard {
            let scenario = asked.scenario;
            bail!(Usage, "--discard-device: {scenario} does not discard packets; use the scenario discard");
        }
        let step = flags.interval.map_or(asked.order.step, |interval| interval.min(asked.order.step));
        Ok(Self { order: RunOrder { step, ..asked.order }, discard_device: flags.discard_device, ..asked })
    }

    /// Reads keys as a study of this kind of traffic, in this scenario unless they name another.
    ///
    /// # Errors
    /// As [`Asked::read`].
    pub(crate) fn from_keys(kind: Kind, scenario: Scenario, keys: &[Assignment]) -> Result<Self, Failure> {
        if let Some(other) = keys.iter().find(|one| traffic_keys().all(|known| known != one.key)) {
            let known: Vec<String> = traffic_keys().collect();
            let near = suggest::nearest(&other.key, known.iter().map(String::as_str));
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            bail!(Usage, "`{}` is no key of the traffic or its testbed{near}", other.key);
        }
        if let Some(several) = keys.iter().find(|one| one.values.len() > 1) {
            let key = &several.key;
            bail!(Usage, "{key}: one value; to compare several, write a study");
        }
        let text = format!(
            "name = \"load\"\nquestion = \"How fast?\"\nscenario = \"{scenario}\"\n[[workload]]\nkind = \"{kind}\"\n"
        );
        let study = study_of_keys(&text, keys)?;
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

    pub(crate) fn reach(
        &self,
        flags: &HostFlags,
        interrupt: &Interrupt,
    ) -> Result<Option<ReachedHosts>, Failure> {
        let reached = reach(flags, &[self.scenario], self.inside_guest, interrupt)?;
        if let Some(reached) = &reached {
            reached.check_pair(std::slice::from_ref(&self.condition))?;
        }
        Ok(reached)
    }

    pub(crate) fn choose_congestion_control(&mut self, testbed: &mut Testbed) -> Result<(), Failure> {
        let traffic = &mut self.order.traffic;
        if traffic.leaves_congestion_control_open() {
            let chosen = runner::unpaced(|traffic| testbed.lacking(traffic, Family::Ipv4))?;
            traffic.congestion_control = CongestionControl::Named(chosen.to_owned());
        }
        Ok(())
    }

    pub(crate) fn options(&self, rootless: bool, interrupt: &Interrupt) -> Result<TestbedOptions, Failure> {
        Ok(TestbedOptions {
            discard_device: self.discard_device,
            families: vec![self.condition.family],
            state: self.condition.boot.clone(),
            inside_guest: self.inside_guest,
            ..machine::testbed_options(self.scenario, rootless, interrupt)?
        })
    }
}

/// Reads keys as changes of a study.
///
/// # Errors
/// [`Failure::Usage`] with every problem and its remedy.
pub(crate) fn study_of_keys(text: &str, keys: &[Assignment]) -> Result<Study, Failure> {
    Study::parse_with("load", text, keys).map_err(|diagnostics| {
        // Without its lines, which the user did not write.
        let sentences = diagnostics.problems.iter().map(|problem| match &problem.help {
            Some(help) => format!("{}; {help}", problem.message),
            None => problem.message.clone(),
        });
        Failure::Usage(sentences.collect::<Vec<_>>().join("\n"))
    })
}
