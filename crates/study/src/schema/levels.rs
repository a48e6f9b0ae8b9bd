//! The tables of a study file whose keys are factors.

use serde_json::{Value, json};
use words::{DEFAULT, DeviceForm, DeviceSetting, Side, TuningKey};

use super::part::of_key;
use super::{Parts, object};
use crate::model::factor::Subject;
use crate::model::scope::{Scope, UNDERLAY as UNDER};
use crate::model::tables::{GUEST, MACHINE, Table, UNDERLAY};

/// A side; the other one has the same factors.
const SIDE: Scope = Scope { side: Some(Side::Transmitter), underlay: false };

impl Parts {
    pub(super) fn factors(&mut self) -> Value {
        let factors = self.factors_but_workloads("What is varied, and the levels it takes.");
        self.named("Factors", factors)
    }

    /// `baseline` and `only`
    pub(super) fn levels(&mut self) -> Value {
        let levels = self.choice("Conditions chosen by levels: by one, or by a list of them.");
        self.named("Levels", levels)
    }

    pub(super) fn exclusion(&mut self) -> Value {
        let mut schema = self.choice("Combinations that are not measured.");
        schema["minProperties"] = 1.into();
        schema["properties"]["reason"] = json!({ "description": "Why, for the plan.", "type": "string" });
        self.named("Exclude", schema)
    }

    /// Names of features, with the scope before them.
    pub(super) fn offloads(&mut self) -> Value {
        let pattern = format!("^((transmitter|receiver)\\.)?({UNDER}\\.)?({})$", features().join("|"));
        let names = one_or_list("Features of `ethtool -k`.", json!({ "type": "string", "pattern": pattern }));
        self.named("DesignOffloads", names)
    }

    fn choice(&mut self, description: &str) -> Value {
        let mut schema = self.factors_but_workloads(description);
        schema["properties"]["workload"] = self.of_subject(&Subject::Workload);
        schema
    }

    /// A table of all factors; those of a side under the side (`transmitter.tso`) or as a quoted
    /// key.
    fn factors_but_workloads(&mut self, description: &str) -> Value {
        let mut schema = self.table_of(description, Subject::names());
        let under_side =
            self.table_of("What differs under the tunnel on this side only.", Subject::names_in(SIDE));
        let mut of_side = self.table_of("What differs on this side only.", Subject::names_in(SIDE));
        of_side["properties"][UNDER] = self.named("UnderlayOfSide", under_side);
        let of_side = self.named("OfSide", of_side);
        for side in Side::BOTH {
            schema["properties"][side.word()] = of_side.clone();
        }
        let both = Scope { side: None, underlay: true };
        let of_underlay =
            self.table_of("What the interfaces under the tunnel have.", Subject::names_in(both));
        schema["properties"][UNDER] = self.named("OfUnderlay", of_underlay);
        let sides = Side::BOTH.map(Side::word).join("|");
        let quoted = |names: &str| format!("^((({sides})\\.)?{UNDER}|{sides})\\.({names})$");
        schema["patternProperties"] = json!({
            quoted("offloads"): self.of_subject(&Subject::Offloads(SIDE)),
            quoted(&features().join("|")): self.of_subject(&Subject::Feature(SIDE, Vec::new())),
        });
        let all_like = |one: DeviceSetting| {
            let chosen = DeviceSetting::ALL.into_iter().filter(|setting| setting.form() == one.form());
            quoted(&chosen.map(DeviceSetting::word).collect::<Vec<_>>().join("|"))
        };
        for one in [DeviceSetting::RxRing, DeviceSetting::AdaptiveRx, DeviceSetting::FlowHashUdp4] {
            let levels = self.of_subject(&Subject::Device(SIDE, one));
            schema["patternProperties"][all_like(one)] = levels;
        }
        for key in TuningKey::ALL {
            let levels = self.of_subject(&Subject::Tuning(SIDE, key));
            schema["patternProperties"][format!("^({sides})\\.{key}$")] = levels;
        }
        for key in UNDERLAY.factors() {
            let levels = self.of_subject(&Subject::Underlay(key));
            schema["patternProperties"][format!("^{UNDER}\\.{key}$")] = levels;
        }
        schema
    }

    fn table_of(&mut self, description: &str, names: impl Iterator<Item = &'static str>) -> Value {
        let levels =
            |name: &'static str| Some((name.to_owned(), self.of_subject(&Subject::from_name(name)?)));
        object(description, names.filter_map(levels).collect())
    }

    fn of_subject(&mut self, subject: &Subject) -> Value {
        let of_table = |table: &Table, key: &str| {
            (format!("{}.{key}", table.name), table.row(key).map_or("", |row| row.help))
        };
        let (name, help) = match subject {
            Subject::Key(key) => return one_or_list(key.help, of_key(key)),
            Subject::Workload => ("Names".to_owned(), "The name of a workload, if there are several."),
            Subject::Scenario => (
                "ScenarioLevels".to_owned(),
                "The kind of testbed; a study with this factor has no `scenario` at its top.",
            ),
            Subject::Family => ("FamilyLevels".to_owned(), "The version of IP."),
            Subject::Offloads(_) => {
                ("OffloadsLevels".to_owned(), "All offloads at once; a feature named by itself wins over it.")
            }
            Subject::Device(_, setting) => match setting.form() {
                DeviceForm::Number => (
                    "DeviceLevels".to_owned(),
                    "A setting of a network device: descriptors, µs, frames or queues; `default` leaves it as it is.",
                ),
                DeviceForm::Switch => {
                    ("DeviceSwitchLevels".to_owned(), "A switch of a network device: on or off.")
                }
                DeviceForm::Fields => (
                    "DeviceFieldsLevels".to_owned(),
                    "The fields of a packet whose hash selects its receive queue, as letters of `ethtool -N`; `default` leaves them as they are.",
                ),
            },
            Subject::Tuning(_, key) => of_table(&MACHINE, key.word()),
            Subject::Feature(..) => ("SwitchLevels".to_owned(), "On or off."),
            Subject::Mtu => ("MtuLevels".to_owned(), "The MTU in bytes."),
            Subject::Twin => {
                ("TwinLevels".to_owned(), "Labels that change nothing: the same condition several times.")
            }
            Subject::Guest(key) => of_table(&GUEST, key),
            Subject::Underlay(key) => of_table(&UNDERLAY, key),
        };
        let mut one = subject.part().map(|part| self.part(part)).unwrap_or_default();
        if let Subject::Tuning(_, key) = subject {
            let other = match key {
                TuningKey::Sysctl => json!({ "type": "string" }),
                _ => json!({ "const": DEFAULT }),
            };
            one = json!({ "anyOf": [one, other] });
        }
        self.named(&name, one_or_list(help, one))
    }
}

fn one_or_list(description: &str, one: Value) -> Value {
    json!({
        "description": description,
        "anyOf": [one, { "type": "array", "items": one, "minItems": 1, "uniqueItems": true }],
    })
}

fn features() -> Vec<&'static str> {
    words::feature::names().collect()
}
