//! Round trips between two native processes: the floor under every backend.

use std::sync::Arc;

use rustix::time::Timespec;

use crate::board::Board;
use crate::error::{Failure, Outcome};
use crate::joined::Side;
use crate::mapping::Mapping;
use crate::message::Message;
use crate::process::{Cpus, Ending, Ends};
use crate::queue::Queue;
use crate::slot::{End, segment_size};
use crate::stream::Stream;
use crate::waiting::{NAP, Party, Wait, Watch};

/// A way to hand a message over; both calls return whether they went well.
trait Wire {
    fn send(&mut self, message: &[u8]) -> bool;
    fn recv(&mut self, target: &mut [u8]) -> bool;
}

impl Wire for Stream {
    fn send(&mut self, message: &[u8]) -> bool {
        Stream::send(self, message).is_ok()
    }

    fn recv(&mut self, target: &mut [u8]) -> bool {
        Stream::recv(self, target).is_ok()
    }
}

/// A queue to send to, and one to receive from.
impl Wire for (Arc<Queue>, Arc<Queue>) {
    fn send(&mut self, message: &[u8]) -> bool {
        self.0.send(message)
    }

    fn recv(&mut self, target: &mut [u8]) -> bool {
        self.1.recv(target)
    }
}

/// The supervisor of the two processes watches, so that the waits themselves need not.
pub struct Supervised;

impl Watch for Supervised {
    fn look(&mut self, _party: &dyn Party) -> Outcome<Timespec> {
        Ok(NAP)
    }
}

impl Wire for End {
    fn send(&mut self, message: &[u8]) -> bool {
        let room = self.wait_for_room(&mut Supervised).is_ok();
        if room {
            self.put(message);
        }
        room
    }

    fn recv(&mut self, target: &mut [u8]) -> bool {
        let whole = matches!(self.wait_for_message(&mut Supervised), Ok(length) if length == target.len());
        if whole {
            self.take(target);
        }
        whole
    }
}

/// Two processes that time round trips of `size` bytes over `kind`: shm-spin, shm-futex, pipe, unix, packet, tcp, udp or mq.
///
/// The echo copies each message out and in again (4 passes over the data a round trip); pipes and Unix sockets hold a
/// whole message where the kernel lets them. Every answer's number is checked, and of the last one of a turn each byte.
pub fn echo(kind: &str, size: usize, cpus: Cpus, board: &Arc<Board>) -> Outcome<Ends> {
    match kind {
        "shm-spin" => fork(slots(size, Wait::Spin)?, size, cpus, board),
        "shm-futex" => fork(slots(size, Wait::Block)?, size, cpus, board),
        "pipe" => fork(Stream::pipes(size)?, size, cpus, board),
        "unix" => fork(Stream::unix(size)?, size, cpus, board),
        "packet" => fork(Stream::packets(size)?, size, cpus, board),
        "tcp" => fork(Stream::tcp()?, size, cpus, board),
        "udp" => fork(Stream::udp()?, size, cpus, board),
        "mq" => {
            let (there, back) = (Arc::new(Queue::new(size, false)?), Arc::new(Queue::new(size, false)?));
            fork(((there.clone(), back.clone()), (back, there)), size, cpus, board)
        }
        _ => Err(Failure::Invalid(format!("no such kind of echo: {kind}"))),
    }
}

/// Both ends of an anonymous segment, mapped once and inherited by both processes.
fn slots(size: usize, wait: Wait) -> Outcome<(End, End)> {
    let map = Arc::new(Mapping::shared(segment_size(size))?);
    Ok((End::new(map.clone(), size, 0, wait)?, End::new(map, size, 1, wait)?))
}

fn fork<W: Wire>((mut one, mut other): (W, W), size: usize, cpus: Cpus, board: &Board) -> Outcome<Ends> {
    let (mut message, mut answer, mut echoed) =
        (Message::new(size)?, Message::new(size)?, Message::new(size)?);
    let mut number = 0;
    message.stamp(number);
    let ask = || {
        Ending::of(board.time(1, |last| {
            if last {
                board.end_at(number);
            }
            let whole = one.send(&message) && one.recv(&mut answer) && answer.stamped(number);
            number += 1;
            // The next message is stamped early: a copy that reads a store just made would stall.
            message.stamp(number);
            whole && (!last || answer.agrees(&message))
        }))
    };
    let mut answered = 0;
    let answer = || {
        while other.recv(&mut echoed) && other.send(&echoed) {
            answered += 1;
            if board.ends_at(answered - 1) {
                return Ending::Done;
            }
        }
        Ending::Refused
    };
    Ends::fork(cpus, ask, answer)
}
