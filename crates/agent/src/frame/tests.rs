use super::*;
use proptest::prelude::*;

use crate::message::{Answer, Request};

proptest! {
    #[test]
    fn any_bytes_decode_or_fail_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode::<Request>(&bytes);
        let _ = decode::<Answer>(&bytes);
    }

    #[test]
    fn lines_survive_any_cutting(texts in proptest::collection::vec("[a-z]{0,20}", 0..10), cut in 1usize..7) {
        let stream: Vec<u8> = texts.iter().flat_map(|t| format!("{t}\n").into_bytes()).collect();
        for skip in [false, true] {
            let next = if skip { LineReader::next_message } else { LineReader::next_line };
            let mut reader = LineReader::default();
            let mut seen = Vec::new();
            for piece in stream.chunks(cut) {
                reader.push(piece);
                while let Some(line) = next(&mut reader).unwrap() {
                    seen.push(String::from_utf8(line).unwrap());
                }
            }
            let lines: Vec<_> = texts.iter().filter(|text| !(skip && text.is_empty())).cloned().collect();
            prop_assert_eq!(seen, lines);
        }
    }
}

#[test]
fn a_message_survives_the_trip() {
    let request = Request::Measure { ramp_ns: 1, window_ns: 1 << 40, step_ns: 0 };
    let line = encode(&request).unwrap();
    assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
    assert_eq!(decode::<Request>(&line).unwrap(), request);
}

#[test]
fn a_list_or_text_beyond_its_bound_is_refused_by_name() {
    let list =
        |name: &str, entries: usize| format!("{{{name:?}:[{}]}}", vec!["\"[\\\"\""; entries].join(","));
    let text = |bytes: usize| format!("{{\"why\":\"{}\"}}", "\\\"".repeat(bytes / 2));
    for (accepted, refused, why) in [
        (list("cpus", 8_192), list("cpus", 8_193), "`cpus` may have at most 8192 entries"),
        (list("locals", 200_000), list("locals", 200_001), "`locals` may have at most 200000 entries"),
        (text(192 << 10), text((192 << 10) + 2), "`why` may have at most 196608 entries"),
        ("[".repeat(299_999), "[".repeat(300_000), "more than 300000 values"),
    ] {
        check_sizes(accepted.as_bytes()).unwrap();
        let error = check_sizes(refused.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_whole_line_that_is_too_long_is_no_message() {
    let line = [br#"{"hello":{"protocol":1}}"#.to_vec(), vec![b' '; MAX_FRAME]].concat();
    assert!(matches!(decode::<Request>(&line), Err(FrameError::TooLong)));
    decode::<Request>(&line[..MAX_FRAME]).unwrap();
}

#[test]
fn an_endless_line_is_refused() {
    let mut reader = LineReader::default();
    reader.push(&vec![b'x'; MAX_FRAME + 1]);
    assert!(matches!(reader.next_line(), Err(FrameError::TooLong)));
}

#[test]
fn the_lines_are_what_people_can_write_too() {
    let asked = RequestHeader { id: 7, within: Duration::from_secs(10) };
    assert_eq!(asked.line(&Request::Start).unwrap(), b"7 10000 \"start\"\n");
    assert_eq!(answer_line(7, &Answer::Done).unwrap(), b"7 \"done\"\n");
}

#[test]
fn a_line_without_an_id_is_no_message() {
    for line in [
        "",
        " ",
        "7",
        "7 ",
        "+7 1 1",
        "7  1 1",
        "0 1 1",
        "7 -1 1",
        "18446744073709551616 1 1",
        "7 604800001 1",
    ] {
        assert!(
            matches!(RequestHeader::read(line.as_bytes()), Err(FrameError::NotAMessage { .. })),
            "{line}"
        );
    }
    for line in ["", "\"done\"", "7", "+7 1", "18446744073709551616 1"] {
        assert!(matches!(read_answer(line.as_bytes()), Err(FrameError::NotAMessage { .. })), "{line}");
    }
}

proptest! {
    #[test]
    fn ids_and_times_survive_the_trip(id in 1u64.., within_ms in 0u64..=604_800_000) {
        let asked = RequestHeader { id, within: Duration::from_millis(within_ms) };
        let line = asked.line(&Request::Quiet).unwrap();
        let (read, rest) = RequestHeader::read(line.trim_ascii_end()).unwrap();
        prop_assert_eq!((read, decode::<Request>(rest).unwrap()), (asked, Request::Quiet));
        let line = answer_line(id, &Answer::Done).unwrap();
        let (read, rest) = read_answer(line.trim_ascii_end()).unwrap();
        prop_assert_eq!((read, decode::<Answer>(rest).unwrap()), (id, Answer::Done));
    }
}
