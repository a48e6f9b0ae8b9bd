//! Every kind of figure, from made-up studies like the published ones: `gallery DIRECTORY` writes
//! one page, and each figure as a file for each width and theme.

mod figures;

use std::path::Path;
use std::{env, fs, io};

use netassay_chart::{Figure, Markup, NARROW, SCRIPT, Theme, WIDE, fixed, stylesheet};

fn main() -> io::Result<()> {
    let Some(directory) = env::args_os().nth(1) else {
        return Err(io::Error::other("which directory? usage: gallery DIRECTORY"));
    };
    let directory = Path::new(&directory);
    fs::create_dir_all(directory)?;
    let figures = figures::all();
    fs::write(directory.join("gallery.html"), page(&figures).as_str())?;
    for figure in &figures {
        for (width, across) in [("wide", WIDE), ("narrow", NARROW)] {
            for (theme, colours) in [("light", Theme::Light), ("dark", Theme::Dark)] {
                let name = format!("{}-{width}-{theme}.svg", figure.id);
                fs::write(directory.join(name), figure.file(across, colours).as_str())?;
            }
        }
    }
    Ok(())
}

fn page(figures: &[Figure]) -> Markup {
    let mut page = Markup::new();
    page.fixed(fixed!("<!DOCTYPE html>\n"));
    page.element("html", &[("lang", "en".into())], |html| {
        html.element("head", &[], |head| {
            head.fixed(fixed!(
                "<meta charset=\"utf-8\"/><title>Gallery</title>\
                 <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
                 <style>body{max-width:960px;margin:1rem auto;padding:0 16px;\
                 font:16px system-ui,sans-serif;background:var(--chart-paper);color:var(--chart-ink)}\
                 a{color:inherit}</style>"
            ));
            head.append(&stylesheet());
        });
        html.element("body", &[], |body| {
            body.element("main", &[], |main| {
                main.element("h1", &[], |head| head.text("Gallery"));
                for figure in figures {
                    main.append(&figure.html());
                }
            });
            body.element("script", &[], |script| script.fixed(SCRIPT));
        });
    });
    page
}
