//! One side of one flow in which conditions take turns: this host switches its own interface,
//! machine and sockets by a schedule that it was given before, and counts each condition's turns.
//!
//! No request comes meanwhile, and no process is started. Each host follows its own clock from the
//! order to begin, so their turns begin some milliseconds apart; the part of a turn that is not
//! counted covers that too.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use host::{CpuTimes, Interrupts, LinkLimit};
use load::{Kind, Phase, SocketSwitches};
use record::{CountedTurn, Edge, InTurns, Measured, Response, Slice, TENTHS};
use words::{TuningKey, Turn};

use crate::envelope::Deadline;
use crate::interfaces::Interfaces;
use crate::message::{Answer, TurnState};
use crate::refusal::{Refusal, Reply};
use crate::series;
use crate::traffic::{Reading, TOO_LONG, Traffic};

/// What [`crate::message::Request::Alternate`] asks for.
pub(crate) struct Schedule {
    pub(crate) ramp: Duration,
    pub(crate) turn: Duration,
    pub(crate) settle: Duration,
    pub(crate) states: Vec<TurnState>,
    pub(crate) turns: Vec<Turn>,
}

/// Why a flow came to nothing.
enum Stop {
    /// Its conditions cannot take turns here.
    NotInTurns(String),
    Failed(Refusal),
}

impl<E: Into<Refusal>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl Schedule {
    /// Follows it over the traffic that flows.
    pub(crate) fn follow(
        &self,
        traffic: &mut Traffic,
        interfaces: &mut Interfaces,
        cpus: &[u32],
        deadline: Deadline,
    ) -> Reply {
        let states = self.states.iter().map(|state| state.traffic.clone()).collect();
        let sockets = traffic.take_turns(states)?;
        let tuned = BTreeMap::new();
        let followed = Following { schedule: self, traffic, sockets, interfaces, cpus, tuned }.all(deadline);
        traffic.measured();
        match followed {
            Ok(states) => Ok(Answer::Alternated { states }),
            Err(Stop::NotInTurns(why)) => Ok(Answer::NotInTurns { why }),
            Err(Stop::Failed(refusal)) => Err(refusal),
        }
    }

    /// When a turn begins, after the first one's beginning.
    fn begins(&self, number: usize) -> Option<Duration> {
        self.turn.checked_mul(u32::try_from(number).ok()?)
    }
}

struct Following<'a> {
    schedule: &'a Schedule,
    traffic: &'a Traffic,
    sockets: SocketSwitches,
    interfaces: &'a mut Interfaces,
    cpus: &'a [u32],
    /// What the machine had of its settings after the last switch.
    tuned: BTreeMap<TuningKey, String>,
}

/// What one turn gave.
struct Made {
    /// Bytes that had been sent when it began.
    sent: u64,
    first: Reading,
    last: Reading,
    tenths: [Slice; TENTHS],
    opened_late: Duration,
    closed_late: Duration,
}

