//! Which probe points a kernel has for the stages of a path.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::btf::{Arguments, Packet};
use crate::lane::Lane;
use crate::offered::Offered;
use crate::path::{At, Path};
use crate::phase::Phase;

/// A stage, with the probe points of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resolved {
    /// The box of the flow chart.
    pub label: String,
    /// The layer of the box.
    pub lane: Lane,
    /// Whether functions are entered or left there.
    pub at: At,
    /// Some packets do not pass it.
    pub optional: bool,
    /// The journey that it is a part of.
    pub phase: Phase,
    /// For IPv4.
    pub ipv4: Found,
    /// For IPv6.
    pub ipv6: Found,
}

/// The probe points of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Found {
    /// The kernel's probe points, best first: only hits tell which of them packets pass.
    Points(Vec<Point>),
    /// The reason why there is none.
    Missing(String),
}

/// A probe point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// A function or a tracepoint.
    pub kind: Kind,
    /// The kernel's own name of it, with the compiler's suffix.
    pub name: String,
    /// The number of a function's arguments, if the kernel describes it.
    pub arguments: Option<u16>,
    /// Which of them is a packet.
    pub packet: Option<Packet>,
}

/// The kind of a probe point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The entry or return of a function.
    Function,
    /// A raw tracepoint.
    Tracepoint,
}

/// The stages of a path, each with what a kernel offers for it.
pub fn resolve(path: &Path, offered: &Offered) -> Vec<Resolved> {
    let stages = path.stages.iter().zip(path.phases()).map(|(stage, phase)| Resolved {
        label: stage.label.clone(),
        lane: stage.lane,
        at: stage.at,
        optional: stage.optional,
        phase,
        ipv4: found(&stage.ipv4, &stage.tracepoints, offered),
        ipv6: found(&stage.ipv6, &stage.tracepoints, offered),
    });
    stages.collect()
}

fn found(functions: &[String], tracepoints: &[String], offered: &Offered) -> Found {
    let (mut points, mut reasons) = (Vec::new(), Vec::new());
    match &offered.functions {
        Err(reason) => reasons.push(reason.clone()),
        Ok(known) => {
            for name in functions {
                match symbol(name, known) {
                    Ok(symbol) => {
                        let types = offered.types.as_ref().ok();
                        // A copy that the compiler made has its arguments as it likes.
                        let known = types.and_then(|types| types.functions.get(symbol));
                        points.push(Point::new(Kind::Function, symbol, known));
                    }
                    Err(reason) => reasons.push(reason),
                }
            }
        }
    }
    match &offered.types {
        Err(reason) if !tracepoints.is_empty() => reasons.push(reason.clone()),
        Err(_) => {}
        Ok(types) => {
            for name in tracepoints {
                match types.tracepoints.get(name) {
                    Some(known) => points.push(Point::new(Kind::Tracepoint, name, Some(known))),
                    None => reasons.push(format!("no tracepoint {name}")),
                }
            }
        }
    }
    if points.is_empty() { Found::Missing(reasons.join("; ")) } else { Found::Points(points) }
}

impl Point {
    fn new(kind: Kind, name: &str, known: Option<&Arguments>) -> Self {
        let arguments = known.map(|known| known.count).filter(|_| kind == Kind::Function);
        Self { kind, name: name.to_owned(), arguments, packet: known.and_then(|known| known.packet) }
    }
}

