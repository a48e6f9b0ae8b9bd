//! What callgrind counted, and for whom.
//!
//! The file (valgrind's manual, "Callgrind Format Specification") names functions by lines `fn=`; a
//! line of numbers that follows is a position and the instructions there. What comes after a line
//! `calls=` is the cost of the function called and stands at that function too.

use std::collections::HashMap;

use serde::Serialize;

/// Instructions in user space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Instructions {
    pub(crate) total: u64,
    /// Of the total, what functions executed that have no C name. Of our program, into which libc
    /// is linked statically, that is its own code.
    pub(crate) outside_libc: u64,
}

/// Adds up a file; `None` if it is none of callgrind's.
pub(crate) fn count(text: &str) -> Option<Instructions> {
    if !text.lines().any(|line| line.trim() == "events: Ir") {
        return None;
    }
    // Names by their numbers: `(7) name` the first time, wherever that is, `(7)` from then on.
    let mut names = HashMap::new();
    let (mut is_libc, mut inclusive) = (false, false);
    let mut sum = Instructions::default();
    for line in text.lines() {
        match line.split_once('=') {
            Some((key @ ("fn" | "cfn"), value)) => {
                let (number, name) = value.split_once(' ').unwrap_or((value, value));
                let is_c = *names.entry(number).or_insert_with(|| is_c(name.trim()));
                is_libc = if key == "fn" { is_c } else { is_libc };
            }
            Some((key, _)) => inclusive |= key == "calls",
            None => {
                let Some(cost) = cost(line) else { continue };
                if std::mem::take(&mut inclusive) {
                    continue;
                }
                sum.total = sum.total.saturating_add(cost);
                sum.outside_libc = sum.outside_libc.saturating_add(if is_libc { 0 } else { cost });
            }
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
        let counted = Some(Instructions { total: 745, outside_libc: 40 });
        for (text, expected) in [(FILE, counted), ("", None), ("events: Cycles\n0 5\n", None)] {
            assert_eq!(count(text), expected);
        }
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic(text in "(?s).{0,300}") {
            let _ = count(&format!("events: Ir\n{text}"));
        }
    }
}
