//! The tables of a study file whose keys are factors.

use serde_json::{Value, json};
use words::Side;

use super::part::{of_key, switch};
use super::{Parts, object};
use crate::model::factor::Subject;
use crate::model::scope::{Scope, UNDERLAY};
use crate::model::tables::{COPIES, FAMILY, MTU, NIC, OFFLOADS, Part, SCENARIO, VCPUS};

/// A side; the other one has the same factors.
const SIDE: Scope = Scope { side: Some(Side::Transmitter), underlay: false };

impl Parts {
    /// `[factors]`
    pub(super) fn factors(&mut self) -> Value {
        let factors = self.factors_but_workloads("What is varied, and the levels it takes.");
        self.named("Factors", factors)
    }

    /// `baseline` and `only`
    pub(super) fn levels(&mut self) -> Value {
        let levels = self.choice("Conditions chosen by levels: by one, or by a list of them.");
        self.named("Levels", levels)
    }

    /// `[[exclude]]`
    pub(super) fn exclusion(&mut self) -> Value {
        let mut schema = self.choice("Combinations that are left out.");
        schema["minProperties"] = 1.into();
        schema["properties"]["reason"] = json!({ "description": "Why, for the plan.", "type": "string" });
        self.named("Exclude", schema)
    }

    /// Names of features, with the scope before them.
    pub(super) fn offloads(&mut self) -> Value {
        let pattern = format!("^((transmitter|receiver)\\.)?({UNDERLAY}\\.)?({})$", features().join("|"));
        let names = one_or_list("Features of `ethtool -k`.", json!({ "type": "string", "pattern": pattern }));
        self.named("DesignOffloads", names)
    }

    fn choice(&mut self, description: &str) -> Value {
        let mut schema = self.factors_but_workloads(description);
        schema["properties"]["workload"] = self.of_subject(&Subject::Workload);
        schema
    }

    /// A table of all factors, with those of a side under the side (`transmitter.tso`) or as a
    /// quoted key.
    fn factors_but_workloads(&mut self, description: &str) -> Value {
        let mut schema = self.table_of(description, Subject::names());
        let under_side =
            self.table_of("What differs under the tunnel on this side only.", Subject::names_in(SIDE));
        let mut of_side = self.table_of("What differs on this side only.", Subject::names_in(SIDE));
        of_side["properties"][UNDERLAY] = self.named("UnderlayOfSide", under_side);
        let of_side = self.named("OfSide", of_side);
        for side in Side::BOTH {
            schema["properties"][side.word()] = of_side.clone();
        }
        let both = Scope { side: None, underlay: true };
        let of_underlay =
            self.table_of("What the interfaces under the tunnel have.", Subject::names_in(both));
        schema["properties"][UNDERLAY] = self.named("OfUnderlay", of_underlay);
        let sides = Side::BOTH.map(Side::word).join("|");
        let quoted = |names: &str| format!("^((({sides})\\.)?{UNDERLAY}|{sides})\\.({names})$");
        schema["patternProperties"] = json!({
            quoted("offloads"): self.of_subject(&Subject::Offloads(SIDE)),
            quoted(&features().join("|")): self.of_subject(&Subject::Feature(SIDE, Vec::new())),
            format!("^{UNDERLAY}\\.family$"): self.of_subject(&Subject::UnderlayFamily),
            format!("^{UNDERLAY}\\.mtu$"): self.of_subject(&Subject::UnderlayMtu),
        });
        schema
    }

    /// A table of these factors.
    fn table_of(&mut self, description: &str, names: impl Iterator<Item = &'static str>) -> Value {
        let levels = |name: &'static str| Some((name.to_owned(), self.of_subject(&Subject::of(name)?)));
        object(description, names.filter_map(levels).collect())
    }

    /// The levels of a factor.
    fn of_subject(&mut self, subject: &Subject) -> Value {
        let (name, help, one) = match subject {
            Subject::Key(key) => return one_or_list(key.help, of_key(key)),
            Subject::Workload => {
                ("Names", "The name of a workload, if there are several.", self.part(&Part::Name))
            }
            Subject::Scenario => (
                "ScenarioLevels",
                "The kind of testbed; a study with this factor has no `scenario` at its top.",
                self.part(&SCENARIO),
            ),
            Subject::Family | Subject::UnderlayFamily => {
                ("FamilyLevels", "The version of IP.", self.part(&FAMILY))
            }
            Subject::Offloads(_) => (
                "OffloadsLevels",
                "All offloads at once; a feature named by itself wins over it.",
                self.part(&OFFLOADS),
            ),
            Subject::Feature(..) => ("SwitchLevels", "On or off.", switch()),
            Subject::Mtu | Subject::UnderlayMtu => {
                let one = json!({ "anyOf": [self.part(&MTU), { "const": "default" }] });
                ("MtuLevels", "The MTU in bytes.", one)
            }
            Subject::Twin => (
                "TwinLevels",
                "Labels that change nothing: the same condition several times.",
                self.part(&Part::Name),
            ),
            Subject::Kernel => {
                ("KernelLevels", "The kernel of the virtual machines.", self.part(&Part::Kernel))
            }
            Subject::CommandLine => (
                "CommandLineLevels",
                "What is added to the kernel's command line; `default` is nothing.",
                self.part(&Part::CommandLine),
            ),
            Subject::Vcpus => ("VcpusLevels", "The CPUs of a virtual machine.", self.part(&VCPUS)),
            Subject::Nic => ("NicLevels", "The network interface of a virtual machine.", self.part(&NIC)),
            Subject::Copies => {
                ("CopiesLevels", "How a virtual machine copies (exact mode).", self.part(&COPIES))
            }
        };
        self.named(name, one_or_list(help, one))
    }
}

fn one_or_list(description: &str, one: Value) -> Value {
    json!({
        "description": description,
        "anyOf": [one, { "type": "array", "items": one, "minItems": 1, "uniqueItems": true }],
    })
}

/// The features that a side can have of its own.
fn features() -> Vec<&'static str> {
    Subject::names_in(SIDE).filter(|name| *name != "offloads").collect()
}
