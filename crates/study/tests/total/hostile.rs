//! Files made to take long or much.

use crate::digest;

/// Files made to take long or much. What bounds them is in `read::limit`; the time is nextest's to
/// judge.
#[test]
fn hostile_files_are_refused_or_planned_within_bounds() {
    const ROOM: usize = 1 << 20;
    let head = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n";
    let fill = |head: &str, piece: &dyn Fn(usize) -> String, tail: &str| {
        let mut text = head.to_owned();
        for number in 0.. {
            let piece = piece(number);
            if text.len() + piece.len() + tail.len() > ROOM {
                break;
            }
            text.push_str(&piece);
        }
        text + tail
    };
    let factors = format!("{head}[factors]\n");
    let levels: String = (0..1_000).map(|number| format!("{},", 1_000 + number)).collect();
    let grid = format!("{factors}mtu = [{levels}]\nflows = [1,2,3,4,5,6,7,8,9,10]\n");
    let all: String = (0..1_000).map(|number| format!("{},", 1_000 + number)).collect();
    let files = [
        fill(head, &|number| format!("transmitter-segmentation-offloads-of-every-kind-{number} = 1\n"), ""),
        fill(&factors, &|number| format!("tx-segmentation-of-every-kind-{number} = [1]\n"), ""),
        fill(&format!("{factors}mtu = ["), &|number| format!("{number},"), "]\n"),
        fill(&format!("{factors}tso = ["), &|_| "\"on\",".to_owned(), "]\n"),
        fill(
            &grid,
            &|number| {
                format!("[[exclude]]\nmtu = {}\nreason = \"{}\"\n", 1_000 + number % 1_000, "y".repeat(400))
            },
            "",
        ),
        fill(&grid, &|_| format!("[[exclude]]\nflows = 1\nmtu = [{all}]\n"), ""),
        fill(&grid, &|_| "[[comparison]]\n".to_owned(), ""),
        fill(&format!("{grid}[[exclude]]\nmtu = [1000]\nreason = \""), &|_| "z".to_owned(), "\"\n"),
        fill(&format!("{grid}[[comparison]]\nmetric = \""), &|_| "z".to_owned(), "\"\n"),
        fill("x = ", &|_| "[".to_owned(), ""),
        fill("", &|_| "a.".to_owned(), "a = 1"),
        fill("x = ", &|_| "{a=".to_owned(), ""),
        fill("duration = \"", &|_| "9".to_owned(), "s\""),
        fill(&head.replace("\"tcp_stream\"", "\"tcp_stream\"\nduration = \""), &|_| "1h".to_owned(), "\"\n"),
        fill("", &|_| "\u{0}".to_owned(), ""),
        fill("", &|_| "=".to_owned(), ""),
        fill("", &|_| "\n=".to_owned(), ""),
    ];
    let planned = files.iter().filter(|text| digest(text).is_ok()).count();
    assert_eq!(planned, 0, "each of them breaks some limit");
    // The largest that is allowed.
    let plan = digest(&grid).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(plan.conditions.len(), 10_000);
}
