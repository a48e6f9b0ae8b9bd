//! The core of the drop-in against ministat itself: recorded cases, published studies, and the
//! program at random. What needs the built binary is in the tests of `netassay`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use netassay_samples::ministat::{
    ConfidenceLevel, MinistatPlot, MinistatRequest, Rejection, Set, report, write_all,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The program with its files in `directory`, but for what the operating system says: none if a
/// file cannot be opened.
fn run(directory: &Path, request: Result<MinistatRequest, Rejection>) -> Option<Result<Vec<u8>, Rejection>> {
    let request = match request {
        Ok(request) => request,
        Err(refusal) => return Some(Err(refusal)),
    };
    let mut sets = Vec::new();
    for name in &request.files {
        let name = str::from_utf8(name).unwrap();
        let path = directory.join(if name == "-" { "stdin" } else { name });
        let bytes = if path.is_dir() { Vec::new() } else { fs::read(path).ok()? };
        let name = if name == "-" { "<stdin>" } else { name };
        let mut values = Vec::new();
        if let Err(error) = request.format().read(&bytes, &mut values) {
            return Some(Err(Rejection::invalid_data(name.as_bytes(), error.line)));
        }
        match Set::new(name, &values) {
            Ok(set) => sets.push(set),
            Err(_) => return Some(Err(Rejection::too_few_points(name.as_bytes()))),
        }
    }
    let width = request.width.unwrap_or(74);
    let plot =
        if request.plot { MinistatPlot::new(&sets, width, request.separate_bars).unwrap() } else { None };
    let names: Vec<&[u8]> = sets.iter().map(|set| set.name.as_bytes()).collect();
    let mut out = Vec::new();
    write_all(&mut out, &request, &sets, &names, plot.as_ref()).unwrap();
    Some(Ok(out))
}

/// The request in a recorded command line, and whether that is all there is to the case.
fn parse(command: &str) -> Result<MinistatRequest, Rejection> {
    let words =
        command.split_whitespace().take_while(|word| *word != "|").skip_while(|word| *word != "ministat");
    let words = words.skip(1).map(|word| word.trim_matches('"').as_bytes().to_vec());
    let posix = command.starts_with("POSIXLY_CORRECT");
    MinistatRequest::parse(&words.collect::<Vec<_>>(), b"ministat", posix)
}

#[test]
fn every_recorded_case() {
    let mut compared = 0;
    let mut left_to_the_binary = Vec::new();
    for entry in fs::read_dir(fixtures("ministat-cases")).unwrap() {
        let directory = entry.unwrap().path();
        let read = |name| fs::read(directory.join(name)).unwrap();
        let case = directory.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(got) = run(&directory, parse(str::from_utf8(&read("cmd")).unwrap())) else {
            left_to_the_binary.push(case);
            continue;
        };
        let (stdout, refusal) = match got {
            Ok(stdout) => (stdout, Rejection { text: Vec::new(), code: 0 }),
            Err(refusal) => (Vec::new(), refusal),
        };
        assert_eq!(String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&read("stdout")), "{case}");
        assert_eq!(
            String::from_utf8_lossy(&refusal.text),
            String::from_utf8_lossy(&read("stderr")),
            "{case}"
        );
        assert_eq!(refusal.code.to_string(), str::from_utf8(&read("rc")).unwrap().trim(), "{case}");
        compared += 1;
    }
    left_to_the_binary.sort();
    assert_eq!(left_to_the_binary, ["25-second-missing", "55-posixly-correct"]);
    assert_eq!(compared, 49);
}

fn samples(files: &[&str]) -> String {
    let set = |file: &&str| {
        let text = fs::read_to_string(fixtures("samples").join(file)).unwrap();
        let values: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
        Set::new(*file, &values).unwrap()
    };
    report(&files.iter().map(set).collect::<Vec<_>>(), ConfidenceLevel::default())
}

// The samples are rebuilt to have the published summaries. The rows, differences and intervals
// expected here are those that were published; they did not print the pooled s, which is what
// Debian's program prints for the same files.

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
        let level = ConfidenceLevel::ALL[random.random_range(0..ConfidenceLevel::ALL.len())];
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
            sets.push(Set::new(&name, &values.collect::<Vec<f64>>()).unwrap());
            fs::write(directory.join(&name), text).unwrap();
            files.push(name);
        }
        let output = Command::new("ministat")
            .args(["-A", "-c", &level.percent.to_string()])
            .args(&files)
            .current_dir(&directory)
            .output()
            .unwrap();
        assert!(output.status.success(), "round {round}: {}", String::from_utf8_lossy(&output.stderr));
        let expected = String::from_utf8(output.stdout).unwrap();
        let got = report(&sets, level);
        assert_eq!(got, expected, "round {round}, files left in {}", directory.display());
    }
    fs::remove_dir_all(&directory).unwrap();
}
