//! A lab without hosts: switches with the kernel's dependencies, runs that take no time, faults on
//! demand.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use agent::{CallError, Interrupt};
use netassay_runner::{Bench, Lab, Readings};
use record::{
    Cause, CountedTurn, Crash, CrashSign, CrashedMachine, Detail, Disturbance, Environment, Note, PathTrace,
    Response, Turns, sample,
};
use study::{BootState, Condition, Effective, Settled, Side, Tracing, TuningKey, Turn};
use testbed::reach::HostBoot;
use testbed::{RunOrder, Switches, TurnsOrder};

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    /// The run fails, the testbed is sound.
    Failed,
    /// An agent dies.
    Lost,
    /// The undo journal cannot be kept.
    NoJournal,
    /// Something disturbs the window.
    Disturbed,
    /// No traffic arrives in it.
    Nothing,
    /// Both.
    DisturbedToNothing,
    /// Both in the first condition of a flow.
    DisturbedToNothingInOne,
    /// An agent dies in the trace behind the run.
    LostInTrace,
    /// A machine crashes: it restarts by itself, or stays away until its power is cycled.
    Crash,
    /// The user presses Ctrl-C.
    Interrupt,
}

/// The fate of conditions that are to take turns.
#[derive(Clone, Copy)]
pub(crate) enum Turning {
    Settled,
    /// A turn leaves much to the next one.
    Unsettled,
    /// They cannot.
    Never,
}

/// Rates with noise: each condition differs from the one before by a share, each run or flow by
/// 5 %, and each condition in it by 0.2 %.
#[derive(Clone, Copy)]
pub(crate) struct Rates {
    pub(crate) seed: u64,
    pub(crate) effect: f64,
}

impl Rates {
    fn of(self, flow: usize, condition: usize) -> f64 {
        let noise = |of: usize| {
            let mut hash = DefaultHasher::new();
            (self.seed, flow, of).hash(&mut hash);
            // The sum of uniform draws is near enough to normal.
            let draws = hash.finish().to_ne_bytes();
            (draws.iter().map(|byte| f64::from(*byte) / 255.0).sum::<f64>() - 4.0) / (8.0_f64 / 12.0).sqrt()
        };
        let of_condition = 1.0 + self.effect * condition as f64 + 0.002 * noise(1 + condition);
        1000.0 * of_condition * (1.0 + 0.05 * noise(0))
    }
}

pub(crate) struct SimulatedLab {
    /// Faults by the number of the run, counted from 0 over all testbeds.
    pub(crate) faults: BTreeMap<usize, Fault>,
    pub(crate) always: Option<Fault>,
    /// From this many testbeds on, a switch reads back otherwise.
    pub(crate) drift_after_build: Option<usize>,
    pub(crate) cannot_build: bool,
    pub(crate) lacks_gso: bool,
    pub(crate) turns: Turning,
    /// `None`: rates by the number of the condition.
    pub(crate) rates: Option<Rates>,
    pub(crate) interrupt: Interrupt,
    pub(crate) built: usize,
    /// The present boot of the machines of a study between machines, and all kernels that they were
    /// restarted with.
    pub(crate) machines: Option<HostBoot>,
    pub(crate) restarts: Vec<Option<String>>,
    /// Whether the power of the machines can be cycled; `None`: they restart by themselves.
    pub(crate) power: Option<bool>,
    /// Waits for crashed machines.
    pub(crate) revived: usize,
    /// The kernel with which the machines do not come up.
    pub(crate) bad_kernel: Option<String>,
    /// Whether a machine crashed in a run.
    has_crashed: Rc<Cell<bool>>,
    /// Runs so far, over all testbeds.
    runs: Rc<Cell<usize>>,
}

impl SimulatedLab {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        Self {
            faults: BTreeMap::new(),
            always: None,
            drift_after_build: None,
            cannot_build: false,
            lacks_gso: false,
            turns: Turning::Settled,
            rates: None,
            interrupt,
            built: 0,
            machines: None,
            restarts: Vec::new(),
            power: None,
            revived: 0,
            bad_kernel: None,
            has_crashed: Rc::default(),
            runs: Rc::default(),
        }
    }
}

impl SimulatedLab {
    pub(crate) fn runs(&self) -> usize {
        self.runs.get()
    }
}

impl Lab for SimulatedLab {
    fn build(&mut self, _: &BootState) -> Result<Box<dyn Bench>, testbed::Error> {
        if self.cannot_build || self.has_crashed.get() {
            return Err(gone());
        }
        self.built += 1;
        Ok(Box::new(SimulatedBench {
            faults: self.faults.clone(),
            always: self.always,
            drifted: self.drift_after_build.is_some_and(|builds| self.built >= builds),
            lacks_gso: self.lacks_gso,
            turns: self.turns,
            rates: self.rates,
            interrupt: self.interrupt.clone(),
            runs: Rc::clone(&self.runs),
            has_crashed: Rc::clone(&self.has_crashed),
            boot: self.machines.clone(),
        }))
    }

