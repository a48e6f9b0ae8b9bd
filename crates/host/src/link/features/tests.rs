use proptest::prelude::*;

use super::*;

fn features(list: &[(&str, bool, bool)]) -> Features {
    list.iter()
        .map(|&(name, active, changeable)| {
            (name.to_owned(), FeatureState { active, wanted: active, changeable })
        })
        .collect()
}

fn asked(list: &[(&str, bool)]) -> BTreeMap<String, bool> {
    list.iter().map(|&(name, on)| (name.to_owned(), on)).collect()
}

#[test]
fn each_kind_of_refusal_is_distinguished() {
    let after = features(&[("csum", false, true), ("tso", false, true), ("llt", false, false)]);
    let requested = asked(&[("tso", true), ("llt", true), ("nonsense", true), ("csum", false)]);
    let refused = FeatureChange::compare(&requested, after.clone()).refused;
    let expected = [("llt", "[fixed]"), ("nonsense", "no such feature"), ("tso", "depends on")];
    for ((name, why), (expected, words)) in refused.iter().zip(expected) {
        assert!(name == expected && why.contains(words), "{refused:?}");
    }
    assert_eq!(refused.len(), expected.len());
    let stays = FeatureChange::compare(&asked(&[("llt", false)]), after);
    assert_eq!(stays.refused, BTreeMap::new(), "a fixed feature asked to stay as it is");
}

#[test]
fn only_what_can_be_switched_is_sent() {
    let before = features(&[("tso", true, true), ("llt", true, false), ("gro", true, true)]);
    let requested = asked(&[("tso", false), ("llt", false), ("nonsense", true), ("gro", true)]);
    assert_eq!(sendable(&requested, &before), asked(&[("tso", false)]));
}

proptest! {
    #[test]
    fn every_request_is_fulfilled_or_refused(
        requested in prop::collection::btree_map("[a-h]", any::<bool>(), 0..8),
        after in prop::collection::btree_map("[a-f]", any::<[bool; 2]>(), 0..6),
    ) {
        let after: Features = after
            .into_iter()
            .map(|(name, [active, changeable])| (name, FeatureState { active, wanted: active, changeable }))
            .collect();
        let change = FeatureChange::compare(&requested, after.clone());
        for (name, &on) in &requested {
            let fulfilled = after.get(name).is_some_and(|state| state.active == on);
            prop_assert_eq!(fulfilled, !change.refused.contains_key(name));
        }
        prop_assert!(change.refused.keys().all(|name| requested.contains_key(name)));
    }
}

/// A bit set as the kernel writes it: with a mask every known name and a flag for set ones,
/// without a mask only set ones.
fn bitset(kind: u16, bits: &[(&str, bool)], masked: bool) -> (u16, Vec<u8>) {
    let flag = |kind| (kind, Vec::new());
    let listed = bits.iter().filter(|(_, set)| masked || *set);
    let bit = |(name, set): &(&str, bool)| {
        let value = (masked && *set).then(|| flag(BIT_VALUE));
        let named = [(1, vec![0; 4]), (BIT_NAME, string(name))];
        (BITS_BIT | NESTED, encode(&named.into_iter().chain(value).collect::<Vec<_>>()))
    };
    let list = (BITSET_BITS | NESTED, encode(&listed.map(bit).collect::<Vec<_>>()));
    let size = (2, 64u32.to_ne_bytes().to_vec());
    let without = (!masked).then(|| flag(BITSET_NOMASK));
    (kind | NESTED, encode(&without.into_iter().chain([size, list]).collect::<Vec<_>>()))
}

/// A reply with each feature's name, and whether it is in `hw`, `wanted`, `active`, `nochange`.
fn reply(features: &[(&str, [bool; 4])]) -> Vec<u8> {
    let set = |(index, kind)| {
        let bits: Vec<_> = features.iter().map(|(name, sets)| (*name, sets[index])).collect();
        bitset(kind, &bits, kind == HW)
    };
    let sets = [HW, WANTED, ACTIVE, NOCHANGE].into_iter().enumerate().map(set);
    encode(&sets.collect::<Vec<_>>())
}

#[test]
fn a_reply_is_read() {
    let bytes = reply(&[
        ("tso", [true, true, false, false]),
        ("gro", [true, true, true, false]),
        ("lockless", [false, false, true, true]),
        ("odd", [true, false, false, true]),
        ("", [true, true, true, false]),
    ]);
    let features = parse_features(&bytes).unwrap();
    let state = |active, wanted, changeable| FeatureState { active, wanted, changeable };
    let expected = [
        ("tso", state(false, true, true)),
        ("gro", state(true, true, true)),
        ("lockless", state(true, false, false)),
        ("odd", state(false, false, false)),
    ];
    assert_eq!(features, expected.map(|(name, state)| (name.to_owned(), state)).into());
}

#[test]
fn a_set_that_is_missing_is_an_error() {
    assert_eq!(parse_features(&encode(&[bitset(HW, &[("tso", true)], true)])), None);
}

#[test]
fn a_request_is_a_masked_bit_set() {
    let requested = [("a".to_owned(), true), ("b".to_owned(), false)].into();
    let bytes = encode(&[wanted_bits(&requested)]);
    let [known, set] = bits(attribute(&bytes, WANTED).unwrap()).unwrap();
    assert_eq!(known, ["a", "b"].map(str::to_owned).into());
    assert_eq!(set, ["a".to_owned()].into());
}

proptest! {
    #[test]
    fn a_damaged_reply_is_read_or_refused(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()
    ) {
        let mut bytes = reply(&[("tso", [true, true, false, false]), ("gro", [true; 4])]);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = parse_features(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        let _ = parse_features(&bytes);
    }

    #[test]
    fn every_state_survives(list in prop::collection::btree_map("[a-z-]{1,12}", any::<[bool; 4]>(), 0..20)) {
        let features: Vec<_> = list.iter().map(|(name, sets)| (name.as_str(), *sets)).collect();
        let read = parse_features(&reply(&features)).unwrap();
        prop_assert_eq!(read.len(), list.len());
        for (name, [hardware, wanted, active, fixed]) in list {
            prop_assert_eq!(read[&name], FeatureState { active, wanted, changeable: hardware && !fixed });
        }
    }
}
