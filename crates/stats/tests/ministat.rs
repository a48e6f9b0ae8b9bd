//! The classic words against ministat itself: recorded cases, published studies, and the program at random.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use netassay_stats::ministat::{Level, Set, names, report, table};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The command line of a recorded case, as far as these need it.
struct Case {
    files: Vec<String>,
    level: Level,
    column: usize,
    delimiters: String,
    with_verdicts: bool,
}

fn parse(command: &str) -> Case {
    let mut case = Case {
        files: Vec::new(),
        level: Level::default(),
        column: 1,
        delimiters: " \t".to_owned(),
        with_verdicts: true,
    };
    let mut words = command
        .split_whitespace()
        .take_while(|word| *word != "|")
        .skip_while(|word| *word != "ministat")
        .skip(1);
    let mut only_files = false;
    while let Some(word) = words.next() {
        match word {
            _ if only_files => case.files.push(word.to_owned()),
            "--" => only_files = true,
            "-n" => case.with_verdicts = false,
            "-A" | "-s" => {}
            "-w" => drop(words.next()),
            "-c" => case.level = Level::from_percent(words.next().unwrap().parse().unwrap()).unwrap(),
            "-C" => case.column = words.next().unwrap().parse().unwrap(),
            "-d" => case.delimiters = words.next().unwrap().to_owned(),
            file => case.files.push(file.to_owned()),
        }
    }
    case
}

/// Reads as much of ministat's format as the recorded cases use: lines cut at 8191 bytes, everything after a NUL and
/// trailing blanks left out, lines skipped from a `#`, one column of delimited tokens.
fn read(bytes: &[u8], case: &Case) -> Vec<f64> {
    let pieces = bytes.split_inclusive(|byte| *byte == b'\n').flat_map(|line| line.chunks(8191));
    pieces
        .filter_map(|piece| {
            let text = piece.split(|byte| *byte == 0).next().unwrap();
            let text = str::from_utf8(text).unwrap().trim_end();
            let tokens =
                text.split(|letter| case.delimiters.contains(letter)).filter(|token| !token.is_empty());
            let tokens: Vec<&str> = tokens.take(case.column).collect();
            if tokens.len() < case.column || tokens.iter().any(|token| token.starts_with('#')) {
                return None;
            }
            Some(tokens[case.column - 1].trim_start().parse().unwrap())
        })
        .collect()
}

/// What ministat printed, without its plot.
fn without_plot(stdout: &str) -> String {
    let is_plot = |line: &&str| line.starts_with(['|', '[']) || line.starts_with("+-");
    stdout.split_inclusive('\n').filter(|line| !is_plot(line)).collect()
}

#[test]
fn every_recorded_case() {
    let mut cases = 0;
    for entry in fs::read_dir(fixtures("ministat-cases")).unwrap() {
        let directory = entry.unwrap().path();
        let text = |name| fs::read_to_string(directory.join(name)).unwrap();
        let case = parse(&text("cmd"));
        let sets: Vec<Set> = case
            .files
            .iter()
            .map(|file| {
                let (name, path) =
                    if file == "-" { ("<stdin>", "stdin") } else { (file.as_str(), file.as_str()) };
                Set::new(name, read(&fs::read(directory.join(path)).unwrap(), &case)).unwrap()
            })
            .collect();
        let got = names(&sets).unwrap() + &table(&sets, case.with_verdicts.then_some(case.level)).unwrap();
        assert_eq!(got, without_plot(&text("stdout")), "{}", directory.display());
        cases += 1;
    }
    assert_eq!(cases, 34);
}

fn samples(files: &[&str]) -> String {
    let set = |file: &&str| {
        let text = fs::read_to_string(fixtures("samples").join(file)).unwrap();
        Set::new(*file, text.lines().map(|line| line.parse().unwrap()).collect()).unwrap()
    };
    report(&files.iter().map(set).collect::<Vec<_>>(), Level::default()).unwrap()
}

// The samples are rebuilt to have the published summaries. The rows, differences and intervals expected here are those
// that were published; they did not print the pooled s, which is what Debian's program prints for the same files.

