//! Groups of counters that only grow, and what passed between two readings of them.

/// Declares a struct of `u64` counters with `since`.
macro_rules! counted {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* $field:ident),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$field_meta])* pub $field: u64),* }

        impl $name {
            /// What was counted since `earlier`. A counter that went backwards (its owner was
            /// replaced) counts as nothing.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($field: self.$field.saturating_sub(earlier.$field)),* }
            }
        }
    };
}

pub(crate) use counted;

#[cfg(test)]
mod tests {
    use crate::link::interface::LinkCounters;

    #[test]
    fn what_passed_is_the_difference_and_never_negative() {
        let earlier = LinkCounters { rx_packets: 3, rx_bytes: 10, ..LinkCounters::default() };
        let later = LinkCounters { rx_packets: 8, rx_bytes: 4, ..LinkCounters::default() };
        assert_eq!(later.since(&earlier), LinkCounters { rx_packets: 5, ..LinkCounters::default() });
    }
}
