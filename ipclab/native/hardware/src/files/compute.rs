//! The work on a file: a drawn time spent spinning, or passes over its bytes.

use std::hint::{black_box, spin_loop};

use crate::clock::now;
use crate::files::meter::cpu_time;

/// Spin until `time_ns` after `start` (by the clock) or the deadline; returns the time.
pub fn spin(start: u64, time_ns: u64, deadline: u64) -> u64 {
    let end = start.saturating_add(time_ns).min(deadline);
    let mut time = start;
    while time < end {
        spin_loop();
        time = now();
    }
    time
}

/// Spin until the thread has had `time_ns` of CPU, or the deadline; returns the time.
pub fn spin_cpu(start: u64, time_ns: u64, deadline: u64) -> u64 {
    let end = cpu_time().saturating_add(time_ns);
    let mut time = start;
    loop {
        let had = cpu_time();
        if had >= end || time >= deadline {
            return now();
        }
        // Reading the CPU time is a system call: spin on the cheap clock for as long as is left at least.
        time = spin(now(), end - had, deadline);
    }
}

/// The sum of the little-endian 64-bit words of `bytes`, the last filled up with zeros, modulo 2^64.
pub fn word_sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(8);
    let rest = words.remainder();
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    let sum = words.fold(0u64, |sum, bytes| sum.wrapping_add(word(bytes)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    sum.wrapping_add(u64::from_le_bytes(last))
}

/// The checksum of file `index`: its word sum after `rounds` passes, times an odd number that follows from the index.
pub fn checksum(index: u64, bytes: &[u8], rounds: u32, stop: impl Fn() -> bool) -> u64 {
    let mut sum = 0;
    for _ in 0..rounds {
        sum = word_sum(black_box(bytes));
        if stop() {
            break;
        }
    }
    sum.wrapping_mul(2 * index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_the_rest_are_summed() {
        assert_eq!(word_sum(&[]), 0);
        assert_eq!(word_sum(&[1, 0, 0, 0, 0, 0, 0, 0, 2, 1]), 1 + 2 + 256);
        assert_eq!(word_sum(&[0xff; 16]), u64::MAX.wrapping_add(u64::MAX));
        assert_eq!(checksum(3, &[2], 5, || false), 14);
    }

    #[test]
    fn a_spin_ends_with_its_time_or_the_deadline() {
        let start = now();
        assert!(spin(start, 1_000_000, u64::MAX) >= start + 1_000_000);
        assert!(spin(start, u64::MAX, start + 2_000_000) >= start + 2_000_000);
        let had = cpu_time();
        spin_cpu(now(), 1_000_000, u64::MAX);
        assert!(cpu_time() >= had + 1_000_000);
    }
}
