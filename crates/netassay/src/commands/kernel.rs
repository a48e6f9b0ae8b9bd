//! `netassay kernel`: kernels for guests.

use report::views;
use results::ListedKernel;
use testbed::guest::{self, Fetched, Kernel};

use crate::cli::KernelCommand;
use crate::failure::{Failure, say};
use crate::output::show_list;

pub(crate) fn kernel(command: &KernelCommand) -> Result<(), Failure> {
    match command {
        KernelCommand::Fetch { package } => {
            let Fetched { package: name, directory, kernel, .. } = guest::fetch(package)?;
            let release = kernel.release.as_deref().unwrap_or("a kernel without a release name");
            let directory = directory.display();
            say(&format!("{package}: {release} is in {directory}\nin a study: kernel = \"{name}\""));
            Ok(())
        }
        KernelCommand::List(output) => {
            let listed = |Fetched { package, aliases, version, kernel, .. }| {
                let Kernel { image, modules, release, .. } = kernel;
                ListedKernel { package, aliases, version, release, image, modules }
            };
            let kernels: Vec<ListedKernel> = guest::fetched()?.into_iter().map(listed).collect();
            if kernels.is_empty() {
                say("no kernel was fetched yet: `netassay kernel fetch linux-image-cloud-amd64` fetches one");
            }
            show_list("kernels", &kernels, output, views::kernel_list)
        }
    }
}
