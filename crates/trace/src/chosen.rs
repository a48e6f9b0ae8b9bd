//! Which probe point stands for each stage: the first that packets pass.

use serde::{Deserialize, Serialize};
use words::grouped;

use crate::btf::Packet;
use crate::path::{At, JourneyPhase, Layer};
use crate::probe_counts::{POINTS, Way};
use crate::resolve::{PointKind, ProbePoint, ProbePoints, ResolvedStage};
use crate::tracer::{Attachment, Probe, TraceError};

/// A stage, and how it is seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChosenStage {
    /// The box of the flow chart.
    pub label: String,
    /// The layer of the box.
    pub lane: Layer,
    /// Whether functions are entered or left there.
    pub at: At,
    /// Whether some packets do not pass it.
    pub optional: bool,
    /// The journey that it is a part of.
    pub phase: JourneyPhase,
    /// The place where it is seen, or the reason why it is not.
    pub seen: Result<StagePoint, String>,
}

/// The place where a stage is seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StagePoint {
    /// The number of the point.
    pub point: u8,
    /// The function or tracepoint.
    pub name: String,
    /// The attachment of its probe.
    pub mean: Attachment,
    /// Which of its arguments is the packet.
    pub packet: Option<Packet>,
}

/// Properties that decide the cost of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeCost {
    /// The attachment.
    pub mean: Attachment,
    /// At which end of a function.
    pub at: At,
    /// The journey that it looks up.
    pub phase: JourneyPhase,
    /// Whether it looks for the packet in a list.
    pub listed: bool,
}

/// Probes of all places that may stand for stages, to be tried, numbered, in groups that fit a
/// tracer. `functions`: they may be probed.
pub fn candidates(stages: &[ResolvedStage], ipv6: bool, functions: bool) -> Vec<Vec<Probe>> {
    let all: Vec<Probe> = stages
        .iter()
        .flat_map(|stage| places(stage, ipv6, functions).map(move |place| (stage, place)))
        .zip((0..POINTS as u8).cycle())
        .map(|((stage, place), number)| Probe {
            number,
            place: place.clone(),
            at: stage.at,
            phase: stage.phase,
        })
        .collect();
    all.chunks(POINTS).map(<[Probe]>::to_vec).collect()
}

/// `tried`: the attachment of each probe of [`candidates`], and its hits while packets passed. A
/// place that a CPU passes is everybody's: it counts if it was hit at least `often`.
pub fn choose(
    stages: &[ResolvedStage],
    ipv6: bool,
    functions: bool,
    tried: Vec<(Result<Attachment, TraceError>, u64)>,
    often: u64,
) -> Vec<ChosenStage> {
    let (mut tried, mut point, mut leads) = (tried.into_iter(), 0, true);
    let chosen = stages.iter().map(|stage| {
        let mut seen: Option<(&ProbePoint, Attachment)> = None;
        // Other packets of the machine pass the places of a CPU, now and then.
        let least = if stage.phase == JourneyPhase::Arriving { often } else { 1 };
        let mut reasons = match stage.probes_for(ipv6) {
            ProbePoints::Points(_) => Vec::new(),
            ProbePoints::Missing(reason) => vec![reason.clone()],
        };
        // The places lead: where they end, the next probe is of the next stage.
        for (place, (mean, hits)) in places(stage, ipv6, functions).zip(tried.by_ref()) {
            match mean {
                Ok(mean) if hits >= least => {
                    seen.get_or_insert((place, mean));
                }
                Ok(_) => reasons.push(format!("{} is not passed", place.name)),
                Err(reason) => reasons.push(format!("{}: {reason}", place.name)),
            }
        }
        let seen = seen.map(|(place, mean)| {
            let packet = place.packet.filter(|_| stage.at == At::Entry);
            point += 1;
            StagePoint { point: point - 1, name: place.name.clone(), mean, packet }
        });
        let seen = seen.ok_or_else(|| match reasons.is_empty() {
            true => "only functions stand for it, and they are not probed here".to_owned(),
            false => reasons.join("; "),
        });
        // The first that has the packet ends what leads to it.
        leads = leads && !seen.as_ref().is_ok_and(|seen| seen.packet.is_some());
        let phase = match stage.phase {
            JourneyPhase::Arriving if leads => JourneyPhase::Leading,
            known => known,
        };
        let (label, lane) = (stage.label.clone(), stage.lane);
        ChosenStage { label, lane, at: stage.at, optional: stage.optional, phase, seen }
    });
    chosen.collect()
}

