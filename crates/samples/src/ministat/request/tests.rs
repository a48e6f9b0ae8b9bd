use super::*;
use proptest::prelude::*;

fn parse(line: &str) -> Result<MinistatRequest, String> {
    let words: Vec<Vec<u8>> = line.split_whitespace().map(|word| word.as_bytes().to_vec()).collect();
    MinistatRequest::parse(&words, b"/bin/ministat", false).map_err(|refusal| {
        assert_eq!(refusal.code, 2);
        let text = String::from_utf8(refusal.text).unwrap();
        text.split_once("Usage: ").unwrap().0.to_owned()
    })
}

#[test]
fn defaults_and_everything_given() {
    assert_eq!(parse(""), Ok(MinistatRequest::default()));
    let expected = MinistatRequest {
        column: 3,
        delimiters: b",;".to_vec(),
        level: ConfidenceLevel::from_percent(99.5).unwrap(),
        width: Some(40),
        separate_bars: true,
        plot: false,
        verdicts: true,
        files: vec![b"a".to_vec(), b"-".to_vec()],
    };
    assert_eq!(parse("a -AC3 -c 99.50 - -d ,; -sw 40"), Ok(expected));
    assert!(!parse("-n").unwrap().verdicts && !parse("-n").unwrap().plot);
}

#[test]
fn groups_glued_values_and_files_between() {
    let request = parse("-Aw40 x -s -C 2 -- -").unwrap();
    assert_eq!((request.plot, request.width, request.separate_bars), (false, Some(40), true));
    assert_eq!((request.column, request.files), (2, [&b"x"[..], b"-"].map(<[u8]>::to_vec).to_vec()));
    assert_eq!(parse("x -- -n --").unwrap().files, [&b"x"[..], b"-n", b"--"].map(<[u8]>::to_vec));
    let words = ["-n", "x", "-s", "--"].map(|word| word.as_bytes().to_vec());
    let posix = MinistatRequest::parse(&words, b"ministat", true).unwrap();
    assert_eq!((posix.verdicts, posix.separate_bars, posix.files), (false, false, words[1..].to_vec()));
}

#[test]
fn the_first_error_wins() {
    for (line, complaint) in [
        ("-C 2x", "Invalid column number."),
        ("-C 0 -Z", "Column number should be positive."),
        ("-C 99999999999999999999", "Column number should be positive."),
        ("-c 9o", "Not a floating point number"),
        ("-c 97", "No support for confidence level"),
        ("-c 97 -c 90", "No support for confidence level"),
        ("-w 4x", "Invalid width, not a number."),
        ("-w -5", "Unable to move beyond left margin."),
        ("-q", "/bin/ministat: invalid option -- 'q'\nUnknown option"),
        ("--modern", "/bin/ministat: invalid option -- '-'\nUnknown option"),
        ("a -w", "/bin/ministat: option requires an argument -- 'w'\nUnknown option"),
        ("a b c d e f g h", "Too many datasets."),
    ] {
        assert_eq!(parse(line), Err(format!("{complaint}\n")), "{line}");
    }
}

#[test]
fn the_oddities_of_numbers() {
    assert_eq!(parse("-c 90 -c 97").unwrap().level.percent, 90.0);
    assert_eq!(parse("-C 4294967297").unwrap().column, 1, "cut off to 32 bits");
    assert_eq!(parse("-w 4294967316").unwrap().width, Some(20));
    assert_eq!(int(b""), Some(0));
    assert_eq!(int(b" "), None);
    assert_eq!(
        [&b"50"[..], b"80x", b"abc", b"-5", b"1"].map(columns),
        [Some(50), Some(80), None, None, None]
    );
}

proptest! {
    #[test]
    fn any_words(words: Vec<Vec<u8>>, posix: bool) {
        if let Ok(request) = MinistatRequest::parse(&words, b"ministat", posix) {
            request.format();
        }
    }

    #[test]
    fn words_like_options(words in prop::collection::vec(r"-{0,2}[AnsqCcdw=x0-9. -]{0,5}|--help", 0..6)) {
        let words: Vec<Vec<u8>> = words.into_iter().map(String::into_bytes).collect();
        if let Ok(request) = MinistatRequest::parse(&words, b"ministat", false) {
            prop_assert!(request.column > 0 && !request.delimiters.is_empty());
        }
    }
}
