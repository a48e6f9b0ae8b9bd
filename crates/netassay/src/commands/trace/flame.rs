//! The stacks that were sampled, as flame graphs; and the forms of files.

use std::path::Path;

use report::chart::{Figure, Flame, FlameStack, Id, Panel, Quantity};
use results::StageDifferences;

use super::path_trace::{PathTrace, SizedTrace};
use crate::again;
use crate::commands::figure;
use crate::failure::{Failure, say};
use crate::output;
use crate::written::{self, MayReplace};

/// The form of a file, by the end of its name.
pub(super) enum FileForm {
    Figure(figure::Write),
    /// Folded stacks, for programs that draw flame graphs.
    Folded,
    /// Single packets in the Trace Event Format.
    Packets,
}

impl FileForm {
    pub(super) fn of_chart(path: &Path) -> Result<Self, Failure> {
        match path.extension().is_some_and(|extension| extension == "json") {
            true => Ok(Self::Packets),
            false => Self::of_flame_graph(path),
        }
    }

    pub(super) fn of_flame_graph(path: &Path) -> Result<Self, Failure> {
        match path.extension().is_some_and(|extension| extension == "folded") {
            true => Ok(Self::Folded),
            false => figure::written_to(path).map(Self::Figure),
        }
    }
}

/// Flame graphs: one for each size of the message, or each two conditions.
pub(super) struct Flames {
    title: String,
    said: String,
    unit: &'static str,
    graphs: Vec<Graph>,
}

struct Graph {
    title: String,
    /// The condition compared with.
    baseline: Option<String>,
    stacks: Vec<FlameStack>,
}

impl Flames {
    /// The functions of a path.
    pub(super) fn of_path(found: &PathTrace) -> Self {
        let graph = |traced: &SizedTrace| {
            let profile = traced.account.profile.as_ref()?;
            let owned = |frames: Vec<&str>| frames.into_iter().map(str::to_owned).collect();
            let stacks =
                profile.folded().map(|(frames, now)| FlameStack { frames: owned(frames), before: 0.0, now });
            let other = FlameStack { frames: vec!["[other]".to_owned()], before: 0.0, now: profile.other() };
            Some(Graph { title: traced.size(), baseline: None, stacks: stacks.chain([other]).collect() })
        };
        Self {
            title: format!("{}: functions", found.path),
            said: format!(
                "{}; CPU for a message {}, without probes; {}",
                found.traffic(),
                found.whose(),
                found.origin().join("; ")
            ),
            unit: found.unit(),
            graphs: found.traces.iter().filter_map(graph).collect(),
        }
    }

    /// The differences of the conditions of a study.
    pub(super) fn of_study(stages: &StageDifferences, name: &str) -> Self {
        let graph = |pair: &results::Stacks| Graph {
            title: format!("{} against {}, readers {}", pair.condition, pair.baseline, pair.reader),
            baseline: Some(pair.baseline.clone()),
            stacks: pair
                .costs
                .iter()
                .map(|(frames, [before, now])| FlameStack {
                    frames: frames.clone(),
                    before: *before,
                    now: *now,
                })
                .collect(),
        };
        Self {
            title: format!("{name}: functions"),
            said: format!(
                "CPU for a message at both ends, without probes; a function that is called under the first condition only has no width; {}; drawn by `{}`",
                stages.origin,
                again::command()
            ),
            unit: stages.unit,
            graphs: stages.stacks.iter().map(graph).collect(),
        }
    }

    pub(super) fn write(self, path: &Path, form: &FileForm) -> Result<(), Failure> {
        if self.graphs.is_empty() {
            return Err(Failure::Nothing(
                "no functions were sampled: `trace.profile=true` asks for them".to_owned(),
            ));
        }
        let (content, text) = match form {
            FileForm::Figure(write) => ("flame graph", write(&self.figure())),
            _ => ("stacks", folded(self.stacks())),
        };
        written::write(path, &text, MayReplace::OwnFile)?;
        say(&format!("wrote the {content} to {}", output::named(path)));
        Ok(())
    }

    fn figure(self) -> Figure {
        let alone = self.graphs.len() == 1;
        let quantity = Quantity::new("cost", self.unit, results::figure);
        let panels = self.graphs.into_iter().map(|graph| {
            let title = if alone { String::new() } else { graph.title };
            Panel::new(title, Flame::new(quantity.clone(), graph.baseline, graph.stacks))
        });
        Figure { id: Id::new("flame"), title: self.title, description: self.said, panels: panels.collect() }
    }

    /// Each stack with its cost; of two conditions with both, as `difffolded.pl` reads them.
    fn stacks(self) -> impl Iterator<Item = (Vec<String>, Vec<f64>)> {
        let is_alone = self.graphs.len() == 1;
        self.graphs.into_iter().flat_map(move |graph| {
            let (root, has_baseline) = ((!is_alone).then_some(graph.title), graph.baseline.is_some());
            graph.stacks.into_iter().map(move |FlameStack { frames, before, now }| {
                let costs = if has_baseline { vec![before, now] } else { vec![now] };
                (root.clone().into_iter().chain(frames).collect(), costs)
            })
        })
    }
}

/// Folded stacks: a line for each stack that costs anything, with its frames and its costs.
pub(super) fn folded(stacks: impl IntoIterator<Item = (Vec<String>, Vec<f64>)>) -> String {
    let line = |(frames, costs): (Vec<String>, Vec<f64>)| {
        let frames: Vec<String> = frames.iter().map(|frame| frame.replace(';', ",")).collect();
        let costs: Vec<f64> = costs.into_iter().map(f64::round).collect();
        let shown: Vec<String> = costs.iter().map(f64::to_string).collect();
        let is_dear = costs.iter().any(|cost| *cost > 0.0);
        is_dear.then(|| format!("{} {}\n", frames.join(";"), shown.join(" ")))
    };
    stacks.into_iter().filter_map(line).collect()
}
