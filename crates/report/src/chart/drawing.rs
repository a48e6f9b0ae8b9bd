//! A drawing as SVG elements, with the areas of its labels and marks.

use std::mem;

use crate::chart::markup::{Attributes, Markup, number};
use crate::chart::measure;
use crate::chart::path::{Area, SvgPath};

/// A picture in the making: marks and texts in px, `y` downwards.
#[derive(Debug, Clone)]
pub struct Drawing {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// Every line of text in it, with the area that the text covers at most.
    pub labels: Vec<(String, Area)>,
    /// The area that all marks are within.
    pub marks: Area,
    back: Markup,
    front: Markup,
}

/// The end of a text that is at its given place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
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

    pub(crate) fn markup(&self) -> Markup {
        let mut markup = self.back.clone();
        markup.append(&self.front);
        markup
    }

    pub(crate) fn text(&mut self, class: &str, anchor: Anchor, x: f64, y: f64, text: &str) {
        let text = words::sanitised_line(text);
        if text.is_empty() {
            return;
        }
        let side = match anchor {
            Anchor::Start => "",
            Anchor::Middle => "mid",
            Anchor::End => "end",
        };
        let class = [class, side].join(" ");
        let attributes = [("x", x.into()), ("y", y.into()), ("class", class.trim().into())];
        // x is 0 where it is not given.
        let given = &attributes[usize::from(number(x) == "0")..];
        self.front.element("text", given, |inside| inside.text(&text));
        let area = text_area(anchor, x, y, &text);
        self.labels.push((text.into_owned(), area));
    }

    /// Returns whether the text was written.
    pub(crate) fn text_if_free(&mut self, class: &str, anchor: Anchor, x: f64, y: f64, text: &str) -> bool {
        let area = text_area(anchor, x, y, &words::sanitised_line(text));
        // The height grows until the drawing is closed.
        let inside = area.is_within(self.width, f64::MAX);
        let free = inside && !self.labels.iter().any(|(_, other)| other.meets(&area));
        if free {
            self.text(class, anchor, x, y, text);
        }
        free
    }

    /// Moved inside where it would be beyond an edge, left out where it has no room.
    pub(crate) fn tick_label(&mut self, x: f64, y: f64, label: &str) {
        let half = measure::width(label) / 2.0;
        self.text_if_free("muted", Anchor::Middle, x.min(self.width - half).max(half), y, label);
    }

    pub(crate) fn lines(&mut self, class: &str, anchor: Anchor, x: f64, y: f64, lines: &[String]) {
        for (line, index) in lines.iter().zip(0_u16..) {
            self.text(class, anchor, x, y + f64::from(index) * measure::LINE, line);
        }
    }

    /// At most four lines, the first on a base line at `y`; returns their height, in px.
    pub(crate) fn paragraph(
        &mut self,
        class: &str,
        anchor: Anchor,
        (x, y): (f64, f64),
        text: &str,
        room: f64,
    ) -> f64 {
        let lines = measure::wrap(text, room, 4);
        self.lines(class, anchor, x, y, &lines);
        lines.len() as f64 * measure::LINE
    }

    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let mut path = SvgPath::new();
        path.to(from.0, from.1).to(to.0, to.1);
        self.path(class, &path);
    }

    pub(crate) fn behind(&mut self, inside: impl FnOnce(&mut Self)) {
        // SVG has no layers: elements cover those before them.
        mem::swap(&mut self.back, &mut self.front);
        inside(self);
        mem::swap(&mut self.back, &mut self.front);
    }

    pub(crate) fn rect(&mut self, class: &str, area: Area) {
        self.path(class, &SvgPath::around(&area));
    }

    pub(crate) fn path(&mut self, class: &str, path: &SvgPath) {
        if path.data.is_empty() {
            return;
        }
        self.marks.join(&path.area, 0.0, 0.0);
        self.front.empty("path", &[("class", class.into()), ("d", path.data.as_str().into())]);
    }

    /// A dot among many of [`Self::shared`] class, that tells `title` where a pointer is on it.
    pub(crate) fn dot(&mut self, x: f64, y: f64, title: &str) {
        let mut path = SvgPath::new();
        path.dot(x, y);
        self.marks.join(&path.area, 0.0, 0.0);
        self.front.element("path", &[("d", path.data.as_str().into())], |dot| {
            dot.element("title", &[], |inside| inside.short_text(title));
        });
    }

    /// A mark: it tells `title` where a pointer is on it.
    pub(crate) fn mark(&mut self, title: &str, inside: impl FnOnce(&mut Self)) {
        // The script of a page finds marks by the class, and leads the keyboard's focus to them.
        self.group(&[("class", "mark".into())], Some(title), inside);
    }

    /// Adds an element that shows `title` under a pointer and is not a mark.
    pub(crate) fn hint(&mut self, title: &str, inside: impl FnOnce(&mut Self)) {
        self.group(&[], Some(title), inside);
    }

    /// Gives the same class to all elements that `inside` draws.
    pub(crate) fn shared(&mut self, class: &str, inside: impl FnOnce(&mut Self)) {
        self.group(&[("class", class.into())], None, inside);
    }

    /// Adds another drawing, with its upper left corner at `x` and `y`.
    pub(crate) fn place(&mut self, drawing: &Self, x: f64, y: f64) {
        let moved = format!("translate({} {})", number(x), number(y));
        let attributes = [("transform", moved.as_str().into())];
        let is_moved = x != 0.0 || y != 0.0;
        self.group(&attributes[..usize::from(is_moved)], None, |group| {
            group.front.append(&drawing.markup());
        });
        self.marks.join(&drawing.marks, x, y);
        self.labels.extend(drawing.labels.iter().map(|(text, within)| {
            let mut area = Area::NONE;
            area.join(within, x, y);
            (text.clone(), area)
        }));
    }

    fn group(&mut self, attributes: &Attributes<'_>, title: Option<&str>, inside: impl FnOnce(&mut Self)) {
        let outer = mem::take(&mut self.front);
        inside(self);
        let inner = mem::replace(&mut self.front, outer);
        // A group without an element would be a mark that shows nothing.
        if inner.as_str().is_empty() {
            return;
        }
        self.front.element("g", attributes, |group| {
            title.iter().for_each(|title| group.element("title", &[], |inside| inside.short_text(title)));
            group.append(&inner);
        });
    }
}

fn text_area(anchor: Anchor, x: f64, y: f64, text: &str) -> Area {
    let width = measure::width(text);
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    Area { left, top: y - measure::SIZE * 0.85, right: left + width, bottom: y + measure::SIZE * 0.25 }
}