    fn boots(&mut self) -> Result<Vec<HostBoot>, testbed::Error> {
        Ok(self.machines.clone().into_iter().collect())
    }

    fn restart(&mut self, state: &BootState) -> Result<(), testbed::Error> {
        self.restarts.push(state.kernel.clone());
        let boot = self.machines.as_mut().unwrap();
        boot.id = format!("boot {}", self.restarts.len());
        if state.kernel.is_some() && state.kernel == self.bad_kernel {
            boot.release.clone_from(&boot.default);
            let answers = self.power != Some(false);
            let sign = if answers { CrashSign::OtherKernel } else { CrashSign::NotBack };
            return Err(testbed::Error::NotUp { why: "simulated".to_owned(), crash: crash(sign), answers });
        }
        boot.release = state.kernel.clone().unwrap_or_else(|| boot.default.clone());
        Ok(())
    }

    fn crash(&mut self, _before: &Environment) -> Result<Option<Crash>, testbed::Error> {
        let sign = if self.power.is_some() { CrashSign::Silent } else { CrashSign::Restarted };
        Ok(self.has_crashed.get().then(|| crash(sign)))
    }

    fn revive(&mut self, _before: &Environment) -> Result<bool, testbed::Error> {
        self.revived += 1;
        if self.power == Some(false) {
            return Err(testbed::Error::Failed("root@b did not come back".to_owned()));
        }
        self.has_crashed.set(false);
        if let Some(boot) = &mut self.machines {
            boot.id = format!("after crash {}", self.revived);
            boot.release.clone_from(&boot.default);
        }
        Ok(true)
    }
}

/// The crash of one machine.
fn crash(sign: CrashSign) -> Crash {
    let console = vec!["Kernel panic - not syncing: simulated".to_owned()];
    let machine = CrashedMachine { side: Side::Receiver, host: "root@b".to_owned(), sign, console };
    Crash { machines: vec![machine] }
}

struct SimulatedBench {
    faults: BTreeMap<usize, Fault>,
    always: Option<Fault>,
    drifted: bool,
    lacks_gso: bool,
    turns: Turning,
    rates: Option<Rates>,
    interrupt: Interrupt,
    runs: Rc<Cell<usize>>,
    has_crashed: Rc<Cell<bool>>,
    boot: Option<HostBoot>,
}

/// A disturbance of a run.
pub(crate) fn loud_neighbour() -> Disturbance {
    Cause::Session("a loud neighbour".to_owned()).into()
}

impl Bench for SimulatedBench {
    fn notes(&self) -> Vec<Note> {
        vec![Note::Loopback]
    }

    fn environment(&mut self) -> Result<Environment, testbed::Error> {
        let mut environment = sample::environment();
        if let Some(HostBoot { id, release, .. }) = &self.boot {
            environment.transmitter.kernel.boot_id = Some(id.clone());
            environment.transmitter.kernel.release = Some(release.clone());
            environment.receiver = None;
        }
        Ok(environment)
    }

    fn settle(&mut self, switches: &Switches) -> Result<Effective, testbed::Error> {
        let transmitter = self.side(&switches.own.features.transmitter);
        let tuned = switches.tuning.receiver.sysctl.iter();
        let tuning = tuned.map(|(name, value)| (TuningKey::Sysctl, format!("{name}={value}"))).collect();
        let receiver = Some(Settled { tuning, ..transmitter.clone() });
        Ok(Effective { transmitter, receiver, underlay: None, fragments: None })
    }

    fn lacking(
        &mut self,
        traffic: &load::Traffic,
        _family: load::Family,
    ) -> Result<Vec<String>, testbed::Error> {
        let lacks = self.lacks_gso && traffic.sender == load::Sender::Gso;
        Ok(lacks.then(|| "no UDP_SEGMENT (Linux 4.18)".to_owned()).into_iter().collect())
    }

    fn run(&mut self, condition: &Condition, tick: &mut dyn FnMut()) -> Result<Readings, testbed::Error> {
        tick();
        let mut made = self.flow(&[condition.index])?;
        Ok(made.remove(0))
    }

    fn check_path(&mut self, _order: &RunOrder, _effective: &Effective) -> Result<(), testbed::Error> {
        Ok(())
    }

    fn differences(&mut self) -> Vec<Disturbance> {
        Vec::new()
    }

