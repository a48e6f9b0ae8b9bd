//! Which runs are which condition, and which boots are the same.

mod common;

use common::{boots, dataset, values};
use netassay_samples::{BootColumn, Boots, Design, Options};

fn default() -> Options {
    Options::default()
}

const EXPORT_A: &[u8] = b"# study: s (netassay 0.1.0)\n# condition: ipv4\n# metric: throughput (Mbit/s)\n# columns: value, boot\n10\t0\n11\t0\n12\t2\n13\t2\n";
// An export from before the unit was written as Mbit/s.
const EXPORT_B: &[u8] =
    b"# condition: ipv6\n# metric: throughput (10^6 bits/s)\n# columns: value, boot\n8\t0\n9\t2\n9.5\t2\n";

#[test]
fn netassay_s_own_files_name_everything() {
    let read = dataset(&[("a.stat", EXPORT_A), ("b.stat", EXPORT_B)], &default()).unwrap();
    let group = &read.groups[0];
    assert_eq!(group.labels, ["ipv4", "ipv6"]);
    assert_eq!((group.metric.as_deref(), group.unit.as_deref()), (Some("throughput"), Some("Mbit/s")));
    // Both conditions were measured in the same boots.
    assert_eq!(values(&read, 0, 0), [(0, 10.0), (0, 11.0), (1, 12.0), (1, 13.0)]);
    assert_eq!(values(&read, 0, 1), [(0, 8.0), (1, 9.0), (1, 9.5)]);
    assert!(group.boots.is_some() && group.notes.is_empty() && read.notes.is_empty());
    assert_eq!(group.baseline, 0);

    let nested = Options { design: Some(Design::Nested), ..default() };
    let read = dataset(&[("a.stat", EXPORT_A), ("b.stat", EXPORT_B)], &nested).unwrap();
    assert_eq!((boots(&read, 0, 0), boots(&read, 0, 1)), (vec![0, 1], vec![2, 3]));

    let other = Options { baseline: Some("ipv6".to_owned()), ..default() };
    assert_eq!(dataset(&[("a.stat", EXPORT_A), ("b.stat", EXPORT_B)], &other).unwrap().groups[0].baseline, 1);
}

#[test]
fn the_same_condition_in_two_files_is_before_and_after() {
    let read = dataset(&[("old/a.stat", EXPORT_A), ("new/a.stat", EXPORT_A)], &default()).unwrap();
    assert_eq!(read.groups[0].labels, ["old/a.stat", "new/a.stat"]);
    assert_eq!(read.groups[0].name.as_deref(), Some("ipv4"));
}

#[test]
fn a_second_column_names_boots_if_that_is_said() {
    let columns = b"# columns: value, boot\n1 x\n2 x\n3 y\n";
    let read = |text: &str, options: &Options| dataset(&[("a", text.as_bytes()), ("b", columns)], options);
    let knows = |text: &str| read(text, &default()).map(|read| read.groups[0].boots.is_some());
    assert!(knows("# columns: value, boot\n1 x\n2 x\n3 z\n").unwrap());
    let error = knows("1\n2\n").unwrap_err().to_string();
    assert!(error.contains("runs without boots, while b names them"), "{error}");
    let named = Options { boot: Some(BootColumn::Named("2".to_owned())), ..default() };
    assert!(read("1 x\n2 y\n3 z\n", &named).unwrap().groups[0].boots.is_some());
    assert_eq!(
        read("1\n", &named).unwrap_err().to_string(),
        "a:1:2: no column 2 in \"1\"; complete the line, or put # before it"
    );
    let ignored = Options { boot: Some(BootColumn::None), ..default() };
    assert!(read("1\n2\n", &ignored).unwrap().groups[0].boots.is_none());
}

