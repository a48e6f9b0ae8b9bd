//! One side of a flow in which conditions take turns: this host follows a schedule by its own
//! clock, without requests. Turns begin some milliseconds apart, which their uncounted part covers.

use std::time::{Duration, Instant};

use host::{CpuTimes, Interrupts, LinkLimit};
use load::{Kind, Phase, SocketSwitches};
use record::{CountedTurn, InTurns, Measured, Response, Slice, TENTHS};
use words::Turn;

use crate::error::{Refusal, Reply};
use crate::frame::Deadline;
use crate::interfaces::{Interfaces, TuningTexts};
use crate::message::{Answer, TurnState};
use crate::series;
use crate::workload_side::{Reading, TOO_LONG, WorkloadSide, ns};

/// The schedule of a [`crate::message::Request::Alternate`], and what it switches and reads.
pub(crate) struct TurnSchedule<'a> {
    pub(crate) ramp: Duration,
    pub(crate) turn: Duration,
    pub(crate) settle: Duration,
    pub(crate) states: Vec<TurnState>,
    pub(crate) turns: Vec<Turn>,
    pub(crate) traffic: &'a mut WorkloadSide,
    pub(crate) interfaces: &'a mut Interfaces,
    pub(crate) cpus: &'a [u32],
    pub(crate) tuned: TuningTexts,
}

struct TurnReadings {
    sent: u64,
    first: Reading,
    last: Reading,
    tenths: [Slice; TENTHS],
    opened_late: Duration,
    closed_late: Duration,
}

impl TurnSchedule<'_> {
    pub(crate) fn follow(mut self, deadline: Deadline) -> Reply {
        if self.settle > self.turn / 2 || self.turns.iter().any(|turn| turn.state >= self.states.len()) {
            return Err("a turn has an unknown state, or is half over before it counts".into());
        }
        let states = self.states.iter().map(|state| state.traffic.clone()).collect();
        let sockets = self.traffic.endpoint.take_turns(states)?;
        let followed = self.take_all(&sockets, deadline);
        self.traffic.note_window_end();
        Ok(Answer::Alternated(followed?))
    }

    fn begins(&self, number: usize) -> Option<Duration> {
        self.turn.checked_mul(u32::try_from(number).ok()?)
    }

    fn take_all(&mut self, sockets: &SocketSwitches, deadline: Deadline) -> Result<Vec<InTurns>, Refusal> {
        let least = series::FLOW * self.traffic.flows * 10;
        if self.turn < least {
            return Err(Refusal::not_in_turns(format!(
                "the counters of {} sockets take longer to read than a tenth of a turn; write a turn of {} ms or more",
                self.traffic.flows,
                least.as_millis() + 1
            )));
        }
        let begins = Instant::now().checked_add(self.ramp).ok_or(TOO_LONG)?;
        let ends = self.begins(self.turns.len()).and_then(|all| begins.checked_add(all));
        deadline.allows(ends.ok_or(TOO_LONG)?)?;
        let mut sums: Vec<Option<InTurns>> = self.states.iter().map(|_| None).collect();
        let mut clocks = None;
        let mut before = None;
        for (number, turn) in self.turns.clone().into_iter().enumerate() {
            let at = begins + self.begins(number).ok_or(TOO_LONG)?;
            let readings = self.take(at, turn.state, sockets)?;
            let first = clocks.get_or_insert_with(|| readings.first.clock.clone());
            let clock = readings.last.clock.since(first);
            if let (true, Some(after)) = (turn.counts, before) {
                let sum = &mut sums[turn.state];
                let mut passed = readings.last.since(&readings.first, self.cpus);
                passed.late.opened_ns = ns(readings.opened_late);
                passed.late.closed_ns = ns(readings.closed_late);
                let counted = CountedTurn {
                    number: u32::try_from(number).unwrap_or(u32::MAX),
                    after: u8::try_from(after).unwrap_or(u8::MAX),
                    ns: passed.elapsed_ns,
                    work: work(self.traffic.kind, &passed.load),
                };
                let own = add(sum, passed, counted, &readings.tenths, turn.state);
                own.sent.push(readings.sent);
                own.received.push(readings.first.load.received.bytes);
            }
            for sum in sums.iter_mut().flatten() {
                sum.sum.clock = clock;
            }
            before = Some(turn.state);
        }
        self.traffic.endpoint.set_phase(Phase::Tail);
        let link = LinkLimit::read(&mut self.interfaces.links, &self.traffic.interface)?;
        let whole = sums.into_iter().collect::<Option<Vec<InTurns>>>();
        let mut whole = whole.ok_or("the schedule counts no turn of a condition")?;
        whole.iter_mut().for_each(|one| one.sum.link.clone_from(&link));
        Ok(whole)
    }

    fn take(&mut self, at: Instant, state: usize, sockets: &SocketSwitches) -> Result<TurnReadings, Refusal> {
        let (turn, settle) = (self.turn, self.settle);
        self.traffic.wait_until(at)?;
        let switched_late = at.elapsed();
        self.switch(state, sockets)?;
        let mut mark = self.traffic.sample();
        let sent = mark.sent.bytes;
        let mut tenths = [Slice::default(); TENTHS];
        let mut opened: Option<(Reading, Duration)> = None;
        for (tenth, slice) in (1..).zip(&mut tenths) {
            let end = at + turn * tenth / 10;
            if opened.is_none() && (at + settle <= end || tenth == 10) {
                self.traffic.wait_until(at + settle)?;
                // The far end of a veth pair follows some changes of the near one.
                self.switch(state, sockets)?;
                let late = (at + settle).elapsed().max(switched_late);
                opened = Some((self.read()?, late));
            }
            if tenth < 10 {
                self.traffic.wait_until(end)?;
                let next = self.traffic.sample();
                *slice = self.slice(&next, &mark);
                mark = next;
            }
        }
        let end = at + turn;
        self.traffic.wait_until(end)?;
        let closed_late = end.elapsed();
        let last = self.read()?;
        tenths[TENTHS - 1] = self.slice(&last.load, &mark);
        self.check(state, sockets)?;
        let (first, opened_late) = opened.ok_or("a turn has no part that is counted")?;
        Ok(TurnReadings { sent, first, last, tenths, opened_late, closed_late })
    }

    fn slice(&self, now: &load::Sample, before: &load::Sample) -> Slice {
        let passed = now.since(before);
        Slice { ns: passed.at_ns, work: work(self.traffic.kind, &passed) }
    }

    fn read(&mut self) -> Result<Reading, Refusal> {
        self.traffic.read(&mut self.interfaces.links, self.cpus, Phase::Window)
    }

    fn switch(&mut self, state: usize, sockets: &SocketSwitches) -> Result<(), Refusal> {
        let TurnState { features, tuning, .. } = &self.states[state];
        let interface = &self.traffic.interface;
        if !features.is_empty() {
            let change = self.interfaces.switch(interface, features)?;
            if let Some((feature, why)) = change.refused.iter().next() {
                return Err(Refusal::not_in_turns(format!(
                    "{feature} of interface {interface:?} is not as in runs of its own after a switch: {why}"
                )));
            }
            if !self.interfaces.links.find(interface)?.running {
                return Err(Refusal::not_in_turns(format!(
                    "a switch of interface {interface:?} resets its link, so traffic stops at each of them"
                )));
            }
        }
        if let Some(wanted) = tuning {
            let tuned = self.interfaces.tune_in_flight(self.traffic.lowest(), wanted);
            self.tuned = tuned.map_err(Refusal::of_turns)?;
        }
        self.traffic.endpoint.switch(sockets, state).map_err(Refusal::not_in_turns)
    }

    fn check(&mut self, state: usize, sockets: &SocketSwitches) -> Result<(), Refusal> {
        let TurnState { features, tuning, .. } = &self.states[state];
        let interface = &self.traffic.interface;
        if !features.is_empty() {
            let now = self.interfaces.ethtool.features(interface)?;
            let is_changed =
                |(name, on): &(&String, &bool)| now.get(*name).is_some_and(|is| is.active != **on);
            if let Some((name, _)) = features.iter().find(is_changed) {
                return Err(Refusal::not_in_turns(format!(
                    "{name} of interface {interface:?} changed during a turn: the other end's switches change it too, or another program did"
                )));
            }
        }
        if let Some(wanted) = tuning {
            let now = self.interfaces.read_tuning(self.traffic.lowest(), wanted);
            let mut tuned = self.tuned.iter().map(|(key, before)| (key, before, now.get(key)));
            if let Some((key, _, Some(value))) =
                tuned.find(|(_, before, now)| now.is_some_and(|now| now != *before))
            {
                return Err(Refusal::not_in_turns(format!(
                    "`{key}` of the machine changed to {value} during a turn: another program changes it"
                )));
            }
        }
        self.traffic.endpoint.check(sockets, state).map_err(Refusal::not_in_turns)
    }
}

