//! (fuzzing) Readers of packages, kernels and consoles. None may panic, or take memory without bound, whatever it is given.

use std::collections::BTreeSet;

use crate::apt::complaint;
use crate::asked::Asked;
use crate::builtin;
use crate::console::Text;
use crate::modinfo::module_info;
use crate::modules::order;
use crate::payload::Payload;
use crate::sources::{advice, sources};
use crate::unpack::unpack;

/// Reads a file of a package: a module, packed or not, or an image.
pub fn package_file(bytes: &[u8]) {
    if let Ok(unpacked) = unpack(bytes.to_vec())
        && let Some(info) = module_info(&unpacked)
    {
        assert!(info.depends.iter().chain(&info.after).all(|name| !name.is_empty()));
    }
    if let Ok(kernel) = Payload::of(bytes) {
        // The magic number alone is a text that every kernel has, if a zero byte follows it.
        let _ = kernel.may_have("\x7fELF");
    }
}

/// Reads what stands beside a kernel's modules and what apt says.
pub fn package_texts(text: &str) {
    let _ = complaint(text);
    assert!(builtin::names(text).iter().all(|name| !name.contains(['/', '-'])));
    if let Some(asked) = text.lines().next().and_then(Asked::read) {
        assert_eq!(Asked::of_file(&asked.file_name()), asked.to_string());
        assert!(!advice(&asked, false, &sources(text)).is_empty());
    }
    // Each line: a module and what it needs. Any such graph has an order, each module once.
    let needs = |name: &str| {
        let line = text.lines().find(|line| line.split(' ').next() == Some(name));
        let info = line.map(|line| crate::modinfo::ModuleInfo {
            depends: line.split(' ').skip(1).map(str::to_owned).collect(),
            ..Default::default()
        });
        Ok::<_, std::convert::Infallible>(info)
    };
    let wanted: Vec<String> =
        text.lines().take(4).filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    let Ok(order) = order(&wanted, needs);
    assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), order.len());
}

/// Reads a console's bytes, whole and in two pieces; gives its last lines as an error shows them.
pub fn console(bytes: &[u8], cut: usize) -> String {
    let read = |pieces: &[&[u8]]| {
        let mut text = Text::default();
        pieces.iter().for_each(|piece| text.take(piece));
        let pending = text.tail();
        text.close();
        (pending, text.tail())
    };
    let (first, rest) = bytes.split_at(cut.min(bytes.len()));
    let (pending, whole) = read(&[bytes]);
    assert_eq!((pending, whole.clone()), read(&[first, rest]));
    whole
}
