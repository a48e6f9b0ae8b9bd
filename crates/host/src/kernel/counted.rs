//! Groups of counters that only grow: their differences and sums.

/// Declares a struct of `u64` counters, or of such structs, with `since`, `plus` and `sum`.
macro_rules! counted {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$field_meta:meta])* $field:ident $(: $group:ty)?),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$field_meta])* pub $field: counted!(@type $($group)?)),* }

        impl $name {
            /// The difference from `earlier`. A counter that went backwards counts as 0: it was
            /// replaced or estimated again.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($field: counted!(@since self.$field, earlier.$field $(, $group)?)),* }
            }

            /// The sum of both.
            #[must_use]
            pub fn plus(&self, other: &Self) -> Self {
                Self { $($field: counted!(@plus self.$field, other.$field $(, $group)?)),* }
            }

            /// The sum of several.
            #[must_use]
            pub fn sum(each: &[Self]) -> Self {
                each.iter().fold(Self::default(), |sum, one| sum.plus(one))
            }
        }
    };
    (@type) => { u64 };
    (@type $group:ty) => { $group };
    (@since $later:expr, $earlier:expr) => { $later.saturating_sub($earlier) };
    (@since $later:expr, $earlier:expr, $group:ty) => { $later.since(&$earlier) };
    (@plus $one:expr, $other:expr) => { $one.saturating_add($other) };
    (@plus $one:expr, $other:expr, $group:ty) => { $one.plus(&$other) };
}

pub(crate) use counted;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::cpu::threads::ThreadTimes;
    use crate::link::interface::LinkCounters;

    #[test]
    fn what_passed_is_the_difference_and_never_negative() {
        let earlier = LinkCounters { rx_packets: 3, rx_bytes: 10, ..LinkCounters::default() };
        let later = LinkCounters { rx_packets: 8, rx_bytes: 4, ..LinkCounters::default() };
        assert_eq!(later.since(&earlier), LinkCounters { rx_packets: 5, ..LinkCounters::default() });
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
