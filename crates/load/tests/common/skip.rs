//! Reports that a test cannot run here.

/// Prints why a test is skipped, so that it is counted; fails instead where nothing may be skipped
/// (`CI=true`).
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
pub(crate) fn skip(test: &str, reason: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test} cannot run here: {reason}");
    eprintln!("SKIPPED: {test}: {reason}");
}
