//! Messages one way between two native processes: the floor under every stream.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::board::Board;
use crate::clock::now;
use crate::echo::Supervised;
use crate::error::{Failure, Outcome};
use crate::joined::Side;
use crate::mapping::Mapping;
use crate::message::Message;
use crate::process::{Cpus, Ending, Ends};
use crate::queue::Queue;
use crate::ring::{Ring, segment_size};
use crate::stream::{Inlet, Stream};
use crate::waiting::Wait;

/// A turn gives one sample: what so many messages take.
pub const BATCH: u64 = 1000;
/// The least messages of a turn.
const LEAST: u64 = 16;
/// Bytes that go between two shows of what there is in a ring, and between two looks at the clock.
const SHOWN_BYTES: usize = 1 << 11;

/// An end to send from; both calls return whether they went well.
trait Out {
    fn put(&mut self, message: &[u8]) -> bool;
    /// Let the other end see all that was put.
    fn show(&mut self) -> bool {
        true
    }
}

/// An end to receive at; it returns whether a whole message came.
trait In {
    fn take(&mut self, target: &mut [u8]) -> bool;
}

impl Out for Stream {
    fn put(&mut self, message: &[u8]) -> bool {
        self.send(message).is_ok()
    }
}

impl In for Inlet {
    fn take(&mut self, target: &mut [u8]) -> bool {
        Inlet::take(self, target).is_ok()
    }
}

impl Out for Arc<Queue> {
    fn put(&mut self, message: &[u8]) -> bool {
        self.send(message)
    }
}

impl In for Arc<Queue> {
    fn take(&mut self, target: &mut [u8]) -> bool {
        self.recv(target)
    }
}

/// The sending side of a ring, which is shown after so many messages at the latest.
struct Showing {
    ring: Ring,
    every: u64,
    hidden: u64,
}

impl Out for Showing {
    fn put(&mut self, message: &[u8]) -> bool {
        loop {
            match self.ring.put(message) {
                Ok(true) => break,
                Ok(false) if self.ring.wait_for_room(&mut Supervised).is_ok() => {}
                _ => return false,
            }
        }
        self.hidden += 1;
        self.hidden < self.every || self.show()
    }

    fn show(&mut self) -> bool {
        self.hidden = 0;
        self.ring.publish();
        true
    }
}

impl In for Ring {
    fn take(&mut self, target: &mut [u8]) -> bool {
        let whole = matches!(self.wait_for_message(&mut Supervised), Ok(length) if length == target.len());
        if whole {
            Side::take(self, target);
        }
        whole
    }
}

/// Two processes that time messages of `size` bytes one way over `kind`: ring, pipe, unix, packet, tcp or mq.
///
/// Each is sent by a call of its own; the other end takes as much as has come. Every message's number is checked, and
/// of the last one of a turn each byte. A sample is what `BATCH` messages take.
pub fn flow(kind: &str, size: usize, cpus: Cpus, board: &Board) -> Outcome<Ends> {
    let inlet = |(out, end)| Ok::<_, Failure>((out, Inlet::new(end, size)?));
    match kind {
        "pipe" => fork(inlet(Stream::pipes(size)?)?, size, cpus, board),
        "unix" => fork(inlet(Stream::unix(size)?)?, size, cpus, board),
        "packet" => fork(inlet(Stream::packets(size)?)?, size, cpus, board),
        "tcp" => fork(inlet(Stream::tcp()?)?, size, cpus, board),
        "mq" => {
            // Short as it is, it is empty or full all the time: what sleeps and is woken then is no floor.
            let queue = Arc::new(Queue::new(size, cpus.apart())?);
            fork((queue.clone(), queue), size, cpus, board)
        }
        "ring" => {
            let map = Arc::new(Mapping::shared(segment_size(size))?);
            let new = |side| Ring::new(map.clone(), size, side, Wait::SpinThenBlock);
            let every = (SHOWN_BYTES / size).max(1) as u64;
            fork((Showing { ring: new(0)?, every, hidden: 0 }, new(1)?), size, cpus, board)
        }
        _ => Err(Failure::Invalid(format!("no such kind of flow: {kind}"))),
    }
}

fn fork((mut out, mut inlet): (impl Out, impl In), size: usize, cpus: Cpus, board: &Board) -> Outcome<Ends> {
    let (mut message, known, mut target) = (Message::new(size)?, Message::new(size)?, Message::new(size)?);
    let (start, every) = (Mapping::shared(8)?, (SHOWN_BYTES / size).max(1) as u64);
    let (mut sent, mut received) = (0, 0);
    let send = || {
        start.long(0).store(now(), Relaxed);
        loop {
            let last = board.stopped();
            if last {
                board.end_at(sent);
            }
            message.stamp(sent);
            if !out.put(&message) || (last && !out.show()) {
                return Ending::Refused;
            }
            sent += 1;
            if last {
                return Ending::Done;
            }
        }
    };
    let receive = || {
        let (first, until) = (received, now().saturating_add(board.budget()));
        let mut stopped = false;
        loop {
            if !inlet.take(&mut target) || !target.stamped(received) {
                return Ending::Wrong;
            }
            received += 1;
            let count = received - first;
            if stopped && board.ends_at(received - 1) {
                // All that was sent counts, from the sender's start: what one end does while the other waits too.
                board.put((now() - start.long(0).load(Relaxed)) * BATCH / count);
                return Ending::of(target.agrees(&known));
            }
            if !stopped && count >= LEAST && count % every == 0 && now() >= until {
                board.stop();
                stopped = true;
            }
        }
    };
    Ends::fork(cpus, receive, send)
}
