//! The arrows of the house: which crate knows which, and which module uses which. Held against
//! `ARCHITECTURE.md`, and drawn there; its questions at the end are held against the code.

mod crates;
mod drawing;
mod graph;
mod house;
mod module;
mod questions;
mod source;

use std::fs;

use crate::failure::Failure;
use crate::report::{Ending, Report};
use crate::workspace::Workspace;
use crates::Crate;
use house::House;

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// The step `arrows`.
pub(crate) fn check(workspace: &Workspace, _: &mut Report) -> Result<Ending, Failure> {
    let text = architecture(workspace)?;
    let (crates, houses) = read(workspace)?;
    let mut offences = crates::offences(&crates, &crates::allowed(&text));
    for (one, house) in crates.iter().zip(&houses) {
        offences.extend(judged(&one.name, &circles(house)));
    }
    offences.extend(questions::offences(&text, &workspace.root));
    if placed(&text, &crates, &houses)? != text {
        offences.push(format!("the drawing in {ARCHITECTURE} is out of date: run `cargo xtask draw`"));
    }
    for offence in &offences {
        eprintln!("{offence}");
    }
    match offences.len() {
        0 => Ok(Ending::Ok),
        number => Err(Failure::Check(format!("{number} offences of the arrows, listed above"))),
    }
}

/// `cargo xtask draw [CRATE…]`: draws `ARCHITECTURE.md` anew, or prints each arrow of the crates
/// named.
pub(crate) fn run(workspace: &Workspace, names: &[String]) -> Result<(), Failure> {
    let (crates, houses) = read(workspace)?;
    for name in names {
        let number = crates.iter().position(|one| one.name == *name);
        let house = &houses[number.ok_or_else(|| Failure::Usage(format!("no crate is called `{name}`")))?];
        let all: Vec<usize> = (0..house.files.len()).collect();
        print!("{}", house.shown(&all));
        for circle in circles(house) {
            print!("a circle of {}:\n{}", circle.size, circle.arrows);
        }
    }
    if names.is_empty() {
        let path = workspace.root.join(ARCHITECTURE);
        let text = placed(&architecture(workspace)?, &crates, &houses)?;
        fs::write(&path, text).map_err(Failure::io(format!("cannot write {}", path.display())))?;
    }
    Ok(())
}

/// Modules that all reach each other.
struct Circle {
    size: usize,
    /// Those between them, one a line.
    arrows: String,
}

/// The circles of files, and those of rooms.
fn circles(house: &House) -> Vec<Circle> {
    let of = |house: &House| -> Vec<Circle> {
        let circle = |members: &Vec<usize>| Circle { size: members.len(), arrows: house.shown(members) };
        graph::circles(&house.bare()).iter().map(circle).collect()
    };
    [of(house), of(&house.rooms())].into_iter().flatten().collect()
}

/// Each circle is an offence: modules of a crate know each other one way.
fn judged(name: &str, circles: &[Circle]) -> impl Iterator<Item = String> {
    circles
        .iter()
        .map(move |circle| format!("{name}: a circle of {} modules:\n{}", circle.size, circle.arrows))
}

fn architecture(workspace: &Workspace) -> Result<String, Failure> {
    fs::read_to_string(workspace.root.join(ARCHITECTURE))
        .map_err(Failure::io(format!("cannot read {ARCHITECTURE}")))
}

fn read(workspace: &Workspace) -> Result<(Vec<Crate>, Vec<House>), Failure> {
    let crates = crates::all(workspace)?;
    let houses = crates.iter().map(|one| House::read(&one.src)).collect::<Result<_, _>>()?;
    Ok((crates, houses))
}

fn placed(text: &str, crates: &[Crate], houses: &[House]) -> Result<String, Failure> {
    drawing::placed(text, &drawing::drawing(crates, houses))
        .ok_or_else(|| Failure::Check(format!("{ARCHITECTURE} has no place for the drawing")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_circle_is_reported_with_its_arrows() {
        let circles = [2, 3].map(|size| Circle { size, arrows: "  a -> b: X\n".into() });
        let told: Vec<String> = judged("x", &circles).collect();
        assert_eq!(told.len(), circles.len());
        assert!(told[0].starts_with("x: a circle of ") && told.concat().contains("a -> b: X"), "{told:?}");
    }
}
