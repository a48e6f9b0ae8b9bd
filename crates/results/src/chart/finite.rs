//! Numbers that can be drawn.

/// A number that is neither infinite nor NaN.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Finite(f64);

impl Finite {
    /// Zero.
    pub const ZERO: Self = Self(0.0);

    /// The number, if it is finite. Zero has no sign.
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(value + 0.0))
    }

    /// The number.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }
}

impl From<u32> for Finite {
    fn from(count: u32) -> Self {
        Self(count.into())
    }
}

/// An estimate with its interval, in the unit of the axis on which it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The likeliest value.
    pub estimate: Finite,
    /// The lower end; none where nothing bounds it.
    pub low: Option<Finite>,
    /// The upper end; none where nothing bounds it.
    pub high: Option<Finite>,
}

impl Interval {
    /// The values that an axis must reach: the finite ends and, beyond the estimate, the mirror
    /// image of an end where the other is open.
    pub(crate) fn points(&self) -> impl Iterator<Item = Finite> + use<> {
        let estimate = self.estimate.value();
        let across = |end: Option<Finite>| end.and_then(|end| Finite::new(2.0 * estimate - end.value()));
        let ends = [self.low.or_else(|| across(self.high)), self.high.or_else(|| across(self.low))];
        std::iter::once(self.estimate).chain(ends.into_iter().flatten())
    }

    /// Both ends as `show` writes numbers: `1.2 to 3.4`.
    pub(crate) fn range(&self, show: impl Fn(Finite) -> String) -> String {
        match (self.low.map(&show), self.high.map(&show)) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("at least {low}"),
            (None, Some(high)) => format!("at most {high}"),
            (None, None) => "no bounds".to_owned(),
        }
    }
}
