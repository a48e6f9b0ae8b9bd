//! `netassay trace PATH --dry-run`: what a trace is going to cost.

use results::document::Block;
use results::{Table, TitledTable, counted, figure};
use serde::Serialize;
use trace::{TraceEstimate, TracePath, TraceTarget};

use crate::cli::Trace;
use crate::commands::load::Asked;
use crate::failure::Failure;

/// A trace that is not made.
#[derive(Debug, Serialize)]
pub(super) struct Planned {
    path: String,
    about: String,
    #[serde(skip)]
    place: TraceTarget,
    inside_guest: bool,
    exact: bool,
    /// Sizes of the message, each traced by itself.
    sizes: Vec<u32>,
    batch: u32,
    rounds: u32,
    #[serde(flatten)]
    estimate: TraceEstimate,
    seconds: f64,
}

impl Planned {
    pub(super) fn of(
        name: &str,
        path: &TracePath,
        asked: &[Asked],
        flags: &Trace,
        [batch, rounds]: [u32; 2],
    ) -> Result<Self, Failure> {
        let inside_guest = asked[0].inside_guest || asked[0].scenario.has_guests();
        let ipv6 = asked[0].order.family == study::Family::Ipv6;
        let place = match (inside_guest, flags.exact) {
            (_, true) => TraceTarget::Exact,
            (true, false) => TraceTarget::Guest,
            (false, false) if flags.names_a_machine() => TraceTarget::Elsewhere,
            (false, false) => TraceTarget::Here,
        };
        let estimate = TraceEstimate::for_path(path, ipv6, place);
        let time = study::expected_traces(flags.exact, inside_guest, [batch, rounds], asked.len() as u32);
        Ok(Self {
            path: name.to_owned(),
            about: path.about.clone(),
            place,
            inside_guest,
            exact: flags.exact,
            sizes: asked.iter().map(|one| one.order.traffic.message).collect(),
            batch,
            rounds,
            estimate: estimate.map_err(|error| Failure::Environment(error.to_string()))?,
            seconds: time.as_secs_f64(),
        })
    }

    pub(super) fn blocks(&self) -> Vec<Block<'static>> {
        let mut table = Table::new(&["stage", "place"]).uncut(&[0, 1]);
        for (stage, place) in self.estimate.stages.iter().filter(|(_, place)| place.is_ok()) {
            table.row(&[stage, place.as_ref().map_or("-", String::as_str)]);
        }
        let title = format!("{}: {}", self.path, self.about);
        vec![Block::Table(TitledTable { title, table, notes: Vec::new() }), Block::List(self.sentences())]
    }

    fn sentences(&self) -> Vec<String> {
        let TraceEstimate { stages, probes, memory, memory_of_cpu } = &self.estimate;
        let mut said = Vec::new();
        let mut missing: Vec<(&str, Vec<&str>)> = Vec::new();
        for (stage, place) in stages {
            let Err(reason) = place else { continue };
            match missing.iter_mut().find(|(known, _)| known == reason) {
                Some((_, stages)) => stages.push(stage),
                None => missing.push((reason, vec![stage])),
            }
        }
        said.extend(
            missing.into_iter().map(|(reason, stages)| format!("no place: {} ({reason})", stages.join(", "))),
        );
        let unit = if self.exact { "instructions" } else { "ns" };
        let seen = stages.iter().filter(|(_, place)| place.is_ok()).count();
        let whose = match self.place {
            TraceTarget::Here => "this machine's kernel; of these places those are probed that packets pass",
            TraceTarget::Guest | TraceTarget::Exact => {
                "the virtual machine; the kernel there decides which of a stage's places are probed"
            }
            TraceTarget::Elsewhere => {
                "the other machine, which was not asked: `netassay trace --paths --host` asks it; where packets pass none of \
                 a stage's functions its tracepoint takes their place"
            }
        };
        said.push(format!("{} in {whose}", counted(seen, "place")));
        said.push(match probes {
            Some(probes) => format!(
                "a packet that passes all takes about {} {unit} more ({} a probe): an estimate, by what probes cost elsewhere; the trace measures it and takes it off",
                figure(*probes),
                figure(probes / seen.max(1) as f64)
            ),
            None => "what the probes cost a packet there is not known before the trace, which measures it and takes it off".to_owned(),
        });
        let sizes: Vec<String> = self.sizes.iter().map(|size| counted(*size as usize, "byte")).collect();
        let whose =
            if self.place == TraceTarget::Elsewhere { ", as on this machine by tracepoints" } else { "" };
        said.push(format!(
            "about {:.0} s{whose}: for {} each {} of {} without probes, with the fewest, with one more of each kind, and with all",
            self.seconds,
            sizes.join(" and "),
            counted(self.rounds as usize, "round"),
            counted(self.batch as usize, "message"),
        ));
        let megabytes = |bytes: u64| figure(bytes as f64 / 1e6);
        said.push(format!(
            "maps in the kernel: {} MB, and {} MB for each CPU; all goes when the command ends",
            megabytes(*memory),
            megabytes(*memory_of_cpu),
        ));
        said.push("nothing was loaded and nothing was measured".to_owned());
        said
    }
}
