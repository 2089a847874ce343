//! File sets and the engine that reads them: pread, io_uring or mmap, by threads with roles.
//!
//! `folder` names the files, `content` says what is in them, `make` and `keep` look after a set. A run of the engine
//! follows a `plan`; `hub` is what its threads share, `worker` what each does, `whole` and `ring` how a file is read,
//! `records` and `meter` what is kept of it, `result` how Python gets it.

pub mod bare;
mod bell;
mod buffers;
mod compute;
mod content;
mod each;
mod engine;
mod folder;
mod gate;
mod guard;
mod hub;
pub mod keep;
pub mod make;
mod meter;
pub mod missing;
mod overlap;
mod plan;
pub mod read;
mod records;
mod result;
mod ring;
mod whole;
mod worker;

use std::sync::{Mutex, MutexGuard};

/// The lock of `mutex`. A thread that panicked has stopped its run; the others must still be able to leave.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
