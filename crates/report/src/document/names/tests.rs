use super::*;
use proptest::prelude::*;

/// A name of words with their keys; none has an empty one.
fn name(words: &[(&str, &str)]) -> Name {
    let factor = |key: &str| (!key.is_empty()).then(|| key.to_owned());
    let word = |(key, level): &(&str, &str)| NameWord { factor: factor(key), level: (*level).to_owned() };
    words.iter().map(word).collect::<Vec<_>>().into()
}

#[test]
fn names_that_fit_stay() {
    let names = ["default", "none"].map(|level| name(&[("", "ipv4"), ("offloads", level)]));
    let names = ShortNames::within(&names, 21);
    assert_eq!(names.short, ["ipv4 offloads=default", "ipv4 offloads=none"]);
    assert_eq!((names.keys.as_str(), names.legend.as_str()), ("", ""));
}

#[test]
fn the_common_part_then_keys_then_long_names_are_told_above() {
    let names = [["gso", "recv"], ["sendmmsg", "io_uring"]]
        .map(|[sender, reader]| name(&[("", "udp"), ("sender", sender), ("reader", reader)]));
    let found = ShortNames::within(&names, 30);
    assert_eq!((found.legend.as_str(), found.keys.as_str()), ("  each begins with udp\n", "sender reader"));
    assert_eq!(found.short, ["gso recv", "sendmmsg io_uring"]);
    let found = ShortNames::within(&names, 12);
    assert_eq!(found.short, ["gso recv", "[a]"]);
    assert_eq!(found.legend, "  each begins with udp\n  [a] sendmmsg io_uring\n");
}

#[test]
fn an_equals_sign_in_a_name_makes_no_key() {
    let found = ShortNames::within(&["a=64 b=1", "a=65 b=2"].map(Name::from), 6);
    assert_eq!((found.keys.as_str(), found.short.join(" ")), ("", "[a] [b]".to_owned()));
    let names = ["x=1", "x=2"].map(|level| name(&[("command_line", level)]));
    let found = ShortNames::within(&names, 9);
    assert_eq!((found.keys.as_str(), found.short.join(" ")), ("command_line", "x=1 x=2".to_owned()));
}

#[test]
fn words_that_all_share_are_left_out() {
    let names = [["ipv4", "off", "default"], ["ipv4", "on", "none"], ["ipv4", "on", "default"]].map(
        |[family, checksum, offloads]| name(&[("", family), ("checksum", checksum), ("offloads", offloads)]),
    );
    assert_eq!(
        distinct_names(&names),
        ["checksum=off offloads=default", "checksum=on offloads=none", "checksum=on offloads=default"]
    );
    assert_eq!(distinct_names(&names[..1]), ["ipv4 checksum=off offloads=default"]);
    let swapped = [["a", "b"], ["b", "a"]].map(|[one, other]| name(&[("", one), ("", other)]));
    assert_eq!(distinct_names(&swapped), ["a b", "b a"], "only their order differs");
    assert_eq!(distinct_names(&["without a", "without b"].map(Name::from)), ["without a", "without b"]);
}

#[test]
fn a_name_of_many_words_is_told_as_a_whole() {
    let found = ShortNames::within(&["a b c d e f", "g"].map(Name::from), 5);
    assert_eq!(found.short, ["[a]", "g"]);
    assert_eq!(found.legend, "  [a] a b c d e f\n");
}

proptest! {
    #[test]
    fn names_that_differ_stay_apart(
        names in prop::collection::vec(prop::collection::vec(("[ab]{0,1}", "[abc]"), 1..5), 1..9),
    ) {
        let words = |words: &Vec<(String, String)>| {
            name(&words.iter().map(|(key, level)| (key.as_str(), level.as_str())).collect::<Vec<_>>())
        };
        let names: Vec<Name> = names.iter().map(words).collect();
        let short = distinct_names(&names);
        for (one, place) in names.iter().zip(0..) {
            for (other, there) in names.iter().zip(0..) {
                prop_assert_eq!(short[place] == short[there], one.as_str() == other.as_str(), "{:?}", short);
            }
        }
    }

    #[test]
    fn no_name_is_too_long_and_none_becomes_another(
        names in prop::collection::vec(prop::collection::vec(("[ab]{0,2}", "[abc= ]{1,9}"), 1..5), 1..12),
        width in 6_usize..30,
    ) {
        let words = |words: &Vec<(String, String)>| {
            name(&words.iter().map(|(key, level)| (key.as_str(), level.as_str())).collect::<Vec<_>>())
        };
        let names: Vec<Name> = names.iter().map(words).collect();
        let found = ShortNames::within(&names, width);
        prop_assert!(found.short.iter().all(|name| name.width() <= width), "{found:?}");
        let count = |names: &mut dyn Iterator<Item = &str>| names.collect::<std::collections::BTreeSet<_>>().len();
        prop_assert_eq!(
            count(&mut found.short.iter().map(String::as_str)),
            count(&mut names.iter().map(Name::as_str)),
            "{:?}", found
        );
    }
}
