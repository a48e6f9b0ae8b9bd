//! The stacks that were sampled, as flame graphs.

use std::path::Path;

use report::chart::{Figure, Flame, FlameStack, Id, Panel, Quantity};
use results::{PathTraceReport, StageDifferences};

use crate::again;
use crate::failure::{Failure, bail, say};
use crate::output::{self, MayReplace, drawing, named};

pub(super) fn check(path: &Path) -> Result<(), Failure> {
    if is_folded(path) { Ok(()) } else { drawing(path).map(drop) }
}

/// True for a file of folded stacks, for programs that draw flame graphs.
fn is_folded(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "folded")
}

pub(super) struct Flames {
    title: String,
    description: String,
    unit: &'static str,
    /// The title of each graph, the condition compared with, and the stacks.
    graphs: Vec<(String, Option<String>, Vec<FlameStack>)>,
}

impl Flames {
    pub(super) fn of_path(found: &PathTraceReport) -> Self {
        let mut graphs = Vec::new();
        for traced in &found.traces {
            let Some(profile) = &traced.account.profile else { continue };
            let stacks = profile.folded().chain([(vec!["[other]"], profile.other())]);
            let stacks = stacks.map(|(frames, now)| -> FlameStack {
                (frames.into_iter().map(str::to_owned).collect(), [0.0, now])
            });
            graphs.push((traced.size(), None, stacks.collect()));
        }
        let (traffic, ends, origin) = (found.traffic(), found.at_ends(), found.origin().join("; "));
        Self {
            title: format!("{}: functions", found.path),
            description: format!("{traffic}; CPU for a message {ends}, without probes; {origin}"),
            unit: found.unit(),
            graphs,
        }
    }

    pub(super) fn of_study(stages: &StageDifferences, name: &str) -> Self {
        let graphs = stages.stacks.iter().map(|pair| {
            let title = format!("{} against {}, readers {}", pair.condition, pair.baseline, pair.reader);
            (title, Some(pair.baseline.clone()), pair.costs.clone())
        });
        let (origin, command) = (&stages.origin, again::command());
        Self {
            title: format!("{name}: functions"),
            description: format!(
                "CPU for a message at both ends, without probes; a function that is called under the first condition only has no width; {origin}; drawn by `{command}`"
            ),
            unit: stages.unit,
            graphs: graphs.collect(),
        }
    }

    pub(super) fn write(self, path: &Path) -> Result<(), Failure> {
        if self.graphs.is_empty() {
            bail!(Nothing, "no functions were sampled: `trace.profile=true` asks for them");
        }
        let (content, text) = match is_folded(path) {
            true => ("stacks", self.folded()),
            false => ("flame graph", drawing(path)?(&self.figure())),
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

    /// Folded stacks: a line for each stack that costs anything, with its frames and its cost.
    fn folded(self) -> String {
        let is_alone = self.graphs.len() == 1;
        let mut text = String::new();
        for (title, baseline, stacks) in self.graphs {
            let root = (!is_alone).then_some(title);
            for (frames, [before, now]) in stacks {
                let frames = root.iter().chain(&frames).map(|frame| frame.replace(';', ","));
                let frames: Vec<String> = frames.collect();
                let (before, now) = (before.round(), now.round());
                // `difffolded.pl` reads both costs of two conditions.
                let before_words = baseline.as_ref().map_or_else(String::new, |_| format!("{before} "));
                if before.max(now) > 0.0 {
                    text.push_str(&format!("{} {before_words}{now}\n", frames.join(";")));
                }
            }
        }
        text
    }
}
