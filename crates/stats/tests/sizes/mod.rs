//! Simulations in two sizes: few experiments in the gate, many in `cargo xtask test --all`.
//! Bounds are computed from the number of experiments.

/// Two tests of each function, which takes the number of experiments.
macro_rules! in_two_sizes {
    ($few:literal, $many:literal, $reason:literal: $($name:ident)*) => { $(
        mod $name {
            #[test]
            fn few_experiments() {
                super::$name($few);
            }

            #[test]
            #[ignore = $reason]
            fn many_experiments() {
                super::$name($many);
            }
        }
    )* };
}
