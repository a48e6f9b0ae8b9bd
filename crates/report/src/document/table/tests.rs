use proptest::prelude::*;
use study::Name;
use unicode_width::UnicodeWidthStr as _;

use super::*;
use crate::cells;
use crate::document::colour::Tone;
use crate::document::layout::Layout;

fn number(digits: &str) -> Cell {
    Cell::Number(digits.to_owned())
}

#[test]
fn numbers_stand_right_and_words_left() {
    let mut table = Table::new(["condition", "throughput"]).units(["", "Mbit/s"]);
    table.row(cells!["ipv4", number("42.1")]);
    table.row(cells!["ipv6 offloads=none", None::<f64>]);
    assert_eq!(
        table.fit(Layout::WIDE),
        "condition           throughput\n                        Mbit/s\nipv4                      42.1\nipv6 offloads=none           -\n"
    );
}

#[test]
fn a_hostile_cell_stays_in_its_row() {
    let mut table = Table::new(["name", "value"]);
    table.row(cells!["a\u{1b}[2K\nverdict", number("1")]);
    assert_eq!(table.fit(Layout::WIDE), "name                value\na\\u{1b}[2K verdict      1\n");
}

#[test]
fn what_a_narrow_table_leaves_out_is_reported() {
    let mut table = Table::new(["condition", "value", "difference", "verdict"]).optional(&[2]);
    let name = Name::from("a name that is far too long for a row of it");
    table.row(cells![&name, number("1000000"), number("+12.3"), "slower"]);
    table.row(cells![&Name::from("b"), number("7"), Cell::Missing, "baseline"]);
    let narrow = table.fit(Layout { width: 40, ..Layout::PLAIN });
    assert_eq!(
        narrow,
        "  [a] a name that is far too long for a\n    row of it\n\
             condition    value  verdict\n\
             [a]        1000000  slower\n\
             b                7  baseline\n\
             (--wide shows also: difference)\n"
    );
    assert_eq!(table.fit(Layout { width: 40, ..Layout::WIDE }), table.fit(Layout::WIDE));
}

#[test]
fn numbers_are_never_cut() {
    let mut table = Table::new(["parts of a run", "sent by the transmitter", "received", "drops"]);
    let ends = Cell::measure("-12345 to +87654321");
    table.row(cells!["a", Cell::measure("12345678 Mbit/s"), ends, number("123456789012345")]);
    assert_eq!(
        table.fit(Layout { width: 44, ..Layout::PLAIN }),
        "par…un  sent by…smitter  received\n\
             a       12345678 Mbit/s  -12345 to +87654321\n\
             (--wide shows also: drops)\n"
    );
}

/// Names, values, differences, verdicts and limits as studies may have them.
fn tables() -> impl Strategy<Value = Table> {
    let name = "[a-zé中=,._]{1,40}( [a-z中=,._-]{1,90}){0,5}";
    let number = prop_oneof![any::<f64>(), -1e6..1e6_f64];
    let difference = (number.clone(), 0..3).prop_map(|(value, form)| match form {
        0 => Cell::change(value),
        1 => Cell::with_unit(results::figure(value), "Mbit/s"),
        _ => Cell::with_unit(results::times(value), "times"),
    });
    let interval =
        (number.clone(), number.clone()).prop_map(|ends| Cell::interval(Some(ends), results::figure));
    let row = (name, number, difference, interval, "[a-z ]{0,30}", "[a-zA-Z0-9 /]{0,30}");
    prop::collection::vec(row, 0..12).prop_map(|rows| {
        let head = ["condition", "Mbit/s", "difference", "interval", "verdict", "limited by"];
        let rows = rows.into_iter().map(|(name, value, difference, interval, verdict, limit)| {
            cells![&Name::from(name.as_str()), value, difference, interval, verdict, limit]
        });
        Table::with_rows(head, rows).optional(&[5, 3, 1])
    })
}

