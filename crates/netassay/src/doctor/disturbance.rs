//! Properties of this machine that make measurements noisy, or different on another day.

use host::machine::Machine;
use host::{Firewall, HostEnvironment, QuotaGroup};
use results::Finding;

const AREA: &str = "noise";

// Steal above this share of all CPU time since boot shows in most runs.
const STEAL_PERCENT: f64 = 0.5;
// A slower wake-up from an idle state shows in latencies: a round trip over veth takes some 10 us.
const SLOW_WAKE_US: u64 = 10;
// More runnable tasks than this compete with the measurement.
const OTHER_LOAD: f64 = 0.5;

/// Clock sources that are read without a system call.
const FAST_CLOCKS: [&str; 5] = ["tsc", "arch_sys_counter", "kvm-clock", "timebase", "stp"];

pub(super) fn findings() -> Vec<Finding> {
    let machine = Machine::system();
    let facts = HostEnvironment::of_machine(&machine, "");
    let numa_balancing = facts.sysctls.get("kernel.numa_balancing").map(|value| value != "0");
    let disturbs = |is: Option<bool>, name, what, fix| (is == Some(true)).then(|| warn(name, what, fix));
    [
        Some(session()),
        Some(cpus(facts.cpu.online)),
        Some(quota(&QuotaGroup::find(&machine))),
        disturbs(
            Some(!facts.cpu.siblings.is_empty()),
            "hardware threads",
            "two threads share a core and slow each other down",
            "echo off > /sys/devices/system/cpu/smt/control",
        ),
        Some(governor(&facts.cpu.governors)),
        disturbs(
            facts.cpu.turbo,
            "turbo",
            "on: the speed of a core depends on its temperature and on the other cores",
            "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo (or: echo 0 > /sys/devices/system/cpu/cpufreq/boost)",
        ),
        Some(idle(facts.cpu.deepest_idle_state())),
        facts.load.stolen_percent.map(steal),
        facts.load.average.map(|[minute, ..]| load(minute)),
        facts.kernel.clock_source.as_deref().map(clock),
        disturbs(
            facts.machine.hypervisor,
            "virtual machine",
            "the effect of the hypervisor on the figures is unknown",
            "compare rates only with rates of this machine, or measure on bare metal",
        ),
        disturbs(
            Some(machine.runs("irqbalance")),
            "irqbalance",
            "moves interrupts between CPUs during runs",
            "systemctl stop irqbalance",
        ),
        disturbs(
            numa_balancing,
            "NUMA balancing",
            "moves memory during runs",
            "sysctl kernel.numa_balancing=0",
        ),
        disturbs(
            machine.switch("sys/kernel/mm/ksm/run"),
            "page merging",
            "scans memory during runs",
            "echo 0 > /sys/kernel/mm/ksm/run",
        ),
    ]
    .into_iter()
    .flatten()
    .chain(filters(&Firewall::read()))
    .collect()
}

/// Filters of packets between machines.
fn filters(found: &Firewall) -> Vec<Finding> {
    // Network namespaces of netassay's own have none.
    let firewall = match (found.filters(), found.rules) {
        (Some(what), _) => {
            let fix = "nft list ruleset, iptables-save: let the traffic's interface through first, or measure without them; \
                namespaces of netassay's own have none";
            warn("firewall", format!("{what}: each packet between machines costs more, or is dropped"), fix)
        }
        (None, None) => warn("firewall", "its rules can be seen by root only", "sudo netassay doctor"),
        (None, Some(_)) => ok("firewall", "no rules"),
    };
    let conntrack = match found.tracked {
        Some(count) if count > 0 => warn(
            "conntrack",
            format!("tracks {count} connections: each packet of TCP and UDP costs a look-up"),
            "a rule with `notrack` for the traffic's interface, or remove the rules that need it",
        ),
        _ => ok("conntrack", "tracks nothing"),
    };
    vec![firewall, conntrack]
}

fn ok(name: &str, what: impl Into<String>) -> Finding {
    Finding::ok(AREA, name, what)
}