fn work(kind: Kind, passed: &load::Sample) -> u64 {
    if kind.is_rr() {
        passed.sent.transactions.saturating_add(passed.received.transactions)
    } else if kind.is_received() {
        passed.received.bytes
    } else {
        passed.sent.messages
    }
}

fn add<'s>(
    sum: &'s mut Option<InTurns>,
    passed: Measured,
    turn: CountedTurn,
    tenths: &[Slice; TENTHS],
    condition: usize,
) -> &'s mut InTurns {
    let own = match sum {
        Some(own) => {
            plus(&mut own.sum, &passed);
            own
        }
        none => {
            let (turns, sent, received) = (Vec::new(), Vec::new(), Vec::new());
            none.insert(InTurns { sum: passed, turns, response: Response::default(), sent, received })
        }
    };
    own.turns.push(turn);
    let after_itself = usize::from(turn.after) == condition;
    let slices = if after_itself { &mut own.response.after_itself } else { &mut own.response.after_another };
    for (slice, tenth) in slices.iter_mut().zip(tenths) {
        slice.ns += tenth.ns;
        slice.work += tenth.work;
    }
    own
}

fn plus(sum: &mut Measured, more: &Measured) {
    sum.elapsed_ns = sum.elapsed_ns.saturating_add(more.elapsed_ns);
    sum.load.at_ns = sum.load.at_ns.saturating_add(more.load.at_ns);
    sum.load.sent = [sum.load.sent, more.load.sent].into_iter().sum();
    sum.load.received = [sum.load.received, more.load.received].into_iter().sum();
    sum.load.tcp = sum.load.tcp.plus(&more.load.tcp);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_after_itself_is_kept_apart_from_turns_after_another_condition() {
        let mut sum = None;
        for (number, after) in (0..).zip([1, 0, 0]) {
            let passed = record::sample::account().transmitter.window;
            let turn = CountedTurn { number, after, ns: 9, work: 90 };
            add(&mut sum, passed, turn, &[Slice { ns: 1, work: 10 }; TENTHS], 1);
        }
        let InTurns { turns, response, .. } = sum.unwrap();
        assert_eq!(turns.len(), 3);
        assert_eq!(response.after_itself, [Slice { ns: 1, work: 10 }; TENTHS]);
        assert_eq!(response.after_another, [Slice { ns: 2, work: 20 }; TENTHS]);
    }
}
