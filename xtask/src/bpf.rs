//! The programs that run in the kernel. Their object is checked in, so that users need no clang;
//! beside it stand the checksums of the files that were compiled together.

use std::path::Path;

use crate::Result;
use crate::program::{output, run as program};
use crate::session::{Session, write};

const ROOM: &str = "crates/trace/bpf";
const OBJECT: &str = "crates/trace/bpf/path.o";
/// As sha256sum writes them, of every other file in that place.
const SUMS: &str = "crates/trace/bpf/path.sha256";

const STALE: &str =
    "crates/trace/bpf/path.o is not what its sources compile to; run `cargo xtask bpf`, commit";

/// `cargo xtask bpf`
pub(crate) fn run(session: &mut Session, _: &[String]) -> Result {
    compile(session, &session.root.join(OBJECT))?;
    write(&session.root.join(SUMS), &sums(session)?)?;
    println!("{OBJECT}\n{SUMS}");
    Ok(())
}

/// The gate's check, which needs no compiler: no file has changed since the object was compiled.
pub(crate) fn check(session: &Session) -> Result {
    if session.read(SUMS)? == sums(session)? { Ok(()) } else { Err(STALE.into()) }
}

/// The step `bpf`: the object is what the sources compile to, byte for byte.
pub(crate) fn rebuild(session: &mut Session) -> Result {
    let (fresh, object) = (session.built.join("path.o"), session.root.join(OBJECT));
    compile(session, &fresh)?;
    program(session.command("cmp").args([fresh, object])).map_err(|_| STALE.into())
}

fn sums(session: &Session) -> Result<String> {
    let mut files = session.tracked_files()?;
    files.retain(|name| name.starts_with(ROOM) && name != SUMS);
    output(session.command("sha256sum").args(files))
}

/// CO-RE needs BTF, which `-g` makes; the rest of what `-g` makes is removed. No path of this
/// machine stays in the object. Another version of clang makes other bytes.
fn compile(session: &Session, object: &Path) -> Result {
    let room = session.root.join(ROOM);
    let mut clang = session.command("clang-14");
    clang.current_dir(&room).args(["-O2", "-g", "-target", "bpf", "-mcpu=v3"]);
    clang.args(["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]);
    clang.arg(format!("-ffile-prefix-map={}=.", room.display()));
    program(clang.args(["-c", "path.bpf.c", "-o"]).arg(object))?;
    program(session.command("llvm-strip-14").arg("-g").arg(object))
}
