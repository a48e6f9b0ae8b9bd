//! What the runner needs of a testbed, as two small traits, and the real one behind them.

use agent::Interrupt;
use serde_json::Value;
use study::{BootState, Condition};
use testbed::{Effective, RunOrder, Switches, Testbed};

use crate::arrival::nothing_arrived;
use crate::exact::instructions;
use crate::limit::{Limit, limit};
use crate::measure::{directions, metrics};
use crate::validity::disturbances;

/// Builds testbeds: one for each boot.
pub trait Lab {
    /// Builds a fresh one in this state.
    ///
    /// # Errors
    /// When it cannot be built here, or the user interrupts.
    fn build(&mut self, state: &BootState) -> Result<Box<dyn Bench>, testbed::Error>;
}

/// A testbed as the runner uses it. Dropping it takes it down.
pub trait Bench {
    /// What it cannot give, for the user.
    fn notes(&self) -> Vec<String>;
    /// Both hosts, described.
    ///
    /// # Errors
    /// When a host is gone.
    fn environment(&mut self) -> Result<Value, testbed::Error>;
    /// Sets the switches and reads them back.
    ///
    /// # Errors
    /// When a host or its interface is gone, or a value is out of range.
    fn settle(&mut self, switches: &Switches) -> Result<Effective, testbed::Error>;
    /// What its hosts lack for this traffic, each thing in words; empty if they have everything.
    ///
    /// # Errors
    /// When a host is gone.
    fn lacking(&mut self, traffic: &load::Traffic, ipv6: bool) -> Result<Vec<String>, testbed::Error>;
    /// Runs a condition's workload once; `tick` is called now and then while it lasts.
    ///
    /// # Errors
    /// When the run came to nothing.
    fn run(
        &mut self,
        condition: &Condition,
        order: &RunOrder,
        tick: &mut dyn FnMut(),
    ) -> Result<Readings, testbed::Error>;
}

/// What one run gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Readings {
    /// Metrics by key (`study::metric`), in the metric's unit.
    pub metrics: Vec<(String, f64)>,
    /// What limited the run; `None` where nothing was counted that could tell.
    pub limited_by: Option<Limit>,
    /// What disturbed the window, in sentences; nothing if nothing did.
    pub disturbed: Vec<String>,
    /// Why it has no rate: nothing arrived in the window; `None` if something did.
    pub nothing: Option<String>,
    /// Both sides' counters over time.
    pub series: Vec<store::Series>,
    /// Both sides' whole accounts without these, for a closer look.
    pub detail: Value,
}

/// The lab on this machine: namespaces, veth pairs, virtual machines.
#[derive(Debug)]
pub struct LocalLab {
    /// How testbeds are built, but for their state.
    pub options: testbed::Options,
    /// The user's wish to stop.
    pub interrupt: Interrupt,
}

impl Lab for LocalLab {
    fn build(&mut self, state: &BootState) -> Result<Box<dyn Bench>, testbed::Error> {
        self.options.state = state.clone();
        Ok(Box::new(Testbed::build(&self.options, &self.interrupt)?))
    }
}

impl Bench for Testbed {
    fn notes(&self) -> Vec<String> {
        Testbed::notes(self).to_vec()
    }

    fn environment(&mut self) -> Result<Value, testbed::Error> {
        Testbed::environment(self)
    }

    fn settle(&mut self, switches: &Switches) -> Result<Effective, testbed::Error> {
        Testbed::settle(self, switches)
    }

    fn lacking(&mut self, traffic: &load::Traffic, ipv6: bool) -> Result<Vec<String>, testbed::Error> {
        Testbed::lacking(self, traffic, ipv6)
    }

    fn run(
        &mut self,
        condition: &Condition,
        order: &RunOrder,
        tick: &mut dyn FnMut(),
    ) -> Result<Readings, testbed::Error> {
        if self.is_exact() {
            let account = self.exact(order)?;
            let metrics = instructions(condition.workload.kind, order.traffic.message, &account);
            let detail = serde_json::json!({ "exact": account });
            return Ok(Readings { metrics, detail, ..Readings::default() });
        }
        let mut account = Testbed::run(self, order, tick)?;
        let mut metrics = metrics(condition.workload.kind, &order.traffic, &account);
        if order.traffic.direction == load::Direction::Both {
            metrics.extend(directions(&account));
        }
        let disturbed = disturbances(&account, order);
        let nothing = nothing_arrived(order, &account);
        let mut series = vec![taken("transmitter", &mut account.transmitter.window.series)];
        series.extend(account.receiver.as_mut().map(|own| taken("receiver", &mut own.window.series)));
        let detail = serde_json::to_value(&account).unwrap_or(Value::Null);
        let limited_by = Some(limit(order, &account));
        Ok(Readings { metrics, limited_by, disturbed, nothing, series, detail })
    }
}

/// A side's counters over time, taken out of its account: they are stored apart from the rest.
fn taken(side: &str, series: &mut agent::message::Series) -> store::Series {
    let series = std::mem::take(series);
    let counters = series.columns().map(|(name, column)| (name.to_owned(), column.to_vec()));
    store::Series { side: side.to_owned(), counters: counters.into(), at_ns: series.at_ns }
}
