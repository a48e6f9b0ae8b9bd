//! The shell command for a change of the machine.

use words::{DeviceSetting, shell_command};

use super::{SettingValue, Target};

impl Target {
    /// The command that sets this setting to a value; `None` if no single command does.
    pub fn command(&self, value: &SettingValue) -> Option<String> {
        let value = value.words().join(" ");
        let echo =
            |file: String| format!("{} > {}", shell_command(["echo", &value]), shell_command([&*file]));
        Some(match self {
            Self::Sysctl { name } => shell_command(["sysctl", "-w", &format!("{name}={value}")]),
            Self::Governor { cpu } => governor(&cpu.to_string(), &value),
            Self::IrqAffinity { irq } => echo(format!("/proc/irq/{irq}/smp_affinity_list")),
            Self::Feature { interface, feature } => set_feature(&interface.name, feature, &value),
            Self::Device { interface, setting } => set_device(&interface.name, *setting, &value),
            Self::Mtu { interface } => set_link(&interface.name, &["mtu", &value]),
            Self::Up { interface } => set_link(&interface.name, &[&value]),
            target => {
                let (interface, queue, file) = target.queue()?;
                echo(format!("/sys/class/net/{interface}/queues/{queue}/{file}"))
            }
        })
    }
}

/// The command that sets an attribute of an interface: `["mtu", "9000"]`.
pub fn set_link(interface: &str, how: &[&str]) -> String {
    shell_command(["ip", "link", "set", "dev", interface].iter().chain(how).copied())
}

/// The command that sets a feature of an interface to `on` or `off`.
pub fn set_feature(interface: &str, feature: &str, state: &str) -> String {
    shell_command(["ethtool", "-K", interface, feature, state])
}

/// The command that sets a setting of an interface's device.
pub fn set_device(interface: &str, setting: DeviceSetting, value: &str) -> String {
    let (option, parameter) = (setting.ethtool_option(), setting.ethtool_parameter());
    shell_command(["ethtool", option, interface].into_iter().chain(parameter.split(' ')).chain([value]))
}

/// The command that sets the frequency governor of these CPUs.
pub fn governor(cpus: &str, governor: &str) -> String {
    shell_command(["cpupower", "--cpu", cpus, "frequency-set", "--governor", governor])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Interface;

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
        let named = Interface::named;
        let interface = || named("eth0");
        assert_eq!(
            command(Target::Steering { interface: interface(), queue: 1 }, "00000003\n"),
            "echo 00000003 > /sys/class/net/eth0/queues/rx-1/rps_cpus"
        );
        let setting = words::DeviceSetting::FlowHashUdp4;
        assert_eq!(
            command(Target::Device { interface: interface(), setting }, "sdfn"),
            "ethtool -N eth0 rx-flow-hash udp4 sdfn"
        );
        let odd = Target::Feature { interface: named("a;id"), feature: "x; touch y".to_owned() };
        assert_eq!(command(odd, "$(id)"), "ethtool -K 'a;id' 'x; touch y' '$(id)'");
        let odd = Target::Steering { interface: named("a;id"), queue: 1 };
        assert_eq!(command(odd, "`id`"), "echo '`id`' > '/sys/class/net/a;id/queues/rx-1/rps_cpus'");
        assert_eq!(Target::Ipv6 { interface: interface() }.command(&"".into()), None);
    }
}
