//! Markup into which no text of others gets but through the escaping of the place where it stands.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Well-formed HTML or SVG, made of names in the source, of text and of numbers, each escaped for
/// its place; of no raw string. The parts of a table have no end tags, as HTML allows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markup(String);

/// The value of an attribute.
#[derive(Debug, Clone, Copy)]
pub enum Attribute<'a> {
    /// Text. An address, a style or a script is none: [`Markup`] refuses their names. An empty
    /// class is left out.
    Text(&'a str),
    /// A number as SVG writes it, to tenths; 0 if it is not finite.
    Number(f64),
    /// A link to an element of the same page.
    Link(&'a Id),
    /// A file inside the page, as an address that holds it (RFC 2397): its media type and content.
    File(&'static str, &'a [u8]),
}

/// Markup, a style or a script that stands in the source, of no text of others:
/// [`fixed!`](crate::fixed) makes it of a literal or of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed(Cow<'static, str>);

impl Fixed {
    /// For [`fixed!`](crate::fixed) only.
    #[doc(hidden)]
    pub const fn literal(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// Rules that are made of constants of the source.
    pub(crate) fn generated(rules: String) -> Self {
        Self(rules.into())
    }

    /// With more behind it.
    #[must_use]
    pub fn and(mut self, more: &Self) -> Self {
        self.0.to_mut().push_str(&more.0);
        self
    }

    /// As it stands in its element, where a security policy can name it by its hash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A literal of the source as [`Fixed`](crate::chart::Fixed), or `file` with the path of a file
/// beside the source.
///
/// ```
/// let mut page = netassay_report::chart::Markup::new();
/// page.fixed(netassay_report::fixed!("<!DOCTYPE html>"));
/// ```
///
/// Text that is known only when the program runs is none:
///
/// ```compile_fail
/// let text: &'static str = String::from("<b>").leak();
/// netassay_report::chart::Markup::new().fixed(netassay_report::fixed!(text));
/// ```
#[macro_export]
macro_rules! fixed {
    ($text:literal) => {
        $crate::chart::Fixed::literal($text)
    };
    (file $path:literal) => {
        $crate::chart::Fixed::literal(include_str!($path))
    };
}

/// The name of an element in a page, for links: small letters, digits and hyphens, a letter first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(String);

impl Id {
    // The longest, in bytes.
    const MOST: usize = 64;

    /// A name like the text: other characters are hyphens. Different texts may get the same one.
    pub fn new(text: &str) -> Self {
        let mut id = String::from("f");
        for letter in text.chars().take(Self::MOST - 1) {
            match letter.to_ascii_lowercase() {
                small if small.is_ascii_alphanumeric() => id.push(small),
                // Several in sequence are one hyphen.
                _ if !id.ends_with('-') => id.push('-'),
                _ => {}
            }
        }
        // A name must begin with a letter: `f` stands before a name that does not.
        let named = id[1..].starts_with(|first: char| first.is_ascii_lowercase());
        Self(if named { id.split_off(1) } else { id })
    }

    /// The name of a part of it.
    pub fn part(&self, part: &'static str) -> Self {
        Self(format!("{}-{part}", self.0))
    }

    /// As it stands in an attribute.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The attributes of an element: names with values.
pub type Attributes<'a> = [(&'static str, Attribute<'a>)];

impl<'a> From<&'a str> for Attribute<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Attribute<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl Markup {
    /// Empty markup.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an element with the content that `inside` adds.
    ///
    /// # Panics
    /// If text is given as an address, a style or a script: a mistake of the source.
    pub fn element(
        &mut self,
        name: &'static str,
        attributes: &Attributes<'_>,
        inside: impl FnOnce(&mut Self),
    ) {
        self.open(name, attributes);
        self.0.push('>');
        inside(self);
        if !UNENDED.contains(&name) {
            write!(self.0, "</{name}>").expect("writing to a string cannot fail");
        }
    }

    /// Adds an element that can hold nothing.
    ///
    /// # Panics
    /// As [`Self::element`].
    pub fn empty(&mut self, name: &'static str, attributes: &Attributes<'_>) {
        self.open(name, attributes);
        self.0.push_str("/>");
    }

    /// Adds text; its lines and tabs stay.
    pub fn text(&mut self, text: &str) {
        escape(&words::sanitised_lines(text), &mut self.0);
    }

    /// Adds text of a figure: words of others may be too long for it.
    pub(crate) fn short_text(&mut self, text: &str) {
        self.text(&words::shortened_reason(text));
    }

    /// Adds an element `style` with these rules, or `script` with this script.
    ///
    /// # Panics
    /// If the code would end its element early: a mistake of the source.
    pub fn code(&mut self, element: &'static str, code: &Fixed) {
        let text = code.as_str();
        assert!(!text.contains("</") && !text.contains("<!--"), "code must not end its element");
        self.element(element, &[], |inside| inside.0.push_str(text));
    }

    /// Adds markup that stands in the source.
    pub fn fixed(&mut self, markup: Fixed) {
        self.0.push_str(&markup.0);
    }

    /// Adds other markup.
    pub fn append(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// The markup as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn open(&mut self, name: &'static str, attributes: &Attributes<'_>) {
        write!(self.0, "<{name}").expect("writing to a string cannot fail");
        for (name, value) in attributes {
            // An empty class would only take room.
            if matches!((*name, value), ("class", Attribute::Text(""))) {
                continue;
            }
            write!(self.0, " {name}=\"").expect("writing to a string cannot fail");
            match value {
                Attribute::Text(text) => {
                    assert!(!commands(name), "the attribute {name} takes no text");
                    escape(&words::sanitised_line(text), &mut self.0);
                }
                Attribute::Number(value) => self.0.push_str(&number(*value)),
                Attribute::Link(id) => write!(self.0, "#{id}").expect("writing to a string cannot fail"),
                // No letter of base64 needs an escape.
                Attribute::File(media, bytes) => {
                    write!(self.0, "data:{media};base64,").expect("writing to a string cannot fail");
                    STANDARD.encode_string(bytes, &mut self.0);
                }
            }
            self.0.push('"');
        }
    }
}

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// End tags that are optional where a table holds nothing else (HTML, 13.1.2.4): a page of many
// conditions is shorter by a fifteenth without them.
const UNENDED: [&str; 5] = ["thead", "tbody", "tr", "th", "td"];

/// Whether a browser follows, runs or applies the value of the attribute.
fn commands(name: &str) -> bool {
    name.starts_with("on") || matches!(name, "href" | "xlink:href" | "src" | "srcdoc" | "action" | "style")
}

fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML has none of the two last code points of the first plane.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
}

/// A number as SVG writes it.
pub(crate) fn number(value: f64) -> String {
    // Infinities have no place in a drawing, and SVG has no word for them.
    if !value.is_finite() {
        return "0".to_owned();
    }
    // A tenth of a px is not seen.
    let shown = format!("{value:.1}");
    let short = shown.trim_end_matches(".0");
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}
