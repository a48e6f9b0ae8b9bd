//! The time to read files: `cargo run --release -p netassay-samples --example reading -- FILE…`.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::time::Instant;

use netassay_samples::{MeasurementFile, Options};

fn main() -> Result<(), Box<dyn Error>> {
    for name in std::env::args().skip(1) {
        let start = Instant::now();
        let sheet = MeasurementFile::read(&name, File::open(&name)?, &Options::default())?;
        let (count, time) = (sheet.values(), start.elapsed().as_secs_f64());
        writeln!(std::io::stdout(), "{name}: {} values as {} in {time:.3} s", count, sheet.format)?;
    }
    Ok(())
}
