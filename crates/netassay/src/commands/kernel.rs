//! `netassay kernel`: kernels for guests.

use report::document::{Block, ListItem};
use serde_json::json;
use testbed::guest::{self, Fetched};

use crate::cli::{Formatted, KernelCommand};
use crate::failure::{Failure, say};
use crate::output::show_view;

pub(crate) fn kernel(command: &KernelCommand) -> Result<(), Failure> {
    match command {
        KernelCommand::Fetch { package } => {
            let fetched = guest::fetch(package)?;
            say(&format!("{package}: {} is in {}", release(&fetched), fetched.directory.display()));
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
    let row = |fetched: &Fetched| {
        json!({"package": fetched.package, "aliases": fetched.aliases, "version": fetched.version,
               "release": fetched.kernel.release, "image": fetched.kernel.image,
               "modules": fetched.kernel.modules})
    };
    let item = |fetched: &Fetched| {
        let version = fetched.version.as_deref().unwrap_or("not known");
        let alias = |alias: &String| ("also called".to_owned(), alias.into());
        ListItem {
            sentence: format!("{} (release {}, version {version})", fetched.package, release(fetched)),
            facts: fetched.aliases.iter().map(alias).collect(),
        }
    };
    let rows: Vec<_> = fetched.iter().map(row).collect();
    show_view(&rows, output, false, |_, _| vec![Block::Items(fetched.iter().map(item).collect())])
}

fn release(fetched: &Fetched) -> String {
    fetched.kernel.release.clone().unwrap_or_else(|| "a kernel without a release name".to_owned())
}
