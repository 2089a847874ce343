//! Round trips between two native processes: the floor under every backend.

use std::sync::Arc;

use pyo3::prelude::*;
use rustix::time::Timespec;

use crate::error::{Failure, Outcome};
use crate::joined::Side;
use crate::mapping::{Buffer, Mapping};
use crate::process::{Cpus, Ending, pair};
use crate::samples::Samples;
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

/// Time round trips of `size` bytes between two processes, one on each of `cpus` (-1: not pinned).
///
/// `kind` is shm-spin, shm-futex, pipe, unix or tcp. The echo copies each message out and in again (4 passes over
/// the data a round trip); pipes and Unix sockets hold a whole message where the kernel lets them. Every answer's stamp and the last answer's bytes are checked. At most `n` samples
/// within `budget_ns`, after a warm-up. Returns ns as little-endian int64 bytes. Raises ValueError for a bad
/// argument or payload, TimeoutError after `timeout_ns`, BrokenPipeError when a process dies.
#[pyfunction]
#[pyo3(signature = (kind, size, n, cpus, budget_ns, timeout_ns))]
pub fn echo(
    py: Python<'_>,
    kind: &str,
    size: usize,
    n: usize,
    cpus: (i32, i32),
    budget_ns: u64,
    timeout_ns: u64,
) -> PyResult<Vec<u8>> {
    Ok(py.detach(|| {
        if size == 0 || size > 1 << 30 {
            return Err(Failure::Invalid(format!("size must be 1 to 2^30 bytes, not {size}")));
        }
        let (samples, cpus) = (Samples::new(n, budget_ns)?, Cpus::new(cpus)?);
        match kind {
            "shm-spin" => measure(slots(size, Wait::Spin)?, size, &samples, cpus, timeout_ns),
            "shm-futex" => measure(slots(size, Wait::Block)?, size, &samples, cpus, timeout_ns),
            "pipe" => measure(Stream::pipes(size)?, size, &samples, cpus, timeout_ns),
            "unix" => measure(Stream::unix(size)?, size, &samples, cpus, timeout_ns),
            "tcp" => measure(Stream::tcp()?, size, &samples, cpus, timeout_ns),
            _ => Err(Failure::Invalid(format!("no such kind of echo: {kind}"))),
        }?;
        Ok(samples.bytes(1))
    })?)
}

/// Both ends of an anonymous segment, mapped once and inherited by both processes.
fn slots(size: usize, wait: Wait) -> Outcome<(End, End)> {
    let map = Arc::new(Mapping::shared(segment_size(size))?);
    Ok((End::new(map.clone(), size, 0, wait)?, End::new(map, size, 1, wait)?))
}

fn measure<W: Wire>(
    (one, other): (W, W),
    size: usize,
    samples: &Samples,
    cpus: Cpus,
    timeout_ns: u64,
) -> Outcome<()> {
    pair(cpus, timeout_ns, move || serve(other, size), move |_| call(one, size, samples))
}

fn serve(mut wire: impl Wire, size: usize) -> Ending {
    let Ok(mut message) = Buffer::filled(size, 1) else { return Ending::Refused };
    while wire.recv(&mut message) && wire.send(&message) {}
    Ending::Refused
}

fn call(mut wire: impl Wire, size: usize, samples: &Samples) -> Ending {
    let (Ok(mut message), Ok(mut answer)) = (Buffer::filled(size, 2), Buffer::filled(size, 3)) else {
        return Ending::Refused;
    };
    stamp(&mut message, 0);
    let fine = samples.run(|number| {
        let whole = wire.send(&message) && wire.recv(&mut answer) && stamped(&answer, number);
        // The next message is stamped early: a copy that reads a store just made would stall.
        stamp(&mut message, number + 1);
        whole
    });
    if fine && answer[size.min(8)..] == message[size.min(8)..] { Ending::Done } else { Ending::Wrong }
}

/// Write the running number into the first bytes, so that a stale answer cannot pass.
pub fn stamp(message: &mut [u8], number: u64) {
    match message.first_chunk_mut() {
        Some(first) => *first = number.to_le_bytes(),
        None => message[0] = number as u8,
    }
}

pub fn stamped(message: &[u8], number: u64) -> bool {
    match message.first_chunk() {
        Some(first) => *first == number.to_le_bytes(),
        None => message[0] == number as u8,
    }
}
