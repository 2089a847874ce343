//! How a side waits: the strategies, what is looked at meanwhile, and the spin itself.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Acquire;

use rustix::time::Timespec;

use crate::error::Outcome;

/// Spins (some 10 us) before a spinner yields its CPU, or a spin-then-block waiter sleeps.
const SPINS: u32 = 500;
/// The longest sleep between two looks at the deadline and at the peer.
pub const NAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// How a side waits for its peer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    Spin = 1,
    SpinThenBlock = 2,
    Block = 3,
}

/// What a waiting side can say of its peer.
pub trait Party {
    /// Whether the peer has said that nothing more will come.
    fn peer_closed(&self) -> bool;
    /// Which process says that it is the peer, and when it was started; pid 0 is nobody yet.
    fn signature(&self) -> (u32, u64);
    /// Whether a message is there.
    fn has_message(&self) -> Outcome<bool>;
}

/// Looked at now and then while waiting; an error ends the wait.
pub trait Watch {
    /// Returns for how long the waiter may sleep before it looks again.
    fn look(&mut self, party: &dyn Party) -> Outcome<Timespec>;
}

/// Spin until `word` is no longer `old`, for a bounded time; returns whether it changed.
#[inline]
pub fn spin(word: &AtomicU32, old: u32) -> bool {
    for _ in 0..SPINS {
        if word.load(Acquire) != old {
            return true;
        }
        std::hint::spin_loop();
    }
    false
}
