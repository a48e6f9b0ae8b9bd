//! The table of metrics: one constant for each, with its key, unit and meaning.

use super::{
    Better, Instructions, InterruptRates, Metric, MetricDefinition, MetricGroup, MetricNeeds, Source,
    UnitOfWork,
};
use crate::side::{BySide, Side};

macro_rules! metric {
    ($side:expr, [$($of_side:literal)?] [$($at_side:literal)?], $group:ident [$($own:literal)+] $part:literal, $unit:literal, $better:ident, $source:ident, $needs:ident, [$($meaning:literal)+]) => {
        Metric(&MetricDefinition {
            key: concat!($($of_side,)? $($own),+),
            unit: $unit,
            better: Better::$better,
            meaning: concat!($($meaning,)+ $($at_side)?),
            quantity: concat!($($meaning),+),
            side: $side,
            own: concat!($($own),+),
            group: MetricGroup::$group,
            part: $part,
            source: Source::$source,
            needs: MetricNeeds::$needs,
        })
    };
}

macro_rules! metric_by_side {
    ($($definition:tt)+) => {
        BySide {
            transmitter: metric!(Some(Side::Transmitter), ["transmitter."] [", at the transmitter"], $($definition)+),
            receiver: metric!(Some(Side::Receiver), ["receiver."] [", at the receiver"], $($definition)+),
        }
    };
}

macro_rules! metrics {
    (
        run { $($run:ident: $group:ident $(($begin:literal))? $part:literal, $unit:literal, $better:ident, $source:ident, $meaning:literal;)* }
        instructions { $($instructions:ident: $work:literal, $counted:ident, $per:literal;)* }
        side { $($side:ident: $side_group:ident $(($side_begin:literal))? $side_part:literal, $side_unit:literal, $side_better:ident, $side_source:ident, $needs:ident, $side_meaning:literal;)* }
        interrupts { $($interrupt:ident: $rate:literal, $interrupts:literal;)* }
        units { $($unit_of_work:ident: $word:literal, $demand:ident, $host_demand:ident, $counts:ident;)* }
    ) => {
        $(
            #[doc = $meaning]
            pub const $run: Metric = metric!(None, [] [], $group [$($begin)? $part] $part, $unit, $better, $source, Nothing, [$meaning]);
        )*
        $(
            #[doc = concat!("Instructions executed ", $per)]
            pub const $instructions: Instructions = Instructions {
                all: metric!(None, [] [], Instructions ["instructions_" $work] $work, "1", Lower, $counted, Exact, ["instructions executed " $per]),
                user: metric!(None, [] [], Instructions ["user_instructions_" $work] $work, "1", Lower, $counted, Exact, ["instructions executed by programs " $per]),
                kernel: metric!(None, [] [], Instructions ["kernel_instructions_" $work] $work, "1", Lower, $counted, Exact, ["instructions executed by the kernel " $per]),
                softirq: metric!(None, [] [], Instructions ["softirq_instructions_" $work] $work, "1", Lower, $counted, Exact, [
                    "of the kernel's instructions those in soft interrupts, where packets are received, " $per
                ]),
            };
        )*
        $(
            #[doc = $side_meaning]
            pub const $side: BySide<Metric> =
                metric_by_side!($side_group [$($side_begin)? $side_part] $side_part, $side_unit, $side_better, $side_source, $needs, [$side_meaning]);
        )*
        $(
            #[doc = $interrupts]
            pub const $interrupt: InterruptRates = InterruptRates {
                own: metric_by_side!(Counter [$rate] $rate, "1/s", Neither, Every, Nothing, [$interrupts]),
                on_host: metric_by_side!(Counter ["host_" $rate] $rate, "1/s", Neither, Every, Guests, [
                    $interrupts ", on the host's CPUs of this side"
                ]),
            };
        )*
        $(
            #[doc = concat!("A ", $word, " as a unit of work.")]
            pub const $unit_of_work: UnitOfWork = UnitOfWork {
                word: $word,
                service_demand: $demand,
                host_service_demand: $host_demand,
                instructions: $counts,
            };
        )*

        /// Every metric, in the order in which tables show them.
        pub const METRICS: &[Metric] = &[
            $($run,)*
            $($instructions.all,)*
            $($instructions.user,)*
            $($instructions.kernel,)*
            $($instructions.softirq,)*
            $($side.transmitter,)*
            $($interrupt.own.transmitter,)*
            $($interrupt.on_host.transmitter,)*
            $($side.receiver,)*
            $($interrupt.own.receiver,)*
            $($interrupt.on_host.receiver,)*
        ];
    };
}

