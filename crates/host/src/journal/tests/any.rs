//! Kills at any moment, and journals of any content.

use super::*;

/// Values of a setting: nothing, a line, a long list, any characters.
fn values() -> impl Strategy<Value = String> {
    let long = (100usize..9000)
        .prop_map(|ports| (0..ports).map(|port| format!("{},", port * 2)).collect::<String>());
    prop_oneof![
        Just(String::new()),
        Just("\n".to_owned()),
        "[ -~]{1,40}\n",
        long,
        prop::collection::vec(any::<char>(), 0..300).prop_map(String::from_iter),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Killed after any number of steps, and its undoing killed after any number of steps, the
    /// machine comes back byte for byte: any allowed setting, whatever it held and whatever the
    /// kernel made of what was asked.
    #[test]
    fn a_kill_at_any_moment_loses_nothing(
        names in prop::sample::subsequence(words::sysctls().collect::<Vec<_>>(), 1..5),
        before in prop::collection::vec(values(), 5),
        after in prop::collection::vec(values(), 5),
        half in values(),
        killed in any::<prop::sample::Index>(),
        undone in any::<prop::sample::Index>(),
    ) {
        let world = World::new(&[]);
        let put = |name: &str, value: &str| {
            let path = world.root.path().join("proc/sys").join(name.replace('.', "/"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, value).unwrap();
        };
        names.iter().zip(&before).for_each(|(name, value)| put(name, value));
        let path = world.leave("1.journal", dead(), &[]);
        let mut file = JournalFile::open(&path).unwrap().unwrap().0;
        // All are announced, then each is written and noted.
        let steps = killed.index(names.len() * 3 + 1);
        for step in 0..steps {
            let (phase, index) = if step < names.len() { (0, step) } else {
                ((step - names.len()) % 2 + 1, (step - names.len()) / 2)
            };
            let number = u32::try_from(index).unwrap() + 1;
            let target = Target::Sysctl { name: names[index].to_owned() };
            match phase {
                0 => {
                    let before = before[index].clone().into();
                    file.add(&[Record::Change(Change { number, target, before, after: None })])
                }
                1 => {
                    // The first call of a write, or all of it.
                    let whole = step + 1 < steps;
                    put(names[index], if whole { &after[index] } else { &half });
                    Ok(())
                }
                _ => file.add(&[Record::Made(number, after[index].clone().into())]),
            }
            .unwrap();
        }
        // The undoing is killed too, inside of a write.
        let changes = parse(&std::fs::read(&path).unwrap()).open();
        let last = undone.index(changes.len() + 1);
        for (step, change) in changes.iter().rev().take(last).enumerate() {
            let Target::Sysctl { name } = &change.target else { panic!("a sysctl") };
            if world.machine().read(&change.target).unwrap() != change.before {
                file.add(&[Record::Changing(vec![change.number])]).unwrap();
            }
            if step + 1 < last {
                put(name, change.before.text());
                file.add(&[Record::Undone(change.number)]).unwrap();
            } else if world.machine().read(&change.target).unwrap() != change.before {
                put(name, &half);
            }
        }
        drop(file);
        let reports = world.restore(RestoreOptions::default());
        prop_assert_eq!(fates(&reports), [&JournalFate::Undone], "{:?}", reports);
        for (name, value) in names.iter().zip(&before) {
            prop_assert_eq!(&world.machine().read(&target(name)).unwrap(), &SettingValue::from(value.clone()));
        }
    }

    #[test]
    fn hostile_journals_are_reported_and_never_followed_beyond_their_own_settings(
        bytes in prop::collection::vec(any::<u8>(), 0..300)
    ) {
        let world = World::new(&[("a", "2")]);
        let path = world.leave("1.journal", dead(), &[]);
        std::fs::write(&path, [write(&Record::Begun(dead())), bytes].concat()).unwrap();
        let reports = world.restore(RestoreOptions::default());
        prop_assert_eq!(reports.len(), 1);
        prop_assert_eq!(world.value("a"), "2");
    }
}
