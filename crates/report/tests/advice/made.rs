//! Made-up studies whose truth is known.

use std::collections::BTreeMap;

use netassay_report::Layout;
use netassay_report::document::terminal;
use netassay_report::views;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use record::{Evidence, Limit};
use results::advice::{Advice, AdviceGoal, AdviceRequest, Recommendation, WorkloadAdvice};
use store::{StoredRun, StoredStudy};
use study::{Condition, Plan, Study};

/// A study of one stream of TCP in `veth`, with these further tables.
pub(crate) fn study(tables: &str) -> (Study, Plan) {
    with_workload("kind = \"tcp_stream\"\nmessage = 1450", tables)
}

pub(crate) fn with_workload(workload: &str, tables: &str) -> (Study, Plan) {
    let scenario = if tables.contains("\nscenario = [") { "" } else { "scenario = \"veth\"\n" };
    let text = format!(
        "name = \"made\"\nquestion = \"which offload pays?\"\n{scenario}[[workload]]\n{workload}\nduration = \"1s\"\n{tables}\n"
    );
    let study = Study::parse("made", &text).unwrap_or_else(|problems| panic!("{problems}"));
    let plan = study.plan();
    (study, plan)
}

/// A factorial design of these offloads over so many boots.
pub(crate) fn factorial(offloads: &[&str], boots: u32) -> String {
    let offloads: Vec<String> = offloads.iter().map(|name| format!("\"{name}\"")).collect();
    format!("[design]\nkind = \"factorial\"\noffloads = [{}]\n{}", offloads.join(", "), protocol(boots))
}

pub(crate) fn protocol(boots: u32) -> String {
    format!("[protocol]\nboots = {boots}\nwarmup = 0\nruns = 2\n")
}

/// 1 where the factor is on, 0 where it is off.
pub(crate) fn on(condition: &Condition, factor: &str) -> f64 {
    f64::from(u8::from(level(condition, factor) == "on"))
}

pub(crate) fn level<'a>(condition: &'a Condition, factor: &str) -> &'a str {
    condition.levels.iter().find(|(name, _)| name == factor).map_or("", |(_, level)| level)
}

/// Noise: of boots, of a boot's effect on a condition, and of runs, as shares of the value.
#[derive(Clone, Copy)]
pub(crate) struct Noise {
    pub(crate) boot: f64,
    pub(crate) cell: f64,
    pub(crate) run: f64,
}

/// The spread of a quiet machine.
pub(crate) const QUIET: Noise = Noise { boot: 0.01, cell: 0.001, run: 0.002 };

/// Metrics of a condition without noise.
pub(crate) type Truth<'t> = &'t dyn Fn(&Condition) -> Vec<(&'static str, f64)>;

/// The study as stored: the truth with noise; boots last a minute.
pub(crate) fn measured(study: &Study, plan: &Plan, noise: Noise, seed: u64, truth: Truth<'_>) -> StoredStudy {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // The sum of twelve uniform numbers is normal enough, with variance 1.
    let mut normal = move || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    let mut cells: BTreeMap<(u32, usize, &str), f64> = BTreeMap::new();
    let mut boots: BTreeMap<(u32, &str), f64> = BTreeMap::new();
    let schedule = study::schedule(&plan.states_of_conditions(), &study.protocol);
    let mut runs: Vec<StoredRun> = Vec::new();
    for run in schedule.iter().flatten() {
        let mut metrics = BTreeMap::new();
        for (key, value) in truth(&plan.conditions[run.condition]) {
            let boot = *boots.entry((run.boot, key)).or_insert_with(|| noise.boot * normal());
            let cell = *cells.entry((run.boot, run.condition, key)).or_insert_with(|| noise.cell * normal());
            metrics.insert(key.to_owned(), value * (1.0 + boot + cell + noise.run * normal()));
        }
        let id = i64::try_from(runs.len()).unwrap();
        runs.push(crate::stored::run(id, run.boot, run.repeat, run.condition, metrics));
    }
    let mut stored =
        crate::stored::complete(study, plan.clone(), u32::try_from(schedule.len()).unwrap(), runs);
    for boot in &mut stored.boots {
        boot.ended_unix_ms = Some(boot.started_unix_ms + 60_000);
    }
    stored
}

/// Says that something limited all runs.
pub(crate) fn limited(stored: &mut StoredStudy, by: &str) {
    for run in &mut stored.runs {
        run.limited_by = Some(Limit { label: by.parse().unwrap(), evidence: vec![Evidence::NobodyBusy] });
    }
}

pub(crate) fn advice(stored: &StoredStudy, goals: &[AdviceGoal]) -> Advice {
    let request = AdviceRequest { goals: goals.to_vec(), ..AdviceRequest::default() };
    Advice::from_studies(std::slice::from_ref(stored), &request).unwrap()
}

/// The advice as a terminal of 80 columns shows it, before its lines are broken.
pub(crate) fn brief(advice: &Advice) -> String {
    terminal(&views::advice(advice), Layout::PLAIN)
}

/// The advice with every figure.
pub(crate) fn wide(advice: &Advice) -> String {
    terminal(&views::advice(advice), Layout::WIDE)
}

/// The recommendations for a goal, of the only traffic.
pub(crate) fn recommendations(advice: &Advice, goal: AdviceGoal) -> &[Recommendation] {
    let [study] = &advice.studies[..] else { panic!("{} studies", advice.studies.len()) };
    let [case] = &study.cases[..] else { panic!("{} kinds of traffic", study.cases.len()) };
    of_goal(case, goal)
}

pub(crate) fn of_goal(case: &WorkloadAdvice, goal: AdviceGoal) -> &[Recommendation] {
    &case.goals.iter().find(|one| one.goal == goal).unwrap().recommendations
}

/// The recommendation of one switch.
pub(crate) fn switch_named<'a>(all: &'a [Recommendation], factor: &str) -> &'a Recommendation {
    all.iter().find(|one| one.factors == [factor]).unwrap_or_else(|| panic!("{factor}"))
}

/// A study in which every text of others is this.
pub(crate) fn named(name: &str) -> StoredStudy {
    let (study, plan) = study(&factorial(&["transmitter.tso", "receiver.gro"], 4));
    let mut stored = measured(&study, &plan, QUIET, 1, &|one| {
        vec![("throughput", 1000.0 * (1.0 + 0.5 * on(one, "transmitter.tso")))]
    });
    stored.row.name = name.to_owned();
    stored.plan.asked.question = name.to_owned();
    for condition in &mut stored.plan.conditions {
        condition.workload.name = name.to_owned();
        condition.label = name.into();
        condition.levels.push((name.to_owned(), name.to_owned()));
    }
    for boot in &mut stored.boots {
        boot.environment.transmitter.kernel.release = Some(name.to_owned());
    }
    stored
}
