//! Limits of one process: the clock, a system call, and copies by the C library's `memcpy`.

use std::hint::black_box;

use crate::clock::now;
use crate::error::Outcome;
use crate::mapping::Buffer;

/// Short copies are timed in batches this long, so that the clock read is not what is measured.
const BATCH_NS: u64 = 5_000;

/// What is done in this process: it is told whether it is the last time in a turn, and returns whether it went well.
pub type Operation = Box<dyn FnMut(bool) -> bool + Send + Sync>;

/// An operation, and how often it does what is timed.
pub struct Alone {
    pub operation: Operation,
    pub each: u64,
}

impl Alone {
    pub fn new(operation: impl FnMut(bool) -> bool + Send + Sync + 'static) -> Self {
        Self { operation: Box::new(operation), each: 1 }
    }
}

/// Nothing: what is left is one read of the clock.
pub fn clock() -> Alone {
    Alone::new(|_| true)
}

/// The system call `getppid`, with one read of the clock.
pub fn syscall() -> Alone {
    // SAFETY: getppid takes no argument and touches no memory; the raw call bypasses any cache in a library.
    Alone::new(|_| unsafe { libc::syscall(libc::SYS_getppid) } >= 0)
}

/// Copies of `size` bytes between two faulted-in buffers.
pub fn memcpy(size: usize) -> Outcome<Alone> {
    let (source, mut target) = (Buffer::filled(size, 1)?, Buffer::filled(size, 2)?);
    let mut copy = move || black_box(&mut target[..]).copy_from_slice(black_box(&source));
    copy();
    let start = now();
    copy();
    let each = BATCH_NS.div_ceil((now() - start).max(1)).min(1_000);
    let operation = move |_| {
        (0..each).for_each(|_| copy());
        true
    };
    Ok(Alone { operation: Box::new(operation), each })
}
