use super::*;

#[test]
fn two_names_of_one_feature_are_one_subject() {
    let named = |name| Varied::from_name(name).unwrap();
    assert_eq!(named("gso"), named("tx-generic-segmentation"));
    assert_eq!(named("tso"), named("tcp-segmentation-offload"));
    assert_ne!(named("tso"), named("tx-tcp-segmentation"));
    assert_ne!(named("tso"), named("receiver.tso"));
}

#[test]
fn a_kernel_goes_by_its_release() {
    for (kernel, short) in [
        ("/boot/vmlinuz-6.1.0-56-cloud-amd64", "6.1.0-56-cloud-amd64"),
        ("linux-image-6.12.9-amd64", "6.12.9-amd64"),
        ("kernels/6.18/", "6.18"),
        ("/src/linux/arch/x86/boot/bzImage", "/src/linux/arch/x86/boot/bzImage"),
        ("/", "/"),
    ] {
        assert_eq!(release(kernel), short);
    }
    let kernels = ["a/vmlinuz-6.1", "b/vmlinuz-6.1", "b/vmlinuz-6.6", "running"];
    let levels = kernels.map(|kernel| Value::Text(kernel.to_owned())).to_vec();
    let factor = Factor { name: "kernel".into(), subject: Varied::Guest("kernel"), values: levels };
    let short: Vec<String> = factor.values.iter().map(|level| factor.short(level)).collect();
    assert_eq!(short, ["a/vmlinuz-6.1", "b/vmlinuz-6.1", "6.6", "running"]);
}

#[test]
fn only_settings_of_interfaces_have_sides() {
    for scope in ["transmitter.", "underlay.", "receiver.underlay."] {
        assert_eq!(Varied::from_name(&format!("{scope}rx_ring")).unwrap().scope().to_string(), scope);
        assert!(Varied::from_name(&format!("{scope}offloads")).is_some());
        assert_eq!(Varied::from_name(&format!("{scope}tso")).unwrap().scope().to_string(), scope);
    }
    let of_guest = ["kernel", "command_line", "vcpus", "nic", "copies"];
    assert!(GUEST.factors().eq(of_guest));
    let of_guest = of_guest.map(|key| (key, Varied::Guest(key)));
    for (name, subject) in Varied::WHOLE.into_iter().chain(of_guest) {
        assert_eq!(Varied::from_name(name), Some(subject));
        assert_eq!(Varied::from_name(&format!("transmitter.{name}")), None, "{name}");
    }
    for name in ["family", "mtu"] {
        assert_eq!(Varied::from_name(&format!("underlay.{name}")), Some(Varied::Underlay(name)));
        assert_eq!(Varied::from_name(&format!("transmitter.underlay.{name}")), None, "{name}");
    }
    assert!(MACHINE.factors().eq(TuningKey::ALL.map(TuningKey::word)));
    for key in TuningKey::ALL {
        assert!(Varied::from_name(&format!("receiver.{key}")).unwrap().part().is_some());
        assert_eq!(Varied::from_name(&format!("underlay.{key}")), None);
    }
    assert_eq!(Varied::from_name("underlay.kernel"), None);
    assert_eq!(Varied::from_name("verify"), None, "a precaution is no question");
    for key in KEYS.iter().filter(|key| key.is_factor) {
        assert_eq!(Varied::from_name(key.name), Some(Varied::Key(key)));
        assert_eq!(Varied::from_name(&format!("transmitter.{}", key.name)), None);
    }
    assert_eq!(Varied::from_name("workload"), None, "workloads become a factor by being several");
}