fn places(stage: &ResolvedStage, ipv6: bool, functions: bool) -> impl Iterator<Item = &ProbePoint> {
    let all = stage.probes_for(ipv6).points().iter();
    all.filter(move |place| functions || place.kind == PointKind::Tracepoint)
}

impl ChosenStage {
    /// Its label, and whether it is the return.
    pub fn name(&self) -> String {
        if self.at == At::Entry { self.label.clone() } else { format!("{} return", self.label) }
    }

    /// The properties that decide the cost of its probe.
    pub fn cost(&self) -> Option<ProbeCost> {
        let seen = self.seen.as_ref().ok()?;
        // A tracepoint is one place, whichever end of a stage it stands for.
        let at = if seen.mean == Attachment::Tracepoint { At::Entry } else { self.at };
        let listed = matches!(seen.packet, Some(Packet::List(_)));
        Some(ProbeCost { mean: seen.mean, at, phase: self.phase, listed })
    }

    /// Its probe.
    pub fn probe(&self) -> Option<Probe> {
        let seen = self.seen.as_ref().ok()?;
        let kind =
            if seen.mean == Attachment::Tracepoint { PointKind::Tracepoint } else { PointKind::Function };
        let place = ProbePoint { kind, name: seen.name.clone(), arguments: None, packet: seen.packet };
        Some(Probe { number: seen.point, place, at: self.at, phase: self.phase })
    }
}

/// The stages that are not seen, with the reason; those of one reason together.
pub fn unseen<'s>(stages: impl Iterator<Item = &'s ChosenStage>) -> Vec<String> {
    let unseen = stages.filter_map(|stage| Some((stage.seen.as_ref().err()?, stage.name())));
    let reasons = grouped(unseen).into_iter();
    reasons.map(|(reason, stages)| format!("{} ({reason})", stages.join(", "))).collect()
}

/// The probes without which no packet is followed: both ends of the way that packets took (`seen`)
/// and the place before it; on the way in, the places where a packet is first and last seen before
/// its reader, where the reader's call begins and gets the packet, and the next one on that way.
///
/// # Errors
/// The missing stages, with the reasons.
pub fn needed(stages: &[ChosenStage], seen: Option<&Way>) -> Result<Vec<Probe>, TraceError> {
    let probes: Vec<Probe> = stages.iter().filter_map(ChosenStage::probe).collect();
    let why = |what: &str, of: &dyn Fn(&ChosenStage) -> bool| {
        let unseen = unseen(stages.iter().filter(|stage| of(stage)));
        TraceError(format!("{what}; not seen: {}", unseen.join("; ")))
    };
    let [first, .., last] = probes.as_slice() else {
        return Err(why("fewer than two stages are passed", &|_| true));
    };
    // Packets that come by an interrupt before a reader polls take another time: told apart here.
    let passes = |probe: &Probe| seen.is_some_and(|way| way.passes(probe.number));
    let begins = probes.iter().position(passes).unwrap_or(0);
    let mut needed: Vec<&Probe> = begins.checked_sub(1).into_iter().map(|before| &probes[before]).collect();
    needed.extend([&probes[begins], last]);
    for (phase, whose) in
        [(JourneyPhase::Arriving, "before the reader"), (JourneyPhase::Reading, "of the reader")]
    {
        if first.phase == JourneyPhase::Out {
            continue;
        }
        let of_phase = || probes.iter().filter(|probe| probe.phase == phase);
        // The time between the phases is no work: it is told apart from the work on both sides.
        let is_read = phase == JourneyPhase::Reading;
        needed.extend(if is_read { of_phase().next() } else { of_phase().next_back() });
        needed.push(of_phase().find(|probe| probe.place.packet.is_some()).ok_or_else(|| {
            let what = format!("no stage {whose} is seen that is given the packet");
            why(&what, &|stage| (stage.phase == JourneyPhase::Reading) == is_read)
        })?);
    }
    let mut reading = probes.iter().filter(|probe| probe.phase == JourneyPhase::Reading);
    needed.extend(reading.find(|probe| seen.is_some_and(|way| way.passes(probe.number))));
    needed.sort_by_key(|probe| probe.number);
    needed.dedup_by_key(|probe| probe.number);
    Ok(needed.into_iter().cloned().collect())
}

#[cfg(test)]
mod tests;
