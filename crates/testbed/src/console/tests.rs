use std::io::Write as _;

use proptest::prelude::*;

use super::*;

#[test]
fn the_last_lines_are_kept_and_the_end_is_seen() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let console = Console::read(reader).unwrap();
    for line in 0..1000 {
        writeln!(writer, "line {line}\r").unwrap();
    }
    write!(writer, "unfinished").unwrap();
    drop(writer);
    assert!(console.closed_within(Duration::from_secs(60)));
    assert_eq!(console.sign_within(Duration::ZERO), None);
    let tail = console.tail();
    assert!(tail.ends_with("  | line 999\n  | unfinished") && !tail.contains("line 900"), "{tail}");
    assert!(console.says("line 998") && !console.says("line 1\u{20}"));
}

#[test]
fn a_console_cannot_command_the_terminal() {
    let mut text = Text::default();
    text.add("\u{1b}[2J\u{9b}31m\u{202e}\u{200b}a\r\nb\u{1b}c".as_bytes());
    assert!(
        text.tail().ends_with("  | \\u{1b}[2J\\u{9b}31m\\u{202e}\\u{200b}a\n  | b\\u{1b}c"),
        "{}",
        text.tail()
    );
}

#[test]
fn silence_is_reported_as_such() {
    assert_eq!(Text::default().tail(), EMPTY);
}

#[test]
fn lines_tell_of_life_and_death() {
    let panic = "[    1.2] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100";
    assert_eq!(
        boot_sign(panic),
        Some(BootSign::Panicked("Attempted to kill init! exitcode=0x00000100".to_owned()))
    );
    assert_eq!(boot_sign(&format!("{SERVING} 2 ports")), Some(BootSign::Serving));
    assert_eq!(boot_sign(&format!("{CANNOT} no port")), Some(BootSign::Cannot("no port".to_owned())));
    assert_eq!(boot_sign("[    0.0] Linux version 6.1"), None);
}

#[test]
fn only_the_end_of_much_is_kept() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let said = Console::read(reader).unwrap();
    // It would block after 64 KiB without a reader.
    for _ in 0..1 << 14 {
        writer.write_all(&[b'x'; 64]).unwrap();
    }
    writer.write_all(b"\nthe end\x1b[2J").unwrap();
    drop(writer);
    let words = said.last_words();
    assert!(words.ends_with("xx the end\\u{1b}[2J"), "{words}");
    assert!(words.len() <= words::LONGEST_REASON);
}

#[test]
fn endless_words_are_read_slowly_and_not_at_all_once_nobody_asks() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let said = Console::read(reader).unwrap();
    let writer = std::thread::spawn(move || (0u128..).find(|_| writer.write_all(&[b'x'; 4096]).is_err()));
    let begun = std::time::Instant::now();
    std::thread::sleep(Duration::from_millis(300));
    drop(said);
    let (pieces, milliseconds) = (writer.join().unwrap().unwrap(), begun.elapsed().as_millis());
    assert!(pieces < 2000 + milliseconds + 32, "{pieces} in {milliseconds} ms");
}

#[test]
fn what_has_come_is_reported_while_a_writer_is_left() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let said = Console::read(reader).unwrap();
    writer.write_all(b"so far").unwrap();
    assert_eq!(said.last_words(), "so far");
    drop(writer);
}

proptest! {
    #[test]
    fn any_bytes_are_kept_within_bounds(bytes in prop::collection::vec(any::<u8>(), 0..5000), repeat in 1usize..4) {
        let mut text = Text::default();
        for _ in 0..repeat {
            text.add(&bytes);
        }
        prop_assert!(words::is_plain(&text.tail().replace(['\t', '\n'], "")));
        text.close();
        prop_assert!(text.lines.len() <= LINES && text.pending.is_empty());
        prop_assert!(words::is_plain(&text.tail().replace(['\t', '\n'], "")));
    }
}
