//! `Channel`: one end of a duplex shared-memory channel, for Python.

use std::os::fd::RawFd;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::joined::{Contiguous, Joined, Vigil, attach, checked, wait_of};
use crate::slot::{End, LARGEST, segment_size};

/// One end of a duplex channel of one message slot each way, in a segment that the caller has made.
///
/// `fd` is an open descriptor of at least `Channel.segment_size(capacity)` new, zero bytes (it may be closed
/// afterwards), `side` 0 or 1, `wait` spin, spin-then-block or block. Every call takes its deadline in ns and
/// raises TimeoutError when it passes, BrokenPipeError when the peer closed or died, ValueError for a message
/// beyond the capacity or a corrupt header. One thread at a time; not to be used after a fork.
#[pyclass(module = "ipclab_native")]
pub struct Channel(Joined<End>);

#[pymethods]
impl Channel {
    #[new]
    fn new(fd: RawFd, capacity: usize, side: usize, wait: &str) -> PyResult<Self> {
        let wait = wait_of(wait)?;
        let map = attach(fd, segment_size(checked(capacity, LARGEST)?), side)?;
        Ok(Self(Joined::new(End::new(map, capacity, side, wait)?)))
    }

    /// Return the bytes that a segment for messages of up to `capacity` bytes must have.
    #[staticmethod]
    #[pyo3(name = "segment_size")]
    fn size_of_segment(capacity: usize) -> PyResult<usize> {
        Ok(segment_size(checked(capacity, LARGEST)?))
    }

    /// Send the bytes of `buffer` (C-contiguous); waits at most `timeout_ns` until the message before was taken.
    fn send(&mut self, py: Python<'_>, buffer: &Bound<'_, PyAny>, timeout_ns: u64) -> PyResult<()> {
        if let Ok(bytes) = buffer.cast::<PyBytes>() {
            return self.send_bytes(py, bytes.as_bytes(), timeout_ns);
        }
        let buffer = Contiguous::get(buffer, false)?;
        // SAFETY: the buffer is held until after the copy, and is only read.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.start(), buffer.len()) };
        self.send_bytes(py, bytes, timeout_ns)
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

    /// Close this end; the peer's waits end with BrokenPipeError. Closing twice is fine.
    fn close(&mut self) {
        self.0.close();
    }
}

impl Channel {
    #[inline]
    fn send_bytes(&mut self, py: Python<'_>, message: &[u8], timeout_ns: u64) -> PyResult<()> {
        let (end, peer) = self.0.sending(message.len())?;
        if !end.has_room()? {
            py.detach(|| end.wait_for_room(&mut Vigil::new(peer, timeout_ns, false)))?;
        }
        end.put(message);
        Ok(())
    }
}
