//! Faults of a figure: labels that cover each other, and parts beyond the edge.

use crate::chart::{Area, Figure};

/// The file of a figure, an element a line, without the style sheet that all have.
pub(crate) fn lines(figure: &Figure, width: f64) -> String {
    let file = figure.picture(width).to_string();
    let (before, rest) = file.split_once("<style>").expect("a file has a style sheet");
    let (_, after) = rest.split_once("</style>").expect("its element ends");
    format!("{before}{after}").replace("><", ">\n<")
}

/// The faults of a figure at a width.
pub(crate) fn faults(figure: &Figure, width: f64) -> Vec<String> {
    let drawing = figure.draw(width);
    let inside = |what: &str, area: &Area| {
        (!area.is_within(drawing.width, drawing.height)).then(|| format!("{what} is outside: {area:?}"))
    };
    let mut faults: Vec<String> = inside("a mark", &drawing.marks)
        .into_iter()
        .filter(|_| drawing.marks.left <= drawing.marks.right)
        .collect();
    for (index, label) in drawing.labels.iter().enumerate() {
        let (text, area) = label;
        faults.extend(inside(text, area));
        let covered = drawing.labels[..index].iter().filter(|(_, other)| other.meets(area));
        faults.extend(covered.map(|other| format!("{:?} covers {:?}", label, other)));
    }
    faults.into_iter().map(|fault| format!("{} at {width}: {fault}", figure.id)).collect()
}
