//! The state of all offloads of an interface.

words::vocabulary! {
    /// The shorthand for all offloads of an interface.
    #[derive(Default)]
    pub enum Offloads: "a state of the offloads" {
        /// As the machine sets them when the interface comes up.
        Default = "default", default;
        /// All of them off.
        None = "none";
    }
}
