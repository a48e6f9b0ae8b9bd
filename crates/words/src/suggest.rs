//! Quotes foreign text, and suggests words that may have been meant.

// The vocabularies have no longer words, and the comparison is quadratic.
const LONGEST_COMPARED: usize = 64;

/// Lists of at most this many words are shown whole in a help line.
const LONGEST_LIST: usize = 10;

/// Foreign text, safe to print: control characters escaped, at most 40 characters.
pub fn quoted(text: &str) -> String {
    let mut quoted: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        quoted.push('…');
    }
    quoted.replace("\\'", "'").replace("\\\"", "\"")
}

/// The word of `known` nearest to `word`, case aside, if at most every third character is wrong; or
/// else the first that contains `word`.
pub fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    if word.len() > LONGEST_COMPARED {
        return None;
    }
    let word = fold(word);
    let known: Vec<&str> = known.into_iter().collect();
    let allowed = |candidate: &str| candidate.len().max(word.len()).div_ceil(3);
    let near = known
        .iter()
        .map(|&candidate| {
            let folded = fold(candidate);
            let unlike = 1.0 - strsim::jaro_winkler(&word, &folded);
            (strsim::osa_distance(&word, &folded), unlike, candidate)
        })
        .filter(|(distance, _, candidate)| *distance <= allowed(candidate) && *distance < word.len().max(1))
        // Of equally near words, the one with the longer common prefix.
        .min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))
        .map(|(_, _, candidate)| candidate);
    let part_of = |candidate: &&&str| word.len() >= 3 && fold(candidate).contains(&word);
    near.or_else(|| known.iter().find(part_of).copied())
}

/// The help line for a word that is not in `known`: the nearest one, and all if they are few.
pub fn help<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    let near = nearest(word, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    let all = (!known.is_empty() && known.len() <= LONGEST_LIST).then(|| list(&known));
    match (near, all) {
        (Some(near), Some(all)) if known.len() > 1 => Some(format!("{near} Known here: {all}")),
        (Some(near), _) => Some(near),
        (None, Some(all)) => Some(format!("known here: {all}")),
        (None, None) => None,
    }
}

/// Words in a sentence: `` `a`, `b` ``.
pub fn list<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{}`", word.as_ref())).collect();
    words.join(", ")
}

/// Case, and `-` or `_`, make no difference.
fn fold(word: &str) -> String {
    word.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        let words = ["loopback", "veth", "tcp_stream", "udp_stream"];
        assert_eq!(nearest("lopback", words), Some("loopback"));
        assert_eq!(nearest("LOOPBACK", words), Some("loopback"));
        assert_eq!(nearest("udp-stream", words), Some("udp_stream"));
        assert_eq!(nearest("vteh", words), Some("veth"));
        assert_eq!(nearest("buffer", ["flows", "socket_buffer"]), Some("socket_buffer"), "a part of it");
    }

    #[test]
    fn what_is_far_from_all_words_is_not_guessed() {
        assert_eq!(nearest("wombat", ["loopback", "veth"]), None);
        assert_eq!(nearest("", ["on", "off"]), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), ["on"]), None);
    }

    #[test]
    fn quoting_defuses_and_shortens() {
        assert_eq!(quoted("a\u{1b}[31mb\"c"), "a\\u{1b}[31mb\"c");
        assert_eq!(quoted(&"ä".repeat(41)), format!("{}…", "ä".repeat(40)));
        assert_eq!(quoted("plain"), "plain");
    }

    #[test]
    fn help_names_the_nearest_word_and_short_lists() {
        assert_eq!(help("of", ["on", "off"]).unwrap(), "did you mean `off`? Known here: `on`, `off`");
        assert_eq!(help("wombat", ["veth"]).unwrap(), "known here: `veth`");
        let many: Vec<String> = (0..20).map(|n| format!("word{n}")).collect();
        assert_eq!(help("wombat", many.iter().map(String::as_str)), None);
    }
}
