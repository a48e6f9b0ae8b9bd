//! A fleet under Kubernetes: an indexed job with a task for each index, and pods as hosts.

use std::collections::BTreeMap;

use testbed::reach::{HostSpec, Launcher};
use words::fnv1a;

use super::{Script, fill};
use crate::failure::{Failure, bail};

/// The largest ConfigMap, in bytes: 1 MiB with its metadata.
const LARGEST: usize = 1_000_000;

/// The name of the image, where none is given.
const IMAGE: &str = "netassay";

pub(super) fn text(mut script: Script<'_>) -> Result<String, Failure> {
    let name = format!("netassay-{:016x}", fnv1a(script.campaign.as_bytes()));
    let image = script.flags.image.as_deref().unwrap_or(IMAGE);
    let image = serde_json::Value::from(image).to_string();
    let (mut pods, mut of_pairs) = (String::new(), BTreeMap::<&str, Vec<String>>::new());
    for (place, pair) in script.pairs.iter().enumerate() {
        let (number, own) = (place.to_string(), of_pairs.entry(&pair.name).or_default());
        let mut nodes = Vec::new();
        for (side, host) in pair.ends() {
            let node = match Pod::for_host(host) {
                Some(Pod::OnNode(node)) => node,
                Some(Pod::There) => continue,
                None => bail!(
                    Usage,
                    "pair {}: its {side} ({host}) is no pod: write `ssh = \"root@NODE\"` for a pod on that node, or `launch = [\"kubectl\", \"exec\", \"-i\", \"POD\", \"--\"]` for one that is there",
                    pair.name
                ),
            };
            let pod = format!("host-{place}-{side}");
            let words = ["kubectl", "exec", "-i", &pod, "--"].map(str::to_owned);
            script.hosts.launch_by(place, side, host, &words);
            let parts: [(&str, &str); 6] = [
                ("pair", &pair.name),
                ("pod", &pod),
                ("name", &name),
                ("number", &number),
                ("node", node),
                ("image", &image),
            ];
            pods += &(fill(include_str!("pod.yaml"), &parts) + "\n");
            own.push(pod);
            nodes.push(node);
        }
        if let [one, other] = nodes.as_slice()
            && one == other
        {
            let pair = &pair.name;
            bail!(
                Usage,
                "pair {pair}: both hosts are on node {one}, and its pods are on two nodes: name two"
            );
        }
    }
    let line =
        |(task, pair): &(String, &str)| [vec![task.clone()], of_pairs[pair].clone()].concat().join(" ");
    let tasks: Vec<String> = script.tasks.iter().map(line).collect();
    let task = script.filled(include_str!("task.sh"), &[("run", &script.run("${0%/*}"))]);
    let hosts = script.hosts.text();
    let mut files = vec![("hosts.toml", hosts), ("tasks", tasks.join("\n")), ("task.sh", task)];
    files.extend(script.study.clone().map(|text| ("study.toml", text)));
    let data: String = files.iter().map(|(name, text)| block(name, text)).collect();
    if data.len() > LARGEST {
        bail!(
            Usage,
            "the files of the tasks have {} bytes, and a ConfigMap holds 1 MiB: divide the pairs into several files of hosts",
            data.len()
        );
    }
    let completions = tasks.len().to_string();
    let parts: [(&str, &str); 5] = [
        ("name", &name),
        ("data", data.trim_end()),
        ("image", &image),
        ("pods", &pods),
        ("completions", &completions),
    ];
    Ok(script.filled(include_str!("kubernetes.yaml"), &parts))
}

/// The pod of a host.
enum Pod<'h> {
    /// To be made on this node.
    OnNode(&'h str),
    There,
}

impl<'h> Pod<'h> {
    fn for_host(host: &'h HostSpec) -> Option<Self> {
        match host.launcher.as_ref()? {
            Launcher::Ssh { destination, .. } => {
                let node = destination.rsplit('@').next()?;
                let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
                node.chars().all(is_plain).then_some(Self::OnNode(node))
            }
            Launcher::Words(words) => words.first()?.ends_with("kubectl").then_some(Self::There),
        }
    }
}

/// A text as a value of a map: its lines behind four blanks, which are none of its own.
fn block(name: &str, text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    let lines: String = text.trim_end_matches('\n').lines().map(line).collect();
    format!("  {name}: |2\n{lines}")
}
