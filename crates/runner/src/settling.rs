//! Whether the turns of a flow were long enough: a condition must do the same after another one as
//! after itself.

use record::{CountedTurn, Response, Slice, TENTHS, Turns};
use stats::distribution::student;

/// The largest allowed effect of the turn before, as a share of the largest difference between two
/// conditions of the flow. Two conditions follow each other and themselves equally often, so half
/// of it is in their difference.
const LEFT: f64 = 0.25;

/// The largest allowed effect of the turn before as a share of the rate: smaller than the
/// differences that studies look for.
pub(crate) const LEAST: f64 = 0.01;

/// The chance of a false alarm, for one condition of one flow. Turns of one flow are not quite
/// independent, and a study has many flows.
const CHANCE: f64 = 1e-5;

/// The fewest turns after itself, and after others, from which a condition is judged.
const FEWEST: usize = 3;

/// The evidence that a flow's conditions do not settle in their turns.
#[derive(Debug)]
pub(crate) struct Unsettled {
    pub(crate) why: String,
    /// The part of a turn after which they do, in ns, by how they answered to the switches; `None`:
    /// none up to half of it.
    pub(crate) settles_after: Option<u64>,
}

/// Whether a flow's conditions settle in their turns; `None` if nothing shows that they do not.
pub(crate) fn unsettled<'t>(flow: impl Iterator<Item = (&'t str, &'t Turns)> + Clone) -> Option<Unsettled> {
    let means = flow.clone().filter_map(|(_, turns)| mean(turns.turns.iter()));
    let (least, most) = means
        .fold((f64::INFINITY, 0.0_f64), |(least, most), mean| (least.min(mean.value), most.max(mean.value)));
    let allowed = (LEFT * (most - least)).max(LEAST * most);
    let why = flow.clone().find_map(|(label, turns)| {
        let is_after_itself = |turn: &&CountedTurn| turn.after == turns.own;
        let itself = mean(turns.turns.iter().filter(is_after_itself))?;
        let another = mean(turns.turns.iter().filter(|turn| !is_after_itself(turn)))?;
        let apart = another.value - itself.value;
        // Of the two, the one with fewer turns: the degrees of freedom are at least its own.
        let deviations = student::upper_quantile(CHANCE / 2.0, itself.count.min(another.count) - 1.0)?;
        let chance = deviations * itself.error.hypot(another.error);
        (apart.abs() > allowed.max(chance)).then(|| {
            format!(
                "{label}: after a turn of another condition its rate differs by {:+.1} % from that after one of its own, so a switch acts for longer than the {:.0} ms that are not counted",
                100.0 * apart / itself.value,
                turns.settle_ns as f64 / 1e6
            )
        })
    })?;
    let settles_after = (1..=TENTHS / 2).find_map(|tenth| {
        let all = flow.clone().map(|(_, turns)| {
            let after = turns.turn_ns / TENTHS as u64 * tenth as u64;
            let Response { after_itself, after_another } = &turns.response;
            let [itself, another] = [after_itself, after_another].map(|tenths| rate(&tenths[tenth..]));
            (after > turns.settle_ns && (another? - itself?).abs() <= allowed).then_some(after)
        });
        all.collect::<Option<Vec<u64>>>()?.into_iter().max()
    });
    Some(Unsettled { why, settles_after })
}

/// The rate over some parts of turns; `None` without any.
fn rate(parts: &[Slice]) -> Option<f64> {
    let sum = |of: fn(&Slice) -> u64| parts.iter().map(of).sum::<u64>() as f64;
    let (work, ns) = (sum(|part| part.work), sum(|part| part.ns));
    (ns > 0.0).then(|| work / ns)
}

/// The mean rate of turns, with its standard error.
struct Mean {
    count: f64,
    value: f64,
    error: f64,
}

fn mean<'t>(turns: impl Iterator<Item = &'t CountedTurn>) -> Option<Mean> {
    let rates: Vec<f64> =
        turns.filter(|turn| turn.ns > 0).map(|turn| turn.work as f64 / turn.ns as f64).collect();
    let count = rates.len() as f64;
    let value = rates.iter().sum::<f64>() / count;
    let squares: f64 = rates.iter().map(|rate| (rate - value).powi(2)).sum();
    (rates.len() >= FEWEST).then(|| Mean { count, value, error: (squares / (count - 1.0) / count).sqrt() })
}

#[cfg(test)]
mod tests {
    use study::{Plan, PlannedRun, Study};

    use super::*;

    const MS: f64 = 1e6;

    fn plan(twins: bool) -> Plan {
        let factor = if twins { "twin = [\"a\", \"b\"]" } else { "tso = [\"on\", \"off\"]" };
        let text = format!(
            "name = \"n\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\nduration = \"2s\"\n\
             [factors]\n{factor}\n[protocol]\nalternate = \"100ms\"\n"
        );
        Study::parse("n", &text).unwrap_or_else(|problems| panic!("{problems}")).plan()
    }

