//! Metrics and lists as people say them.

/// A metric's key as it is spoken.
pub(crate) fn words(metric: &str) -> String {
    // What is per a unit of work ends with that unit.
    let per = |key: &str, of: &str| key.replace(&format!("{of}_"), &format!("{of}_per_"));
    let plain = |key: &str| per(&per(key, "instructions"), "service_demand").replace('_', " ");
    match metric.split_once('.') {
        Some((side, rest)) => format!("the {side}'s {}", plain(rest)),
        None => plain(metric),
    }
}

/// `a, b and c`.
pub(crate) fn list<S: AsRef<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [init @ .., last] => {
            let init: Vec<&str> = init.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", init.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_people_write_them() {
        assert_eq!(list::<&str>(&[]), "");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn metrics_read_as_words() {
        assert_eq!(words("receiver.cpu_softirq"), "the receiver's cpu softirq");
        assert_eq!(words("latency_p99"), "latency p99");
    }
}
