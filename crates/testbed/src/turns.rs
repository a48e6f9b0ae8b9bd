//! One flow in which conditions take turns.

use std::time::Duration;

use agent::message::{Answer, InTurns, Request, TurnState};
use record::{CountedTurn, RunAccount, SideAccount, Turns};
use study::{BySide, Effective, Scenario, Side, Tuning, Turn};

use crate::error::Error;
use crate::run::{RunOrder, nanoseconds};
use crate::testbed::Testbed;

/// A flow to be made in which conditions take turns.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct TurnsOrder {
    /// The traffic of all of them. The window is that of all turns together.
    pub flow: RunOrder,
    pub turn: Duration,
    /// Its first part, which is not counted.
    pub settle: Duration,
    pub states: Vec<TurnCondition>,
    /// The turns; their states are indexes into `states`.
    pub turns: Vec<Turn>,
}

/// A condition that takes turns.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnCondition {
    /// The switches as read back in a run of its own.
    pub effective: Effective,
    /// Its traffic: that of the flow, apart from what sockets can be given meanwhile.
    pub traffic: load::Traffic,
    /// The settings of each side's machine.
    pub tuning: BySide<Tuning>,
}

impl TurnsOrder {
    /// The order of a run of a condition, of the same length as its counted parts together.
    pub fn of_condition(&self, own: usize) -> RunOrder {
        let counted = self.turns.iter().filter(|turn| turn.counts && turn.state == own).count();
        let part = self.turn.saturating_sub(self.settle);
        let window = part.saturating_mul(u32::try_from(counted).unwrap_or(u32::MAX));
        RunOrder { traffic: self.states[own].traffic.clone(), window, ..self.flow.clone() }
    }

    fn tunes(&self, side: Side) -> bool {
        self.states.windows(2).any(|pair| pair[0].tuning[side] != pair[1].tuning[side])
    }
}

impl Testbed {
    /// Makes a flow in which conditions take turns: each end switches its own interface, machine
    /// and sockets by a schedule. Returns the conditions' accounts, in their order.
    ///
    /// # Errors
    /// [`Error::NotInTurns`] for conditions that need runs of their own; else as [`Testbed::run`].
    pub fn take_turns(
        &mut self,
        order: &TurnsOrder,
        tick: &mut dyn FnMut(),
    ) -> Result<Vec<RunAccount>, Error> {
        let result = self.in_turns(order, tick);
        self.abandon_after(result)
    }

    fn in_turns(&mut self, order: &TurnsOrder, tick: &mut dyn FnMut()) -> Result<Vec<RunAccount>, Error> {
        let shared = self.scenario == Scenario::Loopback;
        let request = |side: Side| Request::Alternate {
            ramp_ns: nanoseconds(order.flow.ramp),
            turn_ns: nanoseconds(order.turn),
            settle_ns: nanoseconds(order.settle),
            states: order.states.iter().map(|one| one.turn_state(side, shared, order.tunes(side))).collect(),
            turns: order.turns.clone(),
        };
        let (answers, beside) = self.flow(&order.flow, &request, tick)?;
        let mut sides = Vec::new();
        for (side, (answer, whole)) in Side::BOTH.into_iter().zip(answers) {
            match answer {
                Answer::Alternated(states) if states.len() == order.states.len() => {
                    sides.push((states, whole));
                }
                Answer::NotInTurns(why) => {
                    return Err(Error::NotInTurns { host: self.host(side).to_owned(), why });
                }
                other => return Err(self.end(side).agent.client.unexpected(&other).into()),
            }
        }
        let account = |own: usize| {
            let mut accounts = sides
                .iter()
                .map(|(states, whole)| SideAccount { window: states[own].sum.clone(), whole: whole.clone() });
            // Where the traffic arrives: a reversed stream at the transmitter.
            let reverse = order.flow.traffic.direction == load::Direction::Reverse;
            let asks = order.flow.traffic.kind.is_rr();
            let counting = if reverse || asks { sides.first() } else { sides.last() };
            let InTurns { turns, response, .. } =
                counting.expect("there always is a transmitter").0[own].clone();
            let from_others = match sides.iter().map(|(states, _)| &states[own]).collect::<Vec<_>>()[..] {
                [one, other] if order.flow.traffic.kind == load::Kind::TcpStream => {
                    let there = from_others(own, &other.turns, &one.sent, &other.received);
                    there.saturating_add(from_others(own, &one.turns, &other.sent, &one.received))
                }
                _ => 0,
            };
            let turns = Turns {
                turn_ns: nanoseconds(order.turn),
                settle_ns: nanoseconds(order.settle),
                own: u8::try_from(own).unwrap_or(u8::MAX),
                turns,
                response,
                from_others,
            };
            RunAccount {
                transmitter: accounts.next().expect("there always is a transmitter"),
                receiver: accounts.next(),
                turns: Some(turns),
                ..beside.clone()
            }
        };
        Ok((0..order.states.len()).map(account).collect())
    }
}

/// Bytes of other turns: one end had `sent` them when the turn began, and the other end had not
/// `received` them when counting began.
fn from_others(own: usize, turns: &[CountedTurn], sent: &[u64], received: &[u64]) -> u64 {
    let turns = turns.iter().zip(sent.iter().zip(received));
    let after_others = turns.filter(|(turn, _)| usize::from(turn.after) != own);
    let under_way =
        after_others.map(|(turn, (sent, received))| sent.saturating_sub(*received).min(turn.work));
    under_way.fold(0, u64::saturating_add)
}

impl TurnCondition {
    fn turn_state(&self, side: Side, shared: bool, tunes: bool) -> TurnState {
        let settled = match side {
            Side::Transmitter => Some(&self.effective.transmitter),
            Side::Receiver => self.effective.receiver.as_ref().filter(|_| !shared),
        };
        let features = settled.map(|settled| settled.active.clone()).unwrap_or_default();
        let tuning = tunes.then(|| self.tuning[side].clone());
        TurnState { features, traffic: self.traffic.clone(), tuning }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes in transit at the edge after a turn of another condition count, up to what arrived.
    #[test]
    fn bytes_of_other_turns_are_those_that_arrive_late() {
        let turn = |after| CountedTurn { number: 1, after, ns: 80, work: 500 };
        for (after, had_sent, had_received, expected) in [
            (1, 1000, 1000, 0),
            (1, 1000, 1200, 0),
            (1, 1000, 900, 100),
            // The rest of them arrives in later turns.
            (1, 9000, 900, 500),
            (0, 1000, 900, 0),
        ] {
            let found = from_others(0, &[turn(after)], &[had_sent], &[had_received]);
            assert_eq!(found, expected, "after {after}: {had_sent} sent, {had_received} received");
        }
        let turns = [turn(1), turn(0), turn(1)];
        assert_eq!(from_others(0, &turns, &[10; 3], &[3; 3]), 14);
    }
}
