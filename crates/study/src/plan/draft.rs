//! Turns a study into its plan: each combination of levels becomes a condition, or is left out with
//! the reason.

use std::collections::HashSet;

use words::{DeviceSetting, Family, KEYS, Kind, Scenario, Side, Traffic, VXLAN_OVERHEAD, Value};

use crate::model::combinations::chooses;
use crate::model::{
    ComparisonSpec, Dropped, Factor, LevelIndexes, Name, NameWord, Offloads, Scope, Study, Varied,
};
use crate::plan::{Condition, Plan, PlannedQuestion, comparison};

impl Study {
    /// The plan: conditions, exclusions with their reasons, and comparisons.
    pub fn plan(&self) -> Plan {
        Draft::from_study(self).finish(self)
    }
}

/// A plan whose conditions still have their combination of levels.
pub(crate) struct Draft {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) cells: Vec<LevelIndexes>,
    pub(crate) excluded: Vec<Dropped>,
}

impl Draft {
    pub(crate) fn from_study(study: &Study) -> Self {
        let mut draft = Self { conditions: Vec::new(), cells: Vec::new(), excluded: Vec::new() };
        let mut excluded = Vec::new();
        for cell in study.cells() {
            let mut condition = Condition::resolve(study, &cell);
            condition.label = label(study, &cell, &condition);
            let exclusion = study.exclusions.iter().find(|(selection, _)| chooses(selection, &cell));
            // The file's reason comes before that of a rule.
            let forbidden = || forbids(&condition, study.exact, study.tracing.is_some());
            match exclusion.map(|(_, why)| why.clone()).or_else(forbidden) {
                Some(why) => excluded.push((condition.label, why)),
                None => {
                    condition.index = draft.conditions.len();
                    condition.slug = slug(study, &cell, &condition);
                    draft.conditions.push(condition);
                    draft.cells.push(cell);
                }
            }
        }
        draft.excluded = grouped_exclusions(&excluded, study);
        make_unique(&mut draft.conditions);
        draft
    }

    pub(crate) fn planned(&self) -> Vec<(LevelIndexes, &Condition)> {
        self.cells.iter().cloned().zip(&self.conditions).collect()
    }

    pub(crate) fn finish(self, study: &Study) -> Plan {
        let planned = self.planned();
        // Reading checked the file's: only the default comparison of a single condition fails.
        let resolve = |request: &ComparisonSpec| comparison::resolve(request, &planned, study.exact).ok();
        let comparisons = study.requests.iter().filter_map(resolve).flatten().collect();
        Plan {
            conditions: self.conditions,
            excluded: self.excluded,
            lacking: Vec::new(),
            merged: Vec::new(),
            comparisons,
            design: study.design.clone(),
            exact: study.exact,
            tracing: study.tracing.clone(),
            asked: PlannedQuestion { question: study.question.clone(), protocol: study.protocol.clone() },
            effective: Vec::new(),
        }
    }
}

/// The excluded conditions. A reason that excludes every combination of a design is stated once.
fn grouped_exclusions(excluded: &[(Name, String)], study: &Study) -> Vec<Dropped> {
    let word = |row: &Vec<bool>| study.design.as_ref().map(|design| design.word(row));
    let words: Vec<NameWord> = study.rows.iter().filter_map(word).collect();
    let mut said = Vec::new();
    let mut rest = excluded;
    while let Some((name, why)) = rest.first() {
        let before = name.words().split_last().map_or(&[][..], |(_, before)| before);
        // Combinations of a design follow each other, all on or all off first.
        let is_block = |block: &&[(Name, String)]| {
            let same = |((name, reason), word): (&(Name, String), &NameWord)| {
                reason == why && name.words().split_last() == Some((word, before))
            };
            !block.is_empty() && block.iter().zip(&words).all(same)
        };
        let (label, count) = match rest.get(..words.len()).filter(is_block) {
            Some(block) => {
                let all = NameWord::alone("with any offloads".to_owned());
                (Name::from([before, &[all]].concat()), block.len())
            }
            None => (name.clone(), 1),
        };
        said.push(Dropped { label: label.to_string(), why: why.clone() });
        rest = &rest[count..];
    }
    said
}

