//! The whole file.

use toml::de::DeTable;
use words::{Direction, Family, Field, Key, Scenario, Shape, Traffic};

use crate::model::tables::{GUEST, STUDY, UNDERLAY};
use crate::model::{BootState, ComparisonSpec, Factor, Guest, Protocol, Study, TestbedPlace, Varied, limit};
use crate::plan::Flows;
use crate::read::part::Places;
use crate::read::{
    Diagnostics, FactorScope, ParsedComparison, ParsedFactor, ParsedTestbed, ParsedWorkload, Problem,
    Problems, Section, check, comparison, design, factor, machine, part, protocol, tracing, workload,
};

impl Study {
    /// Reads a study file. `file_name` is only shown, never opened.
    ///
    /// # Errors
    /// [`Diagnostics`]: everything that is wrong with the file, with line and column. Total: no
    /// text makes it panic, and its work is bounded (1 MiB of text, 10,000 conditions).
    pub fn parse(file_name: &str, text: &str) -> Result<Self, Diagnostics> {
        if text.len() > limit::TEXT {
            let message = format!("the file has {} bytes: at most {} are allowed", text.len(), limit::TEXT);
            return Err(Diagnostics::new(file_name, "", vec![Problem::new(0..0, message)]));
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let problem = |error: &toml::de::Error| {
                Problem::new(error.span().unwrap_or(0..0), error.message()).label("not valid TOML from here")
            };
            let problems: Vec<Problem> = errors.iter().map(problem).collect();
            return Err(Diagnostics::new(file_name, text, problems));
        }
        let mut problems = Problems::default();
        let root = Section::new("the study", 0..0, table.get_ref());
        match read(root, text, &mut problems) {
            Some(study) if problems.count() == 0 => Ok(study),
            _ => Err(Diagnostics::new(file_name, text, problems)),
        }
    }
}

