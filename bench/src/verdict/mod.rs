//! How long until a verdict, and how often it is wrong: what published studies did, and what
//! netassay does.

pub(crate) mod components;
mod experiment;
mod families;
mod looks;
mod options;
mod pilots;
mod protocol;
mod rig;
mod simulation;
mod tally;
mod traffic;
mod world;

use std::time::{Duration, Instant};

use serde_json::json;
use study::Percent;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::report::{Goal, Report};
use crate::table::Table;
pub(crate) use options::Options;
use protocol::{Costs, Protocol, Rule, Short};
use simulation::Draw;
use tally::Tally;
use traffic::Line;
use world::World;

/// By how many % the second condition is lower.
const DIFFERENCES: [u32; 3] = [5, 2, 1];
/// The share of (a)'s time that (c) may take.
const SHARE: f64 = 0.1;
/// Wrong verdicts, in %.
const WRONG: f64 = 5.0;
/// The windows of R1's protocol.
const LONG: Duration = Duration::from_secs(10);
const OWN: &str = "(c) netassay";

/// `netassay-bench verdict`
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Report, Failure> {
    if options.families {
        return families::run(bench, options);
    }
    if options.looks {
        return looks::run(bench, options.experiments);
    }
    if options.pilots {
        return pilots::run(bench, options.experiments);
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
    let mut report = Report::begin("verdict", Table::new(2, heading));
    let draw = Draw {
        world: World {
            boots: options.boot_sd,
            interaction: options.interaction,
            floor: options.floor,
            white: options.white,
        },
        costs: Costs { boot: options.boot_cost, run: options.run_cost },
        experiments: if bench.common.smoke { 20 } else { options.experiments },
        seed: 1,
    };
    let simulated = simulate(bench, &draw, options, &mut report)?;
    let measured = if options.traffic { measure(bench, &draw, options, &mut report)? } else { Vec::new() };
    report.results = json!({
        "world": draw.world, "costs": draw.costs, "simulated": simulated, "traffic": measured,
    });
    Ok(report.finish())
}

/// Every protocol in a simulated world.
fn simulate(
    bench: &Bench<'_>,
    draw: &Draw,
    options: &Options,
    report: &mut Report,
) -> Result<Vec<serde_json::Value>, Failure> {
    let World { boots, interaction, .. } = draw.world;
    let window = Duration::from_secs_f64(options.window);
    report.note(format!(
        "simulated: standard deviations of {boots} % between boots, {interaction} % of condition x boot, {:.2} % between runs of \
         {} s and {:.2} % between runs of 10 s",
        draw.world.runs(window),
        options.window,
        draw.world.runs(LONG),
    ));
    let mut all = Vec::new();
    let mut one = |lower: u32, protocol: &Protocol, report: &mut Report, a: Option<&Tally>| {
        let start = Instant::now();
        let tally = draw.simulate(protocol, f64::from(lower), &bench.interrupt)?;
        let took = start.elapsed().as_secs_f64();
        bench.say(&format!("verdict, {lower} % lower, {}: simulated in {took:.1} s", described(protocol)));
        let of_a = a.unwrap_or(&tally);
        tell(
            report,
            [format!("{lower} %"), described(protocol)],
            &tally,
            Some((of_a.median(), of_a.per_correct())),
        );
        all.push(json!({"lower_percent": lower, "protocol": described(protocol), "seen": tally.json()}));
        Ok::<Tally, Failure>(tally)
    };
    for lower in DIFFERENCES.into_iter().chain([0]) {
        let a = one(lower, &Protocol::of_r1("(a) pooled", Rule::PooledRuns, LONG), report, None)?;
        one(lower, &Protocol::of_r1("(b) boot means", Rule::BootMeans, LONG), report, Some(&a))?;
        let looked_for = if lower == 0 { DIFFERENCES.to_vec() } else { vec![lower] };
        for detect in looked_for {
            let tally = one(lower, &own(draw, options, detect)?, report, Some(&a))?;
            let what = format!("{lower} % lower, {detect} % looked for");
            report.goals.push(Goal::under(
                format!("{what}: time / (a)"),
                tally.median() / a.median(),
                SHARE,
                "",
            ));
            let (_, (low, _)) = tally.wrong();
            report.goals.push(Goal::under(
                format!("{what}: wrong, lower end of the interval"),
                low,
                WRONG,
                "%",
            ));
        }
    }
    Ok(all)
}

/// Every protocol on real traffic, in rounds, until the time is over.
fn measure(
    bench: &Bench<'_>,
    draw: &Draw,
    options: &Options,
    report: &mut Report,
) -> Result<Vec<serde_json::Value>, Failure> {
    let window = Duration::from_secs_f64(options.r1_window);
    let minutes = options.minutes;
    report.note(format!(
        "traffic: UDP datagrams paced at {} Mbit/s and at so many % less, over veth; R1's protocol with windows of {} s instead of \
         10 s, time / (a) being by the whole one's; rounds for {minutes} minutes",
        traffic::PACE / 1_000_000,
        window.as_secs_f64()
    ));
    let of = |lower: u32| {
        let detect = if lower == 0 { 2 } else { lower };
        let [a, b] = traffic::shortened(window);
        Ok::<_, Failure>([a, b, own(draw, options, detect)?])
    };
    let differences: Vec<u32> = DIFFERENCES.into_iter().chain([0]).collect();
    let protocols = differences.iter().map(|lower| of(*lower)).collect::<Result<Vec<_>, _>>()?;
    let mut lines: Vec<Line<'_>> =
        differences.iter().zip(&protocols).map(|(lower, protocols)| Line::new(*lower, protocols)).collect();
    let until = Instant::now() + Duration::from_secs_f64(60.0 * minutes);
    'rounds: loop {
        for line in &mut lines {
            if !line.round(bench, until)? {
                break 'rounds;
            }
        }
    }
    let whole = Protocol::of_r1("", Rule::PooledRuns, LONG);
    let a = whole.seconds(3, Costs { boot: options.boot_cost, run: options.run_cost });
    for ((lower, protocols), line) in differences.iter().zip(&protocols).zip(&lines) {
        for (protocol, tally) in protocols.iter().zip(&line.tallies) {
            let is_own = matches!(protocol.rule, Rule::Looks { .. });
            let words = [format!("traffic, {lower} %"), described(protocol)];
            tell(report, words, tally, is_own.then_some((a, None)));
        }
        if let Some((off, (low, high))) = line.departure() {
            report.note(format!(
                "traffic, {lower} %: the ratio of the two throughputs was {off:+.3} % off the paced one ({low:.3} to {high:.3})"
            ));
        }
    }
    Ok(lines.iter().map(Line::json).collect())
}

