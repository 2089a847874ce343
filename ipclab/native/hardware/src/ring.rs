//! A ring of bytes each way in shared memory: any number of messages in flight, published and freed in batches.
//!
//! Each side writes its own region only: the bytes it ever wrote (`HEAD`), the bytes of the peer's ring it ever took
//! (`TAIL`), each in lines of its own, since the peer polls them; then the ring. A message is its length in 8 bytes
//! and its bytes, in one piece: what does not fit before the end begins at the start again, and `SKIP` stands at the
//! end. Nothing read from the peer's region is trusted: each word is read once, then checked.

use std::ptr::copy_nonoverlapping;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, fence};

use rustix::io::Errno;
use rustix::thread::futex;

use crate::error::{Failure, Outcome};
use crate::joined::Side;
use crate::mapping::Mapping;
use crate::waiting::{Party, Wait, Watch};

// Offsets in a side's region; the futex words are the low halves of HEAD and TAIL.
const HEAD: usize = 0;
const TAIL: usize = 128;
const SLEEPS: usize = 256;
const STATE: usize = 384;
const PID: usize = 392;
const STARTED: usize = 400;
const RING: usize = 4096;

const SKIP: u64 = u64::MAX;
const LENGTH: usize = 8;
/// The least bytes of a ring: a few thousand small messages, which stay in a core's own cache.
const LEAST: usize = 1 << 18;
/// The most bytes that a message may have.
pub const LARGEST: usize = 1 << 28;
const ATTACHED: u32 = 1;
const CLOSED: u32 = 2;
const FOR_MESSAGE: u32 = 1;
const FOR_ROOM: u32 = 2;

/// One side's view of both rings.
pub struct Ring {
    map: Arc<Mapping>,
    mine: usize,
    theirs: usize,
    size: u64,
    capacity: usize,
    wait: Wait,
    /// Written into the own ring, of which published; taken by the peer as last seen.
    head: u64,
    published: u64,
    taken: u64,
    /// Taken from the peer's ring, of which told; written by the peer as last seen.
    tail: u64,
    freed: u64,
    written: u64,
}

/// Bytes of a ring: room for four of the longest messages, so that one fits wherever the last one ended.
fn ring_size(capacity: usize) -> usize {
    (4 * needed(capacity)).next_power_of_two().max(LEAST)
}

fn needed(length: usize) -> usize {
    LENGTH + length.next_multiple_of(LENGTH)
}

fn region(capacity: usize) -> usize {
    RING + ring_size(capacity)
}

/// Bytes of a segment for messages of up to `capacity` bytes.
pub fn segment_size(capacity: usize) -> usize {
    2 * region(capacity)
}

fn corrupt(what: &str) -> Failure {
    Failure::Invalid(format!("corrupt header: {what}"))
}

