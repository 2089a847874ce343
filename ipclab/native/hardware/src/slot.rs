//! One message slot each way in shared memory: the mechanism of the echo limits and of `Channel`.
//!
//! Each side writes its own region only: a line that the peer polls (sequence and length in one word,
//! acknowledgement), a line that the peer reads only when it is ahead, then the payload. In a ping-pong the
//! acknowledgement rides on the answer, so that a round trip moves no line beyond a bare exchange of two lines
//! and the payload. Nothing read from the peer's region is trusted: each word is read once, then checked.

use std::ptr::copy_nonoverlapping;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64, fence};

use rustix::io::Errno;
use rustix::thread::{futex, sched_yield};

use crate::clock::now;
use crate::error::{Failure, Outcome};
use crate::joined::Side;
use crate::mapping::Mapping;
use crate::waiting::{Party, Wait, Watch};

// Offsets in a side's region. First line: what the peer polls; the sequence is the low half of `MESSAGE` (the
// half that a futex can wait for), the length of the message the high half.
const MESSAGE: usize = 0;
const ACKNOWLEDGED: usize = 8;
const SLEEPS: usize = 12;
const SPINS: usize = 16;
const STATE: usize = 20;
const PID: usize = 24;
const STARTED: usize = 32;
// A line apart: how far the owner has taken the peer's messages.
const TAKEN: usize = 64;
const PAYLOAD: usize = 128;
const PAGE: usize = 4096;

/// The most bytes a message may have: its length has 32 bits.
pub const LARGEST: usize = 1 << 30;

/// What `SLEEPS` says its owner sleeps on.
const FOR_MESSAGE: u32 = 1;
const FOR_ROOM: u32 = 2;

/// Yields between two looks at the deadline and at the peer.
const YIELDS: u32 = 16;
/// A yield that comes back sooner has let nobody else run.
const SWITCH_NS: u64 = 1_000;
/// What `STATE` says of its owner; 0 is a side that nobody took yet.
const ATTACHED: u32 = 1;
const CLOSED: u32 = 2;

/// One side's view of the two slots.
pub struct End {
    map: Arc<Mapping>,
    mine: usize,
    theirs: usize,
    capacity: usize,
    wait: Wait,
    sent: u32,
    received: u32,
    /// The last wait ended by a yield: the peer shares this CPU, so yield first.
    shares_cpu: bool,
}

/// Bytes of one side's region.
fn region(capacity: usize) -> usize {
    (PAYLOAD + capacity).next_multiple_of(PAGE)
}

/// Bytes of a segment for messages of up to `capacity` bytes.
pub fn segment_size(capacity: usize) -> usize {
    2 * region(capacity)
}

impl End {
    /// Take `side` (0 or 1), once, of a segment of `segment_size(capacity)` bytes that were zero.
    pub fn new(map: Arc<Mapping>, capacity: usize, side: usize, wait: Wait) -> Outcome<Self> {
        assert!(side < 2 && capacity <= LARGEST);
        map.bytes(0, segment_size(capacity));
        let (mine, theirs) = (side * region(capacity), (1 - side) * region(capacity));
        if map.word(mine + STATE).compare_exchange(0, ATTACHED, SeqCst, SeqCst).is_err() {
            return Err(Failure::Invalid(format!(
                "side {side} of the segment is taken, or the segment is not new"
            )));
        }
        map.word(mine + SPINS).store(u32::from(wait == Wait::Spin), SeqCst);
        Ok(Self { map, mine, theirs, capacity, wait, sent: 0, received: 0, shares_cpu: false })
    }

    fn own(&self, offset: usize) -> &AtomicU32 {
        self.map.word(self.mine + offset)
    }

    fn peer(&self, offset: usize) -> &AtomicU32 {
        self.map.word(self.theirs + offset)
    }

    fn peer_message(&self) -> &AtomicU64 {
        self.map.long(self.theirs + MESSAGE)
    }

    /// Whether the slot is free to be written.
    #[inline]
    pub fn has_room(&self) -> Outcome<bool> {
        if self.peer(ACKNOWLEDGED).load(Acquire) == self.sent {
            return Ok(true);
        }
        match self.sent.wrapping_sub(self.peer(TAKEN).load(Acquire)) {
            0 => Ok(true),
            1 => Ok(false),
            _ => Err(Failure::Invalid("corrupt header: the peer took what was not sent".into())),
        }
    }

    /// Wait until the peer has taken the message before.
    #[inline]
    pub fn wait_for_room(&mut self, watch: &mut impl Watch) -> Outcome<()> {
        while !self.has_room()? {
            self.wait_while(TAKEN, self.sent.wrapping_sub(1), FOR_ROOM, watch)?;
        }
        Ok(())
    }

    /// Copy `message`, of at most the capacity, into the slot, which must be free, and publish it.
    #[inline]
    pub fn put(&mut self, message: &[u8]) {
        assert!(message.len() <= self.capacity);
        let slot = self.map.bytes(self.mine + PAYLOAD, message.len());
        // SAFETY: `slot` has room for the message; a peer that reads or writes it too early harms only the message.
        unsafe { copy_nonoverlapping(message.as_ptr(), slot, message.len()) };
        self.sent = self.sent.wrapping_add(1);
        self.own(ACKNOWLEDGED).store(self.received, Relaxed);
        let word = (message.len() as u64) << 32 | u64::from(self.sent);
        self.map.long(self.mine + MESSAGE).store(word, Release);
        self.wake(MESSAGE, FOR_MESSAGE);
    }

