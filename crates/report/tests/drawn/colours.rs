//! Colours are told apart and read by everybody.

use netassay_report::chart::{COLOURS, Colour, SERIES};

type Rgb = [f64; 3];

/// The colour in each theme.
const THEMES: [fn(&Colour) -> &'static str; 2] = [|colour| colour.light, |colour| colour.dark];

/// Linear light of `#rrggbb` (IEC 61966-2-1).
fn linear(colour: &str) -> Rgb {
    [1, 3, 5].map(|at| {
        let share =
            f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("colours are hexadecimal")) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    })
}

/// The contrast of two colours (WCAG 2.2, "contrast ratio").
fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |colour| {
        let [red, green, blue] = linear(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    };
    let (a, b): (f64, f64) = (luminance(a), luminance(b));
    a.max(b) / a.min(b)
}

/// Linear light as kinds of sight see it: normal, protanopia, deuteranopia, tritanopia (Machado,
/// Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
/// Deficiency", 2009, severity 1).
const SIGHTS: [[Rgb; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ],
    [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ],
    [
        [1.255_528, -0.076_749, -0.178_779],
        [-0.078_411, 0.930_809, 0.147_602],
        [0.004_733, 0.691_367, 0.303_900],
    ],
];

/// CIE 1976 L*a*b* of linear light under D65.
fn lab([red, green, blue]: Rgb) -> Rgb {
    let f = |share: f64| if share > 0.008_856 { share.cbrt() } else { 7.787 * share + 16.0 / 116.0 };
    let x = f((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.950_47);
    let y = f(0.2126 * red + 0.7152 * green + 0.0722 * blue);
    let z = f((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.088_83);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// The distance of two colours (CIE 1976 ΔE) for the sight that tells them apart the least.
fn distance(a: &str, b: &str) -> f64 {
    let seen = |sight: &[Rgb; 3], colour| {
        let light = linear(colour);
        lab(sight.map(|row| row.iter().zip(light).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0)))
    };
    let apart = SIGHTS.iter().map(|sight| {
        let pairs = seen(sight, a).into_iter().zip(seen(sight, b));
        pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    });
    apart.fold(f64::MAX, f64::min)
}

fn named(name: &str) -> &'static Colour {
    COLOURS.iter().find(|colour| colour.name == name).expect("the colour has a name")
}

#[test]
fn text_and_marks_have_the_contrast_that_wcag_asks_for() {
    for theme in THEMES {
        let of = |name: &str| theme(named(name));
        for text in ["ink", "muted"] {
            for paper in ["paper", "band"] {
                assert!(contrast(of(text), of(paper)) >= 4.5, "{text} on {paper}");
            }
        }
        for mark in COLOURS[..SERIES].iter().map(|colour| colour.name).chain(["axis"]) {
            assert!(contrast(of(mark), of("paper")) >= 3.0, "{mark}");
        }
    }
}

#[test]
fn series_are_told_apart_by_every_kind_of_sight() {
    for theme in THEMES {
        for (index, one) in COLOURS[..SERIES].iter().enumerate() {
            for other in &COLOURS[..index] {
                let apart = distance(theme(one), theme(other));
                assert!(apart >= 24.0, "{} and {}: {apart}", one.name, other.name);
            }
        }
    }
    // The measure can fail: red and green of the same lightness are one to some.
    assert!(distance("#c04040", "#807020") < 24.0);
}
