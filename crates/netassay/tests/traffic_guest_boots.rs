//! Boots of a guest in a study: one that fails is tried once more, and the time that they take is
//! announced.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[path = "common/kernel.rs"]
mod kernel;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;
use std::time::Instant;

use common::{Bench, expect, stderr};
use serde_json::Value;

const STUDY: &str = r#"
name = "boots"
question = "Does it boot?"
scenario = "loopback"
inside = "guest"
[guest]
kernel = "KERNEL"
memory = "256MiB"
acceleration = "emulation"
[[workload]]
kind = "udp_stream"
duration = "1500ms"
ramp = "500ms"
[protocol]
boots = 1
warmup = 0
runs = 3
"#;

/// A directory of programs in which QEMU is a script that counts its calls.
struct Qemu<'a> {
    bench: &'a Bench,
    study: String,
}

impl<'a> Qemu<'a> {
    /// `script` sees the number of the call as `$call`, and the real QEMU as `$qemu`. Being asked
    /// for its version is none.
    fn new(bench: &'a Bench, script: &str) -> Self {
        let real = testbed::guest::Tools::of_this_machine().qemu().unwrap();
        let calls = bench.path("calls");
        let text = format!(
            "#!/bin/sh\nqemu={}\ncase \"$*\" in *-version) exec $qemu \"$@\";; esac\n\
             echo call >> {calls}\ncall=$(wc -l < {calls})\n{script}\n",
            real.display(),
            calls = calls.display()
        );
        // Root's QEMU is nobody's process.
        fs::write(&calls, "").unwrap();
        fs::set_permissions(&calls, fs::Permissions::from_mode(0o666)).unwrap();
        fs::create_dir(bench.path("bin")).unwrap();
        let program = bench.write("bin/qemu-system-x86_64", &text);
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        let study = STUDY.replace("KERNEL", kernel::directory().to_str().unwrap());
        Self { bench, study: bench.write("boots.toml", &study).to_str().unwrap().to_owned() }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let path = format!("{}:{}", self.bench.path("bin").display(), std::env::var("PATH").unwrap());
        self.bench.netassay(arguments).env("PATH", path).output().unwrap()
    }

    fn calls(&self) -> usize {
        fs::read_to_string(self.bench.path("calls")).unwrap_or_default().lines().count()
    }
}

#[test]
#[ignore = "compares the announced with the real time: needs a quiet machine"]
fn traffic_a_guest_that_panics_once_is_booted_again_and_tried_out_once() {
    let bench = Bench::new();
    // The first call tries it out, the second is the study's boot.
    let panic = "echo 'Kernel panic - not syncing: once in a while'";
    let qemu = Qemu::new(&bench, &format!("[ $call = 2 ] && {panic} && exit 0\nexec $qemu \"$@\""));
    let begun = Instant::now();
    let output = qemu.run(&["run", &qemu.study, "--beside", "--progress", "json"]);
    let took = begun.elapsed().as_secs_f64();
    expect(&output, 0);
    assert_eq!(qemu.calls(), 3);
    let events: Vec<Value> =
        stderr(&output).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let event = |name: &str| events.iter().find(|event| event["event"] == name).unwrap();
    let again = "the guest's kernel panicked: once in a while (the boot failed";
    assert!(event("boot_started")["notes"].to_string().contains(again), "{events:#?}");
    let text: String = bench
        .database()
        .query_row("SELECT json FROM document JOIN boot ON boot.environment = document.id", [], |row| {
            row.get(0)
        })
        .unwrap();
    let environment: Value = serde_json::from_str(&text).unwrap();
    let kept = environment["guests"]["guest"]["failed_first"].as_str().unwrap();
    assert!(kept.contains("the last lines of its console") && kept.contains("| Kernel panic"), "{kept}");
    let shown = bench.run(&["show", "1"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains(again), "it is on the page");

    // The time without the boot that failed: runs of known length, and a boot as long as the first,
    // or stated.
    let output = qemu.run(&["run", &qemu.study, "--dry-run", "--format", "json"]);
    expect(&output, 0);
    let listing: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(qemu.calls(), 4, "its switches are tried");
    let announced = listing["expected_s"].as_f64().unwrap();
    let boot = listing["expected"]["boots"]["secs"].as_f64().unwrap();
    assert!(announced >= boot + 6.0 && announced < took * 1.5, "{took}: {listing:#}");
}

#[test]
fn traffic_a_guest_that_panics_twice_is_reported_with_both_reasons() {
    let bench = Bench::new();
    let qemu = Qemu::new(
        &bench,
        "echo \"Kernel panic - not syncing: cause $([ $call = 1 ] && echo one || echo two)\"",
    );
    let output = qemu.run(&["run", &qemu.study, "--beside"]);
    assert_eq!((output.status.code(), qemu.calls()), (Some(6), 2), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(text.contains("the guest's kernel panicked: cause two"), "{text}");
    assert!(
        text.contains("it was booted twice; the first time the guest's kernel panicked: cause one"),
        "{text}"
    );

    // What cannot pass is not tried twice.
    fs::remove_file(bench.path("calls")).unwrap();
    bench.write(
        "bin/qemu-system-x86_64",
        &format!("#!/bin/sh\necho call >> {}\necho broken >&2\nexit 1\n", bench.path("calls").display()),
    );
    let output = qemu.run(&["run", &qemu.study, "--beside"]);
    assert_eq!((output.status.code(), qemu.calls()), (Some(3), 1), "{}", stderr(&output));
    assert!(stderr(&output).contains("broken"), "{}", stderr(&output));
}
