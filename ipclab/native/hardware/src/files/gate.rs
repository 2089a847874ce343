//! The gate that all threads of a run start at together, and where the caller waits for their end.

use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use crate::error::{Failure, check_signals};
use crate::files::lock;

/// How often the caller's signals are looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Counts threads in and out, so that all start at once and the caller learns when all have ended.
#[derive(Default)]
pub struct Gate {
    counts: Mutex<Counts>,
    changed: Condvar,
}

#[derive(Default)]
struct Counts {
    ready: usize,
    ended: usize,
    open: Option<bool>,
}

/// Tells the gate that a thread has ended, in whatever way.
pub struct Leave<'a, F: Fn()> {
    gate: &'a Gate,
    panicked: F,
}

impl<F: Fn()> Drop for Leave<'_, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            (self.panicked)();
        }
        lock(&self.gate.counts).ended += 1;
        self.gate.changed.notify_all();
    }
}

impl Gate {
    /// What a thread keeps until it ends; `panicked` is called when it ends badly.
    pub fn leave<F: Fn()>(&self, panicked: F) -> Leave<'_, F> {
        Leave { gate: self, panicked }
    }

    /// Wait in a thread until it may start; false when it should not.
    pub fn pass(&self) -> bool {
        let mut counts = lock(&self.counts);
        counts.ready += 1;
        self.changed.notify_all();
        let waited = self.changed.wait_while(counts, |counts| counts.open.is_none());
        waited.unwrap_or_else(|poisoned| poisoned.into_inner()).open == Some(true)
    }

    /// Let `threads` threads start once all are there, unless `go` says that they should not.
    pub fn open_for(&self, threads: usize, go: impl FnOnce() -> bool) {
        let counts = lock(&self.counts);
        let waited = self.changed.wait_while(counts, |counts| counts.ready + counts.ended < threads);
        let mut counts = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
        counts.open = Some(go());
        self.changed.notify_all();
    }

    /// Return when all threads have ended; `look` gets a failure of the caller's, or nothing, now and then.
    pub fn watch(&self, threads: usize, look: impl Fn(Option<Failure>)) {
        loop {
            let counts = lock(&self.counts);
            let waited = self.changed.wait_timeout_while(counts, LOOK, |counts| counts.ended < threads);
            if waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0.ended >= threads {
                return;
            }
            look(check_signals().err());
        }
    }
}
