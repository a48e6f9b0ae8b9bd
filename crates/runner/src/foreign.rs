//! CPU time that other processes took on the run's CPUs.
//!
//! The larger of two sources counts. The processes' own times (`host::OtherProcesses`) give names,
//! but cover ramp and window together, and miss invisible processes. The CPUs' user time less the
//! run's covers the window, but is sampled at each tick. Interrupts are in neither: the kernel does
//! not tell for whom it worked.

use std::collections::{BTreeMap, BTreeSet};

use host::{CpuTimes, OtherProcesses};
use record::{CpuTaken, HostAccount, RunAccount, SideAccount, Taker, TakerKind};
use study::Side;

// The load of any machine (timers, kernel workers, the controller) stays below 1 %; a busy process
// beside a thread takes up to half of its CPU.
const OTHERS: f64 = 0.05;

// The longest time between samples, and the unit of the times (`USER_HZ`): 10 ms.
pub(crate) const TICK_NS: f64 = 10e6;

// Standard deviations allowed for chance: three exceed about one undisturbed run in a thousand.
const DEVIATIONS: f64 = 3.0;

// The number of processes that are named, each with at least this share.
const NAMED: usize = 3;
const NAMED_SHARE: f64 = 0.01;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Foreign {
    pub(crate) taken: CpuTaken,
    /// Whether other processes took more than chance explains.
    pub(crate) disturbs: bool,
}

impl Foreign {
    pub(crate) fn from_account(account: &RunAccount, side: Side) -> Self {
        // A virtual machine's CPUs are those of its host.
        Self::on_host(account, side).unwrap_or_else(|| Self::beside_agents(account, side))
    }

    /// Excludes all virtual machines there; `None`: there are none.
    pub(crate) fn on_host(account: &RunAccount, side: Side) -> Option<Self> {
        let hosts = account.hosts_beside(side);
        let elapsed_ns = hosts.iter().map(|host| host.elapsed_ns).max()?;
        let of_host = |host: &&HostAccount| host.cpus.clone().into_iter().zip(host.cpu_each.clone());
        let each: BTreeMap<u32, CpuTimes> = hosts.iter().flat_map(of_host).collect();
        let (cpus, each): (Vec<u32>, Vec<CpuTimes>) = each.into_iter().unzip();
        // Their I/O threads run on any of the CPUs.
        let sum = |part: fn(&host::ThreadTimes) -> u64| {
            hosts.iter().flat_map(|host| [&host.vcpu, &host.io]).map(|times| part(times) as f64).sum()
        };
        let own_ns = [sum(|times| times.user_ns), sum(|times| times.running_ns)];
        Some(Self::new(account, cpus, CpuTimes::sum(&each), elapsed_ns, own_ns))
    }

    fn beside_agents(account: &RunAccount, side: Side) -> Self {
        let of_side = account.sides().find(|(of, _)| *of == side);
        let own = of_side.map_or(&account.transmitter, |(_, own)| own);
        let window = &own.window;
        // If two hosts share their CPUs, both agents.
        let shares = |other: &&SideAccount| {
            std::ptr::eq(*other, own)
                || (!account.apart && window.cpus.iter().any(|cpu| other.window.cpus.contains(cpu)))
        };
        let sum = |part: fn(&host::ProcessTimes) -> u64| {
            let agents = account.sides().map(|(_, own)| own).filter(shares);
            agents.map(|agent| part(&agent.window.own) as f64).sum()
        };
        let own_ns = [sum(|times| times.user_ns), sum(host::ProcessTimes::total_ns)];
        Self::new(account, window.cpus.clone(), window.cpu, window.elapsed_ns, own_ns)
    }

    /// `spent`: by everybody on these CPUs; `own_user_ns`: the run's user time; `own_ns`: all of
    /// its time.
    fn new(
        account: &RunAccount,
        cpus: Vec<u32>,
        spent: CpuTimes,
        elapsed_ns: u64,
        [own_user_ns, own_ns]: [f64; 2],
    ) -> Self {
        let all = (elapsed_ns as f64 * cpus.len() as f64).max(1.0);
        let rounding = TICK_NS * cpus.len() as f64;
        let user = spent.user as f64 - own_user_ns;
        // The sampled share of a CPU that works part of the time has a binomial distribution.
        let busy = (own_user_ns / all).clamp(0.0, 1.0);
        let chance = DEVIATIONS * (busy * (1.0 - busy) * all * TICK_NS).sqrt();
        let by_looks = user > all * OTHERS + chance + rounding;
        // The processes' times may be from before the window, or from other CPUs.
        let most = (spent.busy() as f64 - own_ns + rounding).max(0.0);
        let others = account.others.as_ref();
        let mut by = others.map(|others| takers(others, &cpus, elapsed_ns, all)).unwrap_or_default();
        let told = (all * by.iter().map(|taker| taker.share).sum::<f64>()).min(most);
        // A process's user and kernel time are each rounded down to the unit.
        let by_times = told > all * OTHERS + 2.0 * TICK_NS;
        by.truncate(NAMED);
        by.retain(|taker| taker.share >= NAMED_SHARE);
        let share = (user.max(told) / all).clamp(0.0, 1.0);
        Self { taken: CpuTaken { share, cpus, by }, disturbs: by_looks || by_times }
    }
}

/// The largest first; their shares are of `all`, in ns.
fn takers(others: &OtherProcesses, cpus: &[u32], elapsed_ns: u64, all: f64) -> Vec<Taker> {
    // As if their time were spread evenly over the time that was watched.
    let part = elapsed_ns as f64 / others.elapsed_ns.max(1) as f64;
    let mut times: BTreeMap<(&str, bool), (BTreeSet<u32>, f64)> = BTreeMap::new();
    for spent in others.spent.iter().filter(|spent| cpus.contains(&spent.cpu)) {
        let (pids, ns) = times.entry((spent.name.as_str(), spent.kernel)).or_default();
        pids.insert(spent.pid);
        *ns += spent.ns as f64 * part;
    }
    let taker = |((name, kernel), (pids, ns)): ((&str, bool), (BTreeSet<u32>, f64))| {
        let who = match (kernel, pids.first()) {
            (true, _) => TakerKind::Kernel,
            (false, Some(pid)) if pids.len() == 1 => TakerKind::Process { pid: *pid },
            (false, _) => TakerKind::Processes { count: pids.len() },
        };
        Taker { name: name.to_owned(), who, share: (ns / all).min(1.0) }
    };
    let mut takers: Vec<Taker> = times.into_iter().map(taker).collect();
    takers.sort_by(|one, other| other.share.total_cmp(&one.share));
    takers
}

#[cfg(test)]
mod tests;
