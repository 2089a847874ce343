//! Ping-pong of cache lines between two processes: the floor under anything that spins on shared memory.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use rustix::thread::sched_yield;

use crate::board::Board;
use crate::error::{Failure, Outcome};
use crate::mapping::Mapping;
use crate::process::{Cpus, Ending, Ends};

/// The two lines lie this far apart, so that no prefetcher takes them for a pair.
const APART: usize = 1024;
/// After so many looks the CPU is offered to others, lest two unpinned processes share one and starve.
const PATIENCE: u32 = 100_000;

/// Two processes that time round trips over two cache lines, one written by each process by plain stores.
///
/// `cpus` must differ, or be -1 (not pinned).
pub fn two_lines(cpus: Cpus, board: &Board) -> Outcome<Ends> {
    let map = Mapping::shared(2 * APART)?;
    let call = |number| {
        map.word(0).store(number, Release);
        until(|| map.word(APART).load(Acquire) == number);
    };
    let answer = |number| {
        until(|| map.word(0).load(Acquire) == number);
        map.word(APART).store(number, Release);
    };
    fork(cpus, board, call, answer)
}

/// Two processes that time round trips over one cache line that both change by compare-and-swap; see `two_lines`.
pub fn one_line(cpus: Cpus, board: &Board) -> Outcome<Ends> {
    let map = Mapping::shared(2 * APART)?;
    let call = |number: u32| until(|| swap(map.word(0), 2 * number - 2, 2 * number - 1));
    let answer = |number: u32| until(|| swap(map.word(0), 2 * number - 1, 2 * number));
    fork(cpus, board, call, answer)
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
fn fork(cpus: Cpus, board: &Board, call: impl Fn(u32), answer: impl Fn(u32)) -> Outcome<Ends> {
    if cpus.timing == cpus.other && cpus.timing >= 0 {
        return Err(Failure::Invalid("a cache line does not travel within one CPU".into()));
    }
    let (mut called, mut answered) = (0, 0);
    let timing = || {
        Ending::of(board.time(1, |last| {
            called += 1;
            if last {
                board.end_at(called.into());
            }
            call(called);
            true
        }))
    };
    let other = || loop {
        answered += 1;
        answer(answered);
        if board.ends_at(answered.into()) {
            return Ending::Done;
        }
    };
    Ends::fork(cpus, timing, other)
}
