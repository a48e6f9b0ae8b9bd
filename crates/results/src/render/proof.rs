//! The evidence that each condition's switches acted: the requested state, the state that reads
//! back, and the kernel's counters.

use study::Key;

use crate::data::means::boot_means;
use crate::data::outcomes;
use crate::data::turns::{PARTS, in_turns};
use crate::data::results::Results;
use crate::render::titled_table::TitledTable;
use crate::words::number::{counted, figure, percent};
use crate::words::phrases::listed;
use crate::words::table::Table;

// The most conditions that a sentence names; of more, the number.
const NAMED: usize = 3;

impl Results {
    /// The evidence for people.
    #[must_use]
    pub fn proof(&self) -> String {
        if !self.has_measurements() {
            return self.states();
        }
        let evidence = self.evidence();
        format!(
            "{}{}{}{}",
            evidence.iter().map(TitledTable::text).collect::<String>(),
            outcomes::zerocopy(&self.stored, &self.stored.plan.conditions),
            outcomes::clock(&self.stored),
            self.states()
        )
    }

    /// The kernel's counters, the offloads that acted, the places where messages were lost, and the
    /// settling of turns. The third table is empty for TCP, the last without turns.
    pub fn evidence(&self) -> [TitledTable; 4] {
        [self.counted(), self.acted(), self.losses(), self.turns()]
    }

