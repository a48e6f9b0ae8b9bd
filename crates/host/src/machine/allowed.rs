//! The features of interfaces that may be changed.

// Features that depend on rules, keys or rings, which switching them removes, by prefix.
const CARRIERS: &[&str] = &[
    "esp-hw-offload",
    "esp-tx-csum-hw-offload",
    "hsr-",
    "hw-tc-offload",
    "l2-fwd-offload",
    "macsec-hw-offload",
    "rx-ntuple-filter",
    "tls-hw-",
];

/// Checks that a feature of an interface may be changed; the error is the reason.
pub(super) fn feature(name: &str) -> Result<(), String> {
    if CARRIERS.iter().any(|begin| name.starts_with(begin)) {
        return Err("it also removes rules, keys or rings, so it could not be undone".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_side_effects_is_refused_with_the_reason() {
        assert!(feature("hw-tc-offload").unwrap_err().contains("rules"));
        assert_eq!(feature("tx-tcp-segmentation"), Ok(()));
    }
}
