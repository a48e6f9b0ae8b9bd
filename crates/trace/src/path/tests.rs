use super::*;
use proptest::prelude::*;

const GOOD: &str = "about = \"x\"\nworkload = \"udp_rr\"\n[[stage]]\nlabel = \"a\"\nlane = \"ip\"\nipv4 = [\"f\", \"g\"]\nipv6 = [\"h\"]\n\
                        [[stage]]\nlabel = \"a\"\nat = \"return\"\nlane = \"ip\"\nfunctions = [\"f\"]\noptional = true\n";

fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from));
    TracePath::parse("p.toml", &GOOD.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn a_path_is_read_in_order() {
    let path = TracePath::parse("p.toml", GOOD).unwrap();
    assert_eq!((path.about.get_ref().as_str(), path.stages.len()), ("x", 2));
    let functions = |stage: usize, ipv6: bool| {
        let names = path.stages[stage].functions_of(ipv6).iter();
        names.map(|name| name.get_ref().as_str()).collect::<Vec<_>>()
    };
    assert_eq!((functions(0, false), functions(0, true)), (vec!["f", "g"], vec!["h"]));
    assert_eq!((path.stages[1].at, path.stages[1].optional), (At::Return, true));
    assert_eq!((functions(1, false), functions(1, true)), (vec!["f"], vec!["f"]));
}

#[test]
fn each_mistake_is_named_with_its_place_and_the_way_out() {
    for (from, to, place, words) in [
        ("lane = \"ip\"", "lnae = \"ip\"", "p.toml:5:1", "lnae"),
        ("lane = \"ip\"", "lane = \"moon\"", "p.toml:5:8", "interrupt"),
        ("ipv6 = [\"h\"]\n", "", "p.toml:4:9", "both `ipv4` and `ipv6`"),
        ("ipv6 = [\"h\"]", "functions = [\"h\"]", "p.toml:4:9", "give `functions`, or"),
        ("functions = [\"f\"]\n", "", "p.toml:9:9", "give `functions`, or"),
        ("\"h\"", "\"h.isra.0\"", "p.toml:7:9", "without a suffix"),
        ("\"g\"", "\"f\"", "p.toml:6:14", "twice"),
        ("at = \"return\"", "at = \"entry\"", "p.toml:9:9", "keep one of them"),
        ("about = \"x\"", "about = \"\\u001b[2K\"", "p.toml:1:9", "printable"),
        ("\"udp_rr\"", "\"udp_rx\"", "p.toml:2:12", "udp_rr"),
    ] {
        let error = refused(from, to);
        assert!(error.starts_with(place) && error.contains(words), "{to}: {error}");
    }
    assert!(TracePath::parse("p", &" ".repeat(MOST_BYTES + 1)).unwrap_err().problem.contains("at most"));
    assert!(
        TracePath::parse("p", "about = \"x\"\nworkload = \"udp_rr\"\nstage = []")
            .unwrap_err()
            .problem
            .contains("0 stages")
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}", at in 0..GOOD.len(), piece in "\\PC{0,3}|[\\[\\]\"=\n]{1,4}") {
        let _ = TracePath::parse("p", &text);
        let (head, tail) = GOOD.split_at(at);
        if let Err(error) = TracePath::parse("p", &format!("{head}{piece}{tail}")) {
            prop_assert!(error.line >= 1 && error.column >= 1 && !error.problem.is_empty());
        }
    }
}

#[test]
fn every_file_is_bundled_and_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../paths");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), KernelPath::ALL.len());
    for word in KernelPath::ALL {
        let text = std::fs::read_to_string(format!("{folder}/{word}.toml")).unwrap();
        assert_eq!(text, bundled_text(word), "{word}");
        let path = TracePath::parse(word.word(), &text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(path, TracePath::bundled(word));
        assert!(!path.about.get_ref().is_empty());
        assert!(word.carries(path.workload), "{word}");
    }
}
