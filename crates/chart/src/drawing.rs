//! What is drawn, and how much room it takes.

use std::mem;

use crate::markup::{Attribute, Markup, number};
use crate::measure;

/// A rectangle, in px, from the upper left corner of the drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Its left edge.
    pub left: f64,
    /// Its upper edge.
    pub top: f64,
    /// Its right edge.
    pub right: f64,
    /// Its lower edge.
    pub bottom: f64,
}

/// A line of text and the room that it takes at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The text.
    pub text: String,
    /// Where it is.
    pub area: Area,
}

/// A picture in the making: marks and texts in px, `y` downwards.
#[derive(Debug, Clone)]
pub struct Drawing {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// Every line of text in it.
    pub labels: Vec<Label>,
    /// What all marks are within.
    pub marks: Area,
    back: Markup,
    front: Markup,
}

/// Which end of a text stands where it is said to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line with corners, or many dots.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    data: String,
    area: Area,
}

impl Area {
    /// Where nothing is.
    const NONE: Self = Self { left: f64::MAX, top: f64::MAX, right: f64::MIN, bottom: f64::MIN };

    /// Whether both cover some place.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether it is within a drawing of that size.
    #[must_use]
    pub fn is_within(&self, width: f64, height: f64) -> bool {
        const ROUNDED: f64 = 0.01;
        self.left >= -ROUNDED
            && self.top >= -ROUNDED
            && self.right <= width + ROUNDED
            && self.bottom <= height + ROUNDED
    }

    fn reach(&mut self, x: f64, y: f64) {
        self.left = self.left.min(x);
        self.top = self.top.min(y);
        self.right = self.right.max(x);
        self.bottom = self.bottom.max(y);
    }

    fn join(&mut self, other: &Self, x: f64, y: f64) {
        if other.left <= other.right {
            self.reach(other.left + x, other.top + y);
            self.reach(other.right + x, other.bottom + y);
        }
    }
}

impl Path {
    pub(crate) fn new() -> Self {
        Self { data: String::new(), area: Area::NONE }
    }

    pub(crate) fn to(&mut self, x: f64, y: f64) -> &mut Self {
        self.step(if self.data.is_empty() { 'M' } else { 'L' }, x, y)
    }

    /// Straight up or down to a height, from where it is.
    pub(crate) fn upright(&mut self, x: f64, y: f64) -> &mut Self {
        self.data.push('V');
        self.data.push_str(&number(y));
        self.area.reach(x, y);
        self
    }

    /// Straight to the left or right to a place, at the height `y` where it is.
    pub(crate) fn across(&mut self, x: f64, y: f64) -> &mut Self {
        self.data.push('H');
        self.data.push_str(&number(x));
        self.area.reach(x, y);
        self
    }

    /// Begins anew at a place.
    pub(crate) fn from(&mut self, x: f64, y: f64) -> &mut Self {
        self.step('M', x, y)
    }

    pub(crate) fn dot(&mut self, x: f64, y: f64) {
        self.step('M', x, y);
        self.data.push_str("h0");
    }

    pub(crate) fn close(&mut self) {
        self.data.push('z');
    }

    fn step(&mut self, command: char, x: f64, y: f64) -> &mut Self {
        self.data.push(command);
        self.data.push_str(&number(x));
        self.data.push(' ');
        self.data.push_str(&number(y));
        self.area.reach(x, y);
        self
    }
}

impl Drawing {
    pub(crate) fn new(width: f64) -> Self {
        Self {
            width,
            height: 0.0,
            labels: Vec::new(),
            marks: Area::NONE,
            back: Markup::new(),
            front: Markup::new(),
        }
    }

    /// What is inside of the `svg` element.
    pub(crate) fn markup(&self) -> Markup {
        let mut markup = self.back.clone();
        markup.append(&self.front);
        markup
    }

    /// A line of text, on its base line.
    pub(crate) fn text(&mut self, class: &str, anchor: Anchor, x: f64, y: f64, text: &str) {
        let text = text::line(text);
        if text.is_empty() {
            return;
        }
        let (label, word) = (label(anchor, x, y, &text), anchor.word());
        let attributes: [(&'static str, Attribute<'_>); 4] =
            [("x", x.into()), ("y", y.into()), ("class", class.into()), ("text-anchor", word.into())];
        let skipped = [class.is_empty(), anchor == Anchor::Start];
        let kept: Vec<_> = attributes
            .into_iter()
            .filter(|(name, _)| !(skipped[0] && *name == "class" || skipped[1] && *name == "text-anchor"))
            .collect();
        self.front.element("text", &kept, |inside| inside.text(&text));
        self.labels.push(label);
    }

