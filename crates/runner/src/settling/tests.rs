use record::Response;
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
    let why = unsettled(["on", "off"].into_iter().zip(&flow)).unwrap();
    assert!(why.starts_with("on: after a turn of another condition its rate differs by -"), "{why}");
    assert!(why.ends_with("so a switch acts for longer than the 20 ms that are not counted"), "{why}");
}

#[test]
fn a_planted_carry_over_is_found() {
    assert_eq!(flagged(0.05, 0.0, 0.04), 400);
}
