//! Messages one way over a ring between two native processes: the floor under every stream.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::echo::{Supervised, stamp, stamped};
use crate::error::{Failure, Outcome};
use crate::joined::Side;
use crate::mapping::{Buffer, Mapping};
use crate::process::{Cpus, Ending, pair};
use crate::ring::{LARGEST, Ring, segment_size};
use crate::samples::Samples;
use crate::waiting::Wait;

/// Bytes that go between two looks at the clock, and between two shows of what there is, at least one message.
const BATCH_BYTES: usize = 1 << 20;
const SHOWN_BYTES: usize = 1 << 11;

/// Time the receipt of batches of messages of `size` bytes, sent one way over a ring from one process to another.
///
/// `cpus` are the receiver's and the sender's, -1 is not pinned. Every message's stamp is checked. At most `n` samples
/// within `budget_ns`, each of `batch` messages. Returns `batch` and ns as little-endian int64 bytes. Raises
/// ValueError, TimeoutError after `timeout_ns`, BrokenPipeError.
#[pyfunction]
#[pyo3(signature = (size, n, cpus, budget_ns, timeout_ns))]
pub fn hand_over(
    py: Python<'_>,
    size: usize,
    n: usize,
    cpus: (i32, i32),
    budget_ns: u64,
    timeout_ns: u64,
) -> PyResult<(usize, Vec<u8>)> {
    Ok(py.detach(|| measure(size, n, cpus, budget_ns, timeout_ns))?)
}

fn measure(
    size: usize,
    n: usize,
    cpus: (i32, i32),
    budget_ns: u64,
    timeout_ns: u64,
) -> Outcome<(usize, Vec<u8>)> {
    if size == 0 || size > LARGEST {
        return Err(Failure::Invalid(format!("size must be 1 to {LARGEST} bytes, not {size}")));
    }
    let (samples, cpus) = (Samples::new(n, budget_ns)?, Cpus::new(cpus)?);
    let map = Arc::new(Mapping::shared(segment_size(size))?);
    let new = |side| Ring::new(map.clone(), size, side, Wait::SpinThenBlock);
    let (sender, receiver, batch) = (new(0)?, new(1)?, (BATCH_BYTES / size).clamp(1, 4096));
    pair(cpus, timeout_ns, move || send(sender, size), |_| receive(receiver, size, batch, &samples))?;
    Ok((batch, samples.bytes(1)))
}

fn send(mut ring: Ring, size: usize) -> Ending {
    let Ok(mut message) = Buffer::filled(size, 1) else { return Ending::Refused };
    let shown = (SHOWN_BYTES / size).max(1) as u64;
    for number in 0.. {
        stamp(&mut message, number);
        loop {
            match ring.put(&message) {
                Ok(true) => break,
                Ok(false) if ring.wait_for_room(&mut Supervised).is_ok() => {}
                _ => return Ending::Refused,
            }
        }
        if number % shown == shown - 1 {
            ring.publish();
        }
    }
    Ending::Refused
}

fn receive(mut ring: Ring, size: usize, batch: usize, samples: &Samples) -> Ending {
    let Ok(mut message) = Buffer::filled(size, 2) else { return Ending::Refused };
    let mut expected = 0;
    let fine = samples.run(|_| {
        (0..batch).all(|_| {
            if !matches!(ring.wait_for_message(&mut Supervised), Ok(length) if length == size) {
                return false;
            }
            ring.take(&mut message);
            expected += 1;
            stamped(&message, expected - 1)
        })
    });
    if fine { Ending::Done } else { Ending::Wrong }
}
