//! The report of one or several studies: its chapters, in their order, and the page in Markdown.

use results::{Results, capital, distinct};

use crate::chart::{Figure, Id};
use crate::data::Download;
use crate::document::bounded::line;
use crate::document::{Block, Table, escaped, markdown};
use crate::views;

const FOLD: &str = "More figures";

// A note on seeming contradictions between the advice and the answer.
const APART: &str = "The advice has questions of its own. The answer and the tables of conditions judge other \
                     comparisons together, so one of them may prove what the other leaves open.";

// The sections whose figures show the answer: that of the first which a page has.
const ANSWERING: [&str; 2] = ["effects", "runs"];

// The largest number of conditions of which a page shows all; of more it leaves out what it says
// elsewhere, and says so.
const MANY: usize = 64;

pub(crate) fn is_vast(results: &Results) -> bool {
    results.conditions.len() > MANY
}

/// Figures under one heading.
pub struct FigureSection {
    /// Its name in the page.
    pub id: Id,
    /// Its heading.
    pub title: String,
    /// Sentences on all figures together; empty if none are needed.
    pub about: Vec<String>,
    /// Tables above the figures.
    pub tables: Vec<Table>,
    /// The figures, in the order of the page.
    pub figures: Vec<Figure>,
    /// Figures that a reader opens on demand, below the others: of more conditions, or for few
    /// readers.
    pub folded: Vec<Figure>,
}

/// The report of one or several studies.
#[derive(Default)]
pub struct Page<'a> {
    /// The studies, in the order of the page.
    pub studies: &'a [Results],
    /// The settings to change; the chapter is left out without a block.
    pub advice: Vec<Block<'a>>,
    /// The figures of all studies.
    pub figures: Vec<FigureSection>,
    /// The measurements of each study, to download.
    pub data: Vec<Download>,
}

impl Page<'_> {
    /// The page in GitHub's Markdown, without the downloads.
    pub fn markdown(&self) -> String {
        format!("# {}\n\n{}", escaped(&self.heading()), markdown(&self.chapters()))
    }

    pub(crate) fn heading(&self) -> String {
        match self.studies {
            [one] => line(&one.question),
            several => {
                let names = distinct(several.iter().map(|study| line(&study.name)));
                format!("{} studies: {}", several.len(), names.join(", "))
            }
        }
    }

    pub(crate) fn title(&self) -> String {
        match self.studies {
            [one] => format!("{} ({}): report", line(&one.name), one.study),
            _ => format!("{}: report", self.heading()),
        }
    }

    pub(crate) fn chapters(&self) -> Vec<Block<'_>> {
        let section = |id: &&str| self.figures.iter().find(|one| one.id.as_str() == *id);
        let answering = ANSWERING.iter().find_map(section).filter(|one| !one.figures.is_empty());
        // The question of the only study is the heading of the page, and the first of its figures
        // is in the answer.
        let has_question = self.studies.len() > 1;
        let begun = answering.filter(|_| !has_question);
        let answers = self.of_all_studies(|study| answer(study, has_question, begun));
        let mut advice = self.advice.clone();
        let is_compared = self.studies.iter().any(|study| !study.comparisons.is_empty());
        if is_compared && !advice.is_empty() {
            advice.push(Block::Text(APART.to_owned()));
        }
        let conditions = self.of_all_studies(views::conditions);
        let left_out = self.of_all_studies(views::left_out);
        let method = self.of_all_studies(|study| views::method(&study.comparisons));
        let chapter = |id: &str, title: &str, blocks| Block::Chapter(Id::new(id), title.to_owned(), blocks);
        let mut chapters = vec![chapter("answer", "Answer", answers)];
        chapters.extend(answering.map(|section| figures(section, begun.is_some())));
        chapters.push(chapter("advice", "Advice", advice));
        chapters.push(chapter("conditions", "Conditions", conditions));
        let is_other = |section: &&FigureSection| answering.is_none_or(|shown| shown.id != section.id);
        chapters.extend(self.figures.iter().filter(is_other).map(|section| figures(section, false)));
        chapters.extend([
            chapter("environment", "Environment", self.of_all_studies(environment)),
            chapter("left-out", "Failed and disturbed runs", left_out),
            chapter("method", "Method", method),
            chapter("data", "Data", self.data.iter().map(Block::Download).collect()),
        ]);
        // A study without comparisons has no method, and one without switches no advice.
        chapters.retain(|block| !matches!(block, Block::Chapter(_, _, blocks) if blocks.is_empty()));
        chapters
    }

    fn of_all_studies<'b>(&self, blocks: impl Fn(&Results) -> Vec<Block<'b>>) -> Vec<Block<'b>> {
        let mut all = Vec::new();
        for results in self.studies {
            let own = blocks(results);
            if self.studies.len() > 1 && !own.is_empty() {
                let Results { study, name, .. } = results;
                all.push(Block::Heading(format!("Study {study}: {}", line(name))));
            }
            all.extend(own);
        }
        all
    }
}

/// `shown_by`: the section whose first figure shows the answer.
fn answer<'b>(results: &Results, has_question: bool, shown_by: Option<&'b FigureSection>) -> Vec<Block<'b>> {
    let mut blocks: Vec<Block<'b>> = views::answer(results);
    // On the first screen: what explains the answer stands below the figure.
    let lead = blocks.iter().rposition(|block| matches!(block, Block::Lead(_)));
    let place = lead.map_or(blocks.len(), |lead| lead + 1);
    let figure = shown_by.into_iter().flat_map(|section| {
        let about = section.about.iter().cloned().map(Block::Text);
        section.figures.first().map(Block::Figure).into_iter().chain(about)
    });
    blocks.splice(place..place, figure);
    if has_question {
        blocks.insert(0, Block::Text(results.question.clone()));
    }
    blocks.extend(results.truth.map(|truth| Block::Text(format!("{}.", capital(truth)))));
    blocks.push(views::facts(results));
    blocks.extend(views::answers_in_full(results));
    blocks
}

/// `is_begun`: the answer has the first figure, and the sentences on all.
fn figures(section: &FigureSection, is_begun: bool) -> Block<'_> {
    let about = section.about.iter().filter(|_| !is_begun).cloned().map(Block::Text);
    let shown = section.figures.iter().skip(usize::from(is_begun)).map(Block::Figure);
    let tables = section.tables.iter().cloned().map(Block::Table);
    let mut blocks: Vec<Block<'_>> = about.chain(tables).chain(shown).collect();
    if !section.folded.is_empty() {
        let folded = section.folded.iter().map(Block::Figure).collect();
        blocks.push(Block::Fold(FOLD.to_owned(), folded));
    }
    Block::Chapter(section.id.clone(), section.title.clone(), blocks)
}

fn environment(results: &Results) -> Vec<Block<'static>> {
    let evidence = views::evidence(results);
    let title = "Evidence that the switches acted".to_owned();
    let evidence = (!evidence.is_empty()).then_some(Block::Fold(title, evidence));
    let switches = views::switch_states(results).into_iter();
    switches.chain(evidence).chain(views::environment(results)).collect()
}
