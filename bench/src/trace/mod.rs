//! What a traced packet costs, by netassay's probes and by bpftrace's at the same places: in one
//! guest that counts instructions, in turn. Without bpftrace, by netassay's alone.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;
use testbed::guest::{Archive, Kernel, Tools, loaded_part};

use crate::bench::{Bench, temporary_directory, write};
use crate::failure::Failure;
use crate::figures::{Ratios, summary};
use crate::goal::{Bound, Goal};
use crate::guest_boot::busybox;
use crate::installed::program_of_package;
use crate::process::Owned;
use crate::report::{Report, heading};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What the guest boots: an image, a directory with one, or a package that `netassay kernel
    /// fetch` brought
    #[arg(long, default_value = "linux-image-cloud-amd64")]
    kernel: String,
    /// A static busybox; left out: the machine's
    #[arg(long, value_name = "PATH")]
    busybox: Option<PathBuf>,
    /// bpftrace; left out: the machine's
    #[arg(long, value_name = "PATH")]
    bpftrace: Option<PathBuf>,
}

/// What netassay's probes cost by what bpftrace's do, where both probe the same places.
const GOAL: f64 = 0.6;
/// A guest ends by itself long before.
const PATIENCE: Duration = Duration::from_secs(900);
/// The name of a script of bpftrace's, and its text.
type Script = (&'static str, &'static str);
/// Those that run in the guest, in the order in which they do.
const SCRIPTS: [Script; 2] = [("stages.bt", include_str!("stages.bt")), ("same.bt", include_str!("same.bt"))];
const INIT: &str = include_str!("init.sh");

pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let mut report = Report::begin("trace", &heading("instructions per packet", ""));
    report.note(
        "udp-tx by tracepoints: one UDP datagram of 1 byte over loopback, in one emulated guest that counts instructions; \
         bpftrace with a histogram for each stage, and with all places that netassay probes (interruptions taken off each stage)",
    );
    let kernel = Kernel::find(Some(&options.kernel)).map_err(Failure::environment)?;
    let qemu = Tools::of_this_machine().qemu().map_err(Failure::environment)?;
    let bpftrace = options.bpftrace.clone().or_else(|| program_of_package("bpftrace", &mut report));
    let Some(shell) = busybox(options.busybox.as_deref()) else {
        report.not_run("the guest: no static busybox: apt-get install busybox-static, or --busybox");
        return Ok(report.finish());
    };
    let directory = temporary_directory()?;
    let rounds = bench.rounds(3, 1);
    let scripts: &[Script] = if bpftrace.is_some() { &SCRIPTS } else { &[] };
    write(
        &directory.path().join("initramfs"),
        initramfs(bench, &shell, bpftrace.as_deref(), scripts, rounds)?,
    )?;
    let wanted = rounds as usize * of_round(scripts);
    let documents = boot(bench, &qemu, &kernel, directory.path(), wanted)?;

    let costs = Costs::of(&documents, scripts);
    report.figures("without probes", &costs.without, 0);
    report.figures("netassay's probes", &costs.own, 0);
    for ((name, _), [own, peer]) in scripts.iter().zip(&costs.pairs) {
        report.figures(&format!("bpftrace's probes, {name}"), peer, 0);
        let Some(ratios) = Ratios::of(own, peer) else { continue };
        let what = format!("netassay / bpftrace, {name}, median of pairs");
        if *name == "same.bt" {
            let goal = Goal::new(what, ratios.all.median, Bound::AtMost(GOAL), "");
            report.goals.push(goal.within(ratios.interval));
        } else {
            report.note(format!("{what}: {:.3}", ratios.all.median));
        }
    }
    Ok(report.finish())
}

/// How many documents the guest tells in a round: one before each script, and one beside it.
fn of_round(scripts: &[Script]) -> usize {
    (2 * scripts.len()).max(1)
}

