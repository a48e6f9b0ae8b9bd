//! Sum-to-zero coding: the model whose parameters are the main effects and interactions.

use crate::model::Factor;

/// A model of condition means with every interaction of up to some number of factors.
pub(super) struct Model {
    /// The number of levels of each factor.
    sizes: Vec<usize>,
    /// Sets of factors, by size.
    pub(super) terms: Vec<Vec<usize>>,
    /// X: a row for each condition, a column for each parameter.
    rows: Vec<Vec<f64>>,
    /// The factor of X'X.
    factor: Factor,
}

impl Model {
    /// The model of all interactions of up to `order` factors of those with several levels, with
    /// the mean; `levels` are those of each factor for each condition. Err with the first term that
    /// the conditions cannot separate from those before it.
    pub(super) fn new(levels: &[Vec<usize>], sizes: Vec<usize>, order: usize) -> Result<Model, Vec<usize>> {
        let varied: Vec<usize> = (0..sizes.len()).filter(|factor| sizes[*factor] > 1).collect();
        let terms = up_to(&varied, order);
        let mut model = Model { sizes, terms, rows: Vec::new(), factor: Factor::decompose(Vec::new(), 0) };
        let owners = model.owners();
        // More parameters than conditions: some term cannot be estimated.
        if owners.len() > levels.len() {
            return Err(model.terms[owners[levels.len()]].clone());
        }
        model.rows = levels.iter().map(|levels| model.row(levels)).collect();
        let columns = 0..owners.len();
        let entry = |(i, j)| if j > i { 0.0 } else { model.rows.iter().map(|row| row[i] * row[j]).sum() };
        let matrix = columns.clone().flat_map(|i| columns.clone().map(move |j| (i, j))).map(entry).collect();
        model.factor = Factor::decompose(matrix, owners.len());
        match model.factor.dependent {
            Some(column) => Err(model.terms[owners[column]].clone()),
            None => Ok(model),
        }
    }

    /// The coefficients by which the condition means, in the order of `levels`, give the parameter
    /// of `term` at these levels of its factors: the distance of the mean there from the sum of the
    /// mean and all smaller terms.
    pub(super) fn coefficients(&self, term: &[usize], at: &[usize]) -> Vec<f64> {
        let mut solved = self.row_of(|factors| {
            if factors != term {
                return vec![0.0; self.columns(factors)];
            }
            product(factors.iter().zip(at).map(|(factor, level)| code(*level, self.sizes[*factor])))
        });
        self.factor.solve(&mut solved);
        let dot = |row: &Vec<f64>| row.iter().zip(&solved).map(|(one, other)| one * other).sum();
        self.rows.iter().map(dot).collect()
    }

    fn columns(&self, factors: &[usize]) -> usize {
        factors.iter().map(|factor| self.sizes[*factor] - 1).product()
    }

    /// A condition's row of X.
    fn row(&self, levels: &[usize]) -> Vec<f64> {
        self.row_of(|factors| {
            product(factors.iter().map(|factor| code(levels[*factor], self.sizes[*factor])))
        })
    }

    fn row_of(&self, columns: impl Fn(&[usize]) -> Vec<f64>) -> Vec<f64> {
        self.terms.iter().flat_map(|factors| columns(factors)).collect()
    }

    /// The term of each column.
    fn owners(&self) -> Vec<usize> {
        let columns = |term: usize| std::iter::repeat_n(term, self.columns(&self.terms[term]));
        (0..self.terms.len()).flat_map(columns).collect()
    }
}

/// A level's code in the columns of its factor: a row of the identity, and -1 everywhere for the
/// last level, so that a factor's effects sum to zero.
fn code(level: usize, size: usize) -> Vec<f64> {
    (0..size - 1)
        .map(|column| match level {
            level if level + 1 == size => -1.0,
            level => f64::from(u8::from(level == column)),
        })
        .collect()
}

/// All products of one entry of each; 1 for no factors.
fn product(codes: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    codes.fold(vec![1.0], |products, code| {
        products.iter().flat_map(|product| code.iter().map(move |entry| product * entry)).collect()
    })
}

/// The subsets of `factors` of up to `order` of them, the empty one first, by size and then in
/// order.
fn up_to(factors: &[usize], order: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..order.min(factors.len()) {
        let end = all.len();
        for place in start..end {
            let last = all[place].last().copied();
            for factor in factors.iter().filter(|factor| last.is_none_or(|last| **factor > last)) {
                let mut longer: Vec<usize> = all[place].clone();
                longer.push(*factor);
                all.push(longer);
            }
        }
        start = end;
    }
    all
}
