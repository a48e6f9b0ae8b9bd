//! Whether turns were long enough (a condition does the same after another one as after itself),
//! and whether conditions carried their own traffic.

use load::{Direction, Kind, Traffic};
use record::{CountedTurn, RunAccount, SideAccount, Turns};
use stats::distribution::student;

// As a share of the largest difference in the flow. Two conditions follow each other and themselves
// equally often, so half of the effect is in their difference.
const LEFT: f64 = 0.25;

// As a share of the rate: smaller than the differences that studies look for.
pub(crate) const LEAST: f64 = 0.01;

// For one condition of one flow. Turns are not quite independent, and a study has many flows.
const CHANCE: f64 = 1e-5;

// The fewest turns after itself, and after others, from which a condition is judged.
const FEWEST: usize = 3;

/// Why a flow's conditions do not settle in their turns; `None` if nothing shows that.
pub(crate) fn unsettled<'t>(mut flow: impl Iterator<Item = (&'t str, &'t Turns)> + Clone) -> Option<String> {
    let means = flow.clone().filter_map(|(_, turns)| mean(turns.turns.iter()));
    let (least, most) = means
        .fold((f64::INFINITY, 0.0_f64), |(least, most), mean| (least.min(mean.value), most.max(mean.value)));
    let allowed = (LEFT * (most - least)).max(LEAST * most);
    flow.find_map(|(label, turns)| {
        let is_after_itself = |turn: &&CountedTurn| turn.after == turns.own;
        let itself = mean(turns.turns.iter().filter(is_after_itself))?;
        let another = mean(turns.turns.iter().filter(|turn| !is_after_itself(turn)))?;
        let apart = another.value - itself.value;
        // Of the two, the one with fewer turns: the degrees of freedom are at least its own.
        let deviations = student::upper_quantile(CHANCE / 2.0, itself.count.min(another.count) - 1.0)?;
        let chance = deviations * itself.error.hypot(another.error);
        (apart.abs() > allowed.max(chance)).then(|| {
            format!(
                "{label}: after a turn of another condition its rate differs by {:+.1} % from that after one of its own, so a switch acts for longer than the {:.0} ms that are not counted",
                100.0 * apart / itself.value,
                turns.settle_ns as f64 / 1e6
            )
        })
    })
}

struct Mean {
    count: f64,
    value: f64,
    error: f64,
}

fn mean<'t>(turns: impl Iterator<Item = &'t CountedTurn>) -> Option<Mean> {
    let rates: Vec<f64> =
        turns.filter(|turn| turn.ns > 0).map(|turn| turn.work as f64 / turn.ns as f64).collect();
    let count = rates.len() as f64;
    let value = rates.iter().sum::<f64>() / count;
    let squares: f64 = rates.iter().map(|rate| (rate - value).powi(2)).sum();
    (rates.len() >= FEWEST).then(|| Mean { count, value, error: (squares / (count - 1.0) / count).sqrt() })
}

/// The evidence, by their labels, that turns of one of these conditions carried another condition's
/// traffic; `None` if there is none.
pub(crate) fn unverified<'a>(
    mut flow: impl Iterator<Item = (&'a str, &'a Traffic, &'a RunAccount)> + Clone,
) -> Option<String> {
    let enters = |traffic: &Traffic| (traffic.sender, traffic.notsent_lowat, traffic.pacing);
    let differ =
        flow.clone().any(|(_, one, _)| flow.clone().any(|(_, other, _)| enters(one) != enters(other)));
    flow.find_map(|(label, traffic, account)| {
        let why = other_pace(traffic, account);
        Some(format!("{label}: {}", why.or_else(|| from_others(traffic, account).filter(|_| differ))?))
    })
}

fn other_pace(traffic: &Traffic, account: &RunAccount) -> Option<String> {
    account.turns.as_ref()?;
    let (asked, made): (String, Vec<f64>) = match (traffic.pacing, traffic.rate) {
        (Some(pace), _) => {
            let due = pace.bits() as f64 * f64::from(traffic.flows);
            let share = |(from, to): AccountPair| bits(traffic, from, to) / due;
            (format!("the pace of {pace}"), ways(traffic, account).map(share).collect())
        }
        (None, Some(rate)) => {
            let tx = &account.transmitter;
            let done = per_second(tx.window.load.sent.transactions, tx);
            (format!("{rate} requests per second"), vec![done / f64::from(rate)])
        }
        (None, None) => return None,
    };
    let share = made.into_iter().find(|share| (share - 1.0).abs() > LEAST)?;
    Some(format!(
        "its turns had {:.1} % of {asked}, so they were not its own: a pace of the turn before lasted, or this pace is not reached here",
        100.0 * share
    ))
}