    /// The length of the message that is there, if one is.
    #[inline]
    pub fn pending(&self) -> Outcome<Option<usize>> {
        let word = self.peer_message().load(Acquire);
        match (word as u32).wrapping_sub(self.received) {
            0 => Ok(None),
            1 if (word >> 32) as usize <= self.capacity => Ok(Some((word >> 32) as usize)),
            1 => Err(Failure::Invalid(format!("corrupt header: a message of {} bytes", word >> 32))),
            _ => Err(Failure::Invalid("corrupt header: the peer's sequence jumped".into())),
        }
    }

    /// Wake the peer if it sleeps for `what`; one that only spins is not asked.
    #[inline]
    fn wake(&self, word: usize, what: u32) {
        if self.peer(SPINS).load(Relaxed) == 1 {
            return;
        }
        // Orders the store of the word before the load of the flag; the sleeper does the reverse.
        fence(SeqCst);
        if self.peer(SLEEPS).load(Relaxed) == what {
            let _ = futex::wake(self.own(word), futex::Flags::empty(), 1);
        }
    }

    #[inline]
    fn wait_while(&mut self, word: usize, old: u32, what: u32, watch: &mut impl Watch) -> Outcome<()> {
        if self.wait == Wait::Spin {
            self.spin_while(word, old, watch)
        } else {
            self.sleep_while(word, old, what, watch)
        }
    }

    #[inline]
    fn spin_while(&mut self, word: usize, old: u32, watch: &mut impl Watch) -> Outcome<()> {
        loop {
            if !self.shares_cpu && self.wait.spin(self.peer(word), old) {
                return Ok(());
            }
            if (0..YIELDS).any(|_| self.yield_once(word, old)) {
                return Ok(());
            }
            self.shares_cpu = false;
            watch.look(self)?;
        }
    }

    /// Yield the CPU; returns whether the word has changed, and learns whether the peer needed this CPU for it.
    fn yield_once(&mut self, word: usize, old: u32) -> bool {
        let start = now();
        sched_yield();
        let changed = self.peer(word).load(Acquire) != old;
        if changed {
            self.shares_cpu = now() - start >= SWITCH_NS;
        }
        changed
    }

    fn sleep_while(&self, word: usize, old: u32, what: u32, watch: &mut impl Watch) -> Outcome<()> {
        let target = self.peer(word);
        while target.load(Acquire) == old {
            let nap = watch.look(self)?;
            self.own(SLEEPS).store(what, Relaxed);
            fence(SeqCst);
            let result = futex::wait(target, futex::Flags::empty(), old, Some(&nap));
            self.own(SLEEPS).store(0, Relaxed);
            match result {
                Ok(()) | Err(Errno::AGAIN | Errno::TIMEDOUT | Errno::INTR) => {}
                Err(errno) => return Err(Failure::Os("futex", errno)),
            }
        }
        Ok(())
    }
}

impl Side for End {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn sign(&self, pid: u32, started: u64) {
        self.map.long(self.mine + STARTED).store(started, Relaxed);
        self.map.word(self.mine + PID).store(pid, Release);
    }

    fn close(&self) {
        self.own(STATE).store(CLOSED, SeqCst);
        for word in [MESSAGE, TAKEN] {
            let _ = futex::wake(self.own(word), futex::Flags::empty(), 1);
        }
    }

    #[inline]
    fn wait_for_message(&mut self, watch: &mut impl Watch) -> Outcome<usize> {
        loop {
            self.wait_while(MESSAGE, self.received, FOR_MESSAGE, watch)?;
            if let Some(length) = self.pending()? {
                return Ok(length);
            }
        }
    }

    #[inline]
    fn glance(&mut self) -> Outcome<Option<usize>> {
        if self.shares_cpu {
            self.yield_once(MESSAGE, self.received);
        } else {
            self.wait.spin(self.peer(MESSAGE), self.received);
        }
        self.pending()
    }

    #[inline]
    fn take(&mut self, target: &mut [u8]) {
        assert!(target.len() <= self.capacity);
        let slot = self.map.bytes(self.theirs + PAYLOAD, target.len());
        // SAFETY: in bounds on both sides; a hostile peer may change the bytes meanwhile, and any byte is valid.
        unsafe { copy_nonoverlapping(slot, target.as_mut_ptr(), target.len()) };
        self.received = self.received.wrapping_add(1);
        self.own(TAKEN).store(self.received, Release);
        self.wake(TAKEN, FOR_ROOM);
    }
}

impl Party for End {
    #[inline]
    fn peer_closed(&self) -> bool {
        self.peer(STATE).load(Acquire) == CLOSED
    }

    fn signature(&self) -> (u32, u64) {
        let pid = self.peer(PID).load(Acquire);
        (pid, self.map.long(self.theirs + STARTED).load(Relaxed))
    }

    fn has_message(&self) -> Outcome<bool> {
        Ok(self.pending()?.is_some())
    }
}

#[cfg(test)]
mod tests;
