//! The kernel's functions by their addresses.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt as _;

use super::profile::MOST_FRAMES;
use super::sampler::StackSample;
use crate::error::Error;

/// The kernel's functions, those of its modules included.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    begins: Vec<(u64, String)>,
}

const SYMBOLS: &str = "/proc/kallsyms";
const HIDDEN: &str = "the kernel hides the addresses of its functions, so that samples have no names: it needs CAP_SYSLOG (root has it) \
                      with `sysctl kernel.kptr_restrict=1` or 0; in a virtual machine (inside=guest) it needs nothing";
// More than any kernel's list has, in bytes.
const MOST: u64 = 256 << 20;
// The longest name that is kept.
const LONGEST: usize = 128;

pub(super) const USER: &str = "[user]";
// The kernel's way out of a system call. It runs with interrupts off, so that the timer meets it
// at the first instruction of user space.
pub(super) const RETURN: &str = "[return to user]";
const UNKNOWN: &str = "[unknown]";
// The root of a kernel thread's work on soft interrupts.
const SOFTIRQ: &str = "[ksoftirqd]";

impl Symbols {
    /// Reads the functions of the running kernel.
    pub fn read() -> Result<Self, Error> {
        let mut list = Vec::new();
        let read = File::open(SYMBOLS).and_then(|file| file.take(MOST).read_to_end(&mut list));
        read.map_err(Error::unreadable(SYMBOLS))?;
        Self::parse(&String::from_utf8_lossy(&list))
    }

    /// Reads a list: lines of address, type, name and module.
    pub fn parse(list: &str) -> Result<Self, Error> {
        let function = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
            let is_function = matches!(kind, "t" | "T" | "w" | "W");
            let address = u64::from_str_radix(address, 16).ok().filter(|_| is_function)?;
            Some((address, without_suffix(name)?))
        };
        let mut begins: Vec<(u64, String)> = list.lines().filter_map(function).collect();
        if begins.iter().all(|(address, _)| *address == 0) {
            return Err(HIDDEN.into());
        }
        // Of several names for one address the first stays: sorting changes no order among them.
        begins.sort_by_key(|(address, _)| *address);
        begins.dedup_by_key(|(address, _)| *address);
        Ok(Self { begins })
    }

    /// The function at an address; `None` before the first.
    pub fn function_at(&self, address: u64) -> Option<&str> {
        let behind = self.begins.partition_point(|(begin, _)| *begin <= address);
        Some(self.begins.get(behind.checked_sub(1)?)?.1.as_str())
    }

    /// The functions of a sample by their names, the outermost first.
    pub(super) fn names(&self, sample: &StackSample, is_softirq: bool) -> Vec<&str> {
        // A called function returns behind the call: that may be the next function's first.
        let address = |(place, address): (usize, &u64)| address.saturating_sub(u64::from(place > 0));
        let innermost = sample.stack.iter().take(MOST_FRAMES).enumerate().map(address);
        let mut names: Vec<&str> =
            innermost.map(|address| self.function_at(address).unwrap_or(UNKNOWN)).collect();
        if names.is_empty() {
            names.push(if sample.user.is_some_and(is_behind_call) { RETURN } else { USER });
        }
        names.extend(is_softirq.then_some(SOFTIRQ));
        names.reverse();
        names
    }
}

/// Whether the instruction before this address of this process is a system call.
fn is_behind_call(address: u64) -> bool {
    const CALL: [u8; 2] = [0x0f, 0x05];
    let mut code = [0; CALL.len()];
    let begin = address.saturating_sub(CALL.len() as u64);
    let read = File::open("/proc/self/mem").and_then(|memory| memory.read_exact_at(&mut code, begin));
    read.is_ok() && code == CALL
}

fn without_suffix(name: &str) -> Option<String> {
    // A compiler adds suffixes for a copy or a part of a function, and kernels differ in them.
    let function = name.split('.').next().unwrap_or_default();
    // Semicolons separate the functions of a stack in files of folded stacks.
    let is_name = !function.is_empty() && function.len() <= LONGEST;
    (is_name && function.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';'))
        .then(|| function.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_belongs_to_the_function_that_begins_before_it() {
        let list = "ffff30 t veth_xmit\t[veth]\nffff10 T udp_sendmsg\nffff10 T __pfx_other\n\
                    ffff20 d jiffies\nffff28 t copy.constprop.0\nbad\nffff40 t a;b\n";
        let symbols = Symbols::parse(list).unwrap();
        let at = |address| symbols.function_at(address);
        assert_eq!(
            [at(0xff_ff0f), at(0xff_ff10), at(0xff_ff27)],
            [None, Some("udp_sendmsg"), Some("udp_sendmsg")]
        );
        assert_eq!([at(0xff_ff28), at(u64::MAX)], [Some("copy"), Some("veth_xmit")]);
    }

    #[test]
    fn hidden_addresses_are_told_with_the_way_out() {
        let hidden = Symbols::parse("0000000000000000 T udp_sendmsg\n0 t veth_xmit [veth]\n").unwrap_err();
        assert!(hidden.to_string().contains("kptr_restrict"), "{hidden}");
    }

    proptest! {
        #[test]
        fn any_list_is_read(list in "([0-9a-f]{0,6} [tTd] [a-c.;]{0,4}\n){0,9}", address in 0u64..1 << 24) {
            if let Ok(symbols) = Symbols::parse(&list) {
                let begins = symbols.begins.iter().rev().find(|(begin, _)| *begin <= address);
                prop_assert_eq!(symbols.function_at(address), begins.map(|(_, name)| name.as_str()));
            }
        }
    }
}