    /// The response of conditions that take turns to a switch.
    fn turns(&self) -> TitledTable {
        let parts = PARTS.map(|(name, _)| name);
        let head = [&["condition", "turns", "flows"], &parts[..], &["counted", "interval"]].concat();
        let mut table = Table::new(&head);
        for one in in_turns(&self.stored) {
            let show = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), percent);
            let mut row = vec![one.label.clone(), one.turns.to_string(), one.flows.to_string()];
            row.extend(one.parts.map(show));
            let interval = one.interval.map(|(low, high)| format!("{} to {}", percent(low), percent(high)));
            row.extend([percent(one.carry_over), interval.unwrap_or_else(|| "-".to_owned())]);
            table.row(&row.iter().map(String::as_str).collect::<Vec<_>>());
        }
        TitledTable {
            title: "Turns: the rate after a turn of another condition against that after one of the same, in %, by part of the turn, and in what is counted (95 % intervals over boots)".to_owned(),
            table,
            notes: Vec::new(),
        }
    }

    fn counted(&self) -> TitledTable {
        let mut table = Table::new(&[
            "condition",
            "wire packets",
            "bytes per",
            "segments per",
            "segments",
            "retransmits",
            "drops tx",
            "drops rx",
            "switches tx",
            "switches rx",
        ])
        .units(&[
            "",
            "tx, 1/run",
            "wire packet",
            "wire packet",
            "1/run",
            "1/run",
            "1/run",
            "1/run",
            "1/run",
            "1/run",
        ]);
        for (index, condition) in self.stored.plan.conditions.iter().enumerate() {
            let means = boot_means(&self.stored, index);
            let show = |key: &str| means.get(key).map_or_else(|| "-".to_owned(), |value| figure(*value));
            table.row(&[
                &condition.label,
                &show("transmitter.wire_packets"),
                &show("transmitter.bytes_per_wire_packet"),
                &show("transmitter.segments_per_wire_packet"),
                &show("transmitter.segments"),
                &show("transmitter.retransmits"),
                &show("transmitter.drops"),
                &show("receiver.drops"),
                &show("transmitter.context_switches"),
                &show("receiver.context_switches"),
            ]);
        }
        let title = "Proof, from the kernel's counters in the window (means of boot means; tx: transmitter, rx: receiver)".to_owned();
        TitledTable { title, table, notes: Vec::new() }
    }

    fn acted(&self) -> TitledTable {
        let all = || self.conditions.iter().map(|condition| (condition.label.as_str(), &condition.acted));
        let has_tunnel = all().any(|(_, acted)| acted.segments_per_underlay_packet.is_some());
        let (mut head, mut under) = (vec!["condition", "segments per"], vec!["", "buffer, tx"]);
        if has_tunnel {
            head.push("segments per");
            under.push("underlay packet");
        }
        head.extend(["packets per", "checksums"]);
        under.extend(["batch, rx", "computed by"]);
        let mut table = Table::new(&head).units(&under);
        let show = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), figure);
        for (label, acted) in all() {
            let checksum = acted.checksum.map_or("-", |checksum| checksum.as_str());
            let mut row = vec![label.to_owned(), show(acted.segments_per_buffer)];
            if has_tunnel {
                row.push(show(acted.segments_per_underlay_packet));
            }
            row.extend([show(acted.packets_per_batch), checksum.to_owned()]);
            table.row(&row.iter().map(String::as_str).collect::<Vec<_>>());
        }
        TitledTable {
            title: "Offloads that acted (buffers: passed to the transmitter's interface, split by TSO; batches: passed to TCP, merged by GRO)".to_owned(),
            table,
            notes: vec!["No counter shows buffers that the stack splits before the interface (GSO), or where a checksum was computed: that column shows what the switches read back. Tracing shows both.".to_owned()],
        }
    }

    /// The losses of UDP messages; without a row for TCP.
    fn losses(&self) -> TitledTable {
        let mut table = Table::new(&[
            "condition",
            "offered",
            "received",
            "lost",
            "loss",
            "queue",
            "device",
            "socket",
            "unaccounted",
        ])
        .units(&["", "1/run", "1/run", "1/run", "%", "1/run", "1/run", "1/run", "1/run"]);
        let mut beyond = Vec::new();
        for (index, condition) in self.stored.plan.conditions.iter().enumerate() {
            if condition.workload.traffic.kind.is_tcp() {
                continue;
            }
            let means = boot_means(&self.stored, index);
            let show = |key: &str| means.get(key).map_or_else(|| "-".to_owned(), |value| figure(*value));
            let parts: f64 = ["lost_queue", "lost_device", "lost_socket", "lost_unaccounted"]
                .iter()
                .filter_map(|part| means.get(part))
                .sum();
            let lost = means.get("lost").copied().unwrap_or(0.0);
            // Means of runs are no whole numbers.
            if parts > lost + 0.5 {
                beyond.push(format!(
                    "  {}: {} drops were counted for {} lost messages: some were counted twice, or belong to other traffic",
                    condition.label,
                    figure(parts),
                    figure(lost)
                ));
            }
            let loss = means.get("loss").map_or_else(|| "-".to_owned(), |value| percent(*value));
            table.row(&[
                &condition.label,
                &show("offered"),
                &show("received"),
                &show("lost"),
                &loss,
                &show("lost_queue"),
                &show("lost_device"),
                &show("lost_socket"),
                &show("lost_unaccounted"),
            ]);
        }
        TitledTable {
            title:
                "Where messages were lost, over the whole run (lost = queue + device + socket + unaccounted)"
                    .to_owned(),
            table,
            notes: beyond,
        }
    }

    /// The switches as they were read back.
    fn states(&self) -> String {
        if self.stored.plan.effective.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{}:\n", self.read_back());
        for (label, state) in self.switches() {
            text.push_str(&format!("  {label}: {}\n", state[0]));
            text.extend(state[1..].iter().map(|remark| format!("    {remark}\n")));
        }
        text.extend(self.not_measured().iter().map(|dropped| format!("{dropped}\n")));
        text
    }

    /// The title of [`Self::switches`].
    pub fn read_back(&self) -> String {
        let is_alone = self.stored.plan.effective.first().is_some_and(|base| base.receiver.is_none());
        let who = if is_alone { "the one end" } else { "both ends" };
        format!("Switches as {who} read them back, against the first condition")
    }

    /// Each condition's label and the state of its switches; then the requested levels that were
    /// not applied, and the further changes by the kernel.
    pub fn switches(&self) -> Vec<(&str, Vec<String>)> {
        let Some(base) = self.stored.plan.effective.first() else { return Vec::new() };
        let mut states = Vec::new();
        for (index, (condition, effective)) in
            self.stored.plan.conditions.iter().zip(&self.stored.plan.effective).enumerate()
        {
            // Conditions that differ in the traffic only share states: each state is listed once.
            if let Some(twin) =
                self.stored.plan.effective[..index].iter().position(|earlier| earlier == effective)
            {
                let twin = &self.stored.plan.conditions[twin];
                let mut state = format!("interfaces as {}", twin.label);
                let own = condition.levels.iter().filter(|own| !twin.levels.contains(own));
                let of_traffic = own.filter(|(factor, _)| Key::find(factor).is_some());
                state.extend(of_traffic.map(|(factor, level)| format!("; traffic with {factor}={level}")));
                states.push((condition.label.as_str(), vec![state]));
                continue;
            }
            let difference = effective.against(base);
            let mut state = vec![if difference.is_empty() { "as built".to_owned() } else { difference }];
            for (side, settled) in effective.sides() {
                for (feature, why) in settled.unmet() {
                    state.push(format!("{side}: {feature} was not applied: {why}"));
                }
                let followed: Vec<String> = settled
                    .follow_on
                    .iter()
                    .map(|(feature, on)| format!("{feature} {}", if *on { "on" } else { "off" }))
                    .collect();
                if !followed.is_empty() {
                    state.push(format!("{side}: changed by the kernel: {}", followed.join(", ")));
                }
            }
            states.push((condition.label.as_str(), state));
        }
        states
    }

    /// The levels of factors that were requested and not applied, with the conditions that lack
    /// them, and the conditions that others read back as, as sentences: to be read before any
    /// verdict. A level such as `offloads=default` means many features, of which no interface has
    /// all: of it nothing is said here.
    #[must_use]
    pub fn not_applied(&self) -> Vec<String> {
        let mut told: Vec<(String, Vec<&str>)> = Vec::new();
        for (condition, effective) in self.stored.plan.conditions.iter().zip(&self.stored.plan.effective) {
            for (side, settled) in effective.sides() {
                let is_asked = |feature: &str| {
                    condition.levels.iter().any(|(name, _)| {
                        let (of, name) = name.split_once('.').unwrap_or((side, name));
                        of == side && study::feature::expand(name).is_some_and(|all| all.contains(&feature))
                    })
                };
                for (feature, why) in settled.unmet().filter(|(feature, _)| is_asked(feature)) {
                    let is_on = settled.active.get(feature) == Some(&true);
                    let state = if is_on { "on" } else { "off" };
                    let what = format!("{feature} at the {side} stays {state}: {why}");
                    match told.iter_mut().find(|(known, _)| *known == what) {
                        Some((_, labels)) => labels.push(&condition.label),
                        None => told.push((what, vec![&condition.label])),
                    }
                }
            }
        }
        let whom = |labels: &[&str]| match labels.len() {
            count if count > NAMED => counted(count, "condition"),
            _ => listed(labels),
        };
        let unmet = told.iter().map(|(what, labels)| format!("Not applied: {}: {what}.", whom(labels)));
        unmet.chain(self.merged()).collect()
    }

    /// The conditions that were not measured because another one reads back the same.
    fn merged(&self) -> Vec<String> {
        let merged = &self.stored.plan.merged;
        if merged.len() > NAMED {
            let whom = counted(merged.len(), "condition");
            return vec![format!("Not measured: {whom} that read back as the same state as others.")];
        }
        merged.iter().map(|one| format!("Not measured: {}: {}.", one.label, one.why)).collect()
    }

    /// The conditions that the plan left out or merged with others, and why, as sentences without
    /// full stops.
    pub fn not_measured(&self) -> Vec<String> {
        let plan = &self.stored.plan;
        [("Not measured", &plan.excluded), ("Not measured", &plan.lacking), ("Merged", &plan.merged)]
            .into_iter()
            .flat_map(|(title, list)| {
                list.iter().map(move |dropped| format!("{title}: {}: {}", dropped.label, dropped.why))
            })
            .collect()
    }
}
