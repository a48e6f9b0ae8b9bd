//! What goes beyond Debian's program, and only under `netassay ministat`.

use std::path::Path;

use super::{Ended, directory, fixtures, ours, run, subcommand, words};

fn ended(directory: &Path, line: &str) -> Ended {
    run(subcommand(), directory, &words(line), b"")
}

fn iguana_and_chameleon() -> std::path::PathBuf {
    fixtures("ministat-cases/03-two-files-sep-bars-w60")
}

#[test]
fn freebsds_arithmetic() {
    let Ended { stdout, stderr, code } =
        ended(&iguana_and_chameleon(), "--dialect freebsd -c 80 iguana chameleon -A");
    assert_eq!((stderr.as_str(), code), ("", Some(0)));
    // The example of FreeBSD's manual.
    assert!(
        stdout.contains("\n\t240 +/- 212.215\n\t80% +/- 102.3%\n\t(Student's t, pooled s = 264.159)\n"),
        "{stdout}"
    );
    let debian = ended(&iguana_and_chameleon(), "--dialect=debian -c 80 iguana chameleon -A").stdout;
    assert!(debian.contains("\n\t80% +/- 70.7384%\n"), "{debian}");
    let files = directory(&[("even", "1\n2\n3\n4\n"), ("far", &"100000000.1\n".repeat(7))]);
    let stdout = ended(files.path(), "-n --dialect freebsd even far").stdout;
    assert!(
        stdout.contains("\nx   4             1             4           2.5           2.5     1.2909944\n"),
        "{stdout}"
    );
    assert!(
        stdout.contains("\n+   7         1e+08         1e+08         1e+08         1e+08 1.6095094e-08\n"),
        "{stdout}"
    );
}

#[test]
fn freebsds_habits() {
    let files = directory(&[("a", "1\n2\n4\n"), ("long", &format!("{}5\n2\n3\n4\n", " ".repeat(1020)))]);
    let quiet = ended(files.path(), "-qn --dialect freebsd a a");
    assert_eq!(quiet.stdout.lines().count(), 2, "{}", quiet.stdout);
    let missing = ended(files.path(), "--dialect freebsd missing");
    assert_eq!(missing.stderr, "ministat: Cannot open missing: No such file or directory\n");
    assert_eq!(missing.code, Some(2));
    // All are opened before the first is read.
    let empty = ended(files.path(), "--dialect freebsd /dev/null missing");
    assert_eq!(empty.stderr, "ministat: Cannot open missing: No such file or directory\n");
    assert_eq!(
        ended(files.path(), "/dev/null missing").stderr,
        "Dataset /dev/null must contain at least 3 data points\n"
    );
    // Lines are cut after 1023 bytes.
    let cut = directory(&[("a", &format!("{}56\n2\n3\n", " ".repeat(1022)))]);
    let stdout = ended(cut.path(), "-n --dialect freebsd a").stdout;
    assert!(stdout.contains("\nx   4             2             6             4             4"), "{stdout}");
    let unknown = ended(files.path(), "-q a");
    assert!(unknown.stderr.starts_with("ministat: invalid option -- 'q'\nUnknown option\nUsage: "));
}

#[test]
fn modern_knows_any_level_and_any_number_of_sets() {
    let names: Vec<String> = (0..200).map(|name| format!("f{name:03}")).collect();
    let texts: Vec<String> = (0..200).map(|mean| format!("{mean}\n{}\n{}\n", mean + 1, mean + 2)).collect();
    let files: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    let directory = directory(&files);
    let line = |options: &str, count: usize| format!("--modern {options} {}", names[..count].join(" "));
    let stdout = ended(directory.path(), &line("-c 97.25 -w 40", 9)).stdout;
    assert!(
        stdout.starts_with(
            "x f000\n+ f001\n* f002\n% f003\n# f004\n@ f005\nO f006\nB f007\nC f008\n& several of them\n+-"
        ),
        "{stdout}"
    );
    assert!(stdout.contains("\nDifference at 97.25% confidence\n\t4 +/- "), "{stdout}");
    assert!(
        stdout.contains("\nC   3             8            10             9             9             1\n")
    );
    // All stay, and where sets meet that is told.
    let plot: Vec<&str> = stdout.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(plot[0], "|x   &   &   &   &   &  &   &   &   &   C|");
    // Where symbols run out, tables go on with numbers.
    let stdout = ended(directory.path(), &line("-A", 200)).stdout;
    assert!(stdout.contains("\n200 f199\n") && stdout.contains("\n200   3           199"), "{stdout}");
    let refused = ended(directory.path(), &line("", 200));
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.starts_with("ministat: cannot plot 200 sets: there are symbols for "),
        "{}",
        refused.stderr
    );
}

#[test]
fn modern_has_exact_quantiles() {
    // 51 values each: 100 degrees of freedom, in the table's last row; 52: beyond it.
    let text =
        |count: u32, shift: u32| (0..count).map(|n| format!("{}\n", n % 7 + shift)).collect::<String>();
    let files = directory(&[("a", &text(52, 0)), ("b", &text(52, 9))]);
    let error = |line: &str| {
        let stdout = ended(files.path(), line).stdout;
        let (_, rest) = stdout.split_once(" +/- ").unwrap();
        rest.lines().next().unwrap().parse::<f64>().unwrap()
    };
    let ratio = error("--modern --dialect debian -A a b") / error("-A a b");
    // qt(0.975, 102) in R over the table's 1.960
    assert!((ratio - 1.983495 / 1.960).abs() < 1e-5, "{ratio}");
}

#[test]
fn help_and_long_options_are_not_ministats() {
    let help = ended(Path::new("/"), "--help");
    assert_eq!((help.stderr.as_str(), help.code), ("", Some(0)));
    assert!(help.stdout.contains("--modern") && help.stdout.contains("-C COLUMN"), "{}", help.stdout);
    for option in ["--help", "--modern", "--dialect=freebsd"] {
        let ended = run(ours(), Path::new("/"), &[option], b"");
        assert!(
            ended.stderr.starts_with("ministat: invalid option -- '-'\nUnknown option\nUsage: "),
            "{option}"
        );
        assert_eq!((ended.stdout.as_str(), ended.code), ("", Some(2)));
    }
    let unknown = ended(Path::new("/"), "--fancy");
    assert!(unknown.stderr.starts_with("ministat: unrecognized option '--fancy'\nUnknown option\nUsage: "));
}
