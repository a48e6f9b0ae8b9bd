//! Groups of counters that only grow: their differences and sums.

/// A struct of `u64` counters, or of such structs; `wrapping` ones have 32 bits in the kernel.
#[macro_export]
macro_rules! counted {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$field_meta:meta])* $field:ident $(: $group:tt)?),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$field_meta])* pub $field: $crate::counted!(@type $($group)?)),* }

        impl $name {
            /// The difference from `earlier`; 0 for a counter that was replaced or estimated again.
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($field: $crate::counted!(@since self.$field, earlier.$field $(, $group)?)),* }
            }

            /// The sum of both.
            pub fn plus(&self, other: &Self) -> Self {
                Self { $($field: $crate::counted!(@plus self.$field, other.$field $(, $group)?)),* }
            }

            /// The sum of several.
            pub fn sum(each: &[Self]) -> Self {
                each.iter().fold(Self::default(), |sum, one| sum.plus(one))
            }
        }
    };
    (@type $(wrapping)?) => { u64 };
    (@type $group:tt) => { $group };
    (@since $later:expr, $earlier:expr) => { $later.saturating_sub($earlier) };
    (@since $later:expr, $earlier:expr, wrapping) => {
        $crate::wrapping_since($later, $earlier)
    };
    (@since $later:expr, $earlier:expr, $group:tt) => { $later.since(&$earlier) };
    (@plus $one:expr, $other:expr $(, wrapping)?) => { $one.saturating_add($other) };
    (@plus $one:expr, $other:expr, $group:tt) => { $one.plus(&$other) };
}

/// The difference between two readings of 32 bits: the later may have wrapped, or been reset.
pub fn wrapping_since(later: u64, earlier: u64) -> u64 {
    const RANGE: u64 = 1 << 32;
    later.checked_sub(earlier).unwrap_or_else(|| {
        // Less than half the range ahead: it wrapped. More: it was reset.
        let passed = (later + RANGE).saturating_sub(earlier);
        if passed < RANGE / 2 { passed } else { 0 }
    })
}

pub(crate) use counted;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::wrapping_since;
    use crate::cpu::threads::ThreadTimes;
    use crate::link::interface::LinkCounters;

    #[test]
    fn what_passed_is_the_difference_and_never_negative() {
        let earlier = LinkCounters { rx_packets: 3, rx_bytes: 10, ..LinkCounters::default() };
        let later = LinkCounters { rx_packets: 8, rx_bytes: 4, ..LinkCounters::default() };
        assert_eq!(later.since(&earlier), LinkCounters { rx_packets: 5, ..LinkCounters::default() });
    }

    #[test]
    fn a_wrap_is_understood_and_a_reset_counts_as_nothing() {
        assert_eq!(wrapping_since(12, 5), 7);
        assert_eq!(wrapping_since(4, (1 << 32) - 6), 10);
        assert_eq!(wrapping_since(4, 1000), 0);
        assert_eq!(wrapping_since(0, 1 << 40), 0);
    }

    proptest! {
        #[test]
        fn what_passed_is_at_most_what_was_counted(earlier in any::<[u64; 4]>(), later in any::<[u64; 4]>()) {
            let times = |[running_ns, user_ns, system_ns, waiting_ns]: [u64; 4]| {
                ThreadTimes { running_ns, user_ns, system_ns, waiting_ns }
            };
            let passed = times(later).since(&times(earlier));
            prop_assert!(passed.running_ns <= later[0] && passed.waiting_ns <= later[3]);
            prop_assert_eq!(passed.plus(&times(earlier)).running_ns, later[0].max(earlier[0]));
        }
    }
}
