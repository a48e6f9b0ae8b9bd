//! The programs at their places, and the threads that they follow.

use std::ffi::CString;
use std::io;

use aya_obj::Object;
use aya_obj::btf::BtfKind;
use host::bpf::{Program, Ring};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::btf::Packet;
use crate::object::{
    AttachPoint, Constants, KernelPrograms, Loaded, LoadedProgram, Maps, at_tracepoint, instructions, load_at,
};
use crate::path::{At, JourneyPhase};
use crate::probe_counts::{MISSED, POINTS, ProbeCounts, total};
use crate::resolve::{PointKind, ProbePoint};
use crate::sampled::{SampledPackets, StampedPacket};

/// A probe: where a point of a path is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The number of the point, from 0, below [`POINTS`].
    pub number: u8,
    /// The function or tracepoint.
    pub place: ProbePoint,
    /// Which end of a function.
    pub at: At,
    /// The phase of its journey.
    pub phase: JourneyPhase,
}

/// The attachment of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Attachment {
    /// fentry or fexit.
    Trampoline,
    /// kprobe or kretprobe.
    Kprobe,
    /// A raw tracepoint.
    Tracepoint,
}

/// Why nothing is traced, or a probe is not attached.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct TraceError(pub(crate) String);

impl TraceError {
    pub(crate) fn plain(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }

    pub(crate) fn misfit(error: impl std::fmt::Display) -> Self {
        Self(format!("the programs for tracing do not fit this kernel: {error}"))
    }
}

impl From<io::Error> for TraceError {
    fn from(error: io::Error) -> Self {
        Self(format!("the counters of a trace cannot be used: {error}"))
    }
}

/// Programs that stamp the packets of some threads; dropped, or with the process, they detach.
pub struct Tracer {
    samples: Ring,
    missed: u64,
    programs: Vec<LoadedProgram>,
    // All but the ring, read or not: a program that is loaded once more names them by their
    // descriptors.
    maps: Maps,
}

/// The attachment of each probe, in their order, or the reason why none was possible.
pub type Attachments = Vec<Result<Attachment, TraceError>>;

// Tracepoints and their programs, in the order in which they are attached. The programs ignore an
// end without its begin, so each end comes first. The timer's tracepoints are x86's: it is no
// interrupt of the table.
const INTERRUPTS: [(&str, &str); 6] = [
    ("irq_handler_exit", "end"),
    ("irq_handler_entry", "begin"),
    ("softirq_exit", "soft_end"),
    ("softirq_entry", "soft_begin"),
    ("local_timer_exit", "end"),
    ("local_timer_entry", "begin"),
];

// `journeys` in `bpf/maps.h`.
const MOST_THREADS: u32 = 64;

// Room for 481 samples, of one batch; and as few as can be.
const RING: u32 = 512 << 10;
pub(crate) const LEAST_RING: u32 = 64 << 10;

