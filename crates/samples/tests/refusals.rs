//! A file that is no measurement is refused with file, line, column and remedy, in bounded memory.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::io::{self, Read};

use common::fixture;
use netassay_samples::{BootColumn, InputFormat, MeasurementFile, Options, limits};

fn refusal(input: impl Read, options: &Options) -> String {
    MeasurementFile::read("f", input, options).unwrap_err().to_string()
}

fn of(text: &[u8]) -> String {
    refusal(text, &Options::default())
}

fn forced(format: InputFormat, text: &[u8]) -> String {
    refusal(text, &Options { format: Some(format), ..Options::default() })
}

#[test]
fn files_of_values() {
    for (text, message) in [
        (
            &b"1\n2\n  x3 \n"[..],
            "f:3:3: \"x3\" is not a number; write numbers like 1234.5 or 1.2e3, and # before what is not data",
        ),
        (b"1\nnan\n", "f:2:1: \"nan\" is not a measurement; leave the run out, and say that it failed"),
        (b"1\n-inf b\n", "f:2:1: \"-inf\" is not a measurement; leave the run out, and say that it failed"),
        (b"1\n1e999\n", "f:2:1: \"1e999\" is not a measurement; leave the run out, and say that it failed"),
        (
            b"1,5\n2,5\n",
            "f:1:1: \"1,5\" is not a number; write a decimal point, not a comma; several columns need a first line with their names",
        ),
        (
            b"1\n\xe9\n",
            "f:2:1: \"\\xe9\" is not a number; write numbers like 1234.5 or 1.2e3, and # before what is not data",
        ),
        (b"1\n2\n\x003\n", "f:3:1: a NUL byte, which no text has; give a text file"),
        (
            b"# condition: caf\xe9\n1\n",
            "f:1:17: bytes that are not UTF-8; convert the file with iconv -t UTF-8",
        ),
        (
            b"",
            "f:1:1: an empty file; give a file with values (it was read as stat; --input-format takes another)",
        ),
        (
            b"# nothing\n\n",
            "f:1:1: no measurement in the whole file; give a file with values (it was read as stat; --input-format takes another)",
        ),
        (b"\x7fELF\x02\x01\x01\0\0", "f:1:8: a NUL byte, which no text has; give a text file"),
    ] {
        assert_eq!(of(text), message);
    }
    let third = Options { value: Some("3".to_owned()), ..Options::default() };
    assert_eq!(
        refusal(&b"# a b c\n1 2 3\n1 2\n"[..], &third),
        "f:3:4: no column 3 in \"1 2\"; complete the line, or put # before it"
    );
    let named = Options { boot: Some(BootColumn::Named("boot".to_owned())), ..Options::default() };
    assert_eq!(
        refusal(&b"1 x\n"[..], &named),
        "f:1:1: a file of this format has no column \"boot\" of boots; give the column's number from 1, such as --boot 2"
    );
}

#[test]
fn tables() {
    for (text, message) in [
        (
            &b"value,boot\n1,a\nx,b\n"[..],
            "f:3:1: \"x\" is not a number; write numbers like 1234.5 or 1.2e3, and # before what is not data",
        ),
        (
            b"value,boot\n1,a\n,b\n",
            "f:3:1: no number where one is expected; leave the line out, or complete it",
        ),
        (
            b"value,boot\n1,a\n\"2\n3\",b\n",
            "f:3:1: \"2\\n3\" is not a number; write numbers like 1234.5 or 1.2e3, and # before what is not data",
        ),
        (b"value,boot\n1,\n", "f:2:3: no boot where the column names one; complete it, or give --boot none"),
        (
            b"value,boot\n1\n",
            "f:2:1: 1 columns where the first line has 2; complete the row, or quote fields that hold the separator",
        ),
        (b"speed,boot\n1,2\n", "f:1:1: no column \"value\"; --column takes one of speed, boot"),
        (
            b"value,label\n1,a\n2,\xff\n",
            "f:3:3: bytes that are not UTF-8: \"\\xff\"; convert the file with iconv -t UTF-8",
        ),
        (
            b"value,boot\n",
            "f:1:1: no measurement in the whole file; give a file with values (it was read as csv; --input-format takes another)",
        ),
    ] {
        assert_eq!(of(text), message);
    }
    let long = [b"value,label\n1,".to_vec(), vec![b'x'; 2000]].concat();
    assert!(of(&long).starts_with("f:2:3: a name of 2000 bytes"), "{}", of(&long));
    let wide = "a,".repeat(limits::MOST_COLUMNS) + "b\n";
    assert!(of(wide.as_bytes()).contains("more than 4096 columns"));
}

#[test]
fn results_of_programs() {
    assert_eq!(
        of(&fixture("iperf3-refused.json")),
        "f:1:1: no measurement is left but runs that failed: unable to connect to server: Connection refused: 1; measure again, and give results of runs that succeeded"
    );
    let unknown = Options { metric: Some("colour".to_owned()), ..Options::default() };
    for (name, words) in [
        (
            "iperf3-tcp.json",
            "--metric takes throughput, throughput_forward, throughput_reverse, sent, retransmits, jitter, loss, cpu, remote_cpu, intervals",
        ),
        ("iperf-tcp.csv", "--metric takes throughput, sent"),
        ("netperf-omni.csv", "--metric takes throughput, throughput_units, elapsed_time_sec, local_cpu_util"),
        ("hyperfine-two.json", "--metric takes time, memory"),
    ] {
        let text = refusal(fixture(name).as_slice(), &unknown);
        assert!(
            text.starts_with("f:1:1: no result with the metric \"colour\"; ") && text.ends_with(words),
            "{text}"
        );
    }
    // TCP has no count of jitter.
    let jitter = Options { metric: Some("jitter".to_owned()), ..Options::default() };
    let text = refusal(fixture("iperf3-tcp.json").as_slice(), &jitter);
    assert!(text.starts_with("f:1:1: a run without jitter"), "{text}");
    let unmeasured = b"LOCAL_CPU_UTIL=-1.00\nTHROUGHPUT=5\n";
    let cpu = Options { metric: Some("LOCAL_CPU_UTIL".to_owned()), ..Options::default() };
    assert_eq!(
        refusal(&unmeasured[..], &cpu),
        "f:1:16: netperf did not measure local_cpu_util; run it with -c and -C"
    );
}

