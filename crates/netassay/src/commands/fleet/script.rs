//! `netassay fleet script`: what measures a study on all pairs of a fleet, as text to read and to
//! change. A task measures one pair, into a file of its own, and is idempotent: started again it
//! continues that file, and ends at once if the pair is complete.

mod hosts_file;
mod kubernetes;
mod slurm;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use store::FleetPair;
use study::{Study, bundled};
use words::{fnv1a, shell_word};

use super::in_order;
use crate::cli::{Cli, Command, FleetScript, HostFlags, RunFlags, Scheduler};
use crate::commands::hosts::{PairOfHosts, pairs};
use crate::commands::run::asked;
use crate::commands::study_files::read_text;
use crate::failure::{Failure, bail};
use crate::output::{named, print};
use hosts_file::HostsFileText;

/// The longest name of a campaign, in bytes: that of the database.
const LONGEST_CAMPAIGN: usize = 256;

/// The files that tasks read: `put` puts each in its place whole, as tasks run side by side.
const PUT: &str = r#"mkdir -p "$dir"
put() {
  part=$(mktemp "$dir/.part.XXXXXX")
  cat > "$part"
  mv -f "$part" "$dir/$1"
}"#;

/// The end of a task, whose name is in `task`: a pair, or `PAIR#2` for the second measurement of
/// the reference pair.
const RUN: &str = r#"pair=${task%%#*} repeat=${task##*#}
[ "$repeat" != "$task" ] || repeat=1
exec "${NETASSAY:-netassay}" run @study@ --hosts "@here@/hosts.toml" \
  --pair "$pair" --repeat "$repeat" --campaign @campaign@ \
  --db "$dir/$task.db" --no-report --progress plain@options@"#;

pub(crate) fn script(flags: &FleetScript) -> Result<(), Failure> {
    let pairs = named_pairs(&flags.hosts)?;
    print(&(Script::new(flags, &pairs)?.text()? + "\n"))
}

/// The pairs of a file of hosts, one at least.
pub(super) fn named_pairs(hosts: &Path) -> Result<Vec<PairOfHosts>, Failure> {
    let pairs = pairs(&HostFlags { hosts: Some(hosts.to_owned()), ..HostFlags::default() })?;
    if pairs.is_empty() {
        bail!(Usage, "{} has no [[pair]]: name the pairs of the fleet (docs/fleets.md)", named(hosts));
    }
    Ok(pairs)
}

/// The name of a task: that of the measurement of a pair.
pub(super) fn task_name(pair: &str, repeat: u32) -> String {
    let (campaign, name, labels) = (String::new(), pair.to_owned(), BTreeMap::new());
    FleetPair { campaign, name, labels, repeat }.to_string()
}

struct Script<'f> {
    flags: &'f FleetScript,
    pairs: &'f [PairOfHosts],
    /// The text of the study's file; `None`: it is bundled.
    study: Option<String>,
    hosts: HostsFileText,
    campaign: String,
    title: String,
    facts: String,
    /// The name of each task, and its pair.
    tasks: Vec<(String, &'f str)>,
}

impl<'f> Script<'f> {
    fn new(flags: &'f FleetScript, pairs: &'f [PairOfHosts]) -> Result<Self, Failure> {
        let hosts = HostsFileText::read(&flags.hosts)?;
        let study = asked(&flags.study, &flags_of_task(flags, &pairs[0].name)?)?;
        let bundled = bundled::find(&flags.study);
        let text = match bundled {
            Some(known) => known.text.to_owned(),
            None => read_text(Path::new(&flags.study), study::MAX_TEXT as u64, "a study file")?,
        };
        // No script holds a carriage return.
        let text = text.replace("\r\n", "\n");
        let campaign = match &flags.campaign {
            Some(name) if (1..=LONGEST_CAMPAIGN).contains(&name.len()) => name.clone(),
            Some(_) => bail!(Usage, "--campaign: a name has 1 to {LONGEST_CAMPAIGN} bytes"),
            None => {
                let content = format!("{text}\0{}\0{}", hosts.text(), flags.options.join("\0"));
                format!("{}@{:016x}", study.name, fnv1a(content.as_bytes()))
            }
        };
        let tasks = in_order(pairs, study.protocol.seed).into_iter();
        let tasks = tasks.map(|(pair, repeat)| (task_name(&pair.name, repeat), pair.name.as_str()));
        Ok(Self {
            flags,
            pairs,
            title: words::sanitised_line(&format!(
                "{} on {} of machines, campaign {campaign}",
                study.name,
                results::counted(pairs.len(), "pair")
            ))
            .into_owned(),
            facts: facts(&study),
            tasks: tasks.collect(),
            study: bundled.is_none().then_some(text),
            hosts,
            campaign,
        })
    }

