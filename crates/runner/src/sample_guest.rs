//! A virtual machine's cost with round figures, for tests.

use record::HostAccount;

/// A guest in a second on one CPU of its host: for each virtual CPU, ms that it ran and waited. 100
/// ms moved its packets.
pub(crate) fn guest(cpu: u32, vcpus: &[(u64, u64)]) -> HostAccount {
    let spent = |running: u64, waiting: u64| {
        let [running_ns, waiting_ns] = [running, waiting].map(|ms| ms * 1_000_000);
        host::ThreadTimes { running_ns, user_ns: running_ns, system_ns: 0, waiting_ns }
    };
    let vcpu_each: Vec<host::ThreadTimes> =
        vcpus.iter().map(|(running, waiting)| spent(*running, *waiting)).collect();
    let (vcpu, io) = (host::ThreadTimes::sum(&vcpu_each), spent(100, 0));
    let busy = vcpu.running_ns + io.running_ns;
    HostAccount {
        elapsed_ns: 1_000_000_000,
        cpus: vec![cpu],
        cpu_each: vec![host::CpuTimes {
            user: busy,
            idle: 1_000_000_000_u64.saturating_sub(busy),
            ..Default::default()
        }],
        vcpu,
        vcpu_each,
        pinned: true,
        io,
        ..HostAccount::default()
    }
}
