//! What goes beyond Debian's program, and only under `netassay ministat`.

use std::path::Path;

use super::{ours, run, subcommand};

#[test]
fn help_is_not_ministats() {
    let help = run(subcommand(), Path::new("/"), &["--help"], b"");
    assert_eq!((help.stderr.as_str(), help.code), ("", Some(0)));
    assert!(help.stdout.contains("-C COLUMN"), "{}", help.stdout);
    let ended = run(ours(), Path::new("/"), &["--help"], b"");
    assert!(ended.stderr.starts_with("ministat: invalid option -- '-'\nUnknown option\nUsage: "));
    assert_eq!((ended.stdout.as_str(), ended.code), ("", Some(2)));
}