type AccountPair<'a> = (&'a SideAccount, Option<&'a SideAccount>);

fn ways<'a>(traffic: &Traffic, account: &'a RunAccount) -> impl Iterator<Item = AccountPair<'a>> {
    let (tx, rx) = (&account.transmitter, account.receiver.as_ref());
    let forward = (traffic.direction != Direction::Reverse).then_some((tx, rx));
    let reverse = rx.filter(|_| traffic.direction != Direction::Forward).map(|rx| (rx, Some(tx)));
    forward.into_iter().chain(reverse)
}

fn bits(traffic: &Traffic, from: &SideAccount, to: Option<&SideAccount>) -> f64 {
    // The received rate of TCP, whose pace the kernel keeps; the offered rate of datagrams.
    match (traffic.kind, to) {
        (Kind::TcpStream, Some(to)) => 8.0 * per_second(to.window.load.received.bytes, to),
        _ => {
            let sent = from.window.load.sent;
            let refused = sent.no_buffers.saturating_mul(traffic.message.into());
            8.0 * per_second(sent.bytes.saturating_add(refused), from)
        }
    }
}

fn per_second(count: u64, side: &SideAccount) -> f64 {
    count as f64 * 1e9 / side.window.elapsed_ns.max(1) as f64
}

// In s: on an idle machine 1 % of eight turns of 80 ms arrived too late, in one flow of eight.
const EDGES: f64 = 0.002;

fn from_others(traffic: &Traffic, account: &RunAccount) -> Option<String> {
    let turns = account.turns.as_ref()?;
    // The numbers of TCP's bytes tell when they were sent; of datagrams those beyond the sent
    // count.
    let share = if traffic.kind == Kind::UdpStream {
        let edges = turns.turns.len() as f64 * EDGES;
        ways(traffic, account).filter_map(|(from, to)| too_many(from, to?, edges)).fold(0.0, f64::max)
    } else {
        let after_others = turns.turns.iter().filter(|turn| turn.after != turns.own);
        let arrived: u64 = after_others.map(|turn: &CountedTurn| turn.work).fold(0, u64::saturating_add);
        turns.from_others as f64 / arrived.max(1) as f64
    };
    (share > LEAST).then(|| {
        format!(
            "{:.1} % of what arrived in its turns had been sent in turns of others: sockets and queues hold more than arrives in the {:.0} ms that are not counted",
            100.0 * share,
            turns.settle_ns as f64 / 1e6
        )
    })
}

