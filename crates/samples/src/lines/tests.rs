use std::io;

use proptest::prelude::*;

use super::*;

struct Dribble<'a>(&'a [u8], usize);

impl Read for Dribble<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let size = self.1.min(into.len()).min(self.0.len());
        into[..size].copy_from_slice(&self.0[..size]);
        self.0 = &self.0[size..];
        Ok(size)
    }
}

fn lines(input: impl Read) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for_each_line(input, |line| {
        assert_eq!(line.number, all.len() as u64 + 1);
        all.push(line.bytes.to_vec());
        Ok(())
    })
    .unwrap();
    all
}

#[test]
fn the_last_line_needs_no_newline() {
    assert_eq!(lines(&b"a\r\n\nb"[..]), [b"a".to_vec(), vec![], b"b".to_vec()]);
    assert_eq!(lines(&b"a\n"[..]), [b"a"]);
    assert!(lines(&b""[..]).is_empty());
}

#[test]
fn a_line_without_end_is_refused_before_it_is_read() {
    let endless = Read::chain(&b"1\n"[..], io::repeat(b'7'));
    let Err(Fault::Content { place, .. }) = for_each_line(endless, |_| Ok(())) else {
        panic!("it is too long")
    };
    assert_eq!(place, FilePosition { line: 2, column: LONGEST_LINE as u64 + 1 });
}

#[test]
fn places_and_words() {
    let line = Line { number: 7, bytes: b" ab\tc\xff " };
    let words: Vec<&[u8]> = line.words().collect();
    assert_eq!(words, [b"ab".as_slice(), b"c\xff"]);
    assert_eq!(line.place_of(words[1]), FilePosition { line: 7, column: 5 });
    let Err(Fault::Content { place, .. }) = line.text_of(line.bytes) else { panic!("it is not UTF-8") };
    assert_eq!(place, FilePosition { line: 7, column: 6 });
}

proptest! {
    #[test]
    fn how_the_bytes_arrive_does_not_matter(text in "[ab\r\n]{0,40}", size in 1_usize..9) {
        prop_assert_eq!(lines(Dribble(text.as_bytes(), size)), lines(text.as_bytes()));
    }
}
