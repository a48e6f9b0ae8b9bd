//! How long until a verdict, and how often it is wrong: what published studies did, and what
//! netassay does.

mod experiment;
mod families;
mod looks;
mod pilots;
mod protocol;
mod tally;
mod traffic;
mod world;

use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use study::Percent;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::report::Report;
use protocol::{Costs, Protocol, Rule, number, planned};
use tally::{Tally, Worth};
use traffic::Line;
use world::World;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Instead of protocols: whether the intervals of 2 to 20 conditions hold together where these
    /// spread unequally, simulated
    #[arg(long, conflicts_with_all = ["traffic", "looks", "pilots"])]
    families: bool,
    /// Instead: how often looks err without a difference, and how far off the differences are that
    /// they choose. Simulated, 50 times as many experiments where a single comparison is judged
    #[arg(long, conflicts_with = "traffic")]
    looks: bool,
    /// Instead: what pilots of a few boots know of the spread, and what power the sizes have that
    /// are planned from them
    #[arg(long, conflicts_with_all = ["traffic", "looks"])]
    pilots: bool,
    /// Simulated experiments of each protocol and difference
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    experiments: u32,
    #[command(flatten)]
    world: World,
    /// Measure real traffic too
    #[arg(long)]
    traffic: bool,
    /// Minutes of real traffic
    #[arg(long, default_value_t = 10.0, value_parser = number)]
    minutes: f64,
}

/// By how many % the second condition is lower.
const DIFFERENCES: [u32; 3] = [5, 2, 1];
/// The share of (a)'s time that (c) may take.
const SHARE: f64 = 0.1;
/// The same of (d), for each of the differences.
const IN_TURNS: [f64; 3] = [0.01, 0.05, 0.1];
/// For how long (d) may count each condition in a flow: the best of these is taken.
const COUNTED: [u64; 4] = [320, 640, 1280, 2560];
const TURN: Duration = Duration::from_millis(100);
/// Its first turn, which is not counted, is a ramp too.
const RAMP_OF_TURNS: Duration = Duration::from_millis(20);
const WRONG: f64 = 5.0;
const LONG: Duration = Duration::from_secs(10);
/// The same on real traffic: the whole takes 11 minutes for one verdict.
const SHORTENED: Duration = Duration::from_millis(500);
const OWN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(200));
/// All of these in a smoke test, and the boots and runs of netassay's protocol.
const SMOKE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(10));
const SMOKE_SIZE: (u32, u32) = (6, 1);
const SMOKE_TURN: Duration = Duration::from_millis(20);

pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    if options.families {
        return families::run(bench, bench.or_smoke(options.experiments, 20));
    }
    if options.looks {
        return looks::run(bench, bench.or_smoke(options.experiments, 2));
    }
    if options.pilots {
        return pilots::run(bench, bench.or_smoke(options.experiments, 2));
    }
    let heading = [
        "lower by",
        "protocol",
        "experiments",
        "correct %",
        "wrong % (95 %)",
        "undecided %",
        "median s",
        "s a correct one",
        "time / (a)",
        "correct one / (a)",
    ];
    let mut report = Report::begin("verdict", &heading);
    let world = &options.world;
    report.result("world", world);
    simulate(bench, world, options.experiments, &mut report)?;
    if options.traffic {
        measure(bench, world, options.minutes, &mut report)?;
    }
    Ok(report.finish())
}

fn simulate(bench: &Bench, world: &World, experiments: u32, report: &mut Report) -> Result<(), Failure> {
    report.note(world.description());
    let mut all = Vec::new();
    let mut one = |lower: u32, protocol: &Protocol, report: &mut Report, a: Option<&Tally>| {
        let experiments = bench.or_smoke(experiments, 2);
        let tally = world.simulate(protocol, f64::from(lower), experiments, &bench.interrupt)?;
        let name = &protocol.name;
        bench.say(&format!("verdict, {lower} % lower, {name}: simulated"));
        let of_a = a.unwrap_or(&tally);
        tell(report, [format!("{lower} %"), name.clone()], &tally, Some((of_a.median(), of_a.per_correct())));
        all.push(json!({"lower_percent": lower, "protocol": name, "seen": tally.json()}));
        Ok::<Tally, Failure>(tally)
    };
    for lower in DIFFERENCES.into_iter().chain([0]) {
        let a = one(lower, &Protocol::of_r1("(a) pooled", Rule::PooledRuns, LONG), report, None)?;
        one(lower, &Protocol::of_r1("(b) boot means", Rule::BootMeans, LONG), report, Some(&a))?;
        let looked_for = if lower == 0 { DIFFERENCES.to_vec() } else { vec![lower] };
        for detect in looked_for {
            let share =
                DIFFERENCES.iter().position(|one| *one == detect).map_or(SHARE, |place| IN_TURNS[place]);
            // The bounds of looks at many boots take seconds each.
            let [own, turns] = if bench.smoke && detect != DIFFERENCES[0] {
                tiny(detect)?
            } else {
                [own(world, detect)?, turns(world, detect)?]
            };
            for (letter, protocol, share) in [("c", own, SHARE), ("d", turns, share)] {
                let tally = one(lower, &protocol, report, Some(&a))?;
                let what = format!("({letter}), {lower} % lower, {detect} % looked for");
                let time = tally.median() / a.median();
                report.goals.push(Goal::new(format!("{what}: time / (a)"), time, Bound::Under(share), ""));
                let low = 100.0 * tally.share(Worth::Wrong).interval.0;
                let what = format!("{what}: wrong, lower end of the interval");
                report.goals.push(Goal::new(what, low, Bound::Under(WRONG), "%"));
            }
        }
    }
    report.result("simulated", all);
    Ok(())
}

