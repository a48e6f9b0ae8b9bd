//! The stacks that were sampled, as a flame graph or as text for programs that draw one.

use std::path::Path;

use results::StageDifferences;
use results::chart::{Figure, Flame, FlameStack, Id, Panel, Quantity};

use super::document::Document;
use crate::again;
use crate::commands::figure;
use crate::failure::{Failure, say};
use crate::output;
use crate::written::{self, MayReplace};

/// How the file is written.
pub(super) enum Form {
    Chart(figure::Write),
    /// A line for each stack, with its cost; of two conditions with both, as `difffolded.pl` has
    /// them.
    Folded,
}

/// How a file of this name is written.
pub(super) fn form(path: &Path) -> Result<Form, Failure> {
    match path.extension().is_some_and(|extension| extension == "folded") {
        true => Ok(Form::Folded),
        false => figure::written_to(path).map(Form::Chart),
    }
}

/// What is drawn: one graph for each size of the message, or each two conditions.
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
    /// Of a path.
    pub(super) fn of_path(document: &Document) -> Self {
        let graph = |traced: &super::document::OfSize| {
            let profile = traced.account.profile.as_ref()?;
            let owned = |frames: Vec<&str>| frames.into_iter().map(str::to_owned).collect();
            let stacks =
                profile.folded().map(|(frames, now)| FlameStack { frames: owned(frames), before: 0.0, now });
            let other = FlameStack { frames: vec!["[other]".to_owned()], before: 0.0, now: profile.other() };
            Some(Graph { title: traced.size(), baseline: None, stacks: stacks.chain([other]).collect() })
        };
        Self {
            title: format!("{}: functions", document.path),
            said: format!(
                "{}; CPU for a message {}, without probes; {}",
                document.traffic(),
                document.whose(),
                document.origin().join("; ")
            ),
            unit: document.unit(),
            graphs: document.traces.iter().filter_map(graph).collect(),
        }
    }

    /// Of the conditions of a study.
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

    pub(super) fn write(self, path: &Path, form: &Form) -> Result<(), Failure> {
        if self.graphs.is_empty() {
            return Err(Failure::Nothing(
                "no functions were sampled: `--profile`, or `[trace] profile = true`, asks for them"
                    .to_owned(),
            ));
        }
        let (what, text) = match form {
            Form::Folded => ("stacks", self.folded()),
            Form::Chart(write) => ("flame graph", write(&self.figure())),
        };
        written::write(path, &text, MayReplace::OwnFile)?;
        say(&format!("wrote the {what} to {}", output::named(path)));
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

    fn folded(&self) -> String {
        let alone = self.graphs.len() == 1;
        let mut text = String::new();
        for graph in &self.graphs {
            for FlameStack { frames, before, now } in &graph.stacks {
                let root = (!alone).then_some(&graph.title);
                let frames: Vec<String> =
                    root.into_iter().chain(frames).map(|frame| frame.replace(';', ",")).collect();
                let costs = [graph.baseline.is_some().then_some(*before), Some(*now)];
                let costs: Vec<f64> = costs.into_iter().flatten().map(f64::round).collect();
                if costs.iter().any(|cost| *cost > 0.0) {
                    let costs: Vec<String> = costs.iter().map(f64::to_string).collect();
                    text += &format!("{} {}\n", frames.join(";"), costs.join(" "));
                }
            }
        }
        text
    }
}
