//! `netassay kernel`: kernels for guests.

use serde_json::json;
use testbed::guest::{self, Fetched};

use crate::cli::{Format, KernelCommand, Listing};
use crate::failure::{Failure, say};
use crate::output::{layout, print_json, print_page};

pub(crate) fn kernel(command: &KernelCommand) -> Result<(), Failure> {
    match command {
        KernelCommand::Fetch(fetch) => {
            let fetched = guest::fetch(&fetch.package)?;
            say(&format!("{}: {} is in {}", fetch.package, release(&fetched), fetched.directory.display()));
            say(&format!("in a study: kernel = \"{}\"", fetched.package));
            Ok(())
        }
        KernelCommand::List(flags) => list(flags),
    }
}

fn list(flags: &Listing) -> Result<(), Failure> {
    let fetched = guest::fetched()?;
    if flags.output.format == Format::Json {
        let rows: Vec<_> = fetched
            .iter()
            .map(|fetched| {
                json!({"package": fetched.package, "aliases": fetched.aliases, "version": fetched.version,
                       "release": fetched.kernel.release, "image": fetched.kernel.image,
                       "modules": fetched.kernel.modules})
            })
            .collect();
        return print_json(&rows);
    }
    if fetched.is_empty() {
        say("no kernel was fetched yet: netassay kernel fetch linux-image-cloud-amd64");
        return Ok(());
    }
    let texts = fetched.iter().map(|fetched| {
        let version = fetched.version.as_deref().unwrap_or("not known");
        let aliases =
            fetched.aliases.iter().map(|alias| format!("  also called {alias}\n")).collect::<String>();
        format!("{} (release {}, version {version})\n{aliases}", fetched.package, release(fetched))
    });
    print_page(&texts.collect::<String>(), layout(flags.tables.wide))
}

fn release(fetched: &Fetched) -> String {
    fetched.kernel.release.clone().unwrap_or_else(|| "a kernel without a release name".to_owned())
}