impl KernelPrograms {
    /// Attaches probes. The probe with the highest number ends a journey. `call`: the number of
    /// the system call that `sys_enter` and `sys_exit` stand for. One packet in `every` is kept
    /// with its stamps ([`Tracer::sampled`]); 0: none. `trying`: the probes only count how often
    /// each is hit ([`ProbeCounts::hits`]), to learn which of them packets pass.
    ///
    /// # Errors
    /// [`TraceError`]; then nothing stays attached. A probe that cannot be attached is no error: it
    /// is told beside the tracer.
    ///
    /// # Panics
    /// If a probe has a number of [`POINTS`] or more.
    pub fn attach(
        &self,
        probes: &[Probe],
        call: u64,
        every: u32,
        trying: bool,
    ) -> Result<(Tracer, Attachments), TraceError> {
        let constants =
            Constants { call, every: every.into(), trying: trying.into(), ..Constants::default() };
        let (programs, mut maps) = self.programs(if constants.every > 0 { RING } else { LEAST_RING })?;
        let last = probes.iter().map(|probe| probe.number).max().unwrap_or_default();
        assert!(usize::from(last) < POINTS, "a path has at most {POINTS} points");
        let mut standing = Vec::new();
        let phase = probes.first().map_or(0, |probe| probe.phase as u64);
        for (tracepoint, program) in INTERRUPTS {
            let constants = Constants { phase, ..Constants::default() };
            // A kernel without one of them has no such interruptions.
            standing.extend(at_tracepoint(&programs, tracepoint, program, constants));
        }
        // It tells other tasks' time from the packet's own.
        let scheduler = at_tracepoint(&programs, "sched_switch", "sched_switch", Constants::default());
        let failed =
            |error: TraceError| TraceError(format!("the scheduler's tracepoint cannot be used: {error}"));
        standing.push(scheduler.map_err(failed)?);
        let means: Attachments = probes
            .iter()
            .map(|probe| {
                let constants = Constants {
                    point: probe.number.into(),
                    last: last.into(),
                    phase: probe.phase as u64,
                    first: probes
                        .iter()
                        .find(|first| first.phase == probe.phase)
                        .map_or(0, |first| first.number.into()),
                    packet: probe.place.packet.filter(|_| probe.at == At::Entry).map_or(0, packet_constant),
                    ..constants
                };
                let (mean, program) = self.probe(&programs, probe, constants)?;
                standing.push(LoadedProgram { point: Some(probe.number), ..program });
                Ok(mean)
            })
            .collect();
        let ring = maps.remove("samples").expect("bpf/path.bpf.c has it");
        Ok((Tracer { samples: Ring::new(ring)?, missed: 0, programs: standing, maps }, means))
    }

    fn probe(
        &self,
        programs: &Object,
        probe: &Probe,
        constants: Constants,
    ) -> Result<(Attachment, LoadedProgram), TraceError> {
        let (name, at) = (probe.place.name.as_str(), probe.at);
        if probe.place.kind == PointKind::Tracepoint {
            // All calls, or all soft interrupts, pass these: their programs look which one it is.
            let own = matches!(name, "sys_enter" | "sys_exit" | "softirq_entry");
            let program = if own { name } else { "tracepoint" };
            return Ok((Attachment::Tracepoint, at_tracepoint(programs, name, program, constants)?));
        }
        let with = |mean| Ok((mean, self.at_function(programs, mean, (name, at), constants)?));
        with(Attachment::Trampoline).or_else(|first: TraceError| {
            let both = |reason: TraceError| TraceError(format!("fentry: {first}; kprobe: {reason}"));
            with(Attachment::Kprobe).map_err(both)
        })
    }

    /// Attaches a program to the entry of a function by this mean alone, and detaches it at once.
    pub(crate) fn try_at(&self, mean: Attachment, function: &str) -> Result<(), TraceError> {
        let (programs, _maps) = self.programs(LEAST_RING)?;
        let constants = Constants { trying: 1, ..Constants::default() };
        self.at_function(&programs, mean, (function, At::Entry), constants).map(drop)
    }

    fn at_function(
        &self,
        programs: &Object,
        mean: Attachment,
        (name, at): (&str, At),
        constants: Constants,
    ) -> Loaded {
        if mean != Attachment::Trampoline {
            let program = if at == At::Entry { "kprobe" } else { "kretprobe" };
            let place = AttachPoint::Function(CString::new(name).map_err(TraceError::plain)?, at);
            return load_at(Program::Kprobe, &instructions(programs, program, constants), place);
        }
        let function = self.types.id_by_type_name_kind(name, BtfKind::Func);
        let function = function.map_err(|_| TraceError::plain("not among the kernel's own types"))?;
        let (kind, program) = match at {
            At::Entry => (Program::Entry(function), "fentry"),
            At::Return => (Program::Return(function), "fexit"),
        };
        // Kept, to load the program once more where a kernel attaches it only once.
        let code = instructions(programs, program, constants);
        load_at(kind, &code, AttachPoint::Trampoline(kind, code.clone()))
    }
}