#[test]
fn counted_boots_belong_to_their_condition() {
    let sized = |design| Options { boots: Boots::Sizes(vec![2, 1]), design, ..default() };
    let files: [(&str, &[u8]); 2] = [("a", b"1\n2\n3\n"), ("b", b"4\n5\n6\n")];
    let nested = dataset(&files, &sized(None)).unwrap();
    assert_eq!(values(&nested, 0, 0), [(0, 1.0), (0, 2.0), (1, 3.0)]);
    assert_eq!(values(&nested, 0, 1), [(2, 4.0), (2, 5.0), (3, 6.0)]);
    let over =
        dataset(&[("a", b"# columns: value, boot\n1 x\n2 x\n3 y\n"), ("b", b"4\n5\n6\n")], &sized(None))
            .unwrap();
    assert_eq!(values(&over, 0, 0), values(&nested, 0, 0));
    assert!(over.groups[0].notes[0].contains("--boots replaces"), "{:?}", over.groups[0].notes);
    let crossed = dataset(&files, &sized(Some(Design::Crossed))).unwrap();
    assert_eq!(values(&crossed, 0, 1), [(0, 4.0), (0, 5.0), (1, 6.0)]);
}

#[test]
fn without_boots_each_run_counts_by_itself_and_that_is_reported() {
    let read = dataset(&[("a", b"1\n2\n"), ("b", b"3\n4\n")], &default()).unwrap();
    let boots: Vec<u32> = read.groups[0].observations.iter().map(|run| run.boot).collect();
    assert_eq!(boots, [0, 1, 2, 3]);
    assert!(read.groups[0].boots.is_none() && read.groups[0].notes[0].contains("too narrow"));
}

#[test]
fn a_table_may_hold_all_conditions() {
    let text = b"Value,Condition,Boot\n1,a,x\n2,b,x\n\"3\",a,y\n4,b,y\n";
    let read = dataset(&[("t.csv", text)], &default()).unwrap();
    assert_eq!(read.groups[0].labels, ["a", "b"]);
    assert_eq!(values(&read, 0, 1), [(0, 2.0), (1, 4.0)]);

    let text = b"run;kernel;gbps;machine\n1;old;9.1;m1\n2;new;9.4;m1\n3;old;9.2;m2\n4;new;9.3;m2\n";
    let named = |word: &str| Some(word.to_owned());
    let options = Options {
        value: named("gbps"),
        condition: named("kernel"),
        boot: Some(BootColumn::Named("machine".to_owned())),
        ..default()
    };
    let read = dataset(&[("t.csv", text)], &options).unwrap();
    assert_eq!(
        (read.groups[0].metric.as_deref(), &read.groups[0].labels[..]),
        (Some("gbps"), &["old".to_owned(), "new".to_owned()][..])
    );
    assert_eq!(boots(&read, 0, 1), [0, 1]);
}

#[test]
fn a_table_may_have_a_column_for_each_metric() {
    let text = b"condition,throughput,cpu\na,1,10\nb,2,20\n";
    let read = dataset(&[("t.csv", text)], &Options { metric: Some("cpu".to_owned()), ..default() }).unwrap();
    assert_eq!((read.groups[0].metric.as_deref(), values(&read, 0, 1)[0].1), (Some("cpu"), 20.0));
}

#[test]
fn a_name_for_files_does_not_mix_their_commands() {
    let both = b"value,condition\n1,./x\n2,./y\n";
    let read = dataset(&[("old=1", both), ("new=2", both)], &default()).unwrap();
    let names: Vec<Option<&str>> = read.groups.iter().map(|group| group.name.as_deref()).collect();
    assert_eq!(names, [Some("./x"), Some("./y")]);
    let one: [&[u8]; 2] = [b"value,condition\n1,./x\n", b"value,condition\n1,./y\n"];
    let read = dataset(&[("old=1", one[0]), ("new=2", one[1])], &default()).unwrap();
    assert_eq!((read.groups[0].name.as_deref(), read.groups[0].labels.len()), (None, 2));
}

