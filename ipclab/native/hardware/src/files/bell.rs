//! A bell that threads and the kernel's rings can sound: an eventfd.

use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{read, write};

use crate::error::{Outcome, os};

pub struct Bell(OwnedFd);

impl Bell {
    pub fn new() -> Outcome<Self> {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(Self).map_err(os("eventfd"))
    }

    pub fn sound(&self) {
        // Full (2^64 - 2) is the only refusal, and then it sounds already.
        let _ = write(&self.0, &1u64.to_ne_bytes());
    }

    /// Wait at most `left_ns` until it has sounded since the last time.
    pub fn listen(&self, left_ns: u64) {
        let left = timespec(left_ns);
        let mut heard = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)];
        if poll(&mut heard, Some(&left)).is_ok_and(|count| count > 0) {
            let _ = read(&self.0, &mut [0; 8]);
        }
    }

    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Nanoseconds as the kernel takes them.
pub fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}
