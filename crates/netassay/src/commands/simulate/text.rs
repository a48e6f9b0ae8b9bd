//! A simulation's tables.

use report::{Layout, Table, figure};
use stats::Design;
use stats::simulate::{Estimates, Looking, Rate, SequentialCell, SequentialRates};

use super::Simulation;

impl Simulation {
    pub(super) fn text(&self, layout: Layout) -> String {
        let mut text = self.head();
        text.push_str(&format!(
            "\nFalse positives: % of {} experiments without a difference in which one is seen at 5 %{}\n\n",
            self.plan.experiments,
            self.intervals(layout)
        ));
        let first: Vec<&[Rate]> =
            self.outcome.false_positives.iter().map(|cell| cell.rates.as_slice()).collect();
        text.push_str(&self.table(&self.method_names(), &first, layout));
        for (place, difference) in self.plan.differences.iter().enumerate() {
            text.push_str(&format!(
                "\nPower: % in which a difference of {} is seen\n\n",
                self.size(*difference)
            ));
            let cells = self.outcome.power.iter().skip(place).step_by(self.plan.differences.len());
            let rates: Vec<&[Rate]> = cells.map(|cell| cell.rates.as_slice()).collect();
            text.push_str(&self.table(&self.method_names(), &rates, layout));
        }
        if !self.plan.differences.is_empty() {
            text.push_str("\nThe power of a method with too many false positives has no meaning: read the first table first.\n");
        }
        if let Some(sequential) = &self.sequential {
            text.push_str(&self.sequential_text(sequential, layout));
        }
        text
    }

    fn head(&self) -> String {
        let world = &self.plan.world;
        let design = match world.design {
            Design::Nested => "nested: each condition has boots of its own".to_owned(),
            Design::Crossed => format!(
                "crossed: every boot measures all conditions.\nWhat a boot does to all has sd {}; the sd between boots below is that of \
                 condition x boot",
                self.size(world.shared)
            ),
        };
        let of = match (self.origin.study, &self.origin.metric) {
            (Some(study), Some(metric)) => format!(
                "Spread of {metric} as in study {study}; between boots: the ends of the 95 % interval, and the estimate between them.\n"
            ),
            _ => String::new(),
        };
        format!(
            "{of}{} boots x {} runs, {} conditions, {design}.\nRuns {} with sd {} around a mean of {}; seed {}.\n",
            world.boots,
            world.runs,
            world.conditions,
            world.shape.as_str(),
            self.size(world.within),
            self.size(world.mean),
            self.plan.seed
        )
    }

    fn sequential_text(&self, sequential: &SequentialRates, layout: Layout) -> String {
        let looks: Vec<String> = sequential.looks.iter().map(usize::to_string).collect();
        let mut text = format!(
            "\nLooking early: t on boot means, MSB pooled, after {} boots; % of experiments{}, then boots used on average\n",
            looks.join(", "),
            self.intervals(layout)
        );
        let names: Vec<&str> = Looking::ALL.iter().map(|looking| looking.as_str()).collect();
        for cells in sequential.cells.chunks(self.plan.between.len()) {
            let difference = cells.first().map_or(0.0, |cell| cell.difference);
            let what = if difference == 0.0 { "no difference".to_owned() } else { self.size(difference) };
            text.push_str(&format!("\nwith {what}:\n\n"));
            let mut table = self.empty("rule");
            for (place, name) in names.iter().enumerate() {
                let of = |cell: &SequentialCell| {
                    format!("{}, {:.1}", shown(&cell.rates[place], layout), cell.boots[place])
                };
                row(&mut table, name, cells.iter().map(of));
            }
            text.push_str(&table.fit(layout));
            if difference != 0.0 {
                text.push_str(&self.estimates_text(cells, &names, difference, layout));
            }
        }
        text
    }

    /// The bias of the differences that the experiments ended with.
    fn estimates_text(
        &self,
        cells: &[SequentialCell],
        names: &[&str],
        difference: f64,
        layout: Layout,
    ) -> String {
        let mut table = self.empty("rule");
        let off = |found: f64| format!("{:+.1}", 100.0 * (found / difference - 1.0));
        for (place, name) in names.iter().enumerate() {
            let of = |cell: &SequentialCell| {
                let Estimates { measured, adjusted, .. } = cell.estimates[place];
                format!("{}, {}", off(measured), off(adjusted))
            };
            row(&mut table, name, cells.iter().map(of));
        }
        format!(
            "\nBy how many % the difference at the end is too large on average: as measured, then as stated (median-unbiased)\n\n{}",
            table.fit(layout)
        )
    }

    /// The note on the rates' intervals: the widest of them, if the table has none.
    fn intervals(&self, layout: Layout) -> String {
        if layout.wide {
            return " (95 % interval of the rate)".to_owned();
        }
        let outcome = &self.outcome;
        let early = self.sequential.iter().flat_map(|sequential| &sequential.cells);
        let rates = outcome.false_positives.iter().chain(&outcome.power).flat_map(|cell| &cell.rates);
        let rates = rates.chain(early.flat_map(|cell| &cell.rates));
        let width = |rate: &Rate| (rate.interval.1 - rate.rate).max(rate.rate - rate.interval.0);
        let most = rates.map(width).fold(0.0, f64::max);
        format!(" (95 % intervals: at most {:.1} to each side; --wide shows them)", 100.0 * most)
    }

    fn method_names(&self) -> Vec<&'static str> {
        self.plan.methods.iter().map(|method| method.as_str()).collect()
    }

    fn table(&self, names: &[&str], columns: &[&[Rate]], layout: Layout) -> String {
        let mut table = self.empty("method");
        for (place, name) in names.iter().enumerate() {
            row(&mut table, name, columns.iter().map(|rates| shown(&rates[place], layout)));
        }
        table.fit(layout)
    }

    fn empty(&self, first: &str) -> Table {
        let first = format!("{first}; sd between boots:");
        let spreads = self.plan.between.iter().map(|between| self.figure(*between));
        let heads: Vec<String> = std::iter::once(first).chain(spreads).collect();
        Table::new(&heads.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn size(&self, value: f64) -> String {
        let unit = self.origin.unit;
        if unit.is_empty() { self.figure(value) } else { format!("{} {unit}", self.figure(value)) }
    }

    /// A stated value in full, a measured one in its significant digits.
    fn figure(&self, value: f64) -> String {
        if self.origin.study.is_some() { figure(value) } else { value.to_string() }
    }
}

fn row(table: &mut Table, name: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = std::iter::once(name.to_owned()).chain(cells).collect();
    table.row(&cells.iter().map(String::as_str).collect::<Vec<_>>());
}

/// A rate in %; with its 95 % interval if the page is wide.
fn shown(rate: &Rate, layout: Layout) -> String {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let own = percent(rate.rate);
    if layout.wide {
        format!("{own} ({} to {})", percent(rate.interval.0), percent(rate.interval.1))
    } else {
        own
    }
}