impl Following<'_> {
    fn all(mut self, deadline: Deadline) -> Result<Vec<InTurns>, Stop> {
        let Schedule { ramp, turns, states, .. } = self.schedule;
        let least = series::reading(self.traffic.flows()) * 10;
        if self.schedule.turn < least {
            let why = format!(
                "the counters of {} sockets take longer to read than a tenth of a turn; write a turn of {} ms or more",
                self.traffic.flows(),
                least.as_millis() + 1
            );
            return Err(Stop::NotInTurns(why));
        }
        let begins = Instant::now().checked_add(*ramp).ok_or(TOO_LONG)?;
        let ends = self.schedule.begins(turns.len()).and_then(|all| begins.checked_add(all));
        deadline.allows(ends.ok_or(TOO_LONG)?)?;
        let mut sums: Vec<Option<InTurns>> = states.iter().map(|_| None).collect();
        let mut clocks = None;
        let mut before = None;
        for (number, turn) in turns.iter().enumerate() {
            let at = begins + self.schedule.begins(number).ok_or(TOO_LONG)?;
            let made = self.turn(at, turn.state)?;
            let first = clocks.get_or_insert_with(|| made.first.clock.clone());
            let clock = made.last.clock.since(first);
            if let (true, Some(after)) = (turn.counts, before) {
                let sum = &mut sums[turn.state];
                let mut passed = made.last.since(&made.first, self.cpus);
                passed.late.opened_ns = ns(made.opened_late);
                passed.late.closed_ns = ns(made.closed_late);
                let counted = CountedTurn {
                    number: u32::try_from(number).unwrap_or(u32::MAX),
                    after: u8::try_from(after).unwrap_or(u8::MAX),
                    ns: passed.elapsed_ns,
                    work: work(self.traffic.kind, &passed.load),
                };
                let edge = Edge { sent: made.sent, received: made.first.load.received.bytes };
                add(sum, passed, (counted, edge), &made.tenths, turn.state);
            }
            for sum in sums.iter_mut().flatten() {
                sum.sum.clock = clock;
            }
            before = Some(turn.state);
        }
        self.traffic.end_window();
        let link = LinkLimit::read(&mut self.interfaces.links, &self.traffic.interface)?;
        let whole = sums.into_iter().collect::<Option<Vec<InTurns>>>();
        let whole = whole.ok_or("the schedule counts no turn of a condition")?;
        Ok(whole
            .into_iter()
            .map(|one| InTurns { sum: Measured { link: link.clone(), ..one.sum }, ..one })
            .collect())
    }

    fn turn(&mut self, at: Instant, state: usize) -> Result<Made, Stop> {
        let Schedule { turn, settle, .. } = self.schedule;
        self.traffic.wait_until(at)?;
        let switched_late = at.elapsed();
        self.switch(state)?;
        let mut mark = self.traffic.sample();
        let sent = mark.sent.bytes;
        let mut tenths = [Slice::default(); TENTHS];
        let mut opened: Option<(Reading, Duration)> = None;
        for (tenth, slice) in (1..).zip(&mut tenths) {
            let end = at + *turn * tenth / 10;
            if opened.is_none() && (at + *settle <= end || tenth == 10) {
                self.traffic.wait_until(at + *settle)?;
                // The far end of a veth pair follows some changes of the near one.
                self.switch(state)?;
                let late = (at + *settle).elapsed().max(switched_late);
                opened = Some((self.read()?, late));
            }
            if tenth < 10 {
                self.traffic.wait_until(end)?;
                let next = self.traffic.sample();
                *slice = self.slice(&next, &mark);
                mark = next;
            }
        }
        let end = at + *turn;
        self.traffic.wait_until(end)?;
        let closed_late = end.elapsed();
        let last = self.read()?;
        tenths[TENTHS - 1] = self.slice(&last.load, &mark);
        self.check(state)?;
        let (first, opened_late) = opened.ok_or("a turn has no part that is counted")?;
        Ok(Made { sent, first, last, tenths, opened_late, closed_late })
    }

    fn slice(&self, now: &load::Sample, before: &load::Sample) -> Slice {
        let passed = now.since(before);
        Slice { ns: passed.at_ns, work: work(self.traffic.kind, &passed) }
    }

    fn read(&mut self) -> Result<Reading, Stop> {
        Ok(self.traffic.read(&mut self.interfaces.links, self.cpus, Phase::Window)?)
    }

    /// SocketSwitches the interface, the machine and the sockets to a state, and reads it back.
    fn switch(&mut self, state: usize) -> Result<(), Stop> {
        self.switch_interface(state)?;
        self.switch_machine(state)?;
        self.traffic.endpoint().switch(&self.sockets, state).map_err(not_in_turns)
    }

    /// Whether the interface, the machine and the sockets are still in a state.
    fn check(&mut self, state: usize) -> Result<(), Stop> {
        self.check_interface(state)?;
        self.check_machine(state)?;
        self.traffic.endpoint().check(&self.sockets, state).map_err(not_in_turns)
    }

    fn switch_interface(&mut self, state: usize) -> Result<(), Stop> {
        let wanted = &self.schedule.states[state].features;
        if wanted.is_empty() {
            return Ok(());
        }
        let interface = &self.traffic.interface;
        let change = self.interfaces.switch(interface, wanted)?;
        if let Some((feature, why)) = change.refused.iter().next() {
            return Err(Stop::NotInTurns(format!(
                "{feature} of interface {interface:?} is not as in runs of its own after a switch: {why}"
            )));
        }
        if !self.interfaces.links.find(interface)?.running {
            return Err(Stop::NotInTurns(format!(
                "a switch of interface {interface:?} resets its link, so traffic stops at each of them"
            )));
        }
        Ok(())
    }

    fn check_interface(&mut self, state: usize) -> Result<(), Stop> {
        let wanted = &self.schedule.states[state].features;
        if wanted.is_empty() {
            return Ok(());
        }
        let interface = &self.traffic.interface;
        let now = self.interfaces.ethtool.features(interface)?;
        let changed = wanted.iter().find(|(name, on)| now.get(*name).is_some_and(|is| is.active != **on));
        match changed {
            Some((name, _)) => Err(Stop::NotInTurns(format!(
                "{name} of interface {interface:?} changed during a turn: the other end's switches change it too, or another program did"
            ))),
            None => Ok(()),
        }
    }

    fn switch_machine(&mut self, state: usize) -> Result<(), Stop> {
        let Some(wanted) = &self.schedule.states[state].tuning else { return Ok(()) };
        let tuned = self.interfaces.tune_in_flight(self.traffic.lowest(), wanted);
        self.tuned = tuned.map_err(|refusal| match refusal.passing_reason() {
            Ok(why) => Stop::NotInTurns(why),
            Err(refusal) => Stop::Failed(refusal),
        })?;
        Ok(())
    }

    fn check_machine(&self, state: usize) -> Result<(), Stop> {
        let Some(wanted) = &self.schedule.states[state].tuning else { return Ok(()) };
        let now = self.interfaces.tuned(self.traffic.lowest(), wanted);
        match self
            .tuned
            .iter()
            .find_map(|(key, value)| Some((key, now.get(key).filter(|now| *now != value)?)))
        {
            Some((key, value)) => Err(Stop::NotInTurns(format!(
                "`{key}` of the machine changed to {value} during a turn: another program changes it"
            ))),
            None => Ok(()),
        }
    }
}