/// The longest part of a slug for one level.
// File systems allow names of 255 bytes.
const LONGEST_PART: usize = 48;

/// The label: the levels of the varied factors, in file order, and the design's name for the
/// offloads. If nothing varies, the workload and the family.
pub(crate) fn label(study: &Study, cell: &LevelIndexes, condition: &Condition) -> Name {
    let words: Vec<NameWord> = study
        .levels(cell)
        .filter(|(factor, _)| factor.varies())
        .map(|(factor, level)| match &factor.subject {
            // They are understood without the factor's name.
            Varied::Workload | Varied::Scenario | Varied::Family => NameWord::alone(level.to_string()),
            _ => NameWord { factor: Some(factor.name.clone()), level: factor.short(level) },
        })
        .chain(study.designed(cell).map(|(design, on)| design.word(&on)))
        .collect();
    if words.is_empty() {
        let Condition { workload, family, .. } = condition;
        return [workload.name.clone(), family.to_string()].map(NameWord::alone).to_vec().into();
    }
    words.into()
}

/// The slug, as in the reference study R1 (`udp4_default_nocksum`): traffic and family, then
/// offloads, then `nocksum`, then everything else that varies.
pub(crate) fn slug(study: &Study, cell: &LevelIndexes, condition: &Condition) -> String {
    let kind = condition.workload.traffic.kind;
    let mut parts = vec![format!("{}{}", kind.slug(), condition.family.digit())];
    let levels = || study.levels(cell);
    if levels().any(|(factor, _)| factor.subject == Varied::Workload)
        && condition.workload.name != kind.word()
    {
        parts.push(condition.workload.name.to_lowercase());
    }
    let of_all = levels().filter(|(factor, _)| factor.subject == Varied::Offloads(Scope::default()));
    parts.extend(of_all.map(|(_, level)| offloads_slug(level).to_owned()));
    if !condition.workload.traffic.checksum {
        parts.push("nocksum".to_owned());
    }
    let varied = levels().filter(|(factor, _)| factor.varies());
    parts.extend(varied.filter_map(|(factor, level)| other(factor, level)));
    parts.extend(study.designed(cell).map(|(design, on)| design.slug(&on)));
    parts.join("_")
}

pub(crate) fn make_unique(conditions: &mut [Condition]) {
    let mut taken = HashSet::new();
    for condition in conditions {
        let wanted = condition.slug.clone();
        let numbered = (2_u32..).map(|number| format!("{wanted}-{number}"));
        let free = std::iter::once(wanted.clone()).chain(numbered).find(|slug| !taken.contains(slug));
        condition.slug = free.unwrap_or(wanted);
        taken.insert(condition.slug.clone());
    }
}

fn offloads_slug(offloads: &Value) -> &'static str {
    if offloads.to_string() == Offloads::None.word() { "nooffload" } else { "default" }
}

fn other(factor: &Factor, level: &Value) -> Option<String> {
    let scope = factor.subject.scope().short();
    let name = factor.name.rsplit('.').next().unwrap_or_default();
    Some(match &factor.subject {
        Varied::Workload | Varied::Family | Varied::Offloads(Scope { side: None, underlay: false }) => {
            return None;
        }
        Varied::Key(key) if key.name == "checksum" => return None,
        Varied::Key(key) => {
            format!("{}{}", key.slug, level.to_string().to_lowercase().replace(['_', '+'], "-"))
        }
        Varied::Offloads(_) => format!("{scope}{}", offloads_slug(level)),
        Varied::Feature(..) => format!("{scope}{name}-{level}"),
        Varied::Device(..) => format!("{scope}{}-{level}", name.replace('_', "-")),
        Varied::Tuning(..) => {
            format!("{scope}{}-{}", name.replace('_', "-"), plain(&level.to_string()))
        }
        Varied::Twin => format!("twin-{}", level.to_string().to_lowercase()),
        Varied::Scenario => level.to_string(),
        Varied::Underlay("family") => format!("{scope}{level}"),
        Varied::Guest("kernel") => format!("kernel-{}", plain(&factor.short(level))),
        Varied::Guest("command_line") if *level == Value::Default => "command-line-default".to_owned(),
        Varied::Guest("command_line") => plain(&level.to_string()),
        _ => format!("{scope}{}{level}", name.replace('_', "-")),
    })
}

