//! The boots of the machines in which the boots of a study were measured.

use std::collections::BTreeSet;

use record::Environment;
use study::Side;

/// Boots of the study by number, each with the identities that its machines' kernels had.
#[derive(Debug, Default)]
pub(crate) struct Identities(BTreeSet<(u32, String)>);

impl Identities {
    /// From the environments of stored boots.
    pub(crate) fn from_stored<'e>(stored: impl IntoIterator<Item = (u32, &'e Environment)>) -> Self {
        let mut all = Self::default();
        stored.into_iter().for_each(|(boot, environment)| all.add(boot, environment));
        all
    }

    pub(crate) fn add(&mut self, boot: u32, environment: &Environment) {
        self.0.extend(boot_ids(environment).map(|(_, id)| (boot, id.to_owned())));
    }

    /// Whether another boot of the study was measured in one of these: then this one needs a
    /// restart. Both parts of a boot that was resumed may have one.
    pub(crate) fn are_of_another(&self, boot: u32, ids: &[String]) -> bool {
        ids.iter().any(|id| self.other(boot, id).is_some())
    }

    /// The side whose machine still has the identity of another boot, with that boot.
    pub(crate) fn not_restarted(&self, boot: u32, environment: &Environment) -> Option<(Side, u32)> {
        boot_ids(environment).find_map(|(side, id)| Some((side, self.other(boot, id)?)))
    }

    fn other(&self, boot: u32, id: &str) -> Option<u32> {
        self.0.iter().find(|(other, known)| *other != boot && known == id).map(|(other, _)| *other)
    }
}

fn boot_ids(environment: &Environment) -> impl Iterator<Item = (Side, &str)> {
    let transmitter = Some((Side::Transmitter, &environment.transmitter));
    let receiver = environment.receiver.as_ref().map(|host| (Side::Receiver, host));
    transmitter
        .into_iter()
        .chain(receiver)
        .filter_map(|(side, host)| Some((side, host.kernel.boot_id.as_deref()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(transmitter: &str, receiver: &str) -> Environment {
        let mut environment = record::sample::environment();
        environment.transmitter.kernel.boot_id = Some(transmitter.to_owned());
        let mut other = environment.transmitter.clone();
        other.kernel.boot_id = Some(receiver.to_owned());
        environment.receiver = Some(other);
        environment
    }

    fn ids(list: [&str; 2]) -> Vec<String> {
        list.map(str::to_owned).to_vec()
    }

    #[test]
    fn a_boot_needs_a_restart_unless_both_machines_are_fresh_or_it_is_resumed() {
        let first = measured("a1", "b1");
        let known = Identities::from_stored([(1, &first)]);
        assert!(!Identities::default().are_of_another(1, &ids(["a1", "b1"])), "the first boot");
        assert!(known.are_of_another(2, &ids(["a1", "b1"])));
        assert!(!known.are_of_another(1, &ids(["a1", "b1"])), "the second part of the first");
        // The controller was stopped while one machine restarted, or both did.
        assert!(known.are_of_another(2, &ids(["a2", "b1"])));
        assert!(!known.are_of_another(2, &ids(["a2", "b2"])));
    }

    #[test]
    fn a_machine_that_did_not_restart_is_named_with_the_boot_that_it_had() {
        let mut known = Identities::from_stored([(1, &measured("a1", "b1"))]);
        assert_eq!(known.not_restarted(2, &measured("a2", "b1")), Some((Side::Receiver, 1)));
        assert_eq!(known.not_restarted(2, &measured("a2", "b2")), None);
        known.add(2, &measured("a2", "b2"));
        assert_eq!(known.not_restarted(3, &measured("a2", "b3")), Some((Side::Transmitter, 2)));
    }
}
