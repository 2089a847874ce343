//! `RingChannel`: one end of a duplex channel over two rings, with batches of messages in one call, for Python.

use std::os::fd::RawFd;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::Failure;
use crate::joined::{Contiguous, Joined, Side, Vigil, attach, checked, wait_of};
use crate::ring::{LARGEST, Ring, segment_size};
use crate::waiting::{Wait, Watch};

/// After so many messages of a batch the peer is shown what there is.
const SHOWN: usize = 32;

/// One end of a duplex channel of a ring each way, in a segment that the caller has made; see `Channel`.
///
/// A side is written by one thread of one process and read by one of another. Raises what `Channel` does.
#[pyclass(module = "ipclab_native")]
pub struct RingChannel(Joined<Ring>);

#[pymethods]
impl RingChannel {
    #[new]
    fn new(fd: RawFd, capacity: usize, side: usize, wait: &str) -> PyResult<Self> {
        let wait = wait_of(wait)?;
        if wait == Wait::Spin {
            return Err(Failure::Invalid("a ring does not spin: use spin-then-block or block".into()).into());
        }
        let map = attach(fd, segment_size(checked(capacity, LARGEST)?), side)?;
        Ok(Self(Joined::new(Ring::new(map, capacity, side, wait)?)))
    }

    /// Return the bytes that a segment for messages of up to `capacity` bytes must have.
    #[staticmethod]
    #[pyo3(name = "segment_size")]
    fn size_of_segment(capacity: usize) -> PyResult<usize> {
        Ok(segment_size(checked(capacity, LARGEST)?))
    }

    /// Send the bytes of `buffer` (C-contiguous) as one message; waits at most `timeout_ns` for room.
    fn send(&mut self, py: Python<'_>, buffer: &Bound<'_, PyAny>, timeout_ns: u64) -> PyResult<()> {
        let buffer = Contiguous::get(buffer, false)?;
        // SAFETY: the buffer is held until after the copy, and is only read.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.start(), buffer.len()) };
        self.put(py, bytes, timeout_ns)?;
        self.0.parts()?.0.publish();
        Ok(())
    }

    /// Send `buffer` as messages of `size` bytes each; waits at most `timeout_ns` for the room of each.
    fn send_many(
        &mut self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        size: usize,
        timeout_ns: u64,
    ) -> PyResult<()> {
        let buffer = Contiguous::get(buffer, false)?;
        if size == 0 || buffer.len() % size != 0 {
            return Err(Failure::Invalid(format!("{} bytes are no messages of {size}", buffer.len())).into());
        }
        // SAFETY: as in `send`.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.start(), buffer.len()) };
        for (number, message) in bytes.chunks_exact(size).enumerate() {
            self.put(py, message, timeout_ns)?;
            if number % SHOWN == SHOWN - 1 {
                self.0.parts()?.0.publish();
            }
        }
        self.0.parts()?.0.publish();
        Ok(())
    }

    /// Wait at most `timeout_ns` for a message; return it.
    fn recv<'py>(&mut self, py: Python<'py>, timeout_ns: u64) -> PyResult<Bound<'py, PyBytes>> {
        self.0.recv(py, timeout_ns)
    }

    /// Wait at most `timeout_ns` for a message; put it into `buffer` (writable, C-contiguous), return its length.
    ///
    /// A message that is longer than the buffer raises ValueError and stays.
    fn recv_into(&mut self, py: Python<'_>, buffer: &Bound<'_, PyAny>, timeout_ns: u64) -> PyResult<usize> {
        self.0.recv_into(py, buffer, timeout_ns)
    }

    /// Wait at most `timeout_ns` for a message; put it and those behind it into `buffer`, one after the other.
    ///
    /// Each must have `size` bytes; returns how many there were, as many as fit at most. A message of another length
    /// raises ValueError and stays.
    fn recv_many(
        &mut self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        size: usize,
        timeout_ns: u64,
    ) -> PyResult<usize> {
        let buffer = Contiguous::get(buffer, true)?;
        if size == 0 || buffer.len() < size {
            return Err(Failure::Invalid(format!("a buffer of {} holds no {size}", buffer.len())).into());
        }
        let mut next = Some(self.0.wait_for_message(py, timeout_ns)?);
        let (ring, room, mut count) = (self.0.parts()?.0, buffer.len() / size, 0);
        while let Some(length) = next {
            if length != size && count == 0 {
                return Err(Failure::Invalid(format!("a message of {length} bytes, not {size}")).into());
            }
            if length != size || count == room {
                break;
            }
            // SAFETY: count < room, so that `size` bytes lie in the buffer, which is held and writable.
            ring.take(unsafe { std::slice::from_raw_parts_mut(buffer.start().add(count * size), size) });
            count += 1;
            next = ring.pending()?;
        }
        Ok(count)
    }

    /// Close this end; the peer's waits end with BrokenPipeError. Closing twice is fine.
    fn close(&mut self) {
        self.0.close();
    }
}

impl RingChannel {
    #[inline]
    fn put(&mut self, py: Python<'_>, message: &[u8], timeout_ns: u64) -> PyResult<()> {
        let (ring, peer) = self.0.sending(message.len())?;
        let (mut vigil, mut waited) = (Vigil::new(peer, timeout_ns, false), false);
        while !ring.put(message)? {
            if waited {
                // The peer freed too little: that does not put the deadline off.
                vigil.look(ring)?;
            }
            py.detach(|| ring.wait_for_room(&mut vigil))?;
            waited = true;
        }
        Ok(())
    }
}