/// Allows for `edges`, in s.
fn too_many(from: &SideAccount, to: &SideAccount, edges: f64) -> Option<f64> {
    let [sent, arrived] =
        [from.window.load.sent.messages, to.window.load.received.messages].map(|count| count as f64);
    let let_in = per_second(from.window.load.sent.messages, from) * edges;
    // One datagram may be under way at each end of the counted time.
    Some((arrived - sent - let_in - 2.0) / arrived).filter(|share| *share > 0.0)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod verified_tests {
    use record::{Response, Turns, sample};

    use super::*;

    /// A second of turns.
    fn account(from_others: u64) -> RunAccount {
        let turn = |after| CountedTurn { number: 1, after, ns: 500_000_000, work: 1_000_000 };
        let (turns, response) = (vec![turn(0), turn(1)], Response::default());
        let (turn_ns, settle_ns) = (100_000_000, 20_000_000);
        let mut account = sample::account();
        for side in [Some(&mut account.transmitter), account.receiver.as_mut()].into_iter().flatten() {
            side.window.elapsed_ns = 1_000_000_000;
        }
        account.turns = Some(Turns { turn_ns, settle_ns, own: 0, turns, response, from_others });
        account
    }

    fn traffic(kind: Kind, change: impl FnOnce(&mut Traffic)) -> Traffic {
        let mut traffic = Traffic::new(kind);
        change(&mut traffic);
        traffic
    }

    fn unverified_in(traffic: &Traffic, account: &RunAccount) -> Option<String> {
        unverified([("level", traffic, account)].into_iter())
    }

    /// Sent, refused, received and asked for, of 1000 bytes each: datagrams are offered, and a
    /// stream arrives.
    #[test]
    fn a_level_that_does_not_keep_its_pace_is_not_verified() {
        use Direction::{Both, Forward, Reverse};
        use Kind::{Pps, TcpStream, UdpStream};
        for (kind, direction, [sent, refused, received], verified) in [
            (UdpStream, Forward, [1000, 0, 1000], true),
            (UdpStream, Forward, [1000, 0, 10], true),
            (UdpStream, Forward, [600, 400, 600], true),
            (UdpStream, Forward, [992, 0, 992], true),
            (UdpStream, Forward, [985, 0, 985], false),
            (UdpStream, Forward, [1015, 0, 1000], false),
            (UdpStream, Forward, [0, 0, 1000], false),
            (UdpStream, Reverse, [0, 0, 1000], false),
            (Pps, Forward, [1000, 0, 0], true),
            (Pps, Forward, [570, 0, 0], false),
            (TcpStream, Forward, [5, 0, 1000], true),
            (TcpStream, Forward, [1000, 0, 57], false),
            (TcpStream, Both, [1000, 0, 1000], false),
        ] {
            let traffic = traffic(kind, |traffic| {
                traffic.message = 1000;
                traffic.direction = direction;
                traffic.pacing = load::Pacing::of_bits(8_000_000);
            });
            let mut account = account(0);
            account.transmitter.window.load.sent.bytes = sent * 1000;
            account.transmitter.window.load.sent.no_buffers = refused;
            account.transmitter.window.load.received.bytes = 0;
            let receiver = account.receiver.as_mut().unwrap();
            receiver.window.load.sent.bytes = 0;
            receiver.window.load.sent.no_buffers = 0;
            receiver.window.load.received.bytes = received * 1000;
            let found = unverified_in(&traffic, &account);
            assert_eq!(found.is_none(), verified, "{kind} {direction} {sent} {received}: {found:?}");
            account.turns = None;
            assert_eq!(unverified_in(&traffic, &account), None, "a run of its own is what it is");
        }
    }

    #[test]
    fn a_rate_of_requests_is_a_pace_too() {
        let traffic = traffic(Kind::UdpRr, |traffic| traffic.rate = Some(1000));
        for (done, verified) in [(1000, true), (1011, false), (700, false)] {
            let mut account = account(0);
            account.transmitter.window.load.sent.transactions = done;
            assert_eq!(unverified_in(&traffic, &account).is_none(), verified, "{done}");
        }
    }

    /// Datagrams sent and received in the turns of a slow level beside a fast one.
    #[test]
    fn datagrams_beyond_those_sent_were_others() {
        let level = |bits| {
            traffic(Kind::UdpStream, |own| {
                (own.message, own.pacing) = (1000, load::Pacing::of_bits(bits));
            })
        };
        let [fast, slow] = [8_000_000, 40_000].map(level);
        for (arrived, verified) in [(5, true), (7, true), (8, false), (0, true)] {
            let mut accounts = [account(0), account(0)];
            for (account, [sent, arrived]) in accounts.iter_mut().zip([[1000, 900], [5, arrived]]) {
                account.transmitter.window.load.sent.bytes = sent * 1000;
                account.transmitter.window.load.sent.messages = sent;
                account.transmitter.window.load.sent.no_buffers = 0;
                account.receiver.as_mut().unwrap().window.load.received.messages = arrived;
            }
            let flow = [("fast", &fast, &accounts[0]), ("slow", &slow, &accounts[1])];
            let found = unverified(flow.into_iter());
            assert_eq!(found.is_none(), verified, "{arrived}: {found:?}");
            assert!(found.is_none_or(|why| why.starts_with("slow: 12.2 % of what arrived")));
        }
    }

    #[test]
    fn what_others_sent_does_not_count_where_it_enters_otherwise() {
        let plain = traffic(Kind::TcpStream, |_| ());
        let zerocopy = traffic(Kind::TcpStream, |own| own.sender = load::Sender::Zerocopy);
        let waiting = traffic(Kind::TcpStream, |own| own.notsent_lowat = Some(1));
        let marked = traffic(Kind::TcpStream, |own| own.dscp = Some(8));
        for (other, from_others, verified) in [
            (&zerocopy, 0, true),
            (&zerocopy, 9_000, true),
            (&zerocopy, 20_000, false),
            (&waiting, 20_000, false),
            // It is made of what leaves the socket.
            (&marked, 20_000, true),
        ] {
            let accounts = [account(0), account(from_others)];
            let flow = [("a", &plain, &accounts[0]), ("b", other, &accounts[1])];
            let found = unverified(flow.into_iter());
            assert_eq!(found.is_none(), verified, "{found:?}");
            assert!(found.is_none_or(|why| why.starts_with("b: 2.0 % of what arrived")));
        }
    }
}