fn plain(text: &str) -> String {
    let fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
    let text: String =
        text.to_lowercase().chars().map(|c| if fit(c) { c } else { '-' }).take(LONGEST_PART).collect();
    text.trim_matches('-').to_owned()
}

// Combinations that no testbed can reach, and why. The kernel's own rules (TSO needs
// scatter-gather) are not here: reading back shows them.

/// The least MTU that IPv6 works over, in bytes (RFC 8200, section 5).
const LEAST_IPV6_MTU: u32 = 1_280;

pub(crate) fn uncarried(kind: Kind, scenario: Scenario) -> Option<(String, &'static str)> {
    match (scenario, kind.is_received()) {
        (Scenario::Discard, true) => Some((
            format!("`{kind}` needs a receiver, and `discard` has none"),
            "use `pps`, or the scenario `veth` or `loopback`",
        )),
        (Scenario::Discard, false) | (_, true) => None,
        (_, false) => Some((
            format!("`{kind}` needs an interface that discards packets, and `{scenario}` has none"),
            "use the scenario `discard`, or `udp_stream`",
        )),
    }
}

pub(crate) fn forbids(condition: &Condition, is_exact: bool, is_traced: bool) -> Option<String> {
    let (workload, traffic) = (&condition.workload, &condition.workload.traffic);
    if let Some((why, _)) = uncarried(traffic.kind, condition.boot.scenario) {
        return Some(why);
    }
    if is_exact && let Err(misfit) = traffic.validate_exact() {
        return Some(misfit.why);
    }
    if is_traced && let Some(misfit) = traffic.traced_misfits(condition.boot.scenario).first() {
        let key = misfit.key;
        return Some(format!("a trace does not support this `{key}`: it sends one message after the other"));
    }
    let of_keys = KEYS.iter().find_map(|key| key.misfit(&key.get(workload), traffic.kind));
    if let Some(misfit) = of_keys.or_else(|| traffic.conflict(condition.family)) {
        return Some(misfit.why);
    }
    if let Some(why) = Side::BOTH.into_iter().find_map(|side| misplaced(condition, side)) {
        return Some(why);
    }
    let (scenario, mtu) = (condition.boot.scenario, mtu(condition));
    let carries_ipv6 = scenario.has_tunnel() && condition.boot.underlay_family == Family::Ipv6;
    let of_ipv6 = [
        Some(mtu).filter(|_| condition.family == Family::Ipv6),
        condition.underlay.mtu.filter(|_| carries_ipv6),
    ];
    if let Some(mtu) = of_ipv6.into_iter().flatten().find(|mtu| *mtu < LEAST_IPV6_MTU) {
        return Some(format!(
            "IPv6 needs an MTU of at least {LEAST_IPV6_MTU} bytes (RFC 8200, section 5), not {mtu}"
        ));
    }
    let most = Traffic::largest_segment(mtu, condition.family);
    (traffic.sender.segments() && traffic.message > most).then(|| {
        format!(
            "`{}` makes no fragments: with an MTU of {mtu} a datagram over {} carries at most {most} bytes, not {}",
            traffic.sender, condition.family, traffic.message
        )
    })
}