fn not_in_turns(error: load::Error) -> Stop {
    Stop::NotInTurns(error.to_string())
}

/// What a flow is for.
fn work(kind: Kind, passed: &load::Sample) -> u64 {
    if kind.is_rr() {
        passed.sent.transactions.saturating_add(passed.received.transactions)
    } else if kind.is_received() {
        passed.received.bytes
    } else {
        passed.sent.messages
    }
}

/// Adds a counted turn of a condition.
fn add(
    sum: &mut Option<InTurns>,
    passed: Measured,
    (turn, edge): (CountedTurn, Edge),
    tenths: &[Slice; TENTHS],
    condition: usize,
) {
    let own = match sum {
        Some(own) => {
            plus(&mut own.sum, &passed);
            own
        }
        none => {
            let (turns, edges, response) = (Vec::new(), Vec::new(), Response::default());
            none.insert(InTurns { sum: passed, turns, response, edges })
        }
    };
    own.turns.push(turn);
    own.edges.push(edge);
    let after_itself = usize::from(turn.after) == condition;
    let slices = if after_itself { &mut own.response.after_itself } else { &mut own.response.after_another };
    for (slice, tenth) in slices.iter_mut().zip(tenths) {
        slice.ns += tenth.ns;
        slice.work += tenth.work;
    }
}

/// Adds what passed in another stretch of the same window.
fn plus(sum: &mut Measured, more: &Measured) {
    sum.elapsed_ns = sum.elapsed_ns.saturating_add(more.elapsed_ns);
    sum.load.at_ns = sum.load.at_ns.saturating_add(more.load.at_ns);
    sum.load.sent = sum.load.sent + more.load.sent;
    sum.load.received = sum.load.received + more.load.received;
    for (own, more) in sum.cpu_each.iter_mut().zip(&more.cpu_each) {
        *own = own.plus(more);
    }
    sum.cpu = CpuTimes::sum(&sum.cpu_each);
    sum.own = sum.own.plus(&more.own);
    for (own, more) in sum.threads.iter_mut().zip(&more.threads) {
        *own = own.plus(more);
    }
    sum.counters = sum.counters.plus(&more.counters);
    sum.interrupts = Interrupts::sum(&[sum.interrupts.clone(), more.interrupts.clone()]);
    sum.underlay = sum.underlay.zip(more.underlay).map(|(own, more)| own.plus(&more));
    sum.throttled = sum.throttled.zip(more.throttled).map(|(own, more)| own.plus(more));
    sum.late.opened_ns = sum.late.opened_ns.max(more.late.opened_ns);
    sum.late.closed_ns = sum.late.closed_ns.max(more.late.closed_ns);
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_after_itself_is_kept_apart_from_turns_after_another_condition() {
        let mut sum = None;
        for (number, after) in (0..).zip([1, 0, 0]) {
            let passed = record::sample::account().transmitter.window;
            let turn = CountedTurn { number, after, ns: 9, work: 90 };
            let edge = Edge { sent: 0, received: 0 };
            add(&mut sum, passed, (turn, edge), &[Slice { ns: 1, work: 10 }; TENTHS], 1);
        }
        let InTurns { turns, response, .. } = sum.unwrap();
        assert_eq!(turns.len(), 3);
        assert_eq!(response.after_itself, [Slice { ns: 1, work: 10 }; TENTHS]);
        assert_eq!(response.after_another, [Slice { ns: 2, work: 20 }; TENTHS]);
    }
}
