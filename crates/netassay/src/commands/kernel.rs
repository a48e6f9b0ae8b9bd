//! `netassay kernel`: kernels for guests.

use report::document::{Block, ListItem};
use serde_json::json;
use testbed::guest::{self, Fetched, Kernel};

use crate::cli::{Formatted, KernelCommand};
use crate::failure::{Failure, say};
use crate::output::show_list;

pub(crate) fn kernel(command: &KernelCommand) -> Result<(), Failure> {
    match command {
        KernelCommand::Fetch { package } => {
            let fetched = guest::fetch(package)?;
            say(&format!("{package}: {} is in {}", release(&fetched.kernel), fetched.directory.display()));
            say(&format!("in a study: kernel = \"{}\"", fetched.package));
            Ok(())
        }
        KernelCommand::List(flags) => list(flags),
    }
}

fn list(output: &Formatted) -> Result<(), Failure> {
    let fetched = guest::fetched()?;
    if fetched.is_empty() {
        say("no kernel was fetched yet: netassay kernel fetch linux-image-cloud-amd64");
    }
    let (mut rows, mut items) = (Vec::new(), Vec::new());
    for Fetched { package, aliases, version, kernel, .. } in &fetched {
        rows.push(
            json!({"package": package, "aliases": aliases, "version": version, "release": kernel.release,
                         "image": kernel.image, "modules": kernel.modules}),
        );
        let (release, version) = (release(kernel), version.as_deref().unwrap_or("not known"));
        let alias = |alias: &String| ("also called".to_owned(), alias.into());
        items.push(ListItem {
            sentence: format!("{package} (release {release}, version {version})"),
            facts: aliases.iter().map(alias).collect(),
        });
    }
    show_list("kernels", &rows, output, false, |_| vec![Block::Items(items)])
}

fn release(kernel: &Kernel) -> &str {
    kernel.release.as_deref().unwrap_or("a kernel without a release name")
}
