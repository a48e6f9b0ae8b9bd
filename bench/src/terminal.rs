//! A pseudo-terminal that somebody watches.

use std::fs::File;
use std::io::Read as _;
use std::process::Stdio;
use std::thread::JoinHandle;

use nix::pty::{Winsize, openpty};

use crate::failure::Failure;

/// A terminal of the usual size; whatever is drawn on it is read, counted and thrown away.
#[derive(Debug)]
pub(crate) struct Terminal {
    slave: File,
    reader: JoinHandle<u64>,
}

impl Terminal {
    /// Opens one.
    pub(crate) fn open() -> Result<Self, Failure> {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(&size, None)
            .map_err(|errno| Failure::io("cannot open a pseudo-terminal")(errno.into()))?;
        let mut master = File::from(pair.master);
        let reader = std::thread::spawn(move || {
            let (mut room, mut bytes) = ([0u8; 4096], 0);
            // The kernel answers EIO once nobody has the other end open any more.
            while let Ok(count @ 1..) = master.read(&mut room) {
                bytes += count as u64;
            }
            bytes
        });
        Ok(Self { slave: File::from(pair.slave), reader })
    }

    /// For a program's output.
    pub(crate) fn output(&self) -> Result<Stdio, Failure> {
        self.slave.try_clone().map(Stdio::from).map_err(Failure::io("cannot hand the pseudo-terminal on"))
    }

    /// Closes it, once the program has ended, and says how many bytes were drawn.
    pub(crate) fn close(self) -> u64 {
        drop(self.slave);
        // A reader that panicked has read nothing that counts.
        self.reader.join().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_is_drawn_is_counted_and_it_is_a_terminal() {
        let terminal = Terminal::open().unwrap();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "test -t 2 && printf 12345 >&2"]).stderr(terminal.output().unwrap());
        assert!(command.status().unwrap().success());
        drop(command);
        assert_eq!(terminal.close(), 5);
    }
}
