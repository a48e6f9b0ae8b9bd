//! A change of the machine as the command that a person would give.

use text::shell_word;

use super::{Target, Value};

impl Target {
    /// The command that sets it to a value; `None` for what no single command sets.
    #[must_use]
    pub fn command(&self, value: &Value) -> Option<String> {
        let value = value.words().join(" ");
        let echo = |file: String| format!("echo {value} > {file}");
        let of_queue = |interface: &dyn std::fmt::Display, queue: String, file: &str| {
            echo(format!("/sys/class/net/{interface}/queues/{queue}/{file}"))
        };
        Some(match self {
            Self::Sysctl { name } => format!("sysctl -w {}", shell_word(&format!("{name}={value}"))),
            Self::Governor { cpu } => governor(&cpu.to_string(), &value),
            Self::IrqAffinity { irq } => echo(format!("/proc/irq/{irq}/smp_affinity_list")),
            Self::Feature { interface, feature } => format!("ethtool -K {interface} {feature} {value}"),
            Self::Device { interface, setting } => {
                let how = setting.ethtool();
                format!("ethtool {} {interface} {} {value}", how.option, how.parameter)
            }
            Self::Mtu { interface } => format!("ip link set dev {interface} mtu {value}"),
            Self::Up { interface } => format!("ip link set dev {interface} {value}"),
            Self::Steering { interface, queue } => of_queue(interface, format!("rx-{queue}"), "rps_cpus"),
            Self::TransmitSteering { interface, queue } => {
                of_queue(interface, format!("tx-{queue}"), "xps_cpus")
            }
            Self::Driver { .. }
            | Self::Ipv4 { .. }
            | Self::Address { .. }
            | Self::Ipv6 { .. }
            | Self::Ipv6Addresses { .. }
            | Self::Ipv6Mtu { .. }
            | Self::Made { .. } => return None,
        })
    }
}

/// The command that sets the frequency governor of these CPUs.
#[must_use]
pub fn governor(cpus: &str, governor: &str) -> String {
    format!("cpupower --cpu {cpus} frequency-set --governor {governor}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_set_by_a_command() {
        let command = |target: Target, value: &str| target.command(&value.into()).unwrap();
        let rmem = Target::Sysctl { name: "net.ipv4.tcp_rmem".to_owned() };
        assert_eq!(
            command(rmem, "4096\t131072\t6291456\n"),
            "sysctl -w 'net.ipv4.tcp_rmem=4096 131072 6291456'"
        );
        let ports = Target::Sysctl { name: "net.ipv4.ip_local_reserved_ports".to_owned() };
        assert_eq!(command(ports, "\n"), "sysctl -w net.ipv4.ip_local_reserved_ports=");
        assert_eq!(
            command(Target::Governor { cpu: 3 }, "powersave\n"),
            "cpupower --cpu 3 frequency-set --governor powersave"
        );
        assert_eq!(
            command(Target::IrqAffinity { irq: 30 }, "0-3\n"),
            "echo 0-3 > /proc/irq/30/smp_affinity_list"
        );
        let interface = || serde_json::from_value(serde_json::json!("eth0")).unwrap();
        assert_eq!(
            command(Target::Steering { interface: interface(), queue: 1 }, "00000003\n"),
            "echo 00000003 > /sys/class/net/eth0/queues/rx-1/rps_cpus"
        );
        let setting = words::DeviceSetting::FlowHashUdp4;
        assert_eq!(
            command(Target::Device { interface: interface(), setting }, "sdfn"),
            "ethtool -N eth0 rx-flow-hash udp4 sdfn"
        );
        assert_eq!(Target::Ipv6 { interface: interface() }.command(&"".into()), None);
    }
}
