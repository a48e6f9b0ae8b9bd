//! What callgrind counted, and for whom.
//!
//! The file (valgrind's manual, "Callgrind Format Specification") names objects and functions by
//! lines `ob=` and `fn=`; a line of numbers that follows is a position and the instructions there.
//! What comes after a line `calls=` is the cost of the function called and stands at that function
//! too.

use std::collections::BTreeMap;

use serde::Serialize;

/// Instructions in user space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Instructions {
    pub(crate) total: u64,
    /// Of the total, what neither libc nor the dynamic linker executed.
    pub(crate) outside_libc: u64,
}

/// How libc's instructions are told from a program's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linked {
    /// libc is an object of its own.
    Dynamically,
    /// libc is in the program, which is ours: its functions have C names, ours Rust's mangled ones.
    Statically,
}

/// Adds up a file; `None` if it is none of callgrind's.
pub(crate) fn count(text: &str, linked: Linked) -> Option<Instructions> {
    if !text.lines().any(|line| line.trim() == "events: Ir") {
        return None;
    }
    let (mut objects, mut functions) = (Names::default(), Names::default());
    let (mut object_is_libc, mut function_is_libc, mut inclusive) = (false, false, false);
    let mut sum = Instructions::default();
    for line in text.lines() {
        if let Some((key, value)) = line.split_once('=') {
            match key {
                "ob" => object_is_libc = is_libc(objects.of(value)),
                "fn" => function_is_libc = is_c(functions.of(value)) && linked == Linked::Statically,
                // A name is told once, wherever it comes up first.
                "cob" => _ = objects.of(value),
                "cfn" => _ = functions.of(value),
                "calls" => inclusive = true,
                _ => {}
            }
            continue;
        }
        let Some(cost) = cost(line) else { continue };
        if std::mem::take(&mut inclusive) {
            continue;
        }
        sum.total = sum.total.saturating_add(cost);
        if !(object_is_libc || function_is_libc) {
            sum.outside_libc = sum.outside_libc.saturating_add(cost);
        }
    }
    Some(sum)
}

/// The cost on a line of position and cost.
fn cost(line: &str) -> Option<u64> {
    let mut numbers = line.split_whitespace();
    let (position, cost, rest) = (numbers.next()?, numbers.next()?, numbers.next());
    let is_position = position.starts_with(|letter: char| letter.is_ascii_digit() || "+-*".contains(letter));
    if is_position && rest.is_none() { cost.parse().ok() } else { None }
}

/// Names by their numbers: `(7) name` the first time, `(7)` from then on.
#[derive(Debug, Default)]
struct Names(BTreeMap<String, String>);

impl Names {
    fn of(&mut self, value: &str) -> &str {
        let numbered = value.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let (key, name) = numbered.map_or((value, value), |(number, name)| (number, name.trim()));
        let known = self.0.entry(key.to_owned()).or_default();
        if !name.is_empty() {
            name.clone_into(known);
        }
        known
    }
}

/// Is an object libc, what came from it, or what finds it?
fn is_libc(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    ["libc.so", "libc-", "ld-", "libpthread", "libm."].iter().any(|lib| name.starts_with(lib))
}

/// Has a function a C name? Those of Rust are mangled; one whose name is not known (a number,
/// question marks) may be ours.
fn is_c(name: &str) -> bool {
    !["_ZN", "_R", "0x", "???"].iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = "\
# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 1
part: 1
positions: line
events: Ir
summary: 1

ob=(1) /usr/bin/tool
fl=(1) tool.c
fn=(1) main
12 100
+1 5
cob=(2) /usr/lib/x86_64-linux-gnu/libc.so.6
cfn=(2) send
calls=10 0
* 700

ob=(2)
fl=(2) ???
fn=(2)
0 600
fn=(3) _ZN4load10udp_stream4sendE
0 40
totals: 745
";

    #[test]
    fn what_a_function_costs_is_counted_once_where_it_is() {
        let of = |total, outside_libc| Some(Instructions { total, outside_libc });
        // libc in the same object is known by its names.
        let one = FILE.replace("/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/tool");
        for (text, linked, expected) in [
            (FILE, Linked::Dynamically, of(745, 105)),
            (&one, Linked::Statically, of(745, 40)),
            (&one, Linked::Dynamically, of(745, 745)),
            ("", Linked::Dynamically, None),
            ("events: Cycles\n0 5\n", Linked::Dynamically, None),
        ] {
            assert_eq!(count(text, linked), expected, "{linked:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic(text in "(?s).{0,300}") {
            let _ = count(&format!("events: Ir\n{text}"), Linked::Statically);
        }
    }
}
