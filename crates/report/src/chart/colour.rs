//! The colours, and the style sheet in which they stand.

use crate::chart::markup::Fixed;
use crate::chart::table::NAMED;

/// A colour by its role, in both themes, as `#rrggbb`.
#[derive(Debug, Clone, Copy)]
pub struct Colour {
    /// Its variable in the style sheet is `--chart-` and this.
    pub name: &'static str,
    /// On light paper.
    pub light: &'static str,
    /// On dark paper.
    pub dark: &'static str,
}

const fn colour(name: &'static str, light: &'static str, dark: &'static str) -> Colour {
    Colour { name, light, dark }
}

/// The number of colours that tell series apart.
pub const SERIES: usize = 6;

/// All colours. Those of series are Okabe and Ito's hues ("Color Universal Design", 2008), moved in
/// lightness until each has a contrast of 3 to its paper and any two differ for every kind of
/// sight: the tests measure both.
pub const COLOURS: &[Colour] = &[
    colour("c0", "#1f5fd0", "#5c8cf0"),
    colour("c1", "#db5f00", "#e0602f"),
    colour("c2", "#0e9f77", "#3fdda0"),
    colour("c3", "#c265bb", "#c46a9c"),
    colour("c4", "#0b2347", "#f2e45c"),
    colour("c5", "#632a18", "#bcd6ff"),
    colour("ink", "#1b1e23", "#e8eaed"),
    colour("muted", "#565b63", "#a9afb8"),
    colour("paper", "#ffffff", "#15181c"),
    colour("grid", "#e3e6ea", "#2c3138"),
    colour("axis", "#8a8f98", "#787f8a"),
    colour("band", "#edeff2", "#23272d"),
];

// Rules for what is drawn; `@name` stands for a colour. No character in it needs an escape.
const RULES: &str = "
.chart text{font:12px system-ui,Segoe UI,Roboto,DejaVu Sans,Arial,sans-serif;fill:@ink;stroke:@paper;stroke-width:3;paint-order:stroke}
.chart .muted{fill:@muted}
.chart .mid{text-anchor:middle}
.chart .end{text-anchor:end}
.chart .grid{stroke:@grid;fill:none}
.chart .axis{stroke:@axis;fill:none}
.chart .zero{stroke:@ink;fill:none}
.chart .band{fill:@band}
.chart .cover{fill:@paper}
.chart .ink{color:@ink}
.chart .soft{color:@muted}
.chart .fill{fill:currentColor}
.chart .stroke{stroke:currentColor;fill:none;stroke-width:2;stroke-linejoin:round}
.chart .thin{stroke:currentColor;fill:none;stroke-width:1.3}
.chart .range{stroke:currentColor;fill:currentColor;stroke-width:1.3}
.chart .dashed{stroke-dasharray:5 3}
.chart .dotted{stroke-dasharray:2 3}
.chart .dots{stroke:currentColor;fill:none;stroke-width:7;stroke-linecap:round;stroke-opacity:.75}
.chart .tint{fill:currentColor;fill-opacity:.22}
.chart .heat{fill:currentColor;stroke:currentColor}
.chart .h0{fill-opacity:0}
.chart .h1{fill-opacity:.25}
.chart .h2{fill-opacity:.5}
.chart .h3{fill-opacity:.75}
.chart .halo{stroke:@paper;fill:none;stroke-width:4.5}
.chart .cell{fill:none;stroke:@grid}
.chart .box{fill:@paper;stroke:@axis}
";

const PAGE: &str = "
.chart{margin:2rem 0;break-inside:avoid;color:@ink}
.chart svg{max-width:100%;height:auto;overflow:visible}
.chart figcaption p{color:@muted;max-width:60rem;margin:.3rem 0 .8rem}
.chart .mark:focus{outline:2px solid @ink;outline-offset:2px}
.chart-tip{position:absolute;max-width:22rem;padding:.3rem .5rem;font-size:.85rem;background:@paper;color:@ink;border:1px solid @axis;border-radius:3px;pointer-events:none}
.chart-tip small{display:block;color:@muted}
.chart .narrow{display:none}
.chart .panels{display:flex;flex-wrap:wrap;align-items:flex-start;gap:1rem 3rem}
.chart .scroll{overflow-x:auto}
.chart table{border-collapse:collapse}
.chart th,.chart td{padding:.15rem .8rem .15rem 0;text-align:left;border-bottom:1px solid @grid}
@media (max-width:1010px){.chart .wide{display:none}.chart .narrow{display:inline}}
@media print{.chart .wide{display:inline}.chart .narrow{display:none}.chart details{display:none}}
";

/// The class of a series: colours repeat after [`SERIES`].
pub(crate) fn series(index: usize) -> &'static str {
    COLOURS[index % SERIES].name
}

/// The style of a series' line.
pub(crate) fn stroke(index: usize) -> String {
    // Colours repeat: the dashes tell their lines apart.
    let dash = ["", " dashed", " dotted"][(index / SERIES) % 3];
    format!("stroke {}{dash}", series(index))
}

/// The class of a step, from 0 to 4, of a scale of shades of a series' colour.
pub(crate) fn heat_class(series: &str, step: usize) -> String {
    format!("heat {series} h{step}")
}

/// The style sheet of a page with figures: follows the system's theme, or `data-theme` (`light`,
/// `dark`) of the root element; prints light.
pub fn rules_of_pages() -> Fixed {
    let variables = |value: fn(&Colour) -> &'static str| -> String {
        COLOURS.iter().map(|colour| format!("--chart-{}:{};", colour.name, value(colour))).collect()
    };
    let (light, dark) = (variables(|colour| colour.light), variables(|colour| colour.dark));
    let themes = format!(
        ":root{{{light}}}\n:root[data-theme=dark]{{{dark}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         @media print{{:root{{{light}}}}}"
    );
    Fixed::generated(format!("{themes}{}", rules(|colour| format!("var(--chart-{})", colour.name), true)))
}

/// The style sheet of a drawing that stands alone and follows the reader's theme.
pub(crate) fn following() -> Fixed {
    // The light colours stand by themselves: not every program that shows SVG knows variables or
    // themes.
    let themes: [fn(&Colour) -> &'static str; 2] = [|colour| colour.light, |colour| colour.dark];
    let [light, dark] = themes.map(|value| rules(|colour| value(colour).to_owned(), false));
    // Only what the theme changes stands there twice.
    let changed = dark.lines().zip(light.lines()).filter(|(dark, light)| dark != light);
    let changed: String = changed.map(|(dark, _)| format!("{dark}\n")).collect();
    Fixed::generated(format!("{light}@media (prefers-color-scheme:dark){{\n{changed}}}\n"))
}

/// The rules for columns of numbers.
fn numbers() -> String {
    // `--wrap` lets narrow tables break their cells.
    let column = |place| format!(".n{place} :is(td,th):nth-child({place})");
    let columns: Vec<String> = (1..=NAMED).map(column).collect();
    format!(
        "{},.number.number{{text-align:right;white-space:var(--wrap,nowrap);font-variant-numeric:tabular-nums}}\n",
        columns.join(",")
    )
}

fn rules(value: impl Fn(&Colour) -> String, page: bool) -> String {
    let mut rules = if page { format!("{RULES}{PAGE}{}", numbers()) } else { RULES.to_owned() };
    for colour in COLOURS {
        rules = rules.replace(&format!("@{}", colour.name), &value(colour));
    }
    for colour in &COLOURS[..SERIES] {
        rules.push_str(&format!(".chart .{}{{color:{}}}\n", colour.name, value(colour)));
    }
    rules
}
