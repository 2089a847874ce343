//! The wake-up of a sleeping process, one way: from the sender's clock to the receiver's.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, pread};
use rustix::thread::{futex, sched_yield};

use crate::board::Board;
use crate::clock::now;
use crate::error::Outcome;
use crate::mapping::Mapping;
use crate::process::{Cpus, Ending, Ends, usage};

// Offsets in the shared page; each word in a line of its own.
const CALL: usize = 0;
const READY: usize = 128;
const SENT_AT: usize = 256;
const SLEPT: usize = 384;
const WOKEN: usize = 512;
const PID: usize = 640;

/// Two processes, of which one sleeps in a futex: they time one-way wake-ups, from before the wake to the sleeper's
/// clock.
///
/// The sleeper is proven asleep: each wake waits until the kernel has counted that the sleeper gave up its CPU, and
/// must report one woken.
pub fn wake(cpus: Cpus, board: &Board) -> Outcome<Ends> {
    let map = Mapping::shared(4096)?;
    let (mut slept, mut called, mut status) = (0, 0, None);
    let timing = || {
        map.word(PID).store(std::process::id(), Release);
        Ending::of(board.collect(|last| {
            slept += 1;
            sleep(&map, board, slept, last)
        }))
    };
    let other = || {
        loop {
            called += 1;
            until(|| map.word(READY).load(Acquire) == called);
            let ending = call(&map, &mut status, called);
            if !matches!(ending, Ending::Done) || board.ends_at(called.into()) {
                return ending;
            }
        }
    };
    Ends::fork(cpus, timing, other)
}

/// Sleep until called with `number`; returns the clock and how long the wake took.
fn sleep(map: &Mapping, board: &Board, number: u32, last: bool) -> Option<(u64, u64)> {
    map.long(SLEPT).store(usage(libc::RUSAGE_SELF).ru_nvcsw as u64, Relaxed);
    map.word(READY).store(number, Release);
    while map.word(CALL).load(Acquire) != number {
        match futex::wait(map.word(CALL), futex::Flags::empty(), number - 1, None) {
            Ok(()) | Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return None,
        }
    }
    let time = now();
    if last {
        board.end_at(number.into());
    }
    map.word(WOKEN).store(number, Release);
    Some((time, time - map.long(SENT_AT).load(Relaxed)))
}

/// Wake the sleeper with `number` once it is asleep, and wait until it has come round.
fn call(map: &Mapping, status: &mut Option<OwnedFd>, number: u32) -> Ending {
    if status.is_none() {
        let path = format!("/proc/{}/status", map.word(PID).load(Acquire));
        *status = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok();
    }
    let Some(status) = status else { return Ending::Refused };
    until(|| switches_shown(status) > Some(map.long(SLEPT).load(Relaxed)));
    map.long(SENT_AT).store(now(), Relaxed);
    map.word(CALL).store(number, Release);
    if futex::wake(map.word(CALL), futex::Flags::empty(), 1) != Ok(1) {
        return Ending::Awake;
    }
    until(|| map.word(WOKEN).load(Acquire) == number);
    Ending::Done
}

fn until(done: impl Fn() -> bool) {
    while !done() {
        sched_yield();
    }
}

/// How often the process has given up its CPU, as the kernel shows it.
fn switches_shown(status: &OwnedFd) -> Option<u64> {
    let mut text = [0; 4096];
    let count = pread(status, &mut text, 0).ok()?;
    let line =
        std::str::from_utf8(&text[..count]).ok()?.lines().find(|line| line.starts_with("voluntary_"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}