/// The function of a name, or the whole copy of it that the compiler made. A `.part` or `.cold`
/// holds only some of its code, and is no place to see it entered.
fn symbol<'k>(name: &str, known: &'k BTreeSet<String>) -> Result<&'k str, String> {
    if let Some(same) = known.get(name) {
        return Ok(same);
    }
    let dotted = format!("{name}.");
    let copies = || known.range(dotted.clone()..).take_while(|other| other.starts_with(&dotted));
    let partial = |copy: &str| copy[name.len()..].split('.').any(|word| matches!(word, "part" | "cold"));
    match copies().find(|copy| !partial(copy)) {
        Some(copy) => Ok(copy),
        None if copies().next().is_some() => Err(format!("only a part of the function {name}")),
        None => Err(format!("no function {name} (absent or inlined)")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::PATHS;
    use crate::btf::Btf;

    fn offered(functions: &[&str], tracepoints: &[&str]) -> Offered {
        let seven = Arguments { count: 7, packet: None };
        let tracepoints = tracepoints.iter().map(|&name| (name.to_owned(), Arguments::default()));
        let types = Btf { functions: [("f".to_owned(), seven)].into(), tracepoints: tracepoints.collect() };
        Offered { functions: Ok(functions.iter().map(|&name| name.to_owned()).collect()), types: Ok(types) }
    }

    fn names(found: Found) -> Vec<String> {
        match found {
            Found::Points(points) => points.into_iter().map(|point| point.name).collect(),
            Found::Missing(reason) => panic!("{reason}"),
        }
    }

    #[test]
    fn the_best_comes_first_and_a_tracepoint_last() {
        let kernel = offered(&["f", "g.constprop.0", "f.cold"], &["t"]);
        let asked = ["h", "g", "f"].map(str::to_owned);
        let points = found(&asked, &["t".to_owned()], &kernel);
        if let Found::Points(points) = &points {
            assert_eq!((points[1].arguments, points[2].kind), (Some(7), Kind::Tracepoint));
        }
        assert_eq!(names(points), ["g.constprop.0", "f", "t"]);
    }

    #[test]
    fn what_is_missing_has_its_reason() {
        let asked = ["g".to_owned(), "h".to_owned()];
        let missing = found(&asked, &["t".to_owned()], &offered(&["g.part.0", "gg"], &[]));
        let reason = "only a part of the function g; no function h (absent or inlined); no tracepoint t";
        assert_eq!(missing, Found::Missing(reason.to_owned()));
        let nothing = Offered { functions: Err("hidden".into()), types: Err("no BTF".into()) };
        assert_eq!(found(&asked, &["t".to_owned()], &nothing), Found::Missing("hidden; no BTF".into()));
    }

    proptest! {
        #[test]
        fn only_what_the_kernel_offers_is_found(
            functions in prop::collection::btree_set("[ab]{1,2}(\\.(cold|part\\.0|isra\\.0))?", 0..8),
            asked in prop::collection::vec("[ab]{1,2}", 1..5),
        ) {
            let kernel = Offered { functions: Ok(functions.clone()), types: Ok(Btf::default()) };
            match found(&asked, &[], &kernel) {
                Found::Points(points) => for point in points {
                    prop_assert!(functions.contains(&point.name));
                    prop_assert!(!point.name.contains("cold") && !point.name.contains("part"));
                },
                Found::Missing(reason) => {
                    prop_assert!(asked.iter().all(|name| !functions.contains(name)));
                    prop_assert!(!reason.is_empty());
                }
            }
        }
    }

    #[test]
    fn every_bundled_path_resolves_stage_by_stage_on_this_kernel() {
        let paths: Vec<Path> = PATHS.iter().map(|bundled| bundled.path()).collect();
        let offered = Offered::read(&paths);
        for bundled in PATHS {
            let (path, mut resolved) = (bundled.path(), resolve(&bundled.path(), &offered));
            assert_eq!(resolved.len(), path.stages.len());
            // Where the kernel hides its lists, the reason is said; nothing else is missing.
            if offered.functions.as_ref().is_ok_and(|known| !known.is_empty()) && offered.types.is_ok() {
                resolved.retain(|stage| !stage.optional && stage.lane != Lane::Driver);
                for stage in resolved {
                    assert!(matches!(stage.ipv4, Found::Points(_)), "{}: {stage:?}", bundled.name);
                }
            }
        }
    }
}
