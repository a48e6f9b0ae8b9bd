//! The lab on this machine: namespaces, veth pairs, virtual machines.

use std::mem::take;
use std::sync::Arc;

use agent::Interrupt;
use record::{Crash, Detail, Disturbance, Environment, ExactRun, Note, PathTrace, Series};
use study::{BootState, BySide, Condition, Effective, Tracing};
use testbed::reach::HostBoot;
use testbed::{Hosts, Restarter, RunOrder, Switches, Testbed, TurnsOrder};

use crate::flows::order_of;
use crate::lab::{Bench, BenchResult, Lab, Readings};
use crate::loss::nothing_arrived;
use crate::measure::{instructions, metrics};
use crate::rate::{JudgedRun, carry_out, judge_run, no_rate};

/// The lab on this machine: namespaces, veth pairs, virtual machines.
#[derive(Debug, Clone)]
pub struct LocalLab {
    /// Options for building testbeds, except for their state.
    pub options: testbed::TestbedOptions,
    /// The user's request to stop.
    pub interrupt: Interrupt,
    /// The restarter of the user's machines; none where none restart, and none is waited for.
    pub restarter: Option<Arc<Restarter>>,
}

impl Lab for LocalLab {
    fn build(&mut self, state: &BootState) -> BenchResult<Box<dyn Bench>> {
        self.options.state = state.clone();
        self.options.hosts.iter().for_each(Hosts::forget_panics);
        Ok(Box::new(Testbed::build(&self.options, &self.interrupt)?))
    }

    fn boots(&mut self) -> BenchResult<Vec<HostBoot>> {
        self.options.hosts.as_ref().map_or(Ok(Vec::new()), Hosts::boots)
    }

    fn restart(&mut self, state: &BootState) -> BenchResult<()> {
        let Some(restarter) = self.restarter.clone() else { return Ok(()) };
        // Machines that did not come back are not used again.
        let hosts = self.options.hosts.take();
        let hosts = hosts.ok_or_else(|| testbed::Error::no_hosts(self.options.state.scenario))?;
        let (hosts, not_up) = hosts.reboot(&restarter, state.kernel.as_deref())?;
        self.options.hosts = Some(hosts);
        not_up.map_or(Ok(()), Err)
    }

    fn crash(&mut self, before: &Environment) -> BenchResult<Option<Crash>> {
        // Without a restarter nobody waits for a machine that is silent, as when a network is cut.
        let counts_silent = self.restarter.is_some();
        self.options.hosts.as_ref().map_or(Ok(None), |hosts| hosts.crash(before, counts_silent))
    }

    fn revive(&mut self, before: &Environment) -> BenchResult<bool> {
        let Some(restarter) = self.restarter.clone() else { return Ok(true) };
        let Some(hosts) = self.options.hosts.take() else { return Ok(true) };
        let kernel = self.options.state.kernel.as_deref();
        let (hosts, has_restarted) = hosts.revive(&restarter, before, kernel)?;
        self.options.hosts = Some(hosts);
        Ok(has_restarted)
    }
}

impl Bench for Testbed {
    fn notes(&self) -> Vec<Note> {
        self.notes.clone()
    }

    fn environment(&mut self) -> BenchResult<Environment> {
        Testbed::environment(self)
    }

    fn settle(&mut self, switches: &Switches) -> BenchResult<Effective> {
        Testbed::settle(self, switches)
    }

    fn check_path(&mut self, order: &RunOrder, effective: &Effective) -> BenchResult<()> {
        Testbed::check_path(self, order, effective)
    }

    fn lacking(&mut self, traffic: &load::Traffic, family: load::Family) -> BenchResult<Vec<String>> {
        Testbed::lacking(self, traffic, family)
    }

    fn differences(&mut self) -> Vec<Disturbance> {
        Testbed::differences(self)
    }

    fn trace(
        &mut self,
        order: &RunOrder,
        tracing: &Tracing,
        tick: &mut dyn FnMut(),
    ) -> BenchResult<Vec<PathTrace>> {
        let mut traces = Vec::new();
        for (path, reader) in tracing.of_kind(order.traffic.kind) {
            traces.push(self.trace_path(order, tracing, (path, reader))?);
            tick();
        }
        Ok(traces)
    }

    fn run(&mut self, condition: &Condition, tick: &mut dyn FnMut()) -> BenchResult<Readings> {
        let order = order_of(condition);
        if self.exact {
            let account = self.exact(&order)?;
            let metrics = instructions(order.traffic.kind, order.traffic.message, &account);
            let detail = Detail::Exact(Box::new(ExactRun {
                exact: account,
                disturbed: Vec::new(),
                traces: Vec::new(),
            }));
            return Ok(Readings { metrics, detail, ..Readings::default() });
        }
        let judged = carry_out(&order, &mut |order| Testbed::run(self, order, tick))?;
        Ok(readings(&order, judged))
    }

    fn take_turns(&mut self, order: &TurnsOrder, tick: &mut dyn FnMut()) -> BenchResult<Vec<Readings>> {
        let accounts = Testbed::take_turns(self, order, tick)?;
        let read = |(own, account)| {
            let order = order.of_condition(own);
            let judged = judge_run(&order, account);
            readings(&order, judged)
        };
        Ok(accounts.into_iter().enumerate().map(read).collect())
    }
}

fn readings(order: &RunOrder, judged: JudgedRun) -> Readings {
    let JudgedRun { mut account, limit, disturbed } = judged;
    let metrics = metrics(&order.traffic, &account);
    let nothing = no_rate(&account).or_else(|| nothing_arrived(order, &account));
    // They are stored apart from the rest. One of turns would have the other conditions in it.
    let has_own = account.turns.is_none();
    let own_series = |series: &mut Series| Some(take(series)).filter(|_| has_own);
    let series = BySide {
        transmitter: own_series(&mut account.transmitter.window.series),
        receiver: account.receiver.as_mut().and_then(|side| own_series(&mut side.window.series)),
    };
    let limited_by = Some(limit);
    let detail = Detail::Measured(Box::new(account));
    Readings { metrics, limited_by, disturbed, nothing, series, detail }
}