fn misplaced(condition: &Condition, side: Side) -> Option<String> {
    let settings = condition.side(side);
    let irq = settings.tuning.placement?.irq;
    let under = match side {
        Side::Transmitter => &condition.underlay.transmitter,
        Side::Receiver => &condition.underlay.receiver,
    };
    let card = if condition.boot.scenario.has_tunnel() { under } else { settings };
    if let Some(queues) = card.device.get(&DeviceSetting::Queues).filter(|queues| **queues != 1) {
        return Some(format!("`placement` leaves the {side}'s interface one queue, not {queues}"));
    }
    let why =
        format!("`placement` has the interrupts of the {side} on CPU {irq}, and `irq_affinity` elsewhere");
    let is_elsewhere = settings.tuning.irq_affinity.as_ref().is_some_and(|cpus| *cpus != [irq]);
    is_elsewhere.then_some(why)
}

/// The MTU that the traffic has: the tunnel's, if the study does not set one.
fn mtu(condition: &Condition) -> u32 {
    let (scenario, family) = (condition.boot.scenario, condition.boot.underlay_family);
    let taken = if family == Family::Ipv6 { VXLAN_OVERHEAD + 20 } else { VXLAN_OVERHEAD };
    let carrying = condition.underlay.mtu.unwrap_or(Scenario::Veth.default_mtu());
    let default = if scenario.has_tunnel() { carrying.saturating_sub(taken) } else { scenario.default_mtu() };
    condition.mtu.unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use crate::Study;

    fn excluded(factors: &str) -> Vec<String> {
        let text = format!(
            "name = \"x\"\nquestion = \"q\"\nscenario = \"vxlan\"\n[[workload]]\nkind = \"udp_stream\"\n[factors]\n{factors}\n"
        );
        let study = Study::parse("x.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
        study.plan().excluded.into_iter().map(|dropped| dropped.why).collect()
    }

    #[test]
    fn ipv6_fits_neither_inside_nor_under_a_small_tunnel() {
        // 1300 under the tunnel leave 1250 inside it over IPv4, and 1230 over IPv6.
        let inside = excluded("family = [\"ipv4\", \"ipv6\"]\nunderlay.mtu = [1500, 1300]");
        assert_eq!(inside.len(), 1, "{inside:?}");
        assert!(inside[0].contains("not 1250"), "{inside:?}");
        let under = excluded(
            "family = [\"ipv4\"]\nunderlay.family = [\"ipv4\", \"ipv6\"]\nunderlay.mtu = [1500, 1200]",
        );
        assert_eq!(under.len(), 1, "{under:?}");
        assert!(under[0].contains("not 1200"), "{under:?}");
    }

    #[test]
    fn a_placement_leaves_one_queue_and_says_where_the_interrupts_are() {
        let of_ssh = |factors: &str| {
            let text = format!(
                "name = \"x\"\nquestion = \"q\"\nscenario = \"ssh\"\n[[workload]]\nkind = \"udp_stream\"\n[factors]\n{factors}\n"
            );
            let study = Study::parse("x.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
            study.plan().excluded.iter().map(|dropped| dropped.why.clone()).collect::<Vec<_>>()
        };
        let placement = "placement = [{ irq = 0, traffic = 1 }, \"default\"]";
        let why = of_ssh(&format!("{placement}\nreceiver.queues = [1, 4]"));
        assert_eq!(why, ["`placement` leaves the receiver's interface one queue, not 4"]);
        let why = of_ssh(&format!("{placement}\nirq_affinity = [0, \"0-1\"]"));
        assert_eq!(why.len(), 1, "{why:?}");
        assert!(why[0].contains("of the transmitter on CPU 0, and `irq_affinity` elsewhere"), "{why:?}");
    }

    #[test]
    fn segments_are_cut_to_what_the_tunnel_leaves() {
        let why = excluded("sender = [\"gso\"]\nmessage = [1440]\nunderlay.mtu = [1500, 9000]");
        assert_eq!(why.len(), 1, "{why:?}");
        assert!(why[0].contains("an MTU of 1450"), "{why:?}");
    }
}