/// netassay's protocol for a difference of `detect` %, as planned from the spread of the world
/// unless its size is given.
fn own(draw: &Draw, options: &Options, detect: u32) -> Result<Protocol, Failure> {
    let (ramp, window) = (Duration::from_secs_f64(options.ramp), Duration::from_secs_f64(options.window));
    let spread = (draw.world.interaction, draw.world.runs(window));
    let detect = percent(detect)?;
    let planned = Short::planned(detect, options.power, spread, draw.costs, (ramp, window));
    let sized = options.boots.zip(options.runs).map(|(boots, runs)| Short { boots, runs, ramp, window });
    let short = sized.or(planned).ok_or_else(|| {
        Failure::Usage(format!(
            "no plan shows {detect} in such a world: give --boots and --runs, or longer windows"
        ))
    })?;
    Ok(Protocol::of_netassay(OWN, detect, short))
}

fn described(protocol: &Protocol) -> String {
    match &protocol.rule {
        Rule::Looks { detect, .. } => format!("{}, detect {detect}: {}", protocol.name, protocol.size()),
        _ => protocol.name.to_owned(),
    }
}

/// A row; `a` is the median time of (a), and its time for a correct verdict, where these can be set
/// against the row's.
fn tell(report: &mut Report, words: [String; 2], tally: &Tally, a: Option<(f64, Option<f64>)>) {
    let ratio = |own: Option<f64>, a: Option<f64>| {
        own.zip(a).map_or("-".to_owned(), |(own, a)| format!("{:.3}", own / a))
    };
    let time = ratio(Some(tally.median()), a.map(|(median, _)| median));
    let correct = ratio(tally.per_correct(), a.and_then(|(_, correct)| correct));
    report.table.row(words.into_iter().chain(tally.cells()).chain([time, correct]));
}

fn percent(number: u32) -> Result<Percent, Failure> {
    Percent::parse(&format!("{number}%")).map_err(|error| Failure::Internal(error.to_string()))
}
