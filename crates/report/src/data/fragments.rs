//! Datagrams that do not fit the MTU: each leaves as several packets, which no switch shows.

use store::StoredStudy;
use study::Condition;

use crate::data::means::boot_means;
use crate::words::number::counted;
use crate::words::phrases::list;

/// So many conditions are named.
const NAMED: usize = 3;

/// Which conditions send fragments, as a sentence without a full stop; `None` if none does.
pub(crate) fn note(stored: &StoredStudy) -> Option<String> {
    let of = |condition: &Condition| Some((condition.label.to_string(), fragments(stored, condition)?));
    let found: Vec<(String, f64)> = stored.plan.conditions.iter().filter_map(of).collect();
    let most = found.iter().map(|(_, each)| *each).fold(0.0, f64::max);
    let least = found.iter().map(|(_, each)| *each).fold(f64::INFINITY, f64::min);
    let count = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let which = match (found.len(), stored.plan.conditions.len()) {
        (0, _) => return None,
        (some, all) if some == all => "every condition".to_owned(),
        (some, _) if some <= NAMED => list(&found.into_iter().map(|(label, _)| label).collect::<Vec<_>>()),
        (some, all) => format!("{some} of {}, such as {}", counted(all, "condition"), found[0].0),
    };
    Some(format!(
        "in {which} each datagram left as {count} fragments, because it does not fit the MTU; fragments cost \
         CPU time"
    ))
}

/// As how many packets each datagram of a condition left the transmitter, if they were several.
fn fragments(stored: &StoredStudy, condition: &Condition) -> Option<f64> {
    if condition.workload.traffic.kind.is_tcp() {
        return None;
    }
    let segments = *boot_means(stored, condition.index).get("transmitter.segments_per_wire_packet")?;
    let each = (1.0 / segments).round();
    (segments > 0.0 && each >= 2.0).then_some(each)
}
