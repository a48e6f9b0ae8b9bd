use super::*;
use proptest::prelude::*;

fn read(format: &ValueFormat, bytes: &[u8]) -> (Vec<f64>, Result<u64, InvalidData>) {
    let mut values = Vec::new();
    let lines = format.read(bytes, &mut values);
    (values, lines)
}

fn plain() -> ValueFormat {
    ValueFormat::new(1, b" \t", 8191)
}

#[test]
fn numbers_comments_and_blanks() {
    let (values, lines) = read(&plain(), b"1\n\n# x\n\t 2 # y\r\n 3.5\r\n-4 junk\n16\x00z\n7");
    assert_eq!((values, lines), (vec![1.0, 2.0, 3.5, -4.0, 16.0, 7.0], Ok(8)));
    assert_eq!(read(&plain(), b"1\n5#x\n2\n"), (vec![1.0], Err(InvalidData { line: 2 })));
}

#[test]
fn another_column_between_other_bytes() {
    let format = ValueFormat::new(2, b",;", 8191);
    let text = b"a,1\n;b;; 2,,\nc\n#,3\nd,#3\n,e,4\n";
    assert_eq!(read(&format, text), (vec![1.0, 2.0, 4.0], Ok(6)));
    assert_eq!(read(&format, b"a,1 ,b\n").1, Err(InvalidData { line: 1 }));
}

#[test]
fn delimiters_that_numbers_are_made_of() {
    assert_eq!(read(&ValueFormat::new(1, b"e", 8191), b"1e5\n2E5\n").0, [1.0, 2e5]);
    assert_eq!(read(&ValueFormat::new(2, b" E", 8191), b"a 1E5\n").0, [1.0]);
    assert!(read(&ValueFormat::new(2, b"\n", 8191), b"1\n2\n").0.is_empty());
}

#[test]
fn long_lines_are_cut() {
    let format = ValueFormat::new(1, b" \t", 4);
    assert_eq!(read(&format, b"123456\n7\n"), (vec![1234.0, 56.0, 7.0], Ok(3)));
    assert_eq!(read(&format, b"1234\n7\n"), (vec![1234.0, 7.0], Ok(3)), "the newline alone is a line too");
    assert_eq!(read(&format, b"123\n"), (vec![123.0], Ok(1)));
    assert_eq!(format.complete(b"12345678901"), 8);
    assert_eq!(format.complete(b"1\n123"), 2);
    assert_eq!(format.complete(b"1\n12345"), 6);
    assert_eq!(format.complete(b""), 0);
}

proptest! {
    #[test]
    fn where_the_bytes_are_cut_does_not_matter(
        text in r"([0-9.#, \t\n-]|nan|\n){0,60}",
        column in 1_usize..3,
        at in 0_usize..60,
    ) {
        let format = ValueFormat::new(column, b" \t,", 7);
        let text = text.as_bytes();
        let whole = read(&format, text);
        let first = format.complete(&text[..at.min(text.len())]);
        let mut parts = read(&format, &text[..first]);
        if let Ok(lines) = parts.1 {
            let (values, result) = read(&format, &text[first..]);
            parts.0.extend(values);
            let later = |error: InvalidData| InvalidData { line: lines + error.line };
            parts.1 = result.map(|more| lines + more).map_err(later);
        }
        prop_assert_eq!(format!("{:?}", parts), format!("{:?}", whole));
    }

    #[test]
    fn any_bytes(text: Vec<u8>, delimiters: Vec<u8>, column in 1_usize..4, longest in 1_usize..20) {
        let format = ValueFormat::new(column, &delimiters, longest);
        prop_assert!(format.complete(&text) <= text.len());
        let (values, lines) = read(&format, &text);
        prop_assert!(values.len() as u64 <= lines.unwrap_or_else(|error| error.line));
    }
}
