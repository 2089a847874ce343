//! The clock.

use rustix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC in integer nanoseconds.
#[inline]
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