/// What probes cost, by the document.
#[derive(Debug, Default, PartialEq)]
struct Costs {
    /// What a message takes without any.
    without: Vec<f64>,
    /// What netassay's add, without a peer.
    own: Vec<f64>,
    /// By script, in pairs of neighbours: what netassay's add, and what the peer's do.
    pairs: Vec<[Vec<f64>; 2]>,
}

impl Costs {
    /// Of documents in the order in which the guest tells them: what a message takes without
    /// netassay's probes and with all of them.
    fn of(documents: &[[f64; 2]], scripts: &[Script]) -> Self {
        let mut costs = Self { pairs: vec![Default::default(); scripts.len()], ..Self::default() };
        for round in documents.chunks_exact(of_round(scripts)) {
            for (place, turn) in round.chunks(2).enumerate() {
                let [plain, probed] = turn[0];
                costs.without.push(plain);
                costs.own.push(probed - plain);
                if let (Some([own, peer]), [_, [beside, _]]) = (costs.pairs.get_mut(place), turn) {
                    own.push(probed - plain);
                    peer.push(beside - plain);
                }
            }
        }
        costs
    }
}

/// The guest's files: both programs, what bpftrace links to, and what the guest does.
fn initramfs(
    bench: &Bench,
    shell: &[u8],
    bpftrace: Option<&Path>,
    scripts: &[Script],
    rounds: u32,
) -> Result<Vec<u8>, Failure> {
    let read = |path: &Path| fs::read(path).map_err(Failure::io(format!("cannot read {}", path.display())));
    let mut archive = Archive::default();
    for directory in ["dev", "bin", "lib", "lib64"] {
        archive.directory(directory);
    }
    archive.device("dev/console", 0o600, 5, 1);
    archive.file("bin/busybox", 0o755, shell);
    archive.file("bin/sh", 0o755, shell);
    let netassay = loaded_part(&read(&bench.netassay)?).map_err(Failure::environment)?;
    archive.file("bin/netassay", 0o755, &netassay);
    if let Some(bpftrace) = bpftrace {
        archive.file("bin/bpftrace", 0o755, &read(bpftrace)?);
        for library in libraries(bpftrace)? {
            let name = library.file_name().unwrap_or_default().to_string_lossy();
            // The loader is where programs name it.
            let room = if name.starts_with("ld-linux") { "lib64" } else { "lib" };
            archive.file(&format!("{room}/{name}"), 0o755, &read(&library)?);
        }
    }
    let names: String = scripts.iter().map(|(name, _)| format!("{name}\n")).collect();
    for (name, script) in scripts {
        archive.file(name, 0o644, script.as_bytes());
    }
    archive.file("scripts", 0o644, names.as_bytes());
    archive.file("rounds", 0o644, rounds.to_string().as_bytes());
    let size = bench.or_smoke("trace.batch=2000 trace.rounds=3", "trace.batch=64 trace.rounds=2");
    archive.file("size", 0o644, size.as_bytes());
    archive.file("init", 0o755, INIT.as_bytes());
    Ok(archive.finish())
}