fn warn(name: &str, what: impl Into<String>, fix: impl Into<String>) -> Finding {
    Finding::warn(AREA, name, what, fix)
}

fn session() -> Finding {
    let why = match host::take_measuring_lock() {
        Ok(Ok(_)) => return ok("sessions", "no other session of netassay measures"),
        Ok(Err(holder)) => format!("another session of netassay measures: {holder}"),
        Err(error) => error.to_string(),
    };
    let fix = "nothing to do: a session waits until the other ends, unless --no-wait or --beside is given";
    warn("sessions", why, fix)
}

fn cpus(cpus: usize) -> Finding {
    let what = match cpus {
        0 | 1 => "1 CPU: both hosts share it, so their CPU use cannot be separated".to_owned(),
        2..5 => format!("{cpus} CPUs: no CPU is left for the controller and the rest of the machine"),
        _ => return ok("CPUs", format!("{cpus} CPUs: a set for each host, and one for the controller")),
    };
    warn("CPUs", what, "use a machine of 5 cores or more; on this one, stop other work while measuring")
}

fn quota(groups: &[QuotaGroup]) -> Finding {
    const NAME: &str = "CPU quota";
    let Some((quota, group)) = QuotaGroup::smallest(groups) else { return ok(NAME, "none") };
    let what =
        format!("{quota} (/{group}): once it is used up, the kernel stops all ends until the next period");
    let fix = "raise it (systemctl set-property UNIT CPUQuota=, docker update --cpus), or measure outside of that cgroup";
    warn(NAME, what, fix)
}

fn governor(governors: &[String]) -> Finding {
    const NAME: &str = "CPU frequency";
    match governors {
        [] => ok(NAME, "not set by this kernel (usual in a virtual machine)"),
        [one] if one == "performance" => ok(NAME, "governor performance"),
        several => {
            let what = format!("governor {}: the speed of a CPU follows its load", several.join(", "));
            warn(NAME, what, "cpupower frequency-set -g performance")
        }
    }
}

fn idle(deepest: Option<&host::IdleState>) -> Finding {
    const NAME: &str = "idle states";
    let Some(state) = deepest else { return ok(NAME, "the kernel knows none") };
    let (name, latency) = (&state.name, state.latency);
    if latency <= SLOW_WAKE_US {
        return ok(NAME, format!("deepest {name}: wakes in {latency} us"));
    }
    let what = format!("deepest {name}: waking takes {latency} us, which adds to latencies");
    warn(NAME, what, format!("cpupower idle-set -D {SLOW_WAKE_US}"))
}

fn figure(name: &str, (value, most): (f64, f64), what: String, fix: &str) -> Finding {
    if value > most { warn(name, what, fix) } else { ok(name, what) }
}

fn steal(percent: f64) -> Finding {
    let what = format!("the hypervisor took {percent:.2} % of the CPU time since boot");
    figure("steal", (percent, STEAL_PERCENT), what, "measure on a dedicated machine, or plan more boots")
}

fn load(minute: f64) -> Finding {
    let what = format!("{minute:.2} runnable tasks in the last minute");
    figure("other load", (minute, OTHER_LOAD), what, "stop other work, and wait a minute")
}

fn clock(source: &str) -> Finding {
    if FAST_CLOCKS.contains(&source) {
        return ok("clock", source);
    }
    let what = format!("{source}: slow to read, which lowers request-response rates");
    warn("clock", what, "boot with tsc=reliable if the machine's TSC can be trusted")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_said_with_what_they_cost_and_how_to_see_them() {
        let none = Firewall { rules: Some(0), tables: Vec::new(), tracked: None };
        assert!(filters(&none).iter().all(|one| one.fix.is_none()));
        let some = Firewall { rules: Some(3), tables: vec!["nat".to_owned()], tracked: Some(2) };
        let found = filters(&some);
        assert!(found[0].what.starts_with("3 rules of nftables, tables of iptables (nat): "), "{found:?}");
        assert!(found[1].what.starts_with("tracks 2 connections"), "{found:?}");
        assert!(filters(&Firewall { rules: None, ..none })[0].fix.is_some());
    }
}
