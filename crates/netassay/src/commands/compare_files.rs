//! `netassay compare FILE…`: what differs between files of measurements from any program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{io, mem};

use report::views;
use results::{BootNames, ComparedMetric, Comparisons, Subject};
use samples::{BootColumn, Boots, ComparedConditions, Dataset, MeasurementFile, Options};
use stats::{Against, Question, ValueRange};
use study::Quality;

use crate::cli::{Compare, correction};
use crate::failure::{Failure, bail};
use crate::output;

pub(crate) fn compare(flags: &Compare) -> Result<(), Failure> {
    let Dataset { groups, notes } = read(flags)?;
    let headline = headline(flags, &groups);
    let mut subjects: Vec<Subject> = groups.into_iter().map(|group| subject(group, flags)).collect();
    if let Some(first) = subjects.first_mut() {
        first.notes.extend(notes);
    }
    let comparisons =
        Comparisons::of_values(&headline, subjects).map_err(|error| Failure::Usage(error.to_string()))?;
    output::show_view(&comparisons, &flags.stored.output, views::compare)
}

fn headline(flags: &Compare, groups: &[ComparedConditions]) -> String {
    let boots = match flags.files.boots.as_deref() {
        Some("file") => "each is a boot".to_owned(),
        Some(counts) => format!("boots of {counts} runs each"),
        None if groups.iter().all(|group| group.boots.is_some()) => "boots as the files name them".to_owned(),
        None => "BOOTS NOT KNOWN: each run counts as one, and the intervals may be too narrow".to_owned(),
    };
    let files: usize = flags.what.iter().map(|word| files_of(word).1.len()).sum();
    let parts = [Some(results::counted(files, "file")), kinds(groups), Some(boots)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn kinds(groups: &[ComparedConditions]) -> Option<String> {
    let all = groups.iter().flat_map(|group| group.labels.iter().zip(&group.kinds));
    let all = all.map(|(label, kind)| (label.as_str(), kind.as_deref().unwrap_or("not said")));
    let all = results::distinct(all);
    let (_, first) = *all.first()?;
    if all.iter().all(|(_, kind)| *kind == first) {
        return (first != "not said").then(|| first.to_owned());
    }
    let each: Vec<String> = all.iter().map(|(label, kind)| format!("{label}: {kind}")).collect();
    Some(format!("VALUES OF DIFFERENT KINDS: {}", each.join("; ")))
}

fn subject(group: ComparedConditions, flags: &Compare) -> Subject {
    let is_positive = group.observations.iter().all(|run| run.value >= 0.0);
    let question = Question {
        against: if flags.all_pairs { Against::AllPairs } else { Against::Baseline(group.baseline) },
        level: flags.confidence / 100.0,
        margin: flags.margin,
        design: flags.design,
        correction: correction(flags.uncorrected),
        look: None,
        range: if is_positive { ValueRange::NON_NEGATIVE } else { ValueRange::ANY },
    };
    let name = group.name.unwrap_or_default();
    let metric = group.metric.unwrap_or_else(|| "value".to_owned());
    let unit = group.unit.unwrap_or_default();
    let labels = group.labels.iter().map(|label| label.as_str().into()).collect();
    let quality = flags.files.better.map(Quality::stated).or_else(|| Quality::of_file(&metric, &unit));
    let metric = ComparedMetric::of_file(metric, unit);
    let mut subject = Subject::new(&name, metric, labels, group.observations, question);
    subject.quality = quality;
    subject.notes = group.notes;
    subject.boots = group.boots.map_or(BootNames::Unknown, BootNames::Named);
    subject
}

fn read(flags: &Compare) -> Result<Dataset, Failure> {
    if flags.classic {
        bail!(Usage, "--classic is for stored studies: for files there is `netassay ministat FILE…`");
    }
    let files = &flags.files;
    let options = Options {
        format: files.input_format,
        metric: flags.metric.clone(),
        value: files.column.clone(),
        condition: files.condition.clone(),
        boot: files.boot.as_ref().map(|word| match word.as_str() {
            "none" => BootColumn::None,
            name => BootColumn::Named(name.to_owned()),
        }),
        boots: files.boots.as_deref().map_or(Ok(Boots::Named), boots)?,
        design: flags.design,
        baseline: flags.baseline.clone(),
    };
    let mut inputs = Vec::new();
    let mut stdin_is_free = true;
    for word in &flags.what {
        let (condition, paths) = files_of(word);
        for path in paths {
            let is_file = path != Path::new("-");
            let file = if is_file { path.display().to_string() } else { "<stdin>".to_owned() };
            let mut input = if is_file {
                let opened = host::user_file::open(&path).map_err(|source| Failure::Read { path, source })?;
                MeasurementFile::read(&file, opened, &options)?
            } else if mem::take(&mut stdin_is_free) {
                MeasurementFile::read(&file, io::stdin().lock(), &options)?
            } else {
                bail!(Usage, "standard input can be read only once: give - once");
            };
            input.condition.clone_from(&condition);
            inputs.push(input);
        }
    }
    Ok(Dataset::new(inputs, &options)?)
}

/// A word of the command line: a file, or a condition's name and its files.
fn files_of(word: &OsStr) -> (Option<String>, Vec<PathBuf>) {
    let text = word.to_str().filter(|_| !Path::new(word).exists());
    match text.and_then(|text| text.split_once('=')) {
        Some((name, list)) if !name.is_empty() => {
            let paths = if Path::new(list).exists() { vec![list] } else { list.split(',').collect() };
            (Some(name.to_owned()), paths.into_iter().map(PathBuf::from).collect())
        }
        _ => (None, vec![PathBuf::from(word)]),
    }
}

/// `10,10,10`, or `file`.
fn boots(word: &str) -> Result<Boots, Failure> {
    if word == "file" {
        return Ok(Boots::PerFile);
    }
    let size = |text: &str| text.trim().parse().ok().filter(|size| *size > 0);
    word.split(',').map(size).collect::<Option<Vec<usize>>>().map(Boots::Sizes).ok_or_else(|| {
        Failure::Usage(format!(
            "--boots {word:?} is not a list of counts: write how many runs each boot has, such as 10,10,10, or `file`"
        ))
    })
}
