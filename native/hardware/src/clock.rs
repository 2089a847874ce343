//! The clock, and what a read of it and a system call cost.

use pyo3::prelude::*;
use rustix::time::{ClockId, clock_gettime};

use crate::error::Outcome;
use crate::samples::Samples;

/// CLOCK_MONOTONIC in integer nanoseconds.
#[inline]
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Return CLOCK_MONOTONIC in ns.
#[pyfunction]
pub fn monotonic_ns() -> u64 {
    now()
}

/// Return `n` differences of back-to-back clock reads, ns as little-endian int64 bytes.
#[pyfunction]
pub fn clock_cost(py: Python<'_>, n: usize) -> PyResult<Vec<u8>> {
    Ok(py.detach(|| time(n, |_| true))?)
}

/// Return the times of `n` `getppid` system calls (each with one clock read), ns as little-endian int64 bytes.
#[pyfunction]
pub fn syscall_cost(py: Python<'_>, n: usize) -> PyResult<Vec<u8>> {
    // SAFETY: getppid takes no argument and touches no memory; the raw call bypasses any cache in a library.
    Ok(py.detach(|| time(n, |_| unsafe { libc::syscall(libc::SYS_getppid) } >= 0))?)
}

fn time(n: usize, operation: impl FnMut(u64) -> bool) -> Outcome<Vec<u8>> {
    let samples = Samples::new(n, u64::MAX >> 2)?;
    samples.run(operation);
    Ok(samples.bytes(1))
}
