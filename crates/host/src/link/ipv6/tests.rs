use proptest::prelude::*;

use super::*;

fn entry() -> impl Strategy<Value = Entry> {
    let message = prop::collection::vec(any::<u8>(), 0..40);
    (0..3usize, message, any::<Option<[u32; 2]>>()).prop_map(|(sort, message, lifetime)| Entry {
        sort: EntryKind::ALL[sort],
        message,
        lifetime,
        is_tentative: false,
    })
}

proptest! {
    #[test]
    fn a_state_is_read_as_it_was_written(
        sysctls in prop::collection::btree_map("(conf|neigh)/[a-z_]{1,9}", "[ -~]{0,12}", 0..5),
        entries in prop::collection::vec(entry(), 0..5),
        awaits_carrier in any::<bool>(),
    ) {
        let state = Ipv6State { awaits_carrier, sysctls, entries };
        prop_assert_eq!(Ipv6State::of_text(&state.to_text()), Some(state));
    }

    #[test]
    fn any_text_is_a_state_or_none(text in "\\PC{0,80}") {
        let _ = Ipv6State::of_text(&text);
    }
}

#[test]
fn a_name_that_leads_elsewhere_is_no_state() {
    for sysctl in ["conf/../../kernel/panic", "conf/a/b", "conf/", "conf", "x/mtu"] {
        let text = format!(r#"{{"sysctls":{{"{sysctl}":"1"}}}}"#);
        assert_eq!(Ipv6State::of_text(&text), None, "{text}");
    }
    for text in ["", "x", "5", r#"{"entries":[{"sort":"x","message":[0],"lifetime":null}]}"#, r#"{"x":1}"#] {
        assert_eq!(Ipv6State::of_text(text), None, "{text}");
    }
}

#[test]
fn the_time_that_is_left_makes_no_difference() {
    let entry = |sort, byte: u8, lifetime| Entry { sort, message: vec![byte], lifetime, is_tentative: false };
    let of_entries = |entries: &[Entry]| Ipv6State { entries: entries.to_vec(), ..Ipv6State::default() };
    let address = |byte, lifetime| entry(EntryKind::Address, byte, lifetime);
    let route = |byte| entry(EntryKind::Route, byte, None);
    let before = of_entries(&[route(1), address(0, Some([5, 6]))]);
    assert!(of_entries(&[address(0, Some([1, 2])), route(1)]).is_same(&before));
    assert!(!of_entries(&[address(0, None)]).is_same(&of_entries(&[address(1, None)])));
    let mtu = |value: &str| Ipv6State {
        sysctls: [(MTU.to_owned(), value.to_owned())].into(),
        ..of_entries(&[address(0, None), route(1), route(2)])
    };
    assert!(!mtu("1").is_same(&mtu("2")) && mtu("1").with_mtu_of(&mtu("2")).is_same(&mtu("2")));
    let without = of_entries(&[address(0, None)]);
    let with = Ipv6State { awaits_carrier: true, ..without.clone() };
    assert!(!with.is_same(&without) && without.is_same(&with) && with.is_same(&with));
    assert_eq!(mtu("1").summary(), "1 address(es), 2 route(s), 0 permanent neighbour(s), 1 sysctl(s)");
    assert_eq!(of_entries(&[]).summary(), "none");
}