/// The files that a program is linked to, as the dynamic loader finds them.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, Failure> {
    let output = Command::new("ldd").arg(program).stdin(Stdio::null()).output();
    let output = output.map_err(Failure::io("cannot run ldd"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let found: Vec<PathBuf> =
        text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect();
    if output.status.success() && !found.is_empty() && !text.contains("not found") {
        return Ok(found);
    }
    Err(Failure::Environment(format!("{} lacks libraries: {text}", program.display())))
}

/// Boots the guest; of each document how many instructions a message takes without netassay's
/// probes and with all of them.
fn boot(
    bench: &Bench,
    qemu: &Path,
    kernel: &Kernel,
    directory: &Path,
    wanted: usize,
) -> Result<Vec<[f64; 2]>, Failure> {
    let [console, told] = ["console", "told"].map(|name| directory.join(name));
    let out = File::create(&console).map_err(Failure::io("cannot make a file for the console"))?;
    let mut command = Command::new(qemu);
    command.args([
        "-nodefaults",
        "-no-reboot",
        "-display",
        "none",
        "-machine",
        "q35",
        "-smp",
        "1",
        "-m",
        "3072",
    ]);
    // As guests of exact mode: no byte of a copy counts as an instruction.
    command.args(["-accel", "tcg,thread=single", "-cpu", "max,-erms,-fsrm,-rdrand,-rdseed"]);
    command.args(["-icount", "shift=0,sleep=off", "-serial", "stdio", "-serial"]);
    command.arg(format!("file:{}", told.display()));
    command.arg("-kernel").arg(&kernel.image).arg("-initrd").arg(directory.join("initramfs"));
    command.args([
        "-append",
        "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check nokaslr norandmaps \
         randomize_kstack_offset=off tsc_early_khz=1000000",
    ]);
    command.stdin(Stdio::null()).stdout(out).stderr(Stdio::null());
    bench.say("trace: the guest boots");
    let mut running = Owned(command.spawn().map_err(Failure::io("cannot start QEMU"))?);
    let start = Instant::now();
    while running.ended()?.is_none() && start.elapsed() < PATIENCE {
        bench.sleep(Duration::from_millis(200))?;
    }
    drop(running);
    let text = fs::read_to_string(&told).map_err(Failure::io("cannot read what the guest told"))?;
    let documents: Vec<Value> = serde_json::Deserializer::from_str(&text)
        .into_iter()
        .collect::<Result<_, _>>()
        .map_err(Failure::failed)?;
    if documents.len() != wanted {
        let said = fs::read_to_string(&console).unwrap_or_default();
        let last: Vec<&str> = said.lines().rev().take(5).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        return Err(Failure::Failed(format!(
            "the guest told {} documents, not {wanted}; its last words: {}",
            documents.len(),
            last.join(" | ")
        )));
    }
    documents.iter().map(messages).collect()
}

/// What a message takes in a document, as `netassay trace` says it: medians of batches.
fn messages(document: &Value) -> Result<[f64; 2], Failure> {
    let account = &document["traces"][0]["account"];
    let median = |list: &Value, ns: fn(&Value) -> &Value| {
        let each = list.as_array().into_iter().flatten().filter_map(|one| ns(one).as_f64());
        summary(each).map(|all| all.median)
    };
    let batch = account["batch"].as_f64();
    let untraced = median(&account["untraced"], |one| one);
    let all = median(&account["all"], |round| &round["batch_ns"]);
    let (Some(batch), Some(untraced), Some(all)) = (batch, untraced, all) else {
        return Err(Failure::failed("a trace in the guest has no batches"));
    };
    Ok([untraced / batch, all / batch])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_message_takes_is_the_median_of_its_batches() {
        let account = json!({ "batch": 10, "untraced": [70, 50, 60], "all": [{ "batch_ns": 90 }, { "batch_ns": 110 }] });
        let document = json!({ "traces": [{ "account": account }] });
        assert_eq!(messages(&document).unwrap(), [6.0, 10.0]);
        assert!(messages(&json!({ "traces": [] })).is_err());
    }

    /// A round of two scripts is plain, beside the first, plain, beside the second.
    #[test]
    fn documents_are_paired_as_the_guest_tells_them() {
        let documents = [[10.0, 14.0], [17.0, 20.0], [11.0, 15.0], [21.0, 25.0]];
        let costs = Costs::of(&documents, &SCRIPTS);
        assert_eq!((costs.without, costs.own), (vec![10.0, 11.0], vec![4.0, 4.0]));
        assert_eq!(costs.pairs, [[vec![4.0], vec![7.0]], [vec![4.0], vec![10.0]]]);
        // Without bpftrace each document is a round.
        let alone = Costs::of(&documents[..2], &[]);
        assert_eq!(alone, Costs { without: vec![10.0, 17.0], own: vec![4.0, 3.0], pairs: Vec::new() });
    }

    #[test]
    fn the_libraries_of_a_program_are_files() {
        let found = libraries(Path::new("/bin/sh")).unwrap();
        assert!(found.iter().all(|library| library.is_file()), "{found:?}");
        assert!(libraries(Path::new("/no/such/program")).is_err());
    }
}
