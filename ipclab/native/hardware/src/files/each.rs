//! The same work on every file of a set, by several threads, while the caller watches signals and progress.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::error::{Failure, Outcome};

/// How often the caller is asked whether to go on.
const LOOK: Duration = Duration::from_millis(100);

/// How many of the `n` numbers are done, and whether to stop.
pub struct Progress {
    next: AtomicUsize,
    done: AtomicUsize,
    stop: AtomicBool,
}

impl Progress {
    /// Whether the work should end early; long pieces of work ask now and then.
    pub fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }
}

/// Call `work` for every number below `n` from `threads` threads; `look` gets the count done about 10 times a second.
///
/// `start` makes what a thread keeps between calls. The first failure (of `work` or `look`) stops all and is returned.
pub fn each<State>(
    n: usize,
    threads: usize,
    start: impl Fn() -> State + Sync,
    work: impl Fn(&mut State, usize, &Progress) -> Outcome<()> + Sync,
    mut look: impl FnMut(usize) -> Outcome<()>,
) -> Outcome<()> {
    let progress =
        Progress { next: AtomicUsize::new(0), done: AtomicUsize::new(0), stop: AtomicBool::new(false) };
    let run = || -> Outcome<()> {
        let mut state = start();
        loop {
            let number = progress.next.fetch_add(1, Relaxed);
            if number >= n || progress.stopped() {
                return Ok(());
            }
            work(&mut state, number, &progress)?;
            progress.done.fetch_add(1, Relaxed);
        }
    };
    let mut first: Outcome<()> = Ok(());
    let mut fail = |failure: Failure| {
        progress.stop.store(true, Relaxed);
        if first.is_ok() {
            first = Err(failure);
        }
    };
    thread::scope(|scope| {
        let (sender, ended) = channel();
        for _ in 0..threads.clamp(1, 1024).min(n.max(1)) {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                let _ = sender.send(run());
            });
        }
        drop(sender);
        loop {
            match ended.recv_timeout(LOOK) {
                Ok(Ok(())) => {}
                Ok(Err(failure)) => fail(failure),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(failure) = look(progress.done.load(Relaxed)) {
                        fail(failure);
                    }
                }
            }
        }
    });
    first?;
    look(progress.done.load(Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_once_and_the_first_failure_back() {
        let sum = AtomicUsize::new(0);
        let mut last = 0;
        let add = |(): &mut (), number, _: &Progress| {
            sum.fetch_add(number, Relaxed);
            Ok(())
        };
        each(
            1000,
            4,
            || (),
            add,
            |done| {
                last = done;
                Ok(())
            },
        )
        .unwrap();
        assert_eq!((sum.into_inner(), last), (499_500, 1000));
        let wrong = |(): &mut (), number, _: &Progress| match number {
            7 => Err(Failure::Invalid("seven".into())),
            _ => Ok(()),
        };
        assert!(matches!(each(1000, 4, || (), wrong, |_| Ok(())), Err(Failure::Invalid(_))));
    }
}
