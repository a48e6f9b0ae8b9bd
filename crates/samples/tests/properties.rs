//! Any bytes are read or refused, however they arrive; what was read is what was written.

mod common;

use std::io::{self, Read};

use common::{dataset, fixture, values};
use netassay_samples::{Boots, InputFormat, MeasurementFile, Options, SamplesError};
use proptest::prelude::*;

/// Gives what it has in pieces of at most this size.
struct Dribble<'a>(&'a [u8], usize);

impl Read for Dribble<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let size = self.1.min(into.len()).min(self.0.len());
        into[..size].copy_from_slice(&self.0[..size]);
        self.0 = &self.0[size..];
        Ok(size)
    }
}

/// The whole result of reading: the refusal, or the values of the file.
fn told(input: impl Read, options: &Options) -> String {
    match MeasurementFile::read("f", input, options) {
        Ok(sheet) => format!("{sheet:?}"),
        Err(error) => {
            if let SamplesError::Content { line, column, .. } = &error {
                assert!(*line > 0 && *column > 0, "{error}");
            }
            error.to_string()
        }
    }
}

fn formats() -> impl Strategy<Value = InputFormat> {
    proptest::sample::select(InputFormat::ALL.to_vec())
}

/// Bits of what programs write, in any order.
fn scraps() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "1",
        "2.5",
        "-3e2",
        "nan",
        "x",
        " ",
        "\t",
        ",",
        ";",
        "\n",
        "\r\n",
        "\"",
        "#",
        "value",
        "boot",
        "label",
        "metric",
        "THROUGHPUT=",
        "THROUGHPUT_UNITS=",
        "Throughput,",
        "X TEST from y\n",
        "20261121122148,127.0.0.1,1,127.0.0.1,5303,1,0.0-0.5,1,2\n",
        "20261121122148,127.0.0.1,1,127.0.0.1,5303,1,0.5-1.0,1,2\n",
        "{",
        "}",
        "[",
        "]",
        ":",
        "\"results\"",
        "\"times\"",
        "\"command\"",
        "\"end\"",
        "\"sum\"",
        "\"bits_per_second\"",
        "\"event\"",
        "\"data\"",
        "-nan",
        "Local /Remote\n",
        "bytes  % S  per sec\n",
        "Throughput Throughput \n",
        "\u{e9}",
        "\0",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..40)
        .prop_map(|words| words.concat().into_bytes())
}

proptest! {
    #[test]
    fn any_bytes(bytes: Vec<u8>, format in proptest::option::of(formats())) {
        told(bytes.as_slice(), &Options { format, ..Options::default() });
    }

    #[test]
    fn how_bytes_arrive_does_not_matter(bytes in scraps(), format in proptest::option::of(formats()), size in 1_usize..7) {
        let options = Options { format, ..Options::default() };
        prop_assert_eq!(told(Dribble(&bytes, size), &options), told(bytes.as_slice(), &options));
    }

    #[test]
    fn mutilated_fixtures(
        name in proptest::sample::select(vec!["iperf3-udp.json", "iperf-tcp-parallel.csv", "netperf-omni.csv", "netperf-keyword.txt", "netperf-table.txt", "hyperfine-two.json"]),
        at in 0_usize..4000, with: u8, cut in 0_usize..4000,
    ) {
        let mut bytes = fixture(name);
        let length = bytes.len();
        bytes[at % length] = with;
        bytes.truncate(cut % length);
        told(bytes.as_slice(), &Options::default());
    }

    #[test]
    fn written_values_come_back(values in proptest::collection::vec((-1e300_f64..1e300, 0_u8..4), 1..50)) {
        let lines: String = values.iter().map(|(value, boot)| format!("{value:e}\tboot {boot}\n").replace("boot ", "b")).collect();
        let text = format!("# columns: value, boot\n{lines}");
        let read = dataset(&[("a", text.as_bytes()), ("b", text.as_bytes())], &Options::default()).unwrap();
        let back: Vec<f64> = common::values(&read, 0, 0).into_iter().map(|(_, value)| value).collect();
        prop_assert_eq!(&back, &values.iter().map(|(value, _)| *value).collect::<Vec<_>>());
        prop_assert_eq!(common::values(&read, 0, 0), common::values(&read, 0, 1), "one name, one boot");

        // As a table it says the same.
        let rows: String = values.iter().map(|(value, boot)| format!("{value:e},b{boot}\n")).collect();
        let table = format!("value,boot\n{rows}");
        let again = dataset(&[("a", table.as_bytes()), ("b", table.as_bytes())], &Options::default()).unwrap();
        prop_assert_eq!(&again.groups[0].observations, &read.groups[0].observations);
    }

    #[test]
    fn counted_boots_cut_the_values_in_order(sizes in proptest::collection::vec(1_usize..6, 1..8)) {
        let count: usize = sizes.iter().sum();
        let text: String = (0..count).map(|value| format!("{value}\n")).collect();
        let sheet =
            |name: &str| MeasurementFile::read(name, text.as_bytes(), &Options::default()).unwrap();
        let options = Options { boots: Boots::Sizes(sizes.clone()), ..Options::default() };
        let read = netassay_samples::Dataset::new(vec![sheet("a"), sheet("b")], &options).unwrap();
        let boots: Vec<u32> = values(&read, 0, 0).into_iter().map(|(boot, _)| boot).collect();
        let planned: Vec<u32> = (0_u32..).zip(&sizes).flat_map(|(boot, size)| vec![boot; *size]).collect();
        prop_assert_eq!(boots, planned);
    }
}
