//! How a side waits: the strategies, what is looked at meanwhile, and the spin itself.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Acquire;

use rustix::time::Timespec;

use crate::clock::now;
use crate::error::Outcome;

/// Spins (some 10 us) before a spinner yields its CPU, or a spin-then-block waiter sleeps.
const SPINS: u32 = 500;
/// The longest sleep between two looks at the deadline and at the peer.
pub const NAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Looks between two readings of the clock, where a window is measured by it.
const LOOKS: u32 = 8;

/// How a side waits for its peer; a `Window` spins for so many ns before it sleeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    Spin,
    SpinThenBlock,
    Block,
    Window(u64),
}

impl Wait {
    /// Spin until `word` is no longer `old`, for as long as this way does before it sleeps; returns whether it changed.
    #[inline]
    pub fn spin(self, word: &AtomicU32, old: u32) -> bool {
        match self {
            Self::Block => false,
            Self::Spin | Self::SpinThenBlock => spin(word, old, SPINS),
            Self::Window(window_ns) => spin_for(word, old, window_ns),
        }
    }
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

fn spin_for(word: &AtomicU32, old: u32, window_ns: u64) -> bool {
    let end = now().saturating_add(window_ns);
    loop {
        if spin(word, old, LOOKS) {
            return true;
        }
        if now() >= end {
            return false;
        }
    }
}

/// Spin until `word` is no longer `old`, at most `looks` times; returns whether it changed.
#[inline]
fn spin(word: &AtomicU32, old: u32, looks: u32) -> bool {
    for _ in 0..looks {
        if word.load(Acquire) != old {
            return true;
        }
        std::hint::spin_loop();
    }
    false
}
