//! Figures of packets that pass places in turn.

use netassay_report::chart::{Arrow, ArrowCost, Figure, Flame, Id, LanePlot, Quantity};

use super::digits;

pub(super) fn lanes() -> Figure {
    let stages = [
        ("sendto", 0),
        ("sock_sendmsg", 1),
        ("udp_sendmsg", 2),
        ("ip_append_data", 3),
        ("ip_push_pending_frames", 3),
        ("ip_local_out", 3),
        ("dev_queue_xmit", 4),
        ("dev_hard_start_xmit", 4),
        ("ndo_start_xmit", 5),
        ("hardware interrupt", 6),
        ("net_rx_action", 4),
        ("driver poll", 5),
        ("netif_receive_skb", 4),
        ("ip_rcv", 3),
        ("__udp4_lib_rcv", 2),
        ("sk_data_ready", 1),
        ("recvfrom", 0),
    ];
    let stages: Vec<(String, usize)> = stages.map(|(name, lane)| (name.to_owned(), lane)).to_vec();
    let cost = |name: &str, low: f64, high: f64| ArrowCost {
        name: name.to_owned(),
        value: f64::midpoint(low, high),
        share: Some(low / 1500.0),
        spread: format!("99 % up to {high:.0}"),
    };
    let mut arrows: Vec<Arrow> = (0..15)
        .map(|from: u16| {
            let low = 60.0 + f64::from(from * 37 % 11) * 21.0;
            let costs = match from {
                2 | 14 => vec![cost("1 byte", low, low + 90.0), cost("1400 bytes", 2.0 * low, 2.6 * low)],
                _ => vec![cost("", low, low + 70.0)],
            };
            Arrow { ends: [from.into(), usize::from(from) + 1], costs, waits: false }
        })
        .collect();
    arrows.push(Arrow { ends: [15, 16], costs: vec![cost("reader asleep", 714.0, 895.0)], waits: true });
    arrows.push(Arrow { ends: [13, 16], costs: vec![cost("reader busy", 56.0, 78.0)], waits: false });
    let names =
        ["application", "socket", "protocol", "IP", "device", "driver", "interrupt"].map(str::to_owned);
    let plot =
        LanePlot { quantity: Quantity::new("time", "ns", digits), lanes: names.to_vec(), stages, arrows };
    Figure::new(Id::new("path"), "Where the time of a packet goes", "From sendto to recvfrom.", plot)
}

pub(super) fn flame() -> Figure {
    let send = "sendto;udp_sendmsg";
    let poll = "sendto;udp_sendmsg;ip_output;dev_queue_xmit;net_rx_action";
    let stacks = [
        ("[user]".to_owned(), 301.0, 305.0),
        ("sendto".to_owned(), 190.0, 189.0),
        (send.to_owned(), 170.0, 171.0),
        (format!("{send};ip_append_data"), 171.0, 173.0),
        (format!("{send};ip_append_data;copy_from_user"), 238.0, 0.0),
        (format!("{send};ip_append_data;csum_and_copy_from_user"), 0.0, 625.0),
        (format!("{send};ip_output"), 131.0, 130.0),
        (format!("{send};ip_output;dev_queue_xmit"), 169.0, 152.0),
        (poll.to_owned(), 80.0, 83.0),
        (format!("{poll};udp_rcv"), 357.0, 340.0),
        ("recvfrom;udp_recvmsg".to_owned(), 134.0, 134.0),
        ("recvfrom;udp_recvmsg;csum_partial".to_owned(), 0.0, 41.0),
    ];
    let stacks = stacks.map(|(frames, before, now)| {
        let frames: Vec<String> = frames.split(';').map(str::to_owned).collect();
        (frames, [before, now])
    });
    let quantity = Quantity::new("cost", "instructions", digits);
    let plot = Flame::new(quantity, Some("tx=on".to_owned()), stacks);
    Figure::new(Id::new("flame"), "Which functions take the CPU", "tx=off against tx=on.", plot)
}