impl Tracer {
    /// Follows a thread of this process, or of another one: by its number in the initial PID
    /// namespace ([`host::bpf::current_thread`]).
    ///
    /// # Errors
    /// More than 64 of them; those before are followed still.
    pub fn follow(&self, thread: u32) -> Result<(), TraceError> {
        let journeys = &self.maps["journeys"];
        let written = journeys.write(&thread.to_ne_bytes(), &vec![0; journeys.stride()]);
        written.map_err(|error| match error.raw_os_error() {
            Some(libc::E2BIG) => TraceError(format!(
                "a trace follows at most {MOST_THREADS} threads, and there are more: trace less traffic at a time"
            )),
            _ => error.into(),
        })
    }

    /// The counts since the programs were attached.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn read(&self) -> io::Result<ProbeCounts> {
        ProbeCounts::read(&self.maps)
    }

    /// The packets that were sampled since this was last called, and how many more there was no
    /// room for.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn sampled(&mut self) -> io::Result<SampledPackets> {
        let packets = self.samples.read().iter().map(|record| StampedPacket::from_record(record)).collect();
        let missed = total(&self.maps["tallies"], MISSED)?;
        let before = std::mem::replace(&mut self.missed, missed);
        Ok(SampledPackets { packets, missed: missed.saturating_sub(before) })
    }

    /// Detaches the programs; they stay loaded.
    pub fn detach(&mut self) {
        self.programs.iter_mut().for_each(|standing| standing.attached = None);
    }

    /// Attaches these of the tracer's probes and no others; counts stay until [`Tracer::restart`].
    /// Among them are the last, and the first of each phase: all programs know these.
    ///
    /// # Errors
    /// The kernel's error, of the first place that cannot be had any more.
    pub fn attach(&mut self, probes: &[Probe]) -> Result<(), TraceError> {
        // Attached probes stay: for each change the kernel goes through all its functions.
        let wanted = |point: u8| probes.iter().any(|probe| probe.number == point);
        let is_wanted = |standing: &LoadedProgram| standing.point.is_none_or(wanted);
        // The order of two kprobes of one function, and so whether a stamp is before the other's
        // work, depends on which came first: those at returns always come last.
        let comes = |standing: &&LoadedProgram| is_wanted(standing) && standing.attached.is_none();
        let entered = self.programs.iter().filter(comes).filter_map(|one| one.function(At::Entry));
        let entered: Vec<CString> = entered.cloned().collect();
        for standing in &mut self.programs {
            let again = standing.function(At::Return).is_some_and(|name| entered.contains(name));
            if again || !is_wanted(standing) {
                standing.attached = None;
            }
        }
        let absent = |standing: &&mut LoadedProgram| is_wanted(standing) && standing.attached.is_none();
        for standing in self.programs.iter_mut().filter(absent) {
            standing.attach().map_err(|error| match &standing.place {
                AttachPoint::Trampoline(..) => error,
                AttachPoint::Tracepoint(name) | AttachPoint::Function(name, _) => {
                    io::Error::new(error.kind(), format!("{}: {error}", name.to_string_lossy()))
                }
            })?;
        }
        Ok(())
    }

    /// Counts from zero, and drops what was sampled; threads are to be followed anew.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn restart(&mut self) -> io::Result<()> {
        ProbeCounts::clear(&self.maps)?;
        self.sampled().map(drop)
    }
}

/// The constant `PACKET` of a program (`bpf/maps.h`).
fn packet_constant(packet: Packet) -> u64 {
    const LISTED: u64 = 8;
    match packet {
        Packet::Argument(index) => 1 + u64::from(index),
        Packet::List(index) => LISTED + 1 + u64::from(index),
    }
}

#[cfg(test)]
mod tests;
