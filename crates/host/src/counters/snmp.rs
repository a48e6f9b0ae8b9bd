//! The kernel's protocol counters in `/proc/net/snmp`, `snmp6` and `netstat`, as untrusted text.

use std::collections::HashMap;

/// Counters by protocol and name, for example `("Udp", "InErrors")`.
#[derive(Debug, Default)]
pub struct SnmpTable<'a>(HashMap<(&'a str, &'a str), u64>);

impl<'a> SnmpTable<'a> {
    /// Adds a file of pairs of lines, `Udp: InDatagrams NoPorts` and `Udp: 12 0` (`snmp`,
    /// `netstat`). Skips values without a name and text that is not a number.
    #[must_use]
    pub fn pairs(mut self, text: &'a str) -> Self {
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((protocol, names)) = line.split_once(':') else { continue };
            let Some(values) = lines.peek().and_then(|next| next.strip_prefix(protocol)?.strip_prefix(':'))
            else {
                continue;
            };
            lines.next();
            for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
                if let Ok(value) = value.parse() {
                    self.0.insert((protocol, name), value);
                }
            }
        }
        self
    }

    /// Adds a file of lines `Udp6InDatagrams 12` (`snmp6`); the protocol is the first word with the
    /// digit: `Udp6`.
    #[must_use]
    pub fn lines(mut self, text: &'a str) -> Self {
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(word), Some(Ok(value))) = (words.next(), words.next().map(str::parse)) else {
                continue;
            };
            if let Some(end) = word.find('6') {
                self.0.insert(word.split_at(end + 1), value);
            }
        }
        self
    }

    /// A counter; 0 if this kernel lacks it.
    #[must_use]
    pub fn count(&self, protocol: &str, name: &str) -> u64 {
        self.0.get(&(protocol, name)).copied().unwrap_or(0)
    }

    /// The sum of a counter over IPv4 (`protocol`) and IPv6 (`protocol` with a 6).
    pub(crate) fn count_both_families(&self, [protocol, protocol6]: [&str; 2], name: &str) -> u64 {
        self.count(protocol, name).saturating_add(self.count(protocol6, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_lines_are_read() {
        let text =
            "Tcp: RtoAlgorithm MaxConn InSegs OutSegs\nTcp: 1 -1 10 11\nUdp: InDatagrams NoPorts\nUdp: 5 6\n";
        let table = SnmpTable::default().pairs(text);
        assert_eq!(table.count("Tcp", "OutSegs"), 11);
        assert_eq!(table.count("Udp", "NoPorts"), 6);
        assert_eq!(table.count("Tcp", "MaxConn"), 0, "a limit of -1 is no counter");
        assert_eq!(table.count("Udp", "InSegs"), 0);
    }

    #[test]
    fn the_two_families_are_summed() {
        let table = SnmpTable::default()
            .pairs("Udp: InDatagrams\nUdp: 5\n")
            .lines("Ip6OutDiscards                  \t3\nUdp6InDatagrams                 \t7\nUdpLite6InDatagrams \t9\n");
        assert_eq!(table.count_both_families(["Udp", "Udp6"], "InDatagrams"), 12);
        assert_eq!(table.count("Ip6", "OutDiscards"), 3);
        assert_eq!(table.count("UdpLite6", "InDatagrams"), 9);
    }

    #[test]
    fn a_header_without_its_values_is_passed_over() {
        let table = SnmpTable::default().pairs("Ip: A B\nTcp: C\nTcp: 4\nIp: 1 2\n");
        assert_eq!(table.count("Tcp", "C"), 4);
        assert_eq!(table.count("Ip", "A"), 0);
    }
}
