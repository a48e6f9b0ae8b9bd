//! Parts of a study's environment, for pages that arrange them themselves.

use crate::data::results::Results;
use crate::render::titled_table::TitledTable;
use crate::words::table::Table;

impl Results {
    /// Evidence that the switches acted: tables from the kernel's counters.
    #[must_use]
    pub fn proofs(&self) -> Vec<TitledTable> {
        if !self.has_measurements() {
            return Vec::new();
        }
        self.evidence().into_iter().filter(|exhibit| !exhibit.table.is_empty()).collect()
    }

    /// The requested and the applied state of each condition's switches; and the conditions that
    /// were not measured for that.
    #[must_use]
    pub fn applied(&self) -> TitledTable {
        let is_more = self.switches().iter().any(|(_, state)| state.len() > 1);
        let head = ["condition", "switches", "not applied, or changed by the kernel"];
        let mut table = Table::new(&head[..if is_more { 3 } else { 2 }]).named(0);
        for (label, state) in self.switches() {
            let more = state[1..].join("; ");
            table.row(&[label, state[0].as_str(), more.as_str()][..if is_more { 3 } else { 2 }]);
        }
        TitledTable { title: self.read_back(), table, notes: self.not_measured() }
    }

    /// The changes of the machine for the study, which were undone.
    #[must_use]
    pub fn changed(&self) -> Vec<String> {
        let mut changes: Vec<String> = Vec::new();
        for environment in self.stored.boots.iter().map(|boot| &boot.environment) {
            let own = environment.changed.iter().map(ToString::to_string);
            let named = environment.machines.iter().flat_map(|machines| machines.each_ref());
            let named = named.flat_map(|(side, machine)| {
                machine.changed.iter().map(move |change| format!("{side}: {change}"))
            });
            for change in own.chain(named) {
                if !changes.contains(&change) {
                    changes.push(change);
                }
            }
        }
        changes
    }
}
