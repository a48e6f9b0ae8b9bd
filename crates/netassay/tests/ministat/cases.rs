//! What was recorded, and what was published.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Ended, directory, fixtures, run, subcommand};

/// Runs each recorded command line by a shell that finds `program` under the name of ministat,
/// which is how people do.
fn every_case(path: &Path) {
    let mut count = 0;
    for entry in fs::read_dir(fixtures("ministat-cases")).unwrap() {
        let case = entry.unwrap().path();
        let read = |name: &str| fs::read(case.join(name)).unwrap();
        let stdin = fs::File::open(case.join("stdin")).map_or_else(|_| Stdio::null(), Stdio::from);
        let found = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
        let output = Command::new("sh")
            .arg("-c")
            .arg(str::from_utf8(&read("cmd")).unwrap())
            .current_dir(&case)
            .env("PATH", found)
            .env_remove("POSIXLY_CORRECT")
            .stdin(stdin)
            .output()
            .unwrap();
        let code = str::from_utf8(&read("rc")).unwrap().trim().parse().unwrap();
        assert_eq!(
            output.stdout,
            read("stdout"),
            "{}\n{}",
            case.display(),
            String::from_utf8_lossy(&output.stdout)
        );
        assert_eq!(
            output.stderr,
            read("stderr"),
            "{}\n{}",
            case.display(),
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(output.status.code(), Some(code), "{}", case.display());
        count += 1;
    }
    assert_eq!(count, 51);
}

#[test]
fn every_recorded_case_under_the_name_of_ministat() {
    let path = tempfile::tempdir().unwrap();
    symlink(env!("CARGO_BIN_EXE_netassay"), path.path().join("ministat")).unwrap();
    every_case(path.path());
}

#[test]
fn every_recorded_case_as_a_subcommand() {
    let path = directory(&[("ministat", "#!/bin/sh\nexec \"$NETASSAY\" ministat \"$@\"\n")]);
    let script = path.path().join("ministat");
    let text = fs::read_to_string(&script).unwrap().replace("$NETASSAY", env!("CARGO_BIN_EXE_netassay"));
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    every_case(path.path());
}

fn samples(files: &[&str]) -> Ended {
    let ended = run(subcommand(), &fixtures("samples"), &[&["-A"], files].concat(), b"");
    assert_eq!((ended.stderr.as_str(), ended.code), ("", Some(0)));
    ended
}

// The samples are rebuilt to have the published summaries. The rows, differences and intervals
// expected here are those that were published; they did not print the pooled s.

#[test]
fn the_published_verdicts_on_udp_over_loopback() {
    let text = samples(&[
        "udp4_default_nocksum.stat",
        "udp4_nooffload_nocksum.stat",
        "udp4_default.stat",
        "udp4_nooffload.stat",
        "udp6_default.stat",
        "udp6_nooffload.stat",
    ])
    .stdout;
    for published in [
        "x  30       4117.36       8328.19        6137.8     6236.2927      1136.704\n",
        "+  30       5005.63       8235.45       6465.39     6562.7983     931.47838\nNo difference proven at 95.0% confidence\n",
        "*  30        4484.1       8755.31       6528.77     6582.2703     1061.2698\nNo difference proven at 95.0% confidence\n",
        "%  30       3406.81       4680.59       3697.94     3769.4827      256.3195\nDifference at 95.0% confidence\n\t-2466.81 +/- 425.913\n\t-39.5557% +/- 6.82958%\n",
        "#  30       3683.22       6583.07       5112.01      5195.592     787.95379\nDifference at 95.0% confidence\n\t-1040.7 +/- 505.542\n\t-16.6878% +/- 8.10645%\n",
        "@  30       3098.59       5689.79       3355.83     3551.4927     594.82049\nDifference at 95.0% confidence\n\t-2684.8 +/- 468.928\n\t-43.0512% +/- 7.51934%\n",
    ] {
        assert!(text.contains(published), "{text}");
    }
}

#[test]
fn the_published_verdicts_on_sending_to_a_discarding_interface() {
    let text = samples(&[
        "pps_udp4_local_discard.stat",
        "pps_udp4_local_discard_nocksum.stat",
        "pps_udp6_local_discard.stat",
    ])
    .stdout;
    for published in [
        "x  30     288647.14     297221.37     294965.73     294963.19     1826.9506\n",
        "+  30     288820.84     296645.88     294073.88      294086.6     2073.5719\nNo difference proven at 95.0% confidence\n",
        "*  30        191089     202035.53     194729.67     196752.63     3732.0367\nDifference at 95.0% confidence\n\t-98210.6 +/- 1518.79\n\t-33.2959% +/- 0.514908%\n",
    ] {
        assert!(text.contains(published), "{text}");
    }
}
