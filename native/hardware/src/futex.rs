//! The wake-up of a sleeping process, one way: from the sender's clock to the receiver's.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use pyo3::prelude::*;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, pread};
use rustix::process::Pid;
use rustix::thread::{futex, sched_yield};

use crate::clock::now;
use crate::error::Outcome;
use crate::mapping::Mapping;
use crate::process::{Cpus, Ending, pair, usage};
use crate::samples::Samples;

// Offsets in the shared page; each word in a line of its own.
const CALL: usize = 0;
const READY: usize = 128;
const SENT_AT: usize = 256;
const SLEPT: usize = 384;

/// Time one-way wake-ups of a process that sleeps in a futex: from before the wake to the sleeper's clock.
///
/// The sleeper is proven asleep: each wake waits until the kernel has counted that the sleeper gave up its CPU, and
/// must report one woken. `cpus` are the waker's and the
/// sleeper's, -1 is not pinned; at most `n` samples within `budget_ns`. Returns ns as little-endian int64 bytes. Raises ValueError, TimeoutError after `timeout_ns`,
/// BrokenPipeError.
#[pyfunction]
#[pyo3(signature = (cpus, n, budget_ns, timeout_ns))]
pub fn futex_wake(
    py: Python<'_>,
    cpus: (i32, i32),
    n: usize,
    budget_ns: u64,
    timeout_ns: u64,
) -> PyResult<Vec<u8>> {
    Ok(py.detach(|| measure(Cpus::new(cpus)?, n, budget_ns, timeout_ns))?)
}

fn measure(cpus: Cpus, n: usize, budget_ns: u64, timeout_ns: u64) -> Outcome<Vec<u8>> {
    let (samples, map) = (Samples::new(n, budget_ns)?, Mapping::shared(4096)?);
    pair(cpus, timeout_ns, || sleeper(&map, &samples), |sleeper| waker(&map, sleeper, n, budget_ns))?;
    Ok(samples.bytes(1))
}

/// Sleep until called with the next number; store how long the wake took.
fn sleeper(map: &Mapping, samples: &Samples) -> Ending {
    for number in 1..=u32::MAX {
        map.long(SLEPT).store(usage(libc::RUSAGE_SELF).ru_nvcsw as u64, Relaxed);
        map.word(READY).store(number, Release);
        while map.word(CALL).load(Acquire) != number {
            match futex::wait(map.word(CALL), futex::Flags::empty(), number - 1, None) {
                Ok(()) | Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return Ending::Refused,
            }
        }
        let time = now();
        samples.put(number as usize - 1, (time - map.long(SENT_AT).load(Relaxed)) as i64);
    }
    Ending::Refused
}

fn waker(map: &Mapping, sleeper: Pid, n: usize, budget_ns: u64) -> Ending {
    let path = format!("/proc/{}/status", sleeper.as_raw_nonzero());
    let Ok(status) = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else {
        return Ending::Refused;
    };
    let until = |done: &dyn Fn() -> bool| {
        while !done() {
            sched_yield();
        }
    };
    let end = now().saturating_add(budget_ns);
    for number in 1..=n as u32 {
        until(&|| map.word(READY).load(Acquire) == number);
        if now() >= end && number > 1 {
            return Ending::Done;
        }
        until(&|| switches_shown(&status) > Some(map.long(SLEPT).load(Relaxed)));
        map.long(SENT_AT).store(now(), Relaxed);
        map.word(CALL).store(number, Release);
        if futex::wake(map.word(CALL), futex::Flags::empty(), 1) != Ok(1) {
            return Ending::Awake;
        }
        // The last sample is only there once the sleeper has come round; there is no room for one more.
        until(&|| map.word(READY).load(Acquire) > number);
    }
    Ending::Done
}

/// How often the process has given up its CPU, as the kernel shows it.
fn switches_shown(status: &OwnedFd) -> Option<u64> {
    let mut text = [0; 4096];
    let count = pread(status, &mut text, 0).ok()?;
    let line =
        std::str::from_utf8(&text[..count]).ok()?.lines().find(|line| line.starts_with("voluntary_"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}
