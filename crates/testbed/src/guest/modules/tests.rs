use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

fn ordered(wanted: &[&str], needs: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
    order(&wanted, |name| Ok::<_, Infallible>(needs.get(name).cloned())).unwrap()
}

#[test]
fn each_comes_after_what_it_needs_and_once() {
    let needs = [
        ("virtio-net", "net_failover virtio"),
        ("net_failover", "failover"),
        ("failover", ""),
        ("virtio", ""),
        ("b", "virtio"),
    ];
    let needs = needs
        .map(|(name, list)| {
            (plain_name(name), list.split(' ').filter(|n| !n.is_empty()).map(str::to_owned).collect())
        })
        .into();
    assert_eq!(
        ordered(&["virtio-net", "b", "builtin"], &needs),
        ["failover", "net_failover", "virtio", "virtio_net", "b"]
    );
}

#[test]
fn files_of_all_kinds_have_names() {
    assert_eq!(name_of("ip6-tunnel.ko.xz").as_deref(), Some("ip6_tunnel"));
    assert_eq!(name_of("veth.ko").as_deref(), Some("veth"));
    assert_eq!(name_of("modules.dep"), None);
    let text = "kernel/fs/binfmt_elf.ko\nkernel/crypto/crc32c-generic.ko\n\nno module\n";
    assert_eq!(built_in(text).into_iter().collect::<Vec<_>>(), ["binfmt_elf", "crc32c_generic"]);
}

proptest! {
    #[test]
    fn any_graph_is_ordered(edges in prop::collection::vec((0u8..12, 0u8..12), 0..40), wanted in prop::collection::vec(0u8..12, 0..5)) {
        let mut needs: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (from, to) in &edges {
            needs.entry(from.to_string()).or_default().push(to.to_string());
            needs.entry(to.to_string()).or_default();
        }
        let names: Vec<String> = wanted.iter().map(u8::to_string).collect();
        let words: Vec<&str> = names.iter().map(String::as_str).collect();
        let order = ordered(&words, &needs);
        let place = |name: &String| order.iter().position(|other| other == name);
        prop_assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), order.len());
        // Numbers that only grow along the edges mean no circle, and then every edge must hold.
        if edges.iter().all(|(from, to)| from < to) {
            for name in &order {
                for need in &needs[name] {
                    prop_assert!(place(need) < place(name));
                }
            }
        }
    }
}