impl Ring {
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
        let size = ring_size(capacity) as u64;
        let (head, published, taken, tail, freed, written) = (0, 0, 0, 0, 0, 0);
        Ok(Self { map, mine, theirs, size, capacity, wait, head, published, taken, tail, freed, written })
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        self.map.word(self.mine + offset)
    }

    /// Copy `message`, of at most the capacity, into the ring; false when there is no room. It is not published yet.
    #[inline]
    pub fn put(&mut self, message: &[u8]) -> Outcome<bool> {
        assert!(message.len() <= self.capacity);
        let (need, place) = (needed(message.len()) as u64, self.head & (self.size - 1));
        let skipped = if self.size - place < need { self.size - place } else { 0 };
        if self.head + skipped + need - self.taken > self.size {
            self.taken = self.taken_by_peer()?;
            if self.head + skipped + need - self.taken > self.size {
                return Ok(false);
            }
        }
        let ring = self.mine + RING;
        if skipped > 0 {
            self.map.long(ring + place as usize).store(SKIP, Relaxed);
            self.head += skipped;
        }
        let place = ring + (self.head & (self.size - 1)) as usize;
        self.map.long(place).store(message.len() as u64, Relaxed);
        let target = self.map.bytes(place + LENGTH, message.len());
        // SAFETY: `target` has room for the message; a peer that reads or writes it too early harms only the message.
        unsafe { copy_nonoverlapping(message.as_ptr(), target, message.len()) };
        self.head += need;
        Ok(true)
    }

    fn taken_by_peer(&self) -> Outcome<u64> {
        let taken = self.map.long(self.theirs + TAIL).load(Acquire);
        let sane = taken >= self.taken && taken <= self.published;
        if sane { Ok(taken) } else { Err(corrupt("the peer took what was not sent")) }
    }

    /// Show the peer all that was put, and wake it if it sleeps for a message.
    #[inline]
    pub fn publish(&mut self) {
        if self.published != self.head {
            self.published = self.head;
            self.map.long(self.mine + HEAD).store(self.head, Release);
            self.wake(HEAD, FOR_MESSAGE);
        }
    }

    /// The length of the next message, if one is there.
    #[inline]
    pub fn pending(&mut self) -> Outcome<Option<usize>> {
        loop {
            if self.tail == self.written {
                let written = self.map.long(self.theirs + HEAD).load(Acquire);
                if written < self.tail || written - self.tail > self.size || written % LENGTH as u64 != 0 {
                    return Err(corrupt("the peer wrote more than there is room"));
                }
                self.written = written;
                if written == self.tail {
                    return Ok(None);
                }
            }
            let place = self.tail & (self.size - 1);
            let (there, to_end) = (self.written - self.tail, self.size - place);
            let length = self.map.long(self.theirs + RING + place as usize).load(Relaxed);
            if length == SKIP && to_end <= there {
                self.tail += to_end;
                continue;
            }
            if length > self.capacity as u64 || needed(length as usize) as u64 > there.min(to_end) {
                return Err(corrupt("a message that cannot be"));
            }
            return Ok(Some(length as usize));
        }
    }

    /// Show the peer the room of all that was taken, and wake it if it sleeps for room.
    #[inline]
    pub fn free(&mut self) {
        if self.freed != self.tail {
            self.freed = self.tail;
            self.map.long(self.mine + TAIL).store(self.tail, Release);
            self.wake(TAIL, FOR_ROOM);
        }
    }

    /// Wait until `put` may find room again.
    pub fn wait_for_room(&mut self, watch: &mut impl Watch) -> Outcome<()> {
        self.publish();
        let old = self.taken as u32;
        self.wait_while(TAIL, old, FOR_ROOM, watch)
    }

    #[inline]
    fn wake(&self, offset: usize, what: u32) {
        // Orders the store of the word before the load of the flag; the sleeper does the reverse.
        fence(SeqCst);
        if self.map.word(self.theirs + SLEEPS).load(Relaxed) == what {
            let _ = futex::wake(self.word(offset), futex::Flags::empty(), 1);
        }
    }

    fn wait_while(&mut self, offset: usize, old: u32, what: u32, watch: &mut impl Watch) -> Outcome<()> {
        let map = self.map.clone();
        let target = map.word(self.theirs + offset);
        if self.wait.spin(target, old) {
            return Ok(());
        }
        while target.load(Acquire) == old {
            let nap = watch.look(self)?;
            self.word(SLEEPS).store(what, Relaxed);
            fence(SeqCst);
            let result = futex::wait(target, futex::Flags::empty(), old, Some(&nap));
            self.word(SLEEPS).store(0, Relaxed);
            match result {
                Ok(()) | Err(Errno::AGAIN | Errno::TIMEDOUT | Errno::INTR) => {}
                Err(errno) => return Err(Failure::Os("futex", errno)),
            }
        }
        Ok(())
    }
}

impl Side for Ring {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn sign(&self, pid: u32, started: u64) {
        self.map.long(self.mine + STARTED).store(started, Relaxed);
        self.word(PID).store(pid, Release);
    }

    fn close(&self) {
        self.word(STATE).store(CLOSED, SeqCst);
        for offset in [HEAD, TAIL] {
            let _ = futex::wake(self.word(offset), futex::Flags::empty(), 1);
        }
    }

    #[inline]
    fn glance(&mut self) -> Outcome<Option<usize>> {
        self.pending()
    }

    fn wait_for_message(&mut self, watch: &mut impl Watch) -> Outcome<usize> {
        loop {
            if let Some(length) = self.pending()? {
                return Ok(length);
            }
            self.free();
            self.wait_while(HEAD, self.written as u32, FOR_MESSAGE, watch)?;
        }
    }

    #[inline]
    fn take(&mut self, target: &mut [u8]) {
        assert!(target.len() <= self.capacity);
        let place = self.theirs + RING + (self.tail & (self.size - 1)) as usize;
        let source = self.map.bytes(place + LENGTH, target.len());
        // SAFETY: in bounds on both sides; a hostile peer may change the bytes meanwhile, and any byte is valid.
        unsafe { copy_nonoverlapping(source, target.as_mut_ptr(), target.len()) };
        self.tail += needed(target.len()) as u64;
        // Seldom: the peer only looks when its ring seems full, and an eighth of it is never what it lacks.
        if self.tail - self.freed >= self.size / 8 {
            self.free();
        }
    }
}

impl Party for Ring {
    fn peer_closed(&self) -> bool {
        self.map.word(self.theirs + STATE).load(Acquire) == CLOSED
    }

    fn signature(&self) -> (u32, u64) {
        let pid = self.map.word(self.theirs + PID).load(Acquire);
        (pid, self.map.long(self.theirs + STARTED).load(Relaxed))
    }

    fn has_message(&self) -> Outcome<bool> {
        Ok(self.map.long(self.theirs + HEAD).load(Acquire) != self.tail)
    }
}

#[cfg(test)]
mod tests;