    fn trace(
        &mut self,
        _order: &RunOrder,
        tracing: &Tracing,
        _tick: &mut dyn FnMut(),
    ) -> Result<Vec<PathTrace>, testbed::Error> {
        if self.faults.get(&(self.runs.get() - 1)) == Some(&Fault::LostInTrace) {
            return Err(gone());
        }
        Ok(vec![PathTrace {
            path: tracing.paths[0],
            reader: tracing.readers[0],
            places: Vec::new(),
            steps: Vec::new(),
            whole: None,
            packets: 7,
            profile: None,
        }])
    }

    fn take_turns(
        &mut self,
        order: &TurnsOrder,
        tick: &mut dyn FnMut(),
    ) -> Result<Vec<Readings>, testbed::Error> {
        tick();
        let left = match self.turns {
            Turning::Never => {
                let why = "a switch resets the link".to_owned();
                return Err(testbed::Error::NotInTurns { host: Side::Transmitter.to_string(), why });
            }
            Turning::Settled => 0,
            Turning::Unsettled => 500,
        };
        let states: Vec<usize> = (0..order.states.len()).collect();
        let mut made = self.flow(&states)?;
        for (own, readings) in made.iter_mut().enumerate() {
            let Detail::Measured(account) = &mut readings.detail else { continue };
            let counted =
                order.turns.windows(2).enumerate().filter(|(_, pair)| pair[1].counts && pair[1].state == own);
            let turn = |(number, pair): (usize, &[Turn])| CountedTurn {
                number: number as u32,
                after: pair[0].state as u8,
                ns: 1_000_000,
                // Two of a kind never give quite the same.
                work: 10_000 + number as u64 % 7 + if pair[0].state == own { 0 } else { left },
            };
            account.turns = Some(Turns {
                turn_ns: 100_000_000,
                settle_ns: order.settle.as_nanos() as u64,
                own: own as u8,
                turns: counted.map(turn).collect(),
                response: Response::default(),
                from_others: 0,
            });
        }
        Ok(made)
    }
}

impl SimulatedBench {
    /// One run, or one flow of conditions that take turns: what each gave.
    fn flow(&mut self, conditions: &[usize]) -> Result<Vec<Readings>, testbed::Error> {
        let number = self.runs.replace(self.runs.get() + 1);
        match self.always.or_else(|| self.faults.get(&number).copied()) {
            Some(Fault::Failed) => {
                Err(CallError::Refused { host: "receiver".into(), why: "simulated".into(), broken: false }
                    .into())
            }
            Some(Fault::NoJournal) => {
                Err(CallError::NoJournal { host: "receiver".into(), why: "simulated".into() }.into())
            }
            Some(Fault::Lost) => Err(gone()),
            Some(Fault::Crash) => {
                self.has_crashed.set(true);
                Err(gone())
            }
            Some(Fault::Interrupt) => {
                self.interrupt.trip();
                Err(CallError::Interrupted.into())
            }
            fault => {
                let is_one = fault == Some(Fault::DisturbedToNothingInOne);
                let is = |one, other| [Some(one), Some(other)].contains(&fault);
                let is_nothing = is(Fault::Nothing, Fault::DisturbedToNothing);
                let loud = is_one || is(Fault::Disturbed, Fault::DisturbedToNothing);
                let made = |index: &usize| {
                    let is_nothing = is_nothing || (is_one && *index == conditions[0]);
                    let nothing = is_nothing.then(|| "nothing arrived".to_owned());
                    let rate = self.rates.map_or(1000.0 + *index as f64, |rates| rates.of(number, *index));
                    let throughput = if nothing.is_some() { 0.0 } else { rate };
                    let disturbed = loud.then(loud_neighbour).into_iter().collect();
                    let metrics = [(study::metric::THROUGHPUT, throughput)].into_iter().collect();
                    let detail = Detail::Measured(Box::new(sample::account()));
                    Readings { metrics, disturbed, nothing, detail, ..Readings::default() }
                };
                Ok(conditions.iter().map(made).collect())
            }
        }
    }

    /// The kernel's rule: segmentation needs checksums. One feature of each group stands for all.
    fn side(&self, asked: &BTreeMap<String, bool>) -> Settled {
        let on = |name: &str| asked.get(name).copied().unwrap_or(true);
        let checksum = on("tx-checksum-ip-generic");
        let segmentation = on("tx-tcp-segmentation") && checksum;
        let active = BTreeMap::from([
            ("tx-checksum-ip-generic".to_owned(), checksum),
            ("tx-tcp-segmentation".to_owned(), segmentation && !self.drifted),
        ]);
        Settled {
            mtu: 1500,
            active,
            refused: BTreeMap::new(),
            follow_on: BTreeMap::new(),
            device: BTreeMap::new(),
            tuning: BTreeMap::new(),
        }
    }
}

fn gone() -> testbed::Error {
    CallError::Gone { host: "receiver".into() }.into()
}
