//! Parses on two threads while the file is read.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

/// The pieces that are handed over together.
const BATCH: usize = 64;

/// The batches that may wait. More would only wait in memory.
const WAITING: usize = 2;

/// The pieces of a batch as they are parsed, with the number of the batch.
type Parsed<T, E> = Vec<(usize, Vec<Result<T, E>>)>;

/// Parses what `read` hands over, with a second thread; the results in that order. The second
/// thread parses while this one reads on, and this one helps when the other falls behind. A few
/// pieces need no thread.
///
/// # Errors
/// That of `read`; else of the first piece that cannot be parsed.
pub(crate) fn parse<P: Send, T: Send, E: Send>(
    parse: impl Fn(P) -> Result<T, E> + Sync,
    read: impl FnOnce(&mut dyn FnMut(P)) -> Result<(), E>,
) -> Result<Vec<T>, E> {
    thread::scope(|scope| {
        let mut parser =
            Parser { scope, parse: &parse, batch: Vec::new(), number: 0, own: Vec::new(), other: None };
        read(&mut |piece| parser.add(piece))?;
        parser.finish()
    })
}

/// The parsers of both threads.
struct Parser<'scope, 'env, P, T, E, F> {
    scope: &'scope Scope<'scope, 'env>,
    parse: &'env F,
    batch: Vec<P>,
    number: usize,
    /// The results of this thread.
    own: Parsed<T, E>,
    other: Option<Other<'scope, P, T, E>>,
}

/// The second thread.
struct Other<'scope, P, T, E> {
    pieces: SyncSender<(usize, Vec<P>)>,
    thread: ScopedJoinHandle<'scope, Parsed<T, E>>,
}

impl<'scope, 'env: 'scope, P, T, E, F> Parser<'scope, 'env, P, T, E, F>
where
    P: Send + 'scope,
    T: Send + 'scope,
    E: Send + 'scope,
    F: Fn(P) -> Result<T, E> + Sync,
{
    fn add(&mut self, piece: P) {
        self.batch.push(piece);
        if self.batch.len() == BATCH {
            let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
            if self.number == 0 {
                self.start();
            }
            self.hand_over(batch);
        }
    }

    /// Starts the second thread. Where there can be none, this one does all.
    fn start(&mut self) {
        let (pieces, waiting): (_, Receiver<(usize, Vec<P>)>) = sync_channel(WAITING);
        let parse = self.parse;
        let all = move || {
            let parsed = waiting.into_iter().map(|(number, batch)| (number, parsed(parse, batch)));
            parsed.collect()
        };
        let thread = Builder::new().spawn_scoped(self.scope, all);
        self.other = thread.ok().map(|thread| Other { pieces, thread });
    }

    fn hand_over(&mut self, batch: Vec<P>) {
        let number = self.number;
        self.number += 1;
        let left = match &self.other {
            None => Some(batch),
            Some(other) => match other.pieces.try_send((number, batch)) {
                Ok(()) => None,
                Err(TrySendError::Full((_, batch)) | TrySendError::Disconnected((_, batch))) => Some(batch),
            },
        };
        if let Some(batch) = left {
            self.own.push((number, parsed(self.parse, batch)));
        }
    }

    fn finish(mut self) -> Result<Vec<T>, E> {
        let last = std::mem::take(&mut self.batch);
        self.own.push((self.number, parsed(self.parse, last)));
        let mut all = self.own;
        if let Some(Other { pieces, thread }) = self.other {
            drop(pieces);
            all.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().flat_map(|(_, batch)| batch).collect()
    }
}

fn parsed<P, T, E>(parse: &impl Fn(P) -> Result<T, E>, batch: Vec<P>) -> Vec<Result<T, E>> {
    batch.into_iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn parse_all(
        pieces: usize,
        parse: impl Fn(usize) -> Result<usize, String> + Sync,
    ) -> Result<Vec<usize>, String> {
        super::parse(parse, |add| {
            (0..pieces).for_each(add);
            Ok(())
        })
    }

    #[test]
    fn results_keep_the_order_of_the_pieces() {
        // A slow piece lets the first thread overtake the second.
        let slow = |piece: usize| {
            if piece.is_multiple_of(3 * BATCH) {
                thread::sleep(Duration::from_millis(20));
            }
            Ok(2 * piece)
        };
        for pieces in [0, 1, BATCH - 1, BATCH, BATCH + 1, 20 * BATCH + 7] {
            assert_eq!(parse_all(pieces, slow), Ok((0..pieces).map(|piece| 2 * piece).collect()));
        }
    }

    #[test]
    fn the_first_error_is_reported_and_that_of_reading_before_it() {
        let odd = |piece: usize| if piece < 100 { Ok(piece) } else { Err(format!("{piece} is wrong")) };
        assert_eq!(parse_all(10 * BATCH, odd), Err("100 is wrong".to_owned()));
        let broken = super::parse(odd, |add| {
            (0..300).for_each(add);
            Err("no more can be read".to_owned())
        });
        assert_eq!(broken, Err("no more can be read".to_owned()));
    }
}