metrics! {
    run {
        THROUGHPUT: Rate "throughput", "Mbit/s", Higher, Streams, "payload that reached the receiving applications in the window, in both directions";
        THROUGHPUT_FORWARD: Rate "throughput_forward", "Mbit/s", Higher, BothWays, "payload that reached the receiver in the window";
        THROUGHPUT_REVERSE: Rate "throughput_reverse", "Mbit/s", Higher, BothWays, "payload that reached the transmitter in the window";
        PACKETS: Rate "packets", "1/s", Higher, Packets, "datagrams that reached the receiving application in the window; of `pps` packets across the interface, counted there";
        FOUND_RATE: Rate "found_rate", "Mbit/s", Higher, Search, "highest rate of payload that was shown to keep loss within the bound";
        FOUND_RATE_UPPER: Rate "found_rate_upper", "Mbit/s", Neither, Search, "lowest rate of payload that was shown to exceed the bound; absent if none was";
        FOUND_PACKETS: Rate "found_packets", "1/s", Higher, Search, "the found rate in datagrams";
        SEARCH_TRIALS: Counter "search_trials", "1", Neither, Search, "trials that the search for the rate made";
        TRANSACTIONS: Rate "transactions", "1/s", Higher, Rr, "requests answered in the window";
        LATENCY_MEAN: Latency("latency_") "mean", "ns", Lower, Rr, "mean time from request to response";
        LATENCY_P50: Latency("latency_") "p50", "ns", Lower, Rr, "time from request to response that half of the transactions stay within";
        LATENCY_P90: Latency("latency_") "p90", "ns", Lower, Rr, "time from request to response that 90 % of the transactions stay within";
        LATENCY_P99: Latency("latency_") "p99", "ns", Lower, Rr, "time from request to response that 99 % of the transactions stay within";
        LATENCY_P99_9: Latency("latency_") "p99_9", "ns", Lower, Rr, "time from request to response that 99.9 % of the transactions stay within";
        LATENCY_P99_99: Latency("latency_") "p99_99", "ns", Lower, Rr, "time from request to response that 99.99 % of the transactions stay within";
        LATENCY_MAX: Latency("latency_") "max", "ns", Lower, Rr, "longest time from request to response";
        LOSS: Messages "loss", "%", Lower, Udp, "messages sent that never reached the receiving application";
        OFFERED: Messages "offered", "1", Neither, Udp, "messages the application tried to send in the whole run";
        SENT: Messages "sent", "1", Neither, Udp, "messages the kernel accepted from the application in the whole run";
        RECEIVED: Messages "received", "1", Neither, Udp, "messages the receiving application received in the whole run";
        LOST: Messages "lost", "1", Lower, Udp, "messages sent but not received in the whole run";
        LOST_QUEUE: Messages "lost_queue", "1", Lower, Udp, "messages lost in the sender's queue";
        LOST_DEVICE: Messages "lost_device", "1", Lower, Udp, "messages lost in a device or on the link";
        LOST_SOCKET: Messages "lost_socket", "1", Lower, Udp, "messages lost because the receiving socket was full";
        LOST_UNACCOUNTED: Messages "lost_unaccounted", "1", Lower, Udp, "messages lost at a place without a counter";
    }
    instructions {
        INSTRUCTIONS_BYTE: "byte", Streams, "per byte received";
        INSTRUCTIONS_PACKET: "packet", Packets, "per datagram received, of `pps` per datagram sent";
        INSTRUCTIONS_TRANSACTION: "transaction", Rr, "per transaction";
        INSTRUCTIONS_CALL: "call", Every, "per system call that moves data, at either end";
    }
    side {
        CPU: Cpu("cpu") "", "%", Lower, Every, Nothing, "CPU in use, of all CPUs of the host";
        CPU_USER: Cpu("cpu_") "user", "%", Lower, Every, Nothing, "CPU in applications";
        CPU_SYSTEM: Cpu("cpu_") "system", "%", Lower, Every, Nothing, "CPU in system calls and kernel threads";
        CPU_IRQ: Cpu("cpu_") "irq", "%", Lower, Every, Nothing, "CPU in hardware interrupts";
        CPU_SOFTIRQ: Cpu("cpu_") "softirq", "%", Lower, Every, Nothing, "CPU in soft interrupts, where packets are received";
        CPU_STEAL: Cpu("cpu_") "steal", "%", Lower, Every, Nothing, "CPU time that the hypervisor gave to others";
        CPU_IDLE: Cpu("cpu_") "idle", "%", Higher, Every, Nothing, "idle CPU";
        SERVICE_DEMAND_BYTE: ServiceDemand "service_demand_byte", "ns", Lower, Streams, Nothing, "CPU time per byte received";
        SERVICE_DEMAND_PACKET: ServiceDemand "service_demand_packet", "ns", Lower, Packets, Nothing, "CPU time per datagram received, of `pps` per packet across the interface";
        SERVICE_DEMAND_TRANSACTION: ServiceDemand "service_demand_transaction", "ns", Lower, Rr, Nothing, "CPU time per transaction";
        WIRE_PACKETS: Counter "wire_packets", "1", Neither, Every, Nothing, "packets across the interface in the window, as the interface counts them";
        BYTES_PER_WIRE_PACKET: Counter "bytes_per_wire_packet", "bytes", Neither, Every, Nothing, "mean size of what the interface counts as a packet";
        SEGMENTS: Counter "segments", "1", Neither, Every, Nothing, "segments or datagrams across the interface in the window, after segmentation";
        SEGMENTS_PER_WIRE_PACKET: Counter "segments_per_wire_packet", "1", Neither, Every, Nothing, "segments carried by one packet: above 1, offloads acted";
        RETRANSMITS: Counter "retransmits", "1", Lower, Tcp, Nothing, "TCP segments retransmitted in the window";
        RETRANSMITS_NEEDLESS: Counter "retransmits_needless", "1", Lower, Tcp, Nothing, "TCP segments retransmitted although they had arrived, by the other end's duplicate acknowledgments in the window";
        REORDERINGS: Counter "reorderings", "1", Lower, Tcp, Nothing, "times in the window that TCP detected reordered segments";
        TCP_RTT: Counter "tcp_rtt", "ns", Lower, Connection, Nothing, "smoothed round-trip time of the TCP connections, by the kernel's estimate (`TCP_INFO`), the mean over readings in the window";
        DROPS: Counter "drops", "1", Lower, Every, Nothing, "packets dropped in the window, by the kernel's counters";
        UNDERLAY_PACKETS: Counter "underlay_packets", "1", Neither, Every, Tunnel, "packets across the interface under the tunnel in the window, as it counts them";
        BYTES_PER_UNDERLAY_PACKET: Counter "bytes_per_underlay_packet", "bytes", Neither, Every, Tunnel, "mean size of what the interface under the tunnel counts as a packet";
        SEGMENTS_PER_UNDERLAY_PACKET: Counter "segments_per_underlay_packet", "1", Neither, Every, Tunnel, "segments carried by one packet of the underlay: above 1, the underlay's offloads acted";
        UNDERLAY_FRAGMENTS: Counter "underlay_fragments", "1", Lower, Every, Tunnel, "IP fragments created in the window: packets of the tunnel that exceeded the MTU";
        HOST_CPU: Counter "host_cpu", "%", Lower, Every, Guests, "CPU that the virtual machine uses of its host, of the host's CPUs of this side";
        HOST_CPU_VCPU: Counter "host_cpu_vcpu", "%", Lower, Every, Guests, "CPU of the host that executes the guest, of the host's CPUs of this side";
        HOST_CPU_IO: Counter "host_cpu_io", "%", Lower, Every, Guests, "CPU of the host that moves the guest's packets, of the host's CPUs of this side";
        HOST_VCPU_WAITING: Counter "host_vcpu_waiting", "%", Lower, Every, Guests, "time in which a virtual CPU was ready to run but waited for a CPU of its host, the mean of the virtual CPUs";
        HOST_SERVICE_DEMAND_BYTE: ServiceDemand "host_service_demand_byte", "ns", Lower, Streams, Guests, "the host's CPU time per byte received";
        HOST_SERVICE_DEMAND_PACKET: ServiceDemand "host_service_demand_packet", "ns", Lower, Packets, Guests, "the host's CPU time per datagram received";
        HOST_SERVICE_DEMAND_TRANSACTION: ServiceDemand "host_service_demand_transaction", "ns", Lower, Rr, Guests, "the host's CPU time per transaction";
        CONTEXT_SWITCHES: Counter "context_switches", "1", Lower, Every, Nothing, "context switches of the traffic's threads in the window";
    }
    interrupts {
        TIMER_INTERRUPTS: "timer_interrupts", "interrupts of the CPUs' own timers: ticks, and timers between them such as those of TCP's pacing";
        RESCHEDULE_INTERRUPTS: "reschedule_interrupts", "interrupts by which a CPU requested another CPU to reschedule";
        CALL_INTERRUPTS: "call_interrupts", "interrupts by which a CPU requested another CPU to call a function";
        SOFTIRQS_HRTIMER: "softirqs_hrtimer", "software interrupts for high-resolution timers: the timers of TCP's pacing are among them";
        SOFTIRQS_TIMER: "softirqs_timer", "software interrupts for timers of the tick";
        SOFTIRQS_NET_RX: "softirqs_net_rx", "software interrupts for receive work";
        SOFTIRQS_NET_TX: "softirqs_net_tx", "software interrupts for send work";
        SOFTIRQS_TASKLET: "softirqs_tasklet", "software interrupts for tasklets";
        SOFTIRQS_SCHED: "softirqs_sched", "software interrupts for the scheduler's balancing";
    }
    units {
        BYTE: "byte", SERVICE_DEMAND_BYTE, HOST_SERVICE_DEMAND_BYTE, INSTRUCTIONS_BYTE;
        PACKET: "packet", SERVICE_DEMAND_PACKET, HOST_SERVICE_DEMAND_PACKET, INSTRUCTIONS_PACKET;
        TRANSACTION: "transaction", SERVICE_DEMAND_TRANSACTION, HOST_SERVICE_DEMAND_TRANSACTION, INSTRUCTIONS_TRANSACTION;
    }
}
