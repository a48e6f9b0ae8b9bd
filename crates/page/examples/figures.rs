//! The figures of stored studies as files: `figures DATABASE DIRECTORY NUMBER…` writes each figure
//! for each width and theme, and its words.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, error, fs, io};

use chart::{NARROW, Theme, WIDE};
use netassay_page::{Study, figures};
use report::Results;
use store::{Store, StudyId};

fn main() -> Result<(), Box<dyn error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [database, directory, numbers @ ..] = arguments.as_slice() else {
        return Err(io::Error::other("usage: figures DATABASE DIRECTORY NUMBER…").into());
    };
    let directory = Path::new(directory);
    fs::create_dir_all(directory)?;
    let store = Store::open_read_only(database)?;
    let mut studies = Vec::new();
    for number in numbers {
        let id = StudyId(number.parse()?);
        studies.push(Study { results: Results::new(&store.load(id)?.shown())?, series: store.series(id)? });
    }
    let (mut words, mut bytes) = (String::new(), 0);
    for section in figures::sections(&studies) {
        writeln!(words, "# {} ({})\n{}\n", section.title, section.id, section.about.join("\n"))?;
        for (figure, place) in section
            .figures
            .iter()
            .map(|figure| (figure, ""))
            .chain(section.folded.iter().map(|figure| (figure, " (folded)")))
        {
            let html = if place.is_empty() { figure.html() } else { figure.small_html() };
            bytes += html.as_str().len();
            writeln!(words, "## {} ({}){place}\n{}\n", figure.title, figure.id, figure.description)?;
            for panel in &figure.panels {
                writeln!(words, "- {}", panel.title)?;
            }
            for (width, across) in [("wide", WIDE), ("narrow", NARROW)] {
                for (theme, colours) in [("light", Theme::Light), ("dark", Theme::Dark)] {
                    let name = format!("{}-{width}-{theme}.svg", figure.id);
                    fs::write(directory.join(name), figure.file(across, colours).as_str())?;
                }
            }
        }
    }
    writeln!(words, "{bytes} bytes as HTML")?;
    fs::write(directory.join("words.md"), words)?;
    Ok(())
}
