//! What the ends of a limit and their supervisor share: the plan of a turn, its samples, and when it is over.
//!
//! Here is the one timed loop: integer nanoseconds into memory that was there before, one clock read a sample.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::clock::now;
use crate::error::Outcome;
use crate::mapping::Mapping;

/// The most samples of a turn.
pub const ROOM: usize = 1 << 14;
/// Operations at the start of a turn that are not kept.
const DISCARDED: usize = 2;
/// The least samples of a turn: of operations that are longer than its budget, and of others.
const LEAST_LONG: u64 = 3;
const LEAST: u64 = 10;

// Offsets; what is written within a turn lies in a line of its own.
const BUDGET: usize = 0;
const MOST: usize = 8;
const COUNT: usize = 128;
const LAST: usize = 256;
const STOPPED: usize = 384;
const SAMPLES: usize = 512;

/// One turn's plan, samples and end, in memory that all processes of a limit share.
pub struct Board(Mapping);

impl Board {
    pub fn new() -> Outcome<Self> {
        Ok(Self(Mapping::shared(SAMPLES + 8 * ROOM)?))
    }

    /// Plan the next turn, while nobody is in one: at most `most` samples, taken until `budget_ns` is spent.
    pub fn plan(&self, budget_ns: u64, most: usize) {
        self.0.long(BUDGET).store(budget_ns, Relaxed);
        self.0.long(MOST).store(most.clamp(1, ROOM) as u64, Relaxed);
        self.0.long(COUNT).store(0, Relaxed);
        self.0.long(LAST).store(u64::MAX, Relaxed);
        self.0.word(STOPPED).store(0, Release);
    }

    pub fn budget(&self) -> u64 {
        self.0.long(BUDGET).load(Relaxed)
    }

    /// Say that the operation of this `number` ends the turn, before the other end learns of it.
    pub fn end_at(&self, number: u64) {
        self.0.long(LAST).store(number, Release);
    }

    /// Whether the turn ends with the operation of this `number`.
    #[inline]
    pub fn ends_at(&self, number: u64) -> bool {
        self.0.long(LAST).load(Acquire) == number
    }

    /// Ask the other end to end the turn as soon as it may.
    pub fn stop(&self) {
        self.0.word(STOPPED).store(1, Release);
    }

    #[inline]
    pub fn stopped(&self) -> bool {
        self.0.word(STOPPED).load(Acquire) != 0
    }

    /// Keep a sample; one that finds no room is dropped.
    pub fn put(&self, sample_ns: u64) {
        let count = self.0.long(COUNT).load(Relaxed);
        if count < ROOM as u64 {
            self.0.long(SAMPLES + 8 * count as usize).store(sample_ns, Relaxed);
            self.0.long(COUNT).store(count + 1, Relaxed);
        }
    }

    /// The turn's samples.
    pub fn samples(&self) -> Vec<u64> {
        let count = self.0.long(COUNT).load(Relaxed).min(ROOM as u64) as usize;
        (0..count).map(|index| self.0.long(SAMPLES + 8 * index).load(Relaxed)).collect()
    }

    /// Keep what `operation` says that it took, for as long as the plan says; returns whether all went well.
    ///
    /// `operation` is told whether it is the last one, and returns the clock at its end and its duration, or None
    /// when it failed. The first ones and the last one are not kept.
    pub fn collect(&self, mut operation: impl FnMut(bool) -> Option<(u64, u64)>) -> bool {
        let (budget, most) = (self.budget(), self.0.long(MOST).load(Relaxed));
        let mut begun = 0;
        for _ in 0..DISCARDED {
            let Some((time, _)) = operation(false) else { return false };
            begun = time;
        }
        let (mut count, mut elapsed) = (0, 0);
        // Of operations that fit into the budget there are at least `LEAST`.
        while count < most
            && (elapsed < budget || count < LEAST_LONG || (count < LEAST && elapsed < count * budget))
        {
            let Some((time, took)) = operation(false) else { return false };
            self.put(took);
            (count, elapsed) = (count + 1, time - begun);
        }
        operation(true).is_some()
    }

    /// Time calls of `operation`, each of which does something `each` times; otherwise as `collect`.
    pub fn time(&self, each: u64, mut operation: impl FnMut(bool) -> bool) -> bool {
        let mut before = now();
        self.collect(|last| {
            let fine = operation(last);
            let time = now();
            let took = (time - before + each / 2) / each;
            before = time;
            fine.then_some((time, took))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(budget_ns: u64, most: usize, took: u64) -> usize {
        let board = Board::new().unwrap();
        board.plan(budget_ns, most);
        let mut clock = 0;
        let operation = |_| {
            clock += took;
            Some((clock, took))
        };
        assert!(board.collect(operation));
        assert!(board.samples().iter().all(|sample| *sample == took));
        board.samples().len()
    }

    #[test]
    fn a_turn_has_as_many_samples_as_fit_and_never_too_few() {
        assert_eq!(counted(1000, 5, 1), 5);
        assert_eq!(counted(1000, 500, 10), 100);
        assert_eq!(counted(1000, 500, 500), 10);
        assert_eq!(counted(1000, 500, 1500), 3);
        assert_eq!(counted(u64::MAX >> 8, usize::MAX, 1), ROOM);
    }

    #[test]
    fn a_failure_ends_the_turn_and_the_last_operation_is_told() {
        let board = Board::new().unwrap();
        board.plan(u64::MAX >> 8, 4);
        let mut told = Vec::new();
        let operation = |last| {
            told.push(last);
            true
        };
        assert!(board.time(1, operation));
        assert_eq!(told, [[false; 6].as_slice(), &[true]].concat());
        assert!(!board.time(1, |last| !last));
    }
}
