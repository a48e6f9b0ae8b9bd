//! The rate that a search found, for people.

use load::Traffic;
use results::{counted, figure, percent};
use study::Family;

use crate::commands::load::document::Document;

/// The bytes of an Ethernet header, as qdiscs and shapers count them: without preamble, checksum
/// and gap.
const ETHERNET: u32 = 14;

impl Document {
    /// What was found, how sure that is, and what it is in packets and on the link.
    pub(super) fn found(&self) -> Vec<(&'static str, String)> {
        let Some(search) = &self.account.search else { return Vec::new() };
        let megabits = |rate: f64| format!("{} Mbit/s", figure(rate / 1e6));
        let bound = if search.bound > 0.0 {
            format!("at most {} % loss", percent(search.bound * 100.0))
        } else {
            "no loss".to_owned()
        };
        let confidence = format!("{:.0} % confidence", search.confidence * 100.0);
        let seconds = self.asked.order.window.as_secs_f64();
        let within = format!("in windows of {seconds} s, where a growing queue counts as loss");
        let mut lines = Vec::new();
        match (search.lower, search.upper) {
            (Some(lower), Some(upper)) => lines.push(format!(
                "{} of payload with {bound} {within}; shown to stay within it, and {} to exceed it, with {confidence}",
                megabits(lower),
                megabits(upper)
            )),
            (Some(lower), None) => {
                let why = match (search.complete, self.asked.order.traffic.pacing) {
                    (false, _) => "the trials were used up before a higher rate was shown to exceed it",
                    (true, Some(_)) => "the most that `pacing` allows was not shown to exceed it",
                    (true, None) => {
                        "the sender is the limit: the most that it can send was not shown to exceed it"
                    }
                };
                lines.push(format!(
                    "at least {} of payload with {bound} {within}, with {confidence}; {why}",
                    megabits(lower)
                ));
            }
            (None, _) => lines.extend(runner::no_rate(&self.account)),
        }
        if let Some(lower) = search.lower {
            lines.push(on_the_link(lower, &self.asked.order.traffic, self.asked.order.family));
        }
        let repeated = search.trials.iter().filter(|trial| trial.disturbed).count();
        let mut more =
            if repeated > 0 { format!(", {repeated} of them disturbed and repeated") } else { String::new() };
        if let Some(why) = search.failures.last() {
            more.push_str(&format!(", {} more failed and repeated ({why})", search.failures.len()));
        }
        // What `runner` hands on of a search.
        let last = if search.lower.is_some() { "the last that showed that rate" } else { "the last" };
        lines.push(format!(
            "{} of {seconds} s{more}; the lines below are of {last}, `limited by` is of the best of those with the most \
             that can be offered",
            counted(search.trials.len(), "trial")
        ));
        let words = std::iter::once("found rate").chain(std::iter::repeat(""));
        words.zip(lines).collect()
    }
}

/// A rate of payload in datagrams, and with the headers of each where it is one packet.
fn on_the_link(rate: f64, traffic: &Traffic, family: Family) -> String {
    let payload = f64::from(traffic.message);
    let frame = f64::from(traffic.message + family.udp_headers() + ETHERNET);
    format!(
        "{:.0} packets/s of {} bytes; {} Mbit/s with Ethernet, IP and UDP headers, if no datagram is fragmented",
        rate / 8.0 / payload,
        traffic.message,
        figure(rate * frame / payload / 1e6)
    )
}

#[cfg(test)]
mod tests {
    use load::Kind;

    use super::*;

    #[test]
    fn headers_count_on_the_link() {
        // 97.189 Mbit/s of 1452 bytes in frames of 1494 fill 100 Mbit/s.
        let rate = 1e8 * 1452.0 / 1494.0;
        let text = on_the_link(rate, &Traffic::new(Kind::UdpStream), Family::Ipv4);
        assert!(text.starts_with("8367 packets/s of 1452 bytes; 100.0 Mbit/s with"), "{text}");
        let text = on_the_link(rate, &Traffic::new(Kind::UdpStream), Family::Ipv6);
        assert!(text.contains("; 101.3 Mbit/s with"), "{text}");
    }
}