    fn text(self) -> Result<String, Failure> {
        let Scheduler { slurm, kubernetes, local } = self.flags.scheduler;
        let text = match (slurm, kubernetes, local) {
            (true, ..) => slurm::text(self)?,
            (_, true, _) => kubernetes::text(self)?,
            _ => self.local(),
        };
        // YAML has neither of the two noncharacters.
        let changes = |text: &str| {
            matches!(words::sanitised_lines(text), Cow::Owned(_)) || text.contains(['\u{fffe}', '\u{ffff}'])
        };
        // Printed as its escape it would make another study.
        if changes(&text)
            && let Some(letter) = text.chars().find(|letter| changes(&letter.to_string()))
        {
            let letter = letter.escape_unicode();
            bail!(
                Usage,
                "a script cannot hold the character {letter} of the study, the file of hosts or an option: remove it"
            );
        }
        Ok(text)
    }

    /// `more`: parts of this template alone.
    fn filled(&self, template: &str, more: &[(&str, &str)]) -> String {
        let at_once = self.flags.at_once.unwrap_or(1).to_string();
        let campaign = shell_word(&self.campaign);
        let parts: [(&str, &str); 4] =
            [("title", &self.title), ("facts", &self.facts), ("at_once", &at_once), ("campaign", &campaign)];
        fill(template, &[&parts[..], more].concat())
    }

    /// A shell script with its files. `lines`: the tasks, one a line.
    fn shell(&self, template: &str, lines: &[String]) -> String {
        let dir = shell_word(&self.flags.into.to_string_lossy());
        let study = self.study.as_ref().map(|text| here_document("study.toml", text));
        let hosts = here_document("hosts.toml", &self.hosts.text());
        let files = [Some(PUT.to_owned()), Some(hosts), study].into_iter().flatten().collect::<Vec<_>>();
        let (files, run, lines) = (files.join("\n"), self.run("$dir"), lines.join("\n"));
        self.filled(template, &[("dir", &dir), ("tasks", &lines), ("files", &files), ("run", &run)])
    }

    /// The command of a task, whose files are in the directory `here`.
    fn run(&self, here: &str) -> String {
        let study = match &self.study {
            Some(_) => format!("\"{here}/study.toml\""),
            None => shell_word(&self.flags.study),
        };
        let options: String =
            self.flags.options.iter().map(|word| format!(" {}", shell_word(word))).collect();
        self.filled(RUN, &[("study", &study), ("here", here), ("options", &options)])
    }

    fn local(&self) -> String {
        let lines: Vec<String> = self.tasks.iter().map(|(task, _)| task.clone()).collect();
        self.shell(include_str!("script/local.sh"), &lines)
    }
}

/// The options of a task, read as the task reads them.
fn flags_of_task(flags: &FleetScript, pair: &str) -> Result<RunFlags, Failure> {
    let campaign = flags.campaign.as_deref().unwrap_or(pair);
    let hosts = flags.hosts.as_os_str().to_owned();
    let before = ["netassay", "run", &flags.study, "--hosts"].map(OsString::from);
    let of_pair = ["--pair", pair, "--repeat", "1", "--campaign", campaign, "--db", "netassay.db"];
    let behind = of_pair.into_iter().chain(["--no-report", "--progress", "plain"]);
    let behind = behind.chain(flags.options.iter().map(String::as_str)).map(OsString::from);
    let read = Cli::read(before.into_iter().chain([hosts]).chain(behind));
    let nothing = "the tasks would measure nothing: leave it out";
    match read.map(|read| read.command) {
        // To clap it is no error.
        Err(help) if !help.use_stderr() => bail!(Usage, "--help: {nothing}"),
        Ok(Command::Run(run)) if run.flags.campaign.dry_run => bail!(Usage, "--dry-run: {nothing}"),
        Ok(Command::Run(run)) => Ok(run.flags),
        Ok(_) => Err(Failure::Internal("the command of a task is no `run`".to_owned())),
        Err(wrong) => Err(wrong.into()),
    }
}

fn facts(study: &Study) -> String {
    let time = results::duration(study::expected_duration(&study.plan(), &study.protocol));
    format!(
        "# A task takes some {time}. It writes the file of its pair; started again it continues that\n\
         # file, and ends at once if the pair is complete. NETASSAY names the program, FLEET_DIR the\n\
         # directory of the files."
    )
}

/// Replaces each `@NAME@` of a template by the part of this name.
fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    // In one pass: a part may hold text of others.
    let mut filled = String::new();
    for piece in template.trim_end_matches('\n').split('@') {
        let part = parts.iter().find(|(name, _)| *name == piece);
        filled += part.map_or(piece, |(_, text)| *text);
    }
    filled
}

fn here_document(name: &str, text: &str) -> String {
    let mut end = "END".to_owned();
    while text.lines().any(|line| line == end) {
        end.push('_');
    }
    format!("put {name} <<'{end}'\n{}\n{end}", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests;