#[test]
fn a_metric_that_is_asked_for_is_the_file_s() {
    let asked = |word: &str| Options { metric: Some(word.to_owned()), ..default() };
    let files = [("a.stat", EXPORT_A), ("b.stat", EXPORT_B)];
    assert!(dataset(&files, &asked("Throughput")).is_ok());
    let error = dataset(&files, &asked("cpu")).unwrap_err().to_string();
    assert_eq!(error, "a.stat:1:1: no result with the metric \"cpu\"; --metric takes throughput");
    let plain: [(&str, &[u8]); 2] = [("a", b"1\n"), ("b", b"2\n")];
    assert_eq!(dataset(&plain, &asked("cpu")).unwrap().groups[0].metric.as_deref(), Some("cpu"));
}

#[test]
fn netassay_s_own_table_leaves_out_what_is_no_measurement() {
    let header = "study,name,boot,part,block,repeat,position,warmup,condition,label,started_unix_ms,status,reason,metric,unit,value\n";
    let row = |boot: u32, warmup: u32, label: &str, status: &str, metric: &str, value: &str| {
        format!("1,s,{boot},0,0,0,0,{warmup},0,{label},0,{status},,{metric},MB/s,{value}\n")
    };
    let text = [
        header.to_owned(),
        row(0, 1, "a", "ok", "throughput", "99"),
        row(0, 0, "a", "ok", "throughput", "1"),
        row(0, 0, "b", "ok", "throughput", "2"),
        row(1, 0, "a", "failed", "throughput", "98"),
        row(1, 0, "a", "ok", "throughput", "3"),
        row(1, 0, "b", "ok", "", ""),
        row(1, 0, "b", "ok", "throughput", "4"),
        row(1, 0, "b", "ok", "loss", "0.1"),
    ]
    .concat();
    let wanted = Options { metric: Some("throughput".to_owned()), ..default() };
    let read = dataset(&[("t.csv", text.as_bytes())], &wanted).unwrap();
    assert_eq!(values(&read, 0, 0), [(0, 1.0), (1, 3.0)]);
    assert_eq!(values(&read, 0, 1), [(0, 2.0), (1, 4.0)]);
    assert_eq!(
        read.notes,
        [
            "t.csv: left out: rows of warm-up runs: 1, in line 2",
            "t.csv: left out: rows of failed runs (status \"failed\"): 1, in line 5",
            "t.csv: left out: rows without metric and value: 1, in line 7"
        ]
    );
    let error = dataset(&[("t.csv", text.as_bytes())], &default()).unwrap_err().to_string();
    assert_eq!(error, "t.csv:1:1: 2 metrics; choose with --metric: all, loss, throughput");
}

#[test]
fn what_cannot_be_compared_is_reported() {
    let say = |files: &[(&str, &[u8])], options: &Options| dataset(files, options).unwrap_err().to_string();
    assert_eq!(
        say(&[("a", b"1\n")], &default()),
        "one condition only, \"a\": give a second file to compare it with"
    );
    assert_eq!(
        say(&[("a", b"# metric: loss (%)\n1\n"), ("b", b"# metric: cpu (%)\n1\n")], &default()),
        "nothing to compare: a holds loss, b holds cpu; choose with --metric, or give files of the same one"
    );
    assert_eq!(
        say(&[("a", b"# metric: time (s)\n1\n"), ("b", b"# metric: time (ms)\n1\n")], &default()),
        "b:2:1: values in ms, where others are in s; compare values of one unit"
    );
    let other = Options { baseline: Some("c".to_owned()), ..default() };
    assert_eq!(
        say(&[("a", b"1\n"), ("b", b"2\n")], &other),
        "there is no condition \"c\" to compare with; there are \"a\", \"b\""
    );
    let ragged = Options { boots: Boots::Sizes(vec![10, 10]), ..default() };
    assert_eq!(
        say(&[("a", b"1\n2\n"), ("b", b"2\n")], &ragged),
        "a:2:1: 2 values, but --boots gives 20; give as many runs as there are values, or a column that names the boots"
    );
}
