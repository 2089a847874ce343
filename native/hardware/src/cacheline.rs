//! Ping-pong of cache lines between two processes: the floor under anything that spins on shared memory.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use pyo3::prelude::*;
use rustix::thread::sched_yield;

use crate::error::{Failure, Outcome};
use crate::mapping::Mapping;
use crate::process::{Cpus, Ending, pair};
use crate::samples::Samples;

/// The two lines lie this far apart, so that no prefetcher takes them for a pair.
const APART: usize = 1024;
/// After so many looks the CPU is offered to others, lest two unpinned processes share one and starve.
const PATIENCE: u32 = 100_000;

/// Time round trips over two cache lines, one written by each process by plain stores.
///
/// `cpus`, the two processes', must differ, or be -1 (not pinned). At most `n` samples within `budget_ns`. Returns ns per
/// round trip as little-endian int64 bytes. Raises ValueError, TimeoutError after `timeout_ns`, BrokenPipeError.
#[pyfunction]
#[pyo3(signature = (cpus, n, budget_ns, timeout_ns))]
pub fn cache_line(
    py: Python<'_>,
    cpus: (i32, i32),
    n: usize,
    budget_ns: u64,
    timeout_ns: u64,
) -> PyResult<Vec<u8>> {
    Ok(py.detach(|| {
        measure(
            cpus,
            n,
            budget_ns,
            timeout_ns,
            |map, number| {
                map.word(0).store(number, Release);
                until(|| map.word(APART).load(Acquire) == number);
            },
            |map, number| {
                until(|| map.word(0).load(Acquire) == number);
                map.word(APART).store(number, Release);
            },
        )
    })?)
}

/// Time round trips over one cache line that both processes change by compare-and-swap; see `cache_line`.
#[pyfunction]
#[pyo3(signature = (cpus, n, budget_ns, timeout_ns))]
pub fn cache_line_cas(
    py: Python<'_>,
    cpus: (i32, i32),
    n: usize,
    budget_ns: u64,
    timeout_ns: u64,
) -> PyResult<Vec<u8>> {
    Ok(py.detach(|| {
        measure(
            cpus,
            n,
            budget_ns,
            timeout_ns,
            |map, number| {
                until(|| swap(map.word(0), 2 * number - 2, 2 * number - 1));
            },
            |map, number| {
                until(|| swap(map.word(0), 2 * number - 1, 2 * number));
            },
        )
    })?)
}

fn swap(word: &AtomicU32, old: u32, new: u32) -> bool {
    word.compare_exchange(old, new, AcqRel, Relaxed).is_ok()
}

fn until(mut done: impl FnMut() -> bool) {
    loop {
        for _ in 0..PATIENCE {
            if done() {
                return;
            }
            std::hint::spin_loop();
        }
        sched_yield();
    }
}

/// Run `call` and `answer` with the numbers 1, 2, ... in a process each.
fn measure(
    cpus: (i32, i32),
    n: usize,
    budget_ns: u64,
    timeout_ns: u64,
    call: impl Fn(&Mapping, u32),
    answer: impl Fn(&Mapping, u32),
) -> Outcome<Vec<u8>> {
    if cpus.0 == cpus.1 && cpus.0 >= 0 {
        return Err(Failure::Invalid("a cache line does not travel within one CPU".into()));
    }
    let (samples, map) = (Samples::new(n, budget_ns)?, Mapping::shared(2 * APART)?);
    let server = || {
        (1..=u32::MAX).for_each(|number| answer(&map, number));
        Ending::Refused
    };
    let client = |_| {
        samples.run(|number| {
            call(&map, number as u32 + 1);
            true
        });
        Ending::Done
    };
    pair(Cpus::new(cpus)?, timeout_ns, server, client)?;
    Ok(samples.bytes(1))
}