/// Every protocol on real traffic, in rounds, until the time is over.
fn measure(bench: &Bench, world: &World, minutes: f64, report: &mut Report) -> Result<(), Failure> {
    report.note(format!(
        "traffic: UDP datagrams paced at {} Mbit/s and at so many % less, over veth; R1's protocol with windows of 0.5 s instead of \
         10 s, time / (a) being by the whole one's; rounds for {minutes} minutes",
        traffic::PACE / 1_000_000
    ));
    let line = |lower: u32| {
        let r1 = |name, rule| Protocol::of_r1(name, rule, bench.or_smoke(SHORTENED, SMOKE.0));
        let detect = if lower == 0 { 2 } else { lower };
        let [own, turns] =
            if bench.smoke { tiny(detect)? } else { [own(world, detect)?, turns(world, detect)?] };
        let (a, b) = ("(a) pooled, shortened", "(b) boot means, shortened");
        Ok(Line::new(lower, [r1(a, Rule::PooledRuns), r1(b, Rule::BootMeans), own, turns]))
    };
    let mut lines = DIFFERENCES.into_iter().chain([0]).map(line).collect::<Result<Vec<Line>, Failure>>()?;
    let until = Instant::now() + Duration::from_secs_f64(60.0 * minutes);
    'rounds: loop {
        for line in &mut lines {
            if !line.round(bench, until)? {
                break 'rounds;
            }
        }
    }
    let a = Protocol::of_r1("", Rule::PooledRuns, LONG).seconds(3, world.costs);
    for line in &lines {
        let lower = line.lower;
        for (protocol, tally) in &line.protocols {
            let is_own = matches!(protocol.rule, Rule::Looks { .. });
            let words = [format!("traffic, {lower} %"), protocol.name.clone()];
            tell(report, words, tally, is_own.then_some((a, None)));
        }
        if let Some((off, (low, high))) = line.departure() {
            report.note(format!(
                "traffic, {lower} %: the ratio of the two throughputs was {off:+.3} % off the paced one ({low:.3} to {high:.3})"
            ));
        }
    }
    report.result("traffic", lines.iter().map(Line::json).collect::<Vec<_>>());
    Ok(())
}

/// netassay's protocols for a difference of `detect` % in a smoke test.
fn tiny(detect: u32) -> Result<[Protocol; 2], Failure> {
    let detect = percent(detect)?;
    let turns = Protocol::in_turns(detect, SMOKE_SIZE, SMOKE, SMOKE_TURN)?;
    Ok([Protocol::of_netassay(detect, SMOKE_SIZE, SMOKE), turns])
}

/// netassay's protocol for a difference of `detect` %, as planned from the spread of the world.
fn own(world: &World, detect: u32) -> Result<Protocol, Failure> {
    let spread = (world.interaction, world.runs(OWN.1));
    let run = (OWN.0 + OWN.1).as_secs_f64() + world.costs.run;
    let detect = percent(detect)?;
    let size = planned(detect, spread, Costs { run, ..world.costs }, 1);
    let size = size.ok_or_else(|| Failure::Usage(format!("no plan shows {detect} in such a world")))?;
    Ok(Protocol::of_netassay(detect, size, OWN))
}

/// The same with turns, each flow as long as costs least.
fn turns(world: &World, detect: u32) -> Result<Protocol, Failure> {
    let detect = percent(detect)?;
    let mut best: Option<Protocol> = None;
    for window in COUNTED.map(Duration::from_millis) {
        let one = Protocol::in_turns(detect, (1, 1), (RAMP_OF_TURNS, window), TURN)?;
        let order = one.runs().first().and_then(|runs| one.turns(runs.first()?)).unwrap_or_default();
        let costs = Costs { run: one.of_run(world.costs), ..world.costs };
        let spread = (world.interaction, world.in_flow(&order));
        let Some(size) = planned(detect, spread, costs, 0) else { continue };
        let planned = Protocol::in_turns(detect, size, (RAMP_OF_TURNS, window), TURN)?;
        let seconds =
            |protocol: &Protocol| protocol.seconds(*protocol.looks().last().unwrap_or(&0), world.costs);
        if best.as_ref().is_none_or(|best| seconds(&planned) < seconds(best)) {
            best = Some(planned);
        }
    }
    best.ok_or_else(|| Failure::Usage(format!("no plan shows {detect} in turns in such a world")))
}

/// A row; `a` is the median time of (a), and its time for a correct verdict, where these can be set
/// against the row's.
fn tell(report: &mut Report, words: [String; 2], tally: &Tally, a: Option<(f64, Option<f64>)>) {
    let ratio = |own: Option<f64>, a: Option<f64>| {
        own.zip(a).map_or("-".to_owned(), |(own, a)| format!("{:.3}", own / a))
    };
    let time = ratio(Some(tally.median()), a.map(|(median, _)| median));
    let correct = ratio(tally.per_correct(), a.and_then(|(_, correct)| correct));
    report.row(words.into_iter().chain(tally.cells()).chain([time, correct]));
}

fn percent(number: u32) -> Result<Percent, Failure> {
    Percent::parse(&format!("{number}%")).map_err(Failure::failed)
}
