//! A fleet under Slurm: a job for each task, on the two nodes of its pair alone.

use std::collections::BTreeMap;

use testbed::reach::{HostSpec, Launcher};

use super::Script;
use crate::failure::{Failure, bail};

/// Runs the words behind it on a node of the job, beside its other steps. A binding of CPUs would
/// keep an agent on one.
const SRUN: [&str; 6] = ["srun", "--overlap", "--nodes=1", "--ntasks=1", "--cpu-bind=none", "--chdir=/"];

pub(super) fn text(mut script: Script<'_>) -> Result<String, Failure> {
    let mut nodes: BTreeMap<&str, String> = BTreeMap::new();
    for (place, pair) in script.pairs.iter().enumerate() {
        let mut own = Vec::new();
        for (side, host) in pair.ends() {
            let Some((node, options)) = node(host) else {
                bail!(
                    Usage,
                    "pair {}: its {side} ({host}) names no node of Slurm: write `ssh = \"root@NODE\"` or `launch = [\"srun\", \"-w\", \"NODE\"]`",
                    pair.name
                );
            };
            let words = SRUN.iter().map(|word| (*word).to_owned()).chain(options);
            script.hosts.launch_by(place, side, host, &words.collect::<Vec<_>>());
            own.push(node);
        }
        if own[0] == own[1] {
            bail!(
                Usage,
                "pair {}: both hosts are on node {}, and a task has two nodes: name two",
                pair.name,
                own[0]
            );
        }
        nodes.insert(&pair.name, own.join(","));
    }
    let lines = script.tasks.iter().map(|(task, pair)| format!("{task} {}", nodes[pair]));
    let lines: Vec<String> = lines.collect();
    Ok(script.shell(include_str!("slurm.sh"), &lines))
}

/// The node of a host, and the options of `srun` that choose it.
fn node(host: &HostSpec) -> Option<(String, Vec<String>)> {
    let (node, options) = match host.launcher.as_ref()? {
        Launcher::Ssh { destination, .. } => {
            let node = destination.rsplit('@').next()?;
            (node, vec![format!("--nodelist={node}")])
        }
        Launcher::Words(words) => {
            let (program, options) = words.split_first()?;
            let is_srun = program == "srun" || program.ends_with("/srun");
            (nodelist(options).filter(|_| is_srun)?, options.to_vec())
        }
    };
    // Neither several nodes nor an address.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    (!node.is_empty() && node.chars().all(is_plain)).then(|| (node.to_owned(), options))
}

fn nodelist(options: &[String]) -> Option<&str> {
    options.iter().enumerate().find_map(|(place, word)| match word.as_str() {
        "-w" | "--nodelist" => options.get(place + 1).map(String::as_str),
        word => word.strip_prefix("--nodelist=").or_else(|| word.strip_prefix("-w")),
    })
}
