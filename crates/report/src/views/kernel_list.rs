//! The kernels that were fetched.

use results::ListedKernel;

use crate::document::Block;

/// Each kernel with its other names.
pub fn kernel_list(kernels: &[ListedKernel]) -> Vec<Block<'static>> {
    let item = |kernel: &ListedKernel| {
        let known = |word: &Option<String>| word.clone().unwrap_or_else(|| "not known".to_owned());
        let (release, version) = (known(&kernel.release), known(&kernel.version));
        let facts = kernel.aliases.iter().map(|alias| ("also called".to_owned(), alias.into())).collect();
        (format!("{} (release {release}, version {version})", kernel.package), facts)
    };
    vec![Block::Items(kernels.iter().map(item).collect())]
}
