//! The job `bpf`: compiles the programs that run in the kernel. Their object is checked in, so that
//! users need no clang.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::process;
use crate::report::{Ending, Report};
use crate::workspace::Workspace;

/// Where the source and the object are.
const ROOM: &str = "crates/trace/bpf";
const SOURCE: &str = "path.bpf.c";
const OBJECT: &str = "path.o";

/// The compiler, by version: another one makes other bytes.
const COMPILER: &str = "clang-14";
const STRIP: &str = "llvm-strip-14";

/// `cargo xtask bpf`
pub(crate) fn run(workspace: &Workspace, _: &[String]) -> Result<(), Failure> {
    let object = workspace.root.join(ROOM).join(OBJECT);
    compile(workspace, &object)?;
    println!("{ROOM}/{OBJECT}");
    Ok(())
}

/// The object is what the source compiles to, byte by byte.
pub(crate) fn check(workspace: &Workspace, _: &mut Report) -> Result<Ending, Failure> {
    let fresh = workspace.built.join(OBJECT);
    compile(workspace, &fresh)?;
    let read = |path: &Path| fs::read(path).map_err(Failure::io(format!("cannot read {}", path.display())));
    let same = read(&fresh)? == read(&workspace.root.join(ROOM).join(OBJECT))?;
    if same {
        return Ok(Ending::Ok);
    }
    Err(Failure::Check(format!(
        "{ROOM}/{OBJECT} is not what {ROOM}/{SOURCE} compiles to; run `cargo xtask bpf`, commit"
    )))
}

/// CO-RE needs BTF, which `-g` makes; the rest of what `-g` makes is taken off again. No path of
/// this machine stays in the object.
fn compile(workspace: &Workspace, object: &Path) -> Result<(), Failure> {
    let room = workspace.root.join(ROOM);
    let mut clang = workspace.command(COMPILER);
    clang.current_dir(&room).args(["-O2", "-g", "-target", "bpf", "-mcpu=v3"]);
    clang.args(["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]);
    clang.arg(format!("-ffile-prefix-map={}=.", room.display()));
    clang.args(["-c", SOURCE, "-o"]).arg(object);
    process::run(&mut clang)?;
    let mut strip: Command = workspace.command(STRIP);
    process::run(strip.arg("-g").arg(object))
}
