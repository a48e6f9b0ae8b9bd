//! What comes out of the other end's pipe: cut anywhere, holding anything, it is a message or an
//! error, never a panic.
//!
//! The first eight bytes are the lengths of pieces, the rest is what the pipe holds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_agent::message::{Answer, Request};
use netassay_agent::{Asked, LineReader, answer_line, decode, encode, read_answer};

fuzz_target!(|input: &[u8]| {
    let (cuts, bytes) = input.split_at(input.len().min(8));
    let mut reader = LineReader::default();
    let mut lines = Vec::new();
    for piece in cut(bytes, cuts) {
        reader.push(piece);
        while let Ok(Some(line)) = reader.next_line() {
            lines.push(line);
        }
    }

    // However the pipe cuts them, lines are lines.
    let whole: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    assert!(lines.iter().map(Vec::as_slice).eq(whole[..whole.len() - 1].iter().copied()));

    for line in whole {
        // What was understood is said again in the same words.
        if let Ok((asked, request)) = Asked::read(line)
            && let Ok(request) = decode::<Request>(request)
        {
            let said = asked.line(&request).expect("what was read can be written");
            let (again, request) = Asked::read(said.trim_ascii_end()).expect("and read again");
            assert_eq!(again, asked);
            decode::<Request>(request).expect("and read again");
        }
        if let Ok((id, answer)) = read_answer(line)
            && let Ok(answer) = decode::<Answer>(answer)
        {
            let said = answer_line(id, &answer).expect("what was read can be written");
            assert_eq!(read_answer(&said).expect("and read again").0, id);
        }
        if let Ok(request) = decode::<Request>(line) {
            let said = encode(&request).expect("what was read can be written");
            assert_eq!(decode::<Request>(said.trim_ascii_end()).expect("and read again"), request);
        }
        if let Ok(answer) = decode::<Answer>(line) {
            encode(&answer).expect("what was read can be written");
        }
    }
});

/// Pieces as a pipe would deliver them, of the lengths in `lengths` as long as there are any.
fn cut<'a>(mut bytes: &'a [u8], lengths: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, rest) = bytes.split_at(usize::from(*length).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.push(bytes);
    pieces
}