#[test]
fn connections_of_iperf() {
    let line = b"20261121122148,127.0.0.1,43032,127.0.0.1,5303,1,0.0-0.5,1397096508,22353544128\n";
    let later = b"20261121122149,127.0.0.1,43032,127.0.0.1,5303,1,0.5-1.0,1397096508,22353544128\n";
    let cut = [&line[..], later].concat();
    assert_eq!(
        of(&cut),
        "f:1:68: a connection without a line for its whole time; the run was cut short; leave it out"
    );
    let broken = [&line[..], b"20261121122149,127.0.0.1\n"].concat();
    assert_eq!(
        of(&broken),
        "f:2:1: 2 columns where iperf writes 9 or more; complete the line, or put # before it"
    );
}

#[test]
fn json() {
    let known = "netassay reads the JSON of iperf3 -J and hyperfine --export-json";
    for (text, message) in [
        (&b"{\"start\": {},\n"[..], "f:2:0: EOF".to_owned()),
        (b"{\"start\": nul}", "f:1:14: expected ident; give the unchanged output of the program".to_owned()),
        (b"{\"study\": 1}", format!("f:1:1: neither iperf3's JSON (no `end`) nor hyperfine's (no `results`); {known}")),
        (b"{\"results\": [{\"command\": \"x\"}]}", format!("f:1:29: missing field `times`; {known}")),
        (b"{\"results\": [{\"command\": \"x\", \"times\": [\"1\"]}]}", format!("f:1:43: invalid type: string \"1\", expected f64; {known}")),
        (b"{\"results\": [{\"command\": \"x\", \"times\": [1e999]}]}", "f:1:45: number out of range; give the unchanged output of the program".to_owned()),
        (b"{\"results\": [{\"command\": \"x\", \"times\": []}]}", "f:1:1: no time of single runs for \"x\"; export with a newer hyperfine".to_owned()),
        (b"{\"results\": []}", "f:1:1: no measurement in the whole file; give a file with values (it was read as hyperfine; --input-format takes another)".to_owned()),
    ] {
        let said = of(text);
        if message.ends_with("EOF") {
            assert!(said.starts_with("f:2:") && said.ends_with("the file was cut off; give the whole one"), "{said}");
        } else {
            assert_eq!(said, message);
        }
    }
    let deep = b"{\"start\": ".to_vec().into_iter().chain(vec![b'['; 100_000]).collect::<Vec<u8>>();
    assert!(
        of(&deep).starts_with("f:1:"),
        "no stack is deep enough for what is not asked for: {}",
        of(&deep)
    );
    let asked = b"{\"end\": ".to_vec().into_iter().chain(vec![b'['; 100_000]).collect::<Vec<u8>>();
    assert!(of(&asked).starts_with("f:1:"), "{}", of(&asked));
    assert!(of(b"{\"start\": \"\xff\"}").contains("f:1:"), "{}", of(b"{\"start\": \"\xff\"}"));
}

#[test]
fn endless_input_is_refused_at_once() {
    for format in InputFormat::ALL {
        for byte in [b'7', b'#', b'"', b'[', b' ', 0] {
            if matches!(format, InputFormat::Iperf3 | InputFormat::Hyperfine) {
                continue; // only its size tells: see below
            }
            let counted = Counted(io::repeat(byte), 0);
            let mut input = counted;
            let options = Options { format: Some(format), ..Options::default() };
            let text = MeasurementFile::read("f", &mut input, &options).unwrap_err().to_string();
            assert!(text.starts_with("f:1:"), "{format} of {byte}: {text}");
            assert!(input.1 <= 4 << 20, "{format} of {byte}: {} bytes read", input.1);
        }
    }
    let blank = Counted(io::repeat(b' '), 0);
    let mut input = Read::chain(&b"{"[..], blank);
    let text = refusal(&mut input, &Options::default());
    assert!(text.contains("more than 64 MiB of JSON"), "{text}");
}

/// Counts the bytes that were read.
struct Counted<R>(R, u64);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(into)?;
        self.1 += read as u64;
        Ok(read)
    }
}

#[test]
fn another_format_is_no_panic() {
    for name in ["iperf3-tcp.json", "iperf-tcp.csv", "netperf-omni.csv", "hyperfine-two.json"] {
        let own = MeasurementFile::read("f", fixture(name).as_slice(), &Options::default()).unwrap().format;
        for format in InputFormat::ALL.into_iter().filter(|format| *format != own) {
            let text = forced(format, &fixture(name));
            assert!(text.starts_with("f:"), "{text}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_on_says_why() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    assert_eq!(refusal(Broken, &Options::default()), "cannot read f: the disk is gone");
    for format in InputFormat::ALL {
        let start: &[u8] = match format {
            InputFormat::Iperf3 | InputFormat::Hyperfine => b"{\"results\": [",
            InputFormat::Csv => b"value,boot\n",
            _ => b"# nothing\n",
        };
        let padding = vec![b'\n'; 1 << 16];
        let input = start.chain(padding.as_slice()).chain(Broken);
        let text = refusal(input, &Options { format: Some(format), ..Options::default() });
        assert_eq!(text, "cannot read f: the disk is gone", "{format}");
    }
}
