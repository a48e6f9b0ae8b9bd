//! The stacks that were sampled, as flame graphs; and the forms of files.

use std::path::Path;

use report::chart::{Figure, Flame, FlameStack, Id, Panel, Quantity};
use results::StageDifferences;

use super::path_trace::PathTrace;
use crate::again;
use crate::failure::{Failure, say};
use crate::output::{self, Draw, MayReplace, drawing, named};

/// The form of a file, by the end of its name.
pub(super) enum FileForm {
    Figure(Draw),
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
            false => drawing(path).map(Self::Figure),
        }
    }
}

/// Flame graphs: one for each size of the message, or each two conditions.
pub(super) struct Flames {
    title: String,
    description: String,
    unit: &'static str,
    /// The title of each graph, the condition compared with, and the stacks.
    graphs: Vec<(String, Option<String>, Vec<FlameStack>)>,
}

impl Flames {
    pub(super) fn of_path(found: &PathTrace) -> Self {
        let mut graphs = Vec::new();
        for traced in &found.traces {
            let Some(profile) = &traced.account.profile else { continue };
            let stacks = profile.folded().chain([(vec!["[other]"], profile.other())]);
            let stacks = stacks.map(|(frames, now)| {
                let frames = frames.into_iter().map(str::to_owned).collect();
                FlameStack { frames, before: 0.0, now }
            });
            graphs.push((traced.size(), None, stacks.collect()));
        }
        Self {
            title: format!("{}: functions", found.path),
            description: format!(
                "{}; CPU for a message {}, without probes; {}",
                found.traffic(),
                found.whose(),
                found.origin().join("; ")
            ),
            unit: found.unit(),
            graphs,
        }
    }

    pub(super) fn of_study(stages: &StageDifferences, name: &str) -> Self {
        let mut graphs = Vec::new();
        for pair in &stages.stacks {
            let title = format!("{} against {}, readers {}", pair.condition, pair.baseline, pair.reader);
            let costs = pair.costs.iter().cloned();
            let stacks = costs.map(|(frames, [before, now])| FlameStack { frames, before, now });
            graphs.push((title, Some(pair.baseline.clone()), stacks.collect()));
        }
        Self {
            title: format!("{name}: functions"),
            description: format!(
                "CPU for a message at both ends, without probes; a function that is called under the first condition only has no width; {}; drawn by `{}`",
                stages.origin,
                again::command()
            ),
            unit: stages.unit,
            graphs,
        }
    }

    pub(super) fn write(self, path: &Path) -> Result<(), Failure> {
        if self.graphs.is_empty() {
            return Err(Failure::Nothing(
                "no functions were sampled: `trace.profile=true` asks for them".to_owned(),
            ));
        }
        let (content, text) = match FileForm::of_flame_graph(path)? {
            FileForm::Figure(draw) => ("flame graph", draw(&self.figure())),
            _ => ("stacks", folded(self.stacks())),
        };
        output::write(path, &text, MayReplace::OwnFile)?;
        say(&format!("wrote the {content} to {}", named(path)));
        Ok(())
    }

    fn figure(self) -> Figure {
        let is_alone = self.graphs.len() == 1;
        let quantity = Quantity::new("cost", self.unit, results::figure);
        let panel = |(title, baseline, stacks)| {
            let title = if is_alone { String::new() } else { title };
            Panel::new(title, Flame::new(quantity.clone(), baseline, stacks))
        };
        let panels = self.graphs.into_iter().map(panel).collect();
        Figure { id: Id::new("flame"), title: self.title, description: self.description, panels }
    }

    /// Each stack with its cost; of two conditions with both, as `difffolded.pl` reads them.
    fn stacks(self) -> Vec<(Vec<String>, Vec<f64>)> {
        let is_alone = self.graphs.len() == 1;
        let mut all = Vec::new();
        for (title, baseline, stacks) in self.graphs {
            for FlameStack { mut frames, before, now } in stacks {
                if !is_alone {
                    frames.insert(0, title.clone());
                }
                all.push((frames, if baseline.is_some() { vec![before, now] } else { vec![now] }));
            }
        }
        all
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