proptest! {
    #[test]
    fn no_line_is_wider_than_its_layout(table in tables(), width in 0_usize..200) {
        let layout = Layout { width, ..Layout::PLAIN };
        let text = table.fit(layout);
        prop_assert!(text.lines().all(|line| line.width() <= layout.columns()), "{width}:\n{text}");
        // No row wraps: each is one line below the heading.
        let heading = text.lines().position(|line| line.contains("verdict") || line.contains("diff"));
        let below = text.lines().skip(heading.unwrap_or(0) + 1).take_while(|line| !line.starts_with("(--wide"));
        prop_assert_eq!(below.count(), table.rows.len(), "{}", text);
    }

    #[test]
    fn other_tables_fit_too(
        head in prop::collection::vec("[a-z]{1,12}( [a-z]{1,12}){0,3}", 1..9),
        cells in prop::collection::vec("[a-z0-9 .+-]{0,60}", 0..40),
        width in 0_usize..200,
    ) {
        let head: Vec<String> = head.iter().enumerate().map(|(place, head)| format!("{head} {place}")).collect();
        let cell = |text: &String| match text.parse::<f64>() {
            Ok(_) => Cell::Number(text.clone()),
            Err(_) if text.starts_with(|letter: char| letter.is_ascii_digit()) => Cell::measure(text),
            Err(_) => text.into(),
        };
        let rows = cells.chunks(head.len()).map(|row| row.iter().map(cell).collect());
        let table = Table::with_rows(&head, rows);
        let layout = Layout { width, ..Layout::PLAIN };
        let text = table.fit(layout);
        prop_assert!(text.lines().all(|line| line.width() <= layout.columns()), "{width}:\n{text}");
    }
}

#[test]
fn a_cell_without_a_name_is_cut_in_its_middle() {
    let mut table = Table::new(["what", "why"]);
    table.row(cells!["a", "a reason that is far too long for a row of forty columns"]);
    let text = table.fit(Layout { width: 40, ..Layout::PLAIN });
    assert_eq!(text, "what  why\na     a reason that is …of forty columns\n");
}

#[test]
fn a_column_of_whole_words_stays_and_others_go() {
    let mut table = Table::new(["stage", "baseline", "diff.", "verdict"]).optional(&[1]).uncut(&[0, 2, 3]);
    let stage = "__skb_wait_for_more_packets to udp_recvmsg";
    table.row(cells![stage, number("1234.5"), number("-12.5"), "not proven"]);
    table.row(cells!["whole", number("1234567.5"), number("0"), "more"]);
    let at = |width| table.fit(Layout { width, ..Layout::PLAIN });
    assert_eq!(at(90), table.fit(Layout::WIDE));
    assert_eq!(
        at(64),
        format!(
            "{:42}  diff.  verdict\n\
                 __skb_wait_for_more_packets to udp_recvmsg  -12.5  not proven\n\
                 {:42}      0  more\n\
                 (--wide shows also: baseline)\n",
            "stage", "whole"
        )
    );
    assert_eq!(
        at(40),
        "stage\n   baseline  diff.  verdict\n\
             __skb_wait_for_more_packets to\n    udp_recvmsg\n     1234.5  -12.5  not proven\n\
             whole\n  1234567.5      0  more\n"
    );
}

#[test]
fn colours_take_no_room() {
    let mut table = Table::new(["a", "verdict", "b"]);
    table.row(cells!["x", Cell::Verdict("slower".to_owned(), Tone::Worse), "y"]);
    let layout = Layout { colour: true, ..Layout::PLAIN };
    assert_eq!(table.fit(layout), "a  verdict  b\nx  \u{1b}[31mslower\u{1b}[0m   y\n");
    assert_eq!(table.fit(Layout::PLAIN), "a  verdict  b\nx  slower   y\n");
}

#[test]
fn an_empty_table_is_its_head() {
    assert_eq!(Table::new(["a", "b"]).fit(Layout::WIDE), "a  b\n");
}
