//! The runner's interface to a testbed: two small traits. The real one is in `local_lab`.

use record::{Crash, Detail, Disturbance, Environment, Limit, Note, PathTrace, Series};
use store::Metrics;
use study::{BootState, BySide, Condition, Effective, Tracing};
use testbed::reach::HostBoot;
use testbed::{RunOrder, Switches, TurnsOrder};

/// The result of an action on a testbed.
pub type BenchResult<T> = Result<T, testbed::Error>;

/// Builds the testbed of each boot.
pub trait Lab {
    /// Builds a fresh one in this state.
    ///
    /// # Errors
    /// When it cannot be built here, or the user interrupts.
    fn build(&mut self, state: &BootState) -> BenchResult<Box<dyn Bench>>;

    /// The present boots of the user's machines; none where a testbed is all that a boot starts.
    ///
    /// # Errors
    /// When a machine does not answer.
    fn boots(&mut self) -> BenchResult<Vec<HostBoot>>;

    /// Restarts the user's machines with the kernel of this state. No testbed stands meanwhile.
    ///
    /// # Errors
    /// When a machine refuses, or is not back in time; [`testbed::Error::NotUp`] if that may be the
    /// kernel's fault.
    fn restart(&mut self, state: &BootState) -> BenchResult<()>;

    /// The user's machines that crashed since this description of them. No testbed stands.
    ///
    /// # Errors
    /// When the user interrupts.
    fn crash(&mut self, before: &Environment) -> BenchResult<Option<Crash>>;

    /// Waits until the user's machines answer again, which may take a cycle of their power. Returns
    /// whether one is in another boot than in this description. No testbed stands meanwhile.
    ///
    /// # Errors
    /// When a machine stays away.
    fn revive(&mut self, before: &Environment) -> BenchResult<bool>;
}

/// A testbed as the runner uses it. Dropping it takes it down.
pub trait Bench {
    /// Its limitations.
    fn notes(&self) -> Vec<Note>;
    /// The description of both hosts.
    ///
    /// # Errors
    /// When a host is gone.
    fn environment(&mut self) -> BenchResult<Environment>;
    /// Sets the switches and reads them back.
    ///
    /// # Errors
    /// When a host or its interface is gone, or a value is out of range.
    fn settle(&mut self, switches: &Switches) -> BenchResult<Effective>;
    /// Refuses machines between which this traffic's packets do not arrive, with these switches.
    ///
    /// # Errors
    /// The reason why packets do not arrive, or that a host is gone.
    fn check_path(&mut self, order: &RunOrder, effective: &Effective) -> BenchResult<()>;
    /// Features that its hosts lack for this traffic, in words; empty if they have all.
    ///
    /// # Errors
    /// When a host is gone.
    fn lacking(&mut self, traffic: &load::Traffic, family: load::Family) -> BenchResult<Vec<String>>;
    /// Runs a condition's workload once; `tick` is called now and then while it lasts.
    ///
    /// # Errors
    /// When the run failed.
    fn run(&mut self, condition: &Condition, tick: &mut dyn FnMut()) -> BenchResult<Readings>;
    /// Lets conditions take turns in one flow, and returns the results of each, in their order.
    ///
    /// # Errors
    /// [`testbed::Error::NotInTurns`] for conditions that need runs of their own; else as
    /// [`Bench::run`].
    fn take_turns(&mut self, order: &TurnsOrder, tick: &mut dyn FnMut()) -> BenchResult<Vec<Readings>>;
    /// Makes the study's traces of this traffic, with the present switches.
    ///
    /// # Errors
    /// When a path cannot be traced, or a host is gone.
    fn trace(
        &mut self,
        order: &RunOrder,
        tracing: &Tracing,
        tick: &mut dyn FnMut(),
    ) -> BenchResult<Vec<PathTrace>>;
    /// Differences of its machines' settings from those that the study set.
    fn differences(&mut self) -> Vec<Disturbance>;
}

/// The results of one run.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct Readings {
    pub metrics: Metrics,
    /// `None` if no counter tells.
    pub limited_by: Option<Limit>,
    pub disturbed: Vec<Disturbance>,
    /// Why it has no rate: nothing arrived in the window; `None` if something did.
    pub nothing: Option<String>,
    pub series: BySide<Option<Series>>,
    /// The other stored data: both sides' whole accounts without these.
    pub detail: Detail,
}