#[test]
fn the_published_verdicts_on_udp_over_loopback() {
    let got = samples(&[
        "udp4_default_nocksum.stat",
        "udp4_nooffload_nocksum.stat",
        "udp4_default.stat",
        "udp4_nooffload.stat",
        "udp6_default.stat",
        "udp6_nooffload.stat",
    ]);
    let expected = "\
x udp4_default_nocksum.stat
+ udp4_nooffload_nocksum.stat
* udp4_default.stat
% udp4_nooffload.stat
# udp6_default.stat
@ udp6_nooffload.stat
    N           Min           Max        Median           Avg        Stddev
x  30       4117.36       8328.19        6137.8     6236.2927      1136.704
+  30       5005.63       8235.45       6465.39     6562.7983     931.47838
No difference proven at 95.0% confidence
*  30        4484.1       8755.31       6528.77     6582.2703     1061.2698
No difference proven at 95.0% confidence
%  30       3406.81       4680.59       3697.94     3769.4827      256.3195
Difference at 95.0% confidence
\t-2466.81 +/- 425.913
\t-39.5557% +/- 6.82958%
\t(Student's t, pooled s = 823.953)
#  30       3683.22       6583.07       5112.01      5195.592     787.95379
Difference at 95.0% confidence
\t-1040.7 +/- 505.542
\t-16.6878% +/- 8.10645%
\t(Student's t, pooled s = 978)
@  30       3098.59       5689.79       3355.83     3551.4927     594.82049
Difference at 95.0% confidence
\t-2684.8 +/- 468.928
\t-43.0512% +/- 7.51934%
\t(Student's t, pooled s = 907.168)
";
    assert_eq!(got, expected);
}

#[test]
fn the_published_verdicts_on_sending_to_a_discarding_interface() {
    let got = samples(&[
        "pps_udp4_local_discard.stat",
        "pps_udp4_local_discard_nocksum.stat",
        "pps_udp6_local_discard.stat",
    ]);
    let expected = "\
x pps_udp4_local_discard.stat
+ pps_udp4_local_discard_nocksum.stat
* pps_udp6_local_discard.stat
    N           Min           Max        Median           Avg        Stddev
x  30     288647.14     297221.37     294965.73     294963.19     1826.9506
+  30     288820.84     296645.88     294073.88      294086.6     2073.5719
No difference proven at 95.0% confidence
*  30        191089     202035.53     194729.67     196752.63     3732.0367
Difference at 95.0% confidence
\t-98210.6 +/- 1518.79
\t-33.2959% +/- 0.514908%
\t(Student's t, pooled s = 2938.18)
";
    assert_eq!(got, expected);
}

/// Says that Debian's ministat is missing, which CI must not pass over.
fn has_ministat(test: &str) -> bool {
    if Command::new("ministat").stdin(Stdio::null()).output().is_ok() {
        return true;
    }
    let line = format!("SKIPPED: {test}: the program ministat is not installed (apt-get install ministat)");
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{line}");
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
    false
}

#[test]
fn equals_debians_program_on_random_sets() {
    if !has_ministat("equals_debians_program_on_random_sets") {
        return;
    }
    let directory = std::env::temp_dir().join(format!("netassay-ministat-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(20150715);
    for round in 0..600 {
        let level = Level::ALL[random.random_range(0..Level::ALL.len())];
        let scale = 10_f64.powi(random.random_range(-6..12));
        let centre = random.random_range(-1.0..1.0) * 10_f64.powi(random.random_range(-3..5));
        let count = random.random_range(1..=7);
        let mut files = Vec::new();
        let mut sets = Vec::new();
        for index in 0..count {
            let shift: f64 = centre + random.random_range(-1.0..1.0);
            let decimals = random.random_range(0..9);
            let size = random.random_range(3..if round % 10 == 0 { 1200 } else { 70 });
            let mut text = String::new();
            let values = (0..size).map(|_| {
                let value = format!("{:.decimals$}", scale * (shift + random.random_range(-1.0..1.0)));
                writeln!(text, "{value}\tboot").unwrap();
                value.parse().unwrap()
            });
            let name = format!("set{index}");
            sets.push(Set::new(&name, values.collect()).unwrap());
            fs::write(directory.join(&name), text).unwrap();
            files.push(name);
        }
        let output = Command::new("ministat")
            .args(["-A", "-c", &level.percent().to_string()])
            .args(&files)
            .current_dir(&directory)
            .output()
            .unwrap();
        assert!(output.status.success(), "round {round}: {}", String::from_utf8_lossy(&output.stderr));
        let expected = String::from_utf8(output.stdout).unwrap();
        let got = report(&sets, level).unwrap();
        assert_eq!(got, expected, "round {round}, files left in {}", directory.display());
    }
    fs::remove_dir_all(&directory).unwrap();
}
