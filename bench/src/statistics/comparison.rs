//! `netassay compare` on two large files: what honest intervals cost beside the drop-in's.

use serde_json::{Value, json};

use super::material::{Content, Material};
use crate::bench::Bench;
use crate::failure::Failure;
use crate::report::Report;
use crate::spread::Spread;
use crate::timed::{self, Timed};

/// Boots that each file is cut into.
const BOOTS: u64 = 5;

/// Times it `repeats` times after once that is not counted.
pub(super) fn tell(
    bench: &Bench<'_>,
    material: &Material,
    lines: u64,
    repeats: u32,
    floor_mib: f64,
    report: &mut Report,
) -> Result<Value, Failure> {
    let files = [material.file(Content::Numbers)?, material.file(Content::OtherNumbers)?];
    let boots = boots(lines);
    let words = ["compare", files[0], files[1], "--boots", &boots];
    let mut times: Vec<Timed> = Vec::new();
    for number in 0..=repeats {
        let (timed, _) = timed::run(&bench.netassay.program, &words, material.path())?;
        if bench.interrupt.is_tripped() {
            return Err(Failure::Interrupted);
        }
        if number > 0 {
            times.push(timed);
        }
    }
    let over = |of: fn(&Timed) -> f64| Spread::of(times.iter().map(of));
    if let (Some(wall), Some(peak)) = (over(|timed| timed.wall_ms), over(|timed| timed.peak_mib)) {
        let peak = if peak.median > floor_mib { format!("{:.1} MiB", peak.median) } else { "-".to_owned() };
        report.note(format!(
            "netassay compare, two files of {lines} lines, {BOOTS} boots each: {:.0} ms ({:.0} to {:.0}, {} times), {peak}",
            wall.median, wall.min, wall.max, wall.count
        ));
    }
    Ok(json!({"lines": lines, "boots": boots, "times": times}))
}

/// So many lines in equal boots, as `--boots` takes them; what is left over goes to the last.
fn boots(lines: u64) -> String {
    let each = lines / BOOTS;
    let counts = (1..=BOOTS).map(|boot| if boot == BOOTS { lines - each * (BOOTS - 1) } else { each });
    counts.map(|count| count.to_string()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_line_is_left_out() {
        assert_eq!(super::boots(50), "10,10,10,10,10");
        assert_eq!(super::boots(13), "2,2,2,2,5");
    }
}
