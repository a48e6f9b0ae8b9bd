//! Previews a study's settings of the user's machines, before anything is set.

use std::path;

use agent::message::{Answer, Request};
use agent::Interrupt;
use host::journal::Change;
use host::machine::{MachineRequest, Target, governor};
use study::{BySide, Tuning};

use crate::error::Error;
use crate::hosts::{Hosts, MachineSideSettings};
use crate::intended_change::IntendedChange;
use crate::launched_agent::answer;
use crate::two_machines::{self, ConnectedMachine};

impl Hosts {
    /// The changes on each machine, each once: for all conditions, and by the conditions with these
    /// settings of their own.
    ///
    /// # Errors
    /// [`Error::NotSet`] for what a machine does not have, with its name.
    pub fn preview(
        &self,
        settings: &BySide<MachineSideSettings>,
        conditions: &[BySide<Tuning>],
        program: &path::Path,
        interrupt: &Interrupt,
    ) -> Result<BySide<Vec<IntendedChange>>, Error> {
        let mut machines = two_machines::machines(self, program, interrupt)?;
        BySide::try_from_fn(|side| {
            let ConnectedMachine { agent, located } = &mut machines[side];
            let interface = &located.interface;
            let of_conditions =
                conditions.iter().map(|one| MachineRequest::of_condition(&one[side], interface));
            let mut requests = vec![settings[side].request(interface)];
            requests.extend(of_conditions);
            let mut all = Vec::new();
            for (place, request) in requests.iter().enumerate() {
                if request.is_empty() || requests[..place].contains(request) {
                    continue;
                }
                let answer = agent.call(&Request::PreviewMachine(request.clone())).map_err(|error| {
                    match error.refusal() {
                        Ok(why) => Error::NotSet { side, host: self.places[side].to_string(), why },
                        Err(error) => error,
                    }
                })?;
                let changes = answer!(agent, answer, Answer::MachineChanged { changes } => changes);
                all.extend(IntendedChange::of_machine(&changes, request.cpu_latency));
            }
            Ok(all)
        })
    }
}

impl IntendedChange {
    /// Changes of a machine itself. Governors of several CPUs are set by one command.
    fn of_machine(changes: &[Change], cpu_latency: Option<u32>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let of_governor = |change: &Change| match change.target {
            Target::Governor { cpu } => {
                Some((cpu, change.before.to_string(), change.after.clone()?.to_string()))
            }
            _ => None,
        };
        let governors: Vec<(u32, String, String)> = changes.iter().filter_map(of_governor).collect();
        let mut kinds: Vec<(&str, &str)> =
            governors.iter().map(|(_, before, after)| (&**before, &**after)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for (before, after) in kinds {
            let alike = governors.iter().filter(|one| (&*one.1, &*one.2) == (before, after));
            let cpus = host::affinity::format_cpu_list(&alike.map(|(cpu, ..)| *cpu).collect::<Vec<_>>());
            all.push(Self { change: governor(&cpus, after), undo: governor(&cpus, before) });
        }
        for change in changes.iter().filter(|change| of_governor(change).is_none()) {
            let command = |value| change.target.command(value);
            if let Some((set, undo)) =
                change.after.as_ref().and_then(|after| Some((command(after)?, command(&change.before)?)))
            {
                all.push(Self { change: set, undo });
            }
        }
        all.extend(cpu_latency.map(|bound| Self {
            change: format!("/dev/cpu_dma_latency held open at {bound} µs by the agent"),
            undo: "# /dev/cpu_dma_latency: it ends with the agent".to_owned(),
        }));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn governors_of_several_cpus_are_one_command() {
        let change = |target, before: &str, after: &str| Change {
            number: 1,
            target,
            before: before.into(),
            after: Some(after.into()),
        };
        let governor = |cpu, before: &str| change(Target::Governor { cpu }, before, "performance");
        let ttl = Target::Sysctl { name: "net.ipv4.ip_default_ttl".to_owned() };
        let changes = [
            governor(0, "powersave\n"),
            governor(1, "powersave\n"),
            governor(2, "ondemand\n"),
            change(ttl, "64\n", "77"),
        ];
        let told: Vec<String> = IntendedChange::of_machine(&changes, Some(0))
            .iter()
            .map(|one| format!("{} | {}", one.change, one.undo))
            .collect();
        assert_eq!(
            told,
            [
                "cpupower --cpu 2 frequency-set --governor performance | cpupower --cpu 2 frequency-set --governor ondemand",
                "cpupower --cpu 0-1 frequency-set --governor performance | cpupower --cpu 0-1 frequency-set --governor powersave",
                "sysctl -w net.ipv4.ip_default_ttl=77 | sysctl -w net.ipv4.ip_default_ttl=64",
                "/dev/cpu_dma_latency held open at 0 µs by the agent | # /dev/cpu_dma_latency: it ends with the agent",
            ]
        );
    }
}
