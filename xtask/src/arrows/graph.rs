//! Circles and floors of a graph whose nodes are numbers.

use std::collections::BTreeSet;

/// For each node those to which its arrows lead.
pub(super) type Arrows = Vec<BTreeSet<usize>>;

/// The sets of two nodes or more that all reach each other.
pub(super) fn circles(arrows: &Arrows) -> Vec<Vec<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..arrows.len()).map(|node| reach(arrows, node)).collect();
    let mut circles: Vec<Vec<usize>> = Vec::new();
    for node in 0..arrows.len() {
        let members: Vec<usize> =
            reached[node].iter().copied().filter(|other| reached[*other].contains(&node)).collect();
        if members.len() > 1 && !circles.contains(&members) {
            circles.push(members);
        }
    }
    circles
}

/// Each node's floor: above all to which its arrows lead, from 0. Those of a circle share one.
pub(super) fn floors(arrows: &Arrows) -> Vec<usize> {
    let reached: Vec<BTreeSet<usize>> = (0..arrows.len()).map(|node| reach(arrows, node)).collect();
    let mut floors = vec![0; arrows.len()];
    // The longest way down has fewer arrows than there are nodes.
    for _ in 0..arrows.len() {
        for node in 0..arrows.len() {
            let below = reached[node].iter().filter(|other| !reached[**other].contains(&node));
            let lowest = below.map(|other| floors[*other] + 1).max().unwrap_or(0);
            floors[node] = lowest.max(floors[node]);
        }
    }
    floors
}

/// All nodes to which a way of at least one arrow leads.
fn reach(arrows: &Arrows, start: usize) -> BTreeSet<usize> {
    let (mut reached, mut waiting) = (BTreeSet::new(), vec![start]);
    while let Some(node) = waiting.pop() {
        waiting.extend(arrows[node].iter().copied().filter(|next| reached.insert(*next)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_and_floors() {
        // 0 → 1 → 2 → 1, 2 → 3, 4 alone
        let arrows: Arrows =
            [&[1][..], &[2], &[1, 3], &[], &[]].map(|to| to.iter().copied().collect()).into();
        assert_eq!(circles(&arrows), [[1, 2]]);
        assert_eq!(floors(&arrows), [2, 1, 1, 0, 0]);
    }
}
