//! Fixed work in one host that holds the sockets of both: exact mode, and traces. A trace between
//! two machines is of the transmitter's kernel; the receiver answers.

use std::time::{SystemTime, UNIX_EPOCH};

use agent::message::{Answer, ExactReceiver, Request, TraceOptions};
use load::exact::Account;
use record::{PassedPlace, PathStep, PathTrace};
use study::{KernelPath, Tracing, Waiting};
use trace::{At, ChosenStage, TraceAccount, bundled_text};

use crate::error::Error;
use crate::hosts::boot_id_here;
use crate::launched_agent::{ANY_TIME, answer};
use crate::path::nobody;
use crate::run::{RunOrder, check_receiver, open, spec};
use crate::testbed::Testbed;

impl Testbed {
    /// Counts the cost of a message of a workload. Ignores ramp, window and step of the order.
    ///
    /// # Errors
    /// A workload that is not a sequence of single messages; and as [`Testbed::run`].
    pub fn exact(&mut self, order: &RunOrder) -> Result<Account, Error> {
        let request =
            Request::Exact { spec: spec(&self.transmitter, order)?, receiver: self.exact_receiver(order)? };
        let agent = &mut self.transmitter.agent;
        Ok(answer!(agent, agent.work_through(&request)?, Answer::Exact(account) => *account))
    }

    /// Does the same work while programs in the kernel stamp its packets. Ignores what
    /// [`Testbed::exact`] ignores.
    ///
    /// # Errors
    /// As [`Testbed::exact`]; a kernel that cannot be traced; between two machines messages that
    /// are not answered. After an error with [`Error::testbed_is_well`] the next run can follow.
    pub fn trace(&mut self, order: &RunOrder, wanted: TraceOptions) -> Result<TraceAccount, Error> {
        let result = self.traced(order, wanted);
        let is_well = result.as_ref().err().is_none_or(Error::testbed_is_well);
        if !self.scenario.is_of_namespaces() && is_well {
            for end in self.ends() {
                end.agent.order(&Request::Abandon)?;
            }
        }
        result
    }

    fn traced(&mut self, order: &RunOrder, wanted: TraceOptions) -> Result<TraceAccount, Error> {
        let has_two_kernels = !self.scenario.is_of_namespaces();
        let receiver = match &mut self.receiver {
            Some(receiver) if has_two_kernels => {
                open(&mut self.transmitter, Some(receiver), order)?;
                receiver.agent.order(&Request::Stay { for_ms: ANY_TIME.as_millis() as u32 })?;
                receiver.agent.order(&Request::Start)?;
                ExactReceiver::Apart
            }
            _ => self.exact_receiver(order)?,
        };
        let mut rounds_left = wanted.rounds;
        let request = Request::Trace { spec: spec(&self.transmitter, order)?, receiver, wanted };
        let agent = &mut self.transmitter.agent;
        agent.begin(&request)?;
        loop {
            match agent.next_answer()? {
                // A sign that it works.
                Answer::TracedRound(_) if rounds_left > 0 => rounds_left -= 1,
                Answer::Traced(account) => return Ok(*account),
                other => return Err(agent.client.unexpected(&other).into()),
            }
        }
    }

    /// Surveys the hosts' kernel for paths, given as texts. `functions`: a probe at a function is
    /// tried.
    ///
    /// # Errors
    /// A path that cannot be read.
    pub fn survey(&mut self, paths: Vec<String>, functions: bool) -> Result<trace::Survey, Error> {
        let agent = &mut self.transmitter.agent;
        let answer = agent.work_through(&Request::Survey { paths, functions })?;
        Ok(answer!(agent, answer, Answer::Surveyed(survey) => *survey))
    }

    /// Whether functions of the hosts' kernel may be probed: of a virtual machine, which harms
    /// nobody, and of another machine. Never of this machine, also if it is reached over a network.
    ///
    /// # Errors
    /// When an agent is gone.
    pub fn may_probe_functions(&mut self) -> Result<bool, Error> {
        if self.named.is_none() {
            return Ok(!self.machines.is_empty());
        }
        let here = boot_id_here();
        let there = self.environment()?.transmitter.kernel.boot_id;
        // A machine that cannot be told may be this one.
        Ok(here.is_some() && there.is_some() && here != there)
    }

    fn exact_receiver(&self, order: &RunOrder) -> Result<ExactReceiver, Error> {
        check_receiver(self.receiver.is_some(), order.traffic.kind)?;
        let Some(receiver) = &self.receiver else {
            return Ok(ExactReceiver::Nobody(nobody(order.family, 1, order.traffic.port)[0]));
        };
        Ok(ExactReceiver::In { process: receiver.pid(), spec: Box::new(spec(receiver, order)?) })
    }

    /// Traces one path of a study.
    ///
    /// # Errors
    /// As [`Testbed::trace`].
    pub fn trace_path(
        &mut self,
        order: &RunOrder,
        tracing: &Tracing,
        (path, reader): (KernelPath, Waiting),
    ) -> Result<PathTrace, Error> {
        let is_sampled = tracing.samples(order.traffic.kind, (path, reader));
        let wanted = TraceOptions {
            path: bundled_text(path).to_owned(),
            functions: self.may_probe_functions()?,
            batch: tracing.batch,
            rounds: tracing.rounds,
            asleep: reader == Waiting::Asleep,
            every: 0,
            profile: if is_sampled { varied(host::perf::frequency(self.exact)) } else { 0 },
        };
        Ok(path_trace(&self.trace(order, wanted)?, path, reader))
    }
}

// Boots of an emulated guest repeat to the instruction: one frequency would always err alike.
fn varied(frequency: u32) -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    frequency - now.subsec_nanos() % (frequency / 6).max(1)
}

fn path_trace(account: &TraceAccount, path: KernelPath, reader: Waiting) -> PathTrace {
    let rows = account.rows();
    let first = rows.first().map(|row| row.from);
    let passed = first.into_iter().chain(rows.iter().map(|row| row.to));
    let place = |stage: &ChosenStage| PassedPlace {
        label: stage.label.clone(),
        returns: stage.at == At::Return,
        seen_at: stage.seen.as_ref().map(|seen| seen.name.clone()).unwrap_or_default(),
    };
    let steps =
        rows.iter().map(|row| PathStep { cost: row.corrected, outside: row.outside, waits: row.waits });
    PathTrace {
        path,
        reader,
        places: passed.filter_map(|stage| account.stages.get(stage)).map(place).collect(),
        steps: steps.collect(),
        whole: account.time_of_way().filter(|_| !rows.is_empty()),
        packets: account.reading().journeys.arrived,
        profile: account.profile.clone(),
    }
}