    /// The same where it covers no other text and nothing beyond the edge; says whether it does.
    pub(crate) fn text_if_free(&mut self, class: &str, anchor: Anchor, x: f64, y: f64, text: &str) -> bool {
        let area = label(anchor, x, y, &text::line(text)).area;
        let inside = area.is_within(self.width, f64::MAX);
        let free = inside && !self.labels.iter().any(|other| other.area.meets(&area));
        if free {
            self.text(class, anchor, x, y, text);
        }
        free
    }

    /// Lines of text, the first on `y`.
    pub(crate) fn lines(&mut self, class: &str, anchor: Anchor, x: f64, y: f64, lines: &[String]) {
        for (line, index) in lines.iter().zip(0_u16..) {
            self.text(class, anchor, x, y + f64::from(index) * measure::LINE, line);
        }
    }

    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let mut path = Path::new();
        path.to(from.0, from.1).to(to.0, to.1);
        self.path(class, &path);
    }

    /// What is drawn behind all else.
    pub(crate) fn behind(&mut self, inside: impl FnOnce(&mut Self)) {
        mem::swap(&mut self.back, &mut self.front);
        inside(self);
        mem::swap(&mut self.back, &mut self.front);
    }

    pub(crate) fn rect(&mut self, class: &str, area: Area) {
        self.marks.join(&area, 0.0, 0.0);
        let attributes: [(&'static str, Attribute<'_>); 5] = [
            ("class", class.into()),
            ("x", area.left.into()),
            ("y", area.top.into()),
            ("width", (area.right - area.left).into()),
            ("height", (area.bottom - area.top).into()),
        ];
        self.front.empty("rect", &attributes);
    }

    pub(crate) fn path(&mut self, class: &str, path: &Path) {
        self.marks.join(&path.area, 0.0, 0.0);
        self.front.empty("path", &[("class", class.into()), ("d", path.data.as_str().into())]);
    }

    pub(crate) fn circle(&mut self, class: &str, x: f64, y: f64, radius: f64) {
        let area = Area { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius };
        self.marks.join(&area, 0.0, 0.0);
        let attributes: [(&'static str, Attribute<'_>); 4] =
            [("class", class.into()), ("cx", x.into()), ("cy", y.into()), ("r", radius.into())];
        self.front.empty("circle", &attributes);
    }

    /// A mark that tells `title` where a pointer or the keyboard's focus is on it.
    pub(crate) fn mark(&mut self, title: &str, inside: impl FnOnce(&mut Self)) {
        let attributes = [("class", "mark".into()), ("role", "img".into()), ("tabindex", "0".into())];
        self.group(&attributes, Some(title), inside);
    }

    /// A mark among many: it tells `title` where a pointer is on it.
    pub(crate) fn hint(&mut self, title: &str, inside: impl FnOnce(&mut Self)) {
        self.group(&[], Some(title), inside);
    }

    /// Another drawing, with its upper left corner there.
    pub(crate) fn place(&mut self, drawing: &Self, x: f64, y: f64) {
        let moved = format!("translate({} {})", number(x), number(y));
        self.group(&[("transform", moved.as_str().into())], None, |group| {
            group.front.append(&drawing.markup());
        });
        self.marks.join(&drawing.marks, x, y);
        self.labels.extend(drawing.labels.iter().map(|label| {
            let mut area = Area::NONE;
            area.join(&label.area, x, y);
            Label { text: label.text.clone(), area }
        }));
    }

    fn group(
        &mut self,
        attributes: &[(&'static str, Attribute<'_>)],
        title: Option<&str>,
        inside: impl FnOnce(&mut Self),
    ) {
        let outer = mem::take(&mut self.front);
        inside(self);
        let inner = mem::replace(&mut self.front, outer);
        self.front.element("g", attributes, |group| {
            if let Some(title) = title {
                group.element("title", &[], |inside| inside.text(&text::reason(title)));
            }
            group.append(&inner);
        });
    }
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

fn label(anchor: Anchor, x: f64, y: f64, text: &str) -> Label {
    let width = measure::width(text);
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    let area =
        Area { left, top: y - measure::SIZE * 0.85, right: left + width, bottom: y + measure::SIZE * 0.25 };
    Label { text: text.to_owned(), area }
}
