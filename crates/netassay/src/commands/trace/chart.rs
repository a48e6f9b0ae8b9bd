//! A trace as a flow chart: the stages in the lanes of their layers, and what the ways between them
//! cost.

use std::collections::BTreeSet;

use report::chart::{Arrow, ArrowCost, Figure, Id, LanePlot, Quantity};
use results::{PathTraceReport, Place, SizedTrace};
use trace::{Layer, StageTime};

/// The chart; `None` where no packet was followed.
pub(super) fn flow_chart(found: &PathTraceReport) -> Option<Figure> {
    let (steps, first) = (found.steps(), found.traces.first()?);
    // The places that are passed, in the order of the path.
    let passed: BTreeSet<Place<'_>> = steps.iter().flatten().copied().collect();
    let lane = |place: &Place<'_>| first.account.stages[place.0].lane;
    let is_passed = |one: &Layer| passed.iter().any(|place| lane(place) == *one);
    let lanes: Vec<Layer> = Layer::ALL.into_iter().filter(is_passed).collect();
    let stages = passed.iter().map(|place| {
        let lane = lanes.iter().position(|one| *one == lane(place));
        (found.name(*place), lane.unwrap_or_default())
    });
    let number = |place: Place<'_>| passed.iter().position(|one| *one == place);
    let alone = found.traces.len() == 1;
    let arrows = steps.iter().filter_map(|step| {
        let rows = found.traces.iter().filter_map(|traced| Some((traced, traced.row(*step)?)));
        let waits = rows.clone().any(|(_, row)| row.waits);
        let costs = rows.map(|(traced, row)| {
            let name = if alone { String::new() } else { traced.size() };
            ArrowCost { name, value: row.corrected, share: traced.part(row), spread: spread(row) }
        });
        Some(Arrow { ends: [number(step[0])?, number(step[1])?], costs: costs.collect(), waits })
    });
    let quantity = Quantity::new("cost", found.unit(), results::figure);
    let names = lanes.iter().map(Layer::to_string).collect();
    let plot = LanePlot { quantity, lanes: names, stages: stages.collect(), arrows: arrows.collect() };
    let title = format!("{}: {}", found.path, found.about);
    let breach = |traced: &SizedTrace| Some(format!("; {}: {}", traced.size(), traced.breach(found.exact)?));
    let open: String = found.traces.iter().filter_map(breach).collect();
    let (traffic, origin) = (found.traffic(), found.origin().join("; "));
    let said = format!("{traffic}; for a packet, less the cost of probes{open}; {origin}");
    Some(Figure::new(Id::new("path"), &title, &said, plot)).filter(|_| !steps.is_empty())
}

fn spread(row: &StageTime) -> String {
    let [half, most, nearly_all] = row.quantiles.map(|time| results::figure(time as f64));
    format!("as measured 50 % of the packets take up to {half}, 90 % up to {most}, 99 % up to {nearly_all}")
}