    /// A simulated flow of two conditions whose rates differ by `effect`. After a switch the rate
    /// approaches the new one with a time constant of `slow_ms`; a turn adds `left` of the rate to
    /// the next one if that is of another condition. Each turn has noise of 1 %.
    fn flow(seed: u32, effect: f64, slow_ms: f64, left: f64) -> [Turns; 2] {
        let plan = plan(effect == 0.0);
        let run = PlannedRun { boot: seed, block: 0, repeat: 1, position: 0, warmup: true, condition: 0 };
        let alternate = plan.asked.protocol.alternate.unwrap();
        let turns = plan.turns(&[0, 1], &run, alternate);
        let [turn_ms, settle_ms] = [alternate.turn, alternate.settle].map(|time| time.as_secs_f64() * 1e3);
        let mut made = [0, 1].map(|own| Turns {
            turn_ns: (turn_ms * MS) as u64,
            settle_ns: (settle_ms * MS) as u64,
            own,
            turns: Vec::new(),
            response: Response::default(),
            from_others: 0,
        });
        let mut state = u64::from(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        // The sum of uniform draws is near enough to normal.
        let mut noise = || {
            let uniform = (0..12).map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 11) as f64 / (1_u64 << 53) as f64
            });
            uniform.sum::<f64>() - 6.0
        };
        let target = |state: usize| 1000.0 * if state == 1 { 1.0 - effect } else { 1.0 };
        let mut rate = target(turns[0].state);
        let counted_ms = turn_ms - settle_ms;
        for (number, pair) in turns.windows(2).enumerate() {
            let (before, now) = (pair[0].state, pair[1].state);
            let (goal, from) = (target(now), rate);
            let gap = |ms: f64| if slow_ms == 0.0 { 0.0 } else { (from - goal) * (-ms / slow_ms).exp() };
            rate = goal + gap(turn_ms);
            // The mean over the counted part.
            let leftover = (gap(settle_ms) - gap(turn_ms)) * slow_ms / counted_ms;
            let carried = if before == now { 0.0 } else { left * goal };
            let work = (goal + leftover + carried + 10.0 * noise()) * counted_ms * 1e3;
            if pair[1].counts {
                let Response { after_itself, after_another } = &mut made[now].response;
                let parts = if before == now { after_itself } else { after_another };
                for (part, number) in parts.iter_mut().zip(0..) {
                    let tenth = turn_ms / TENTHS as f64;
                    let [from, to] = [number, number + 1].map(|edge| gap(tenth * f64::from(edge)));
                    part.ns += (tenth * MS) as u64;
                    part.work += (((goal + carried) * tenth + (from - to) * slow_ms) * 1e3) as u64;
                }
                made[now].turns.push(CountedTurn {
                    number: number as u32 + 1,
                    after: before as u8,
                    ns: (counted_ms * MS) as u64,
                    work: work as u64,
                });
            }
        }
        made
    }

    fn flagged(effect: f64, slow_ms: f64, left: f64) -> usize {
        let is_flagged = |seed: &u32| {
            let flow = flow(*seed, effect, slow_ms, left);
            unsettled(["a", "b"].into_iter().zip(&flow)).is_some()
        };
        (1..=400).filter(is_flagged).count()
    }

    #[test]
    fn turns_that_settle_are_not_suspected() {
        assert_eq!(flagged(0.0, 0.0, 0.0), 0);
        assert!(flagged(0.05, 0.0, 0.0) <= 1);
        // Of a response of 5 ms 2 % is left when counting begins.
        assert!(flagged(0.2, 5.0, 0.0) <= 1);
    }

    #[test]
    fn a_planted_slow_step_response_is_found() {
        assert_eq!(flagged(0.2, 100.0, 0.0), 400);
        let flow = flow(1, 0.2, 100.0, 0.0);
        let Unsettled { why, settles_after } = unsettled(["on", "off"].into_iter().zip(&flow)).unwrap();
        assert!(why.starts_with("on: after a turn of another condition its rate differs by -"), "{why}");
        assert!(why.ends_with("so a switch acts for longer than the 20 ms that are not counted"), "{why}");
        // After half of a turn 60 % of the difference are left.
        assert_eq!(settles_after, None);
    }

    /// Of a response of 35 ms, 22 % of the difference is left in the mean of what is counted, which
    /// is more than a quarter of the difference that is seen; after 30 ms it is 18 %.
    #[test]
    fn the_part_after_which_a_switch_has_acted_is_found() {
        let flow = flow(1, 0.4, 35.0, 0.0);
        let found = unsettled(["on", "off"].into_iter().zip(&flow)).map(|one| one.settles_after);
        assert_eq!(found, Some(Some(30_000_000)));
    }

    #[test]
    fn a_planted_carry_over_is_found() {
        assert_eq!(flagged(0.05, 0.0, 0.04), 400);
        let flow = flow(1, 0.05, 0.0, 0.04);
        let found = unsettled(["on", "off"].into_iter().zip(&flow)).unwrap();
        assert_eq!(found.settles_after, None, "it lasts: {}", found.why);
    }
}
