//! The account of fixed work.

use serde::{Deserialize, Serialize};

use crate::socket::Applied;

/// The cost of fixed work, in ns of the host's clock: instructions, where that counts them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Messages, or transactions, of a batch.
    pub messages: u32,
    /// Batches of each pass.
    pub batches: u32,
    /// The cost of reading the clock in ns, already subtracted from [`Account::kernel`].
    pub clock_ns: u64,
    /// The cost of a message, or transaction.
    pub whole: Spread,
    /// Its part inside system calls.
    pub kernel: Spread,
    /// The part of that in soft interrupts; `None` where they cannot be counted.
    pub softirq: Option<Spread>,
    /// Why they cannot be counted.
    pub softirq_absent: Option<String>,
    /// System calls that move data, of both ends, for a message or transaction, in the median
    /// batch.
    pub calls: f64,
    /// The options read back from the connected sockets, the sending one first.
    pub applied: Vec<Applied>,
}

impl Account {
    /// The account of the connection whose cost is in the middle. `None`: there are no connections.
    #[must_use]
    pub fn middle(mut connections: Vec<Self>) -> Option<Self> {
        connections.sort_by(|one, other| one.whole.median.total_cmp(&other.whole.median));
        let middle = connections.len() / 2;
        connections.into_iter().nth(middle)
    }

    /// The cost of a message outside of system calls, in ns: the difference of the two passes.
    #[must_use]
    pub fn user(&self) -> f64 {
        (self.whole.median - self.kernel.median).max(0.0)
    }
}

/// The cost of a message over batches: ns, or system calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The least of a batch.
    pub least: f64,
    /// The first quartile.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The third quartile.
    pub high: f64,
    /// The most of a batch.
    pub most: f64,
}

impl Spread {
    /// The spread of batches of `messages` messages.
    pub(super) fn of_batches(mut batches: Vec<u64>, messages: u32) -> Self {
        batches.sort_unstable();
        let last = batches.len().saturating_sub(1);
        let at = |quarter: usize| {
            batches.get(last * quarter / 4).map_or(0.0, |taken| *taken as f64 / f64::from(messages))
        };
        Self { least: at(0), low: at(1), median: at(2), high: at(3), most: at(4) }
    }

    /// Subtracts `ns` from each value, but never below 0.
    pub(super) fn less(self, ns: f64) -> Self {
        let [least, low, median, high, most] =
            [self.least, self.low, self.median, self.high, self.most].map(|value| (value - ns).max(0.0));
        Self { least, low, median, high, most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_batches_per_message() {
        let spread = Spread::of_batches(vec![50, 10, 20, 40, 30], 10);
        assert_eq!(spread, Spread { least: 1.0, low: 2.0, median: 3.0, high: 4.0, most: 5.0 });
        let account = Account {
            messages: 10,
            batches: 5,
            clock_ns: 1,
            whole: spread,
            kernel: Spread::of_batches(vec![25], 10),
            softirq: Some(Spread::of_batches(vec![15], 10).less(0.5)),
            softirq_absent: None,
            calls: 2.0,
            applied: Vec::new(),
        };
        assert!((account.user() - 0.5).abs() < 1e-12);
        assert!(account.softirq.is_some_and(|softirq| (softirq.median - 1.0).abs() < 1e-12));
        assert_eq!(spread.less(2.5).least, 0.0);
        let of = |median: f64| Account { whole: Spread { median, ..spread }, ..account.clone() };
        let middle = Account::middle([9.0, 2.0, 3.0].map(of).to_vec());
        assert_eq!((middle, Account::middle(Vec::new())), (Some(of(3.0)), None));
    }
}
