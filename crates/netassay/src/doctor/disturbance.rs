//! What makes measurements noisy here, or different from another day's.

use host::Disturbances;

use super::finding::{Finding, Status};

const AREA: &str = "noise";

/// Steal above this share of all CPU time since boot shows in most runs.
const STEAL_PERCENT: f64 = 0.5;
/// Waking from an idle state slower than this, in us, shows in latencies: a round trip over veth
/// takes some 10 us.
const SLOW_WAKE_US: u64 = 10;
/// Other work beyond this many runnable tasks competes with the measurement.
const OTHER_LOAD: f64 = 0.5;

pub(super) fn findings() -> Vec<Finding> {
    let facts = Disturbances::read();
    [
        session(),
        cpus(&facts),
        governor(&facts),
        idle(&facts),
        steal(&facts),
        load(&facts),
        clock(&facts),
        others(&facts),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn session() -> Vec<Finding> {
    let (status, what) = match host::Turn::take() {
        Ok(Ok(_)) => (Status::Ok, "no other session of netassay measures".to_owned()),
        Ok(Err(holder)) => (Status::Warn, format!("another session of netassay measures: {holder}")),
        Err(error) => (Status::Warn, error.to_string()),
    };
    let finding = Finding::new(AREA, "sessions", status, what);
    vec![if status == Status::Warn {
        finding
            .fix("nothing to do: a session waits for the other's end, unless --no-wait or --beside is given")
    } else {
        finding
    }]
}

fn cpus(facts: &Disturbances) -> Vec<Finding> {
    let cpus = facts.cpu.online;
    let (status, what) = match cpus {
        0 | 1 => {
            (Status::Warn, "1 CPU: both hosts share it, so their CPU use cannot be separated".to_owned())
        }
        2..5 => (
            Status::Warn,
            format!("{cpus} CPUs: no CPU is left for the controller and the rest of the machine"),
        ),
        _ => (Status::Ok, format!("{cpus} CPUs: a set for each host, and one for the controller")),
    };
    let mut finding = Finding::new(AREA, "CPUs", status, what);
    if status == Status::Warn {
        finding =
            finding.fix("use a machine of 5 cores or more; on this one, stop other work while measuring");
    }
    let mut findings = vec![finding];
    if facts.multithreading_active == Some(true) {
        findings.push(
            Finding::new(
                AREA,
                "hardware threads",
                Status::Warn,
                "two threads share a core and slow each other down",
            )
            .fix("echo off > /sys/devices/system/cpu/smt/control"),
        );
    }
    findings
}

fn governor(facts: &Disturbances) -> Vec<Finding> {
    let mut findings = Vec::new();
    let governors = facts.cpu.governors.join(", ");
    findings.push(match facts.cpu.governors.as_slice() {
        [] => Finding::new(
            AREA,
            "CPU frequency",
            Status::Ok,
            "not set by this kernel (usual in a virtual machine)",
        ),
        [one] if one == "performance" => {
            Finding::new(AREA, "CPU frequency", Status::Ok, "governor performance")
        }
        _ => Finding::new(
            AREA,
            "CPU frequency",
            Status::Warn,
            format!("governor {governors}: the speed of a CPU follows its load"),
        )
        .fix("cpupower frequency-set -g performance"),
    });
    if facts.cpu.turbo == Some(true) {
        findings.push(
            Finding::new(AREA, "turbo", Status::Warn, "on: the speed of a core depends on its temperature and on the other cores")
                .fix("echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo (or: echo 0 > /sys/devices/system/cpu/cpufreq/boost)"),
        );
    }
    findings
}

fn idle(facts: &Disturbances) -> Vec<Finding> {
    vec![match facts.deepest_idle_state() {
        None => Finding::new(AREA, "idle states", Status::Ok, "the kernel knows none"),
        Some(state) if state.latency <= SLOW_WAKE_US => Finding::new(
            AREA,
            "idle states",
            Status::Ok,
            format!("deepest {}: wakes in {} us", state.name, state.latency),
        ),
        Some(state) => {
            let what =
                format!("deepest {}: waking takes {} us, which adds to latencies", state.name, state.latency);
            Finding::new(AREA, "idle states", Status::Warn, what)
                .fix(format!("cpupower idle-set -D {SLOW_WAKE_US}"))
        }
    }]
}

fn steal(facts: &Disturbances) -> Vec<Finding> {
    let Some(percent) = facts.load.stolen_percent else { return Vec::new() };
    let what = format!("the hypervisor took {percent:.2} % of the CPU time since boot");
    vec![if percent > STEAL_PERCENT {
        Finding::new(AREA, "steal", Status::Warn, what)
            .fix("measure on a dedicated machine, or plan more boots")
    } else {
        Finding::new(AREA, "steal", Status::Ok, what)
    }]
}

fn load(facts: &Disturbances) -> Vec<Finding> {
    let Some([minute, ..]) = facts.load.average else { return Vec::new() };
    let what = format!("{minute:.2} runnable tasks in the last minute");
    vec![if minute > OTHER_LOAD {
        Finding::new(AREA, "other load", Status::Warn, what).fix("stop other work, and wait a minute")
    } else {
        Finding::new(AREA, "other load", Status::Ok, what)
    }]
}

fn clock(facts: &Disturbances) -> Vec<Finding> {
    let Some(source) = &facts.kernel.clock_source else { return Vec::new() };
    let fast = ["tsc", "arch_sys_counter", "kvm-clock", "timebase", "stp"].contains(&source.as_str());
    vec![if fast {
        Finding::new(AREA, "clock", Status::Ok, source.clone())
    } else {
        Finding::new(
            AREA,
            "clock",
            Status::Warn,
            format!("{source}: slow to read, which lowers request-response rates"),
        )
        .fix("boot with tsc=reliable if the machine's TSC can be trusted")
    }]
}

fn others(facts: &Disturbances) -> Vec<Finding> {
    let mut findings = Vec::new();
    if facts.machine.hypervisor == Some(true) {
        let what = "the effect of the hypervisor on the figures is unknown";
        findings.push(
            Finding::new(AREA, "virtual machine", Status::Warn, what)
                .fix("compare rates only with rates of this machine, or measure on bare metal"),
        );
    }
    if facts.interrupt_balancing == Some(true) {
        findings.push(
            Finding::new(AREA, "irqbalance", Status::Warn, "moves interrupts between CPUs during runs")
                .fix("systemctl stop irqbalance"),
        );
    }
    if facts.numa_balancing == Some(true) {
        findings.push(
            Finding::new(AREA, "NUMA balancing", Status::Warn, "moves memory during runs")
                .fix("sysctl kernel.numa_balancing=0"),
        );
    }
    if facts.page_merging == Some(true) {
        findings.push(
            Finding::new(AREA, "page merging", Status::Warn, "scans memory during runs")
                .fix("echo 0 > /sys/kernel/mm/ksm/run"),
        );
    }
    findings
}