/// The study, as far as it can be read; `problems` tells whether it is valid.
fn read(mut root: Section<'_>, text: &str, problems: &mut Problems) -> Option<Study> {
    let name = root.require("name", "`name = \"my-study\"`", problems);
    let name = name.and_then(|entry| entry.identifier(problems));
    let question = root.require("question", "`question = \"…\"`: what the study is to find out", problems);
    let question = question.and_then(|entry| entry.sentence(problems));
    let inside =
        root.take("inside").and_then(|entry| entry.word(problems).map(|TestbedPlace::Guest| entry.span()));
    let exact = root.take("exact");
    let exact =
        exact.filter(|entry| entry.get(Shape::Switch, problems) == Some(true)).map(|entry| entry.span());
    let mut guest = Guest::default();
    let guest_place = root.place_of("guest");
    let guest_keys = root.table("[guest]", problems).map_or_else(Places::new, |table| {
        part::fill(table, &GUEST, problems, |key, value| guest.set(key, value))
    });
    let mut boot = BootState::default();
    let mut underlay_mtu: Option<u32> = None;
    let underlay_place = root.place_of("underlay");
    let underlay_keys = root.table("[underlay]", problems).map_or_else(Places::new, |table| {
        part::fill(table, &UNDERLAY, problems, |key, value| match key {
            "mtu" => underlay_mtu.set(value),
            _ => boot.underlay_family.set(value),
        })
    });

    let written = root.require("workload", "a `[[workload]]` with `kind = \"tcp_stream\"`", problems);
    let written =
        written.map(|entry| Section::list_from_entry("[[workload]]", &entry, limit::BLOCKS, problems));
    let (mut workloads, workloads_whole) = workload::read(written.unwrap_or_default(), problems);
    let (mut factors, factors_whole) =
        root.table("[factors]", problems).map_or((Vec::new(), true), |table| factor::read(table, problems));
    let scenarios = scenarios(&mut root, &factors, problems);
    let designed = root.table("[design]", problems);
    let asked_for_design = designed.is_some();
    let designed = designed.and_then(|table| design::read(table, &factors, problems));
    let factors_whole = factors_whole && designed.is_some() == asked_for_design;
    let (design, rows) = match designed {
        Some((design, own, rows)) => {
            // Last, so that their combinations vary fastest.
            factors.extend(own);
            (Some(design), rows)
        }
        None => (None, vec![Vec::new()]),
    };
    let testbed = ParsedTestbed {
        scenarios: &scenarios,
        inside,
        exact,
        guest,
        guest_place,
        guest_keys: &guest_keys,
        underlay_place,
        underlay_keys: &underlay_keys,
        factors: &factors,
    };
    testbed.check(problems);
    let (inside_guest, exact) = (testbed.is_inside(), testbed.exact.is_some());
    factor::check(&factors, &scenarios, problems);
    let varied: Vec<&Key> = factors.iter().filter_map(|read| read.factor.subject.key()).collect();
    let family = factors.iter().find(|read| read.factor.subject == Varied::Family);
    let ipv4 = family.is_none_or(|read| read.factor.levels().any(|level| level == Family::Ipv4.word()));
    for read in &mut workloads {
        workload::yield_to_factors(read, &varied, Family::from_ipv6(!ipv4), problems);
    }
    check::scenarios(&scenarios, &workloads, problems);
    check::settings(&workloads, &factors, exact, problems);

    let combined = with_workloads(&workloads, &factors);
    let whole = factors_whole && workloads_whole;
    let scope = |key, place| FactorScope { factors: &combined, whole, table: (key, place), part: None };
    let (mut exclusions, mut places) = (Vec::new(), Vec::new());
    for (place, table) in root.tables("[[exclude]]", limit::EXCLUSIONS, problems).into_iter().enumerate() {
        let span = table.span.clone();
        if let Some(exclusion) = comparison::exclusion(table, scope("exclude", place), problems) {
            exclusions.push(exclusion);
            places.push(span);
        }
    }
    let stop_place = root.place_within("protocol", "stop");
    let [alternate, apart, settle] =
        ["alternate", "apart", "settle"].map(|key| root.place_within("protocol", key));
    let protocol = root.table("[protocol]", problems);
    let (protocol, is_auto) = protocol
        .map_or_else(|| (Protocol::default(), true), |table| protocol::read(table, &scenarios, problems));
    testbed.kernels_of_machines(protocol.how, problems);
    let machine = root.table("[machine]", problems).map(|table| machine::read(table, problems));
    let hosts = (scenarios.as_slice(), inside_guest, exact);
    let tracing = root.table("[trace]", problems);
    let tracing = tracing.and_then(|table| tracing::read(table, hosts, &workloads, problems));
    let mut traffic: Vec<Traffic> = workloads.iter().map(|read| read.workload.traffic.clone()).collect();
    let directions = factors.iter().filter(|read| read.factor.name == "direction");
    if directions.flat_map(|read| read.factor.levels()).any(|level| level == Direction::Both.word()) {
        traffic.iter_mut().for_each(|one| one.direction = Direction::Both);
    }
    let offer = comparison::Offer {
        traffic: &traffic,
        scenarios: &scenarios,
        exact,
        turns: protocol.alternate.is_some() && !is_auto,
    };
    let mut comparisons: Vec<ParsedComparison> = Vec::new();
    for (place, table) in root.tables("[[comparison]]", limit::BLOCKS, problems).into_iter().enumerate() {
        comparisons.extend(comparison::read(table, scope("comparison", place), offer, problems));
    }
    root.finish(&STUDY.keys(), problems);

    boot.scenario = *scenarios.first()?;
    let has_guest = inside_guest || scenarios.iter().any(|one| one.has_guests() || one.has_machines());
    boot.guest = has_guest.then_some(testbed.guest);
    let asked: Vec<ComparisonSpec> = comparisons.iter().map(|read| read.request.clone()).collect();
    let mut study = Study {
        name: name?,
        question: question?,
        workloads: workloads.iter().map(|read| read.workload.clone()).collect(),
        factors: combined,
        exclusions,
        protocol,
        requests: if asked.is_empty() { vec![ComparisonSpec::default()] } else { asked },
        inside_guest,
        exact,
        boot,
        underlay_mtu,
        design,
        rows,
        machine: machine.unwrap_or_default(),
        tracing,
        turns_dropped: None,
        text: text.to_owned(),
    };
    // Checks of the whole need parts that are all right.
    if problems.count() == 0 {
        let of_tables = (places.as_slice(), comparisons.as_slice());
        let draft = check::plan(&study, &workloads, &factors, of_tables, stop_place, problems);
        let shares_flows =
            draft.as_ref().is_some_and(|draft| Flows::among(&draft.conditions).shared().next().is_some());
        let obstacle = draft.zip(study.protocol.alternate).and_then(|(draft, turns)| {
            let doubt = || check::doubt_of_turns(&draft).filter(|_| is_auto);
            check::obstacle_of_turns(&study, &draft, turns).or_else(doubt)
        });
        match obstacle {
            Some((why, way)) if is_auto => {
                study.protocol.alternate = None;
                // A study without anything that could take turns has lost none.
                study.turns_dropped = shares_flows.then(|| format!("{why}; for turns, {way}"));
                protocol::settles_nothing(settle.filter(|_| alternate.is_none()), problems);
            }
            Some((why, way)) => {
                let without =
                    if alternate.is_some() { "write `alternate = \"off\"`" } else { "remove `apart`" };
                problems.report(alternate.or(apart), why, format!("{without}, or {way}"));
            }
            None => {}
        }
    }
    Some(study)
}

fn scenarios(root: &mut Section<'_>, factors: &[ParsedFactor], problems: &mut Problems) -> Vec<Scenario> {
    let factor = factors.iter().find(|read| read.factor.subject == Varied::Scenario);
    let Some(factor) = factor else {
        let entry = root.require("scenario", "`scenario = \"veth\"`", problems);
        return entry.and_then(|entry| entry.word(problems)).into_iter().collect();
    };
    if let Some(entry) = root.take("scenario") {
        factor::report_overridden("scenario", entry.span(), problems);
    }
    factor.factor.scenarios()
}

fn with_workloads(workloads: &[ParsedWorkload], factors: &[ParsedFactor]) -> Vec<Factor> {
    let several = (workloads.len() > 1).then(|| {
        let values = workloads.iter().map(|read| words::Value::Text(read.workload.name.clone())).collect();
        Factor { name: "workload".to_owned(), subject: Varied::Workload, values }
    });
    several.into_iter().chain(factors.iter().map(|read| read.factor.clone())).collect()
}
