//! The one timed loop: integer nanoseconds into memory that was there before, one clock read a sample.

use std::sync::atomic::Ordering::Relaxed;

use crate::clock::now;
use crate::error::{Failure, Outcome};
use crate::mapping::Mapping;

/// However slow the operation: fewer samples have no median of their own.
const LEAST: usize = 3;

/// Room for samples in shared memory, so that a measuring child needs no other way to hand them over.
pub struct Samples {
    map: Mapping,
    room: usize,
    budget_ns: u64,
}

impl Samples {
    /// Room for `n` samples, taken until it is full or `budget_ns` is spent.
    pub fn new(n: usize, budget_ns: u64) -> Outcome<Self> {
        if n == 0 || n > 1 << 27 {
            return Err(Failure::Invalid(format!("n must be 1 to {}, not {n}", 1 << 27)));
        }
        Ok(Self { map: Mapping::shared(8 * (n + 1))?, room: n, budget_ns })
    }

    /// Warm up for at most half of `n` and of the budget, then time each call of `operation`, which gets a running
    /// number and returns whether it went well. A sample contains one clock read (see `clock_cost`).
    pub fn run(&self, mut operation: impl FnMut(u64) -> bool) -> bool {
        let (mut number, warm_until) = (0, now().saturating_add(self.budget_ns / 2));
        while number <= self.room as u64 / 2 && now() < warm_until {
            if !operation(number) {
                return false;
            }
            number += 1;
        }
        let slots = self.map.bytes(8, 8 * self.room).cast::<i64>();
        let (mut count, mut last) = (0, now());
        let end = last.saturating_add(self.budget_ns);
        while count < self.room && (last < end || count < LEAST) {
            if !operation(number) {
                return false;
            }
            let time = now();
            // SAFETY: count < room, and `slots` points to `room` aligned i64 that only this process writes.
            unsafe { slots.add(count).write((time - last) as i64) };
            (last, count, number) = (time, count + 1, number + 1);
        }
        self.map.long(0).store(count as u64, Relaxed);
        true
    }

    /// Put a sample that was timed elsewhere at `index`; the count grows to cover it.
    pub fn put(&self, index: usize, sample: i64) {
        assert!(index < self.room);
        // SAFETY: in bounds as asserted, aligned, and only the measuring process writes.
        unsafe { self.map.bytes(8, 8 * self.room).cast::<i64>().add(index).write(sample) };
        self.map.long(0).store(index as u64 + 1, Relaxed);
    }

    /// The samples divided by `batch` (to the nearest), as little-endian 64-bit integers.
    pub fn bytes(&self, batch: i64) -> Vec<u8> {
        let count = (self.map.long(0).load(Relaxed) as usize).min(self.room);
        let mut bytes = Vec::with_capacity(8 * count);
        for index in 1..=count {
            let sample = self.map.long(8 * index).load(Relaxed) as i64;
            bytes.extend_from_slice(&((sample + batch / 2) / batch).to_le_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::Samples;

    #[test]
    fn fills_its_room_and_rounds_a_batch_to_the_nearest() {
        let samples = Samples::new(3, u64::MAX).unwrap();
        assert!(samples.run(|_| true));
        assert_eq!(samples.bytes(1).len(), 24);
        samples.put(2, 25);
        assert_eq!(samples.bytes(10)[16..], 3_i64.to_le_bytes());
        assert!(!samples.run(|number| number < 2));
    }
}
