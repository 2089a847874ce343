//! One end of a duplex channel for Python, whatever lies in the segment: what slots and rings share.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open};
use rustix::time::Timespec;

use crate::clock::now;
use crate::error::{Failure, Outcome, check_signals, os};
use crate::mapping::Mapping;
use crate::process::started;
use crate::waiting::{NAP, Party, Wait, Watch};

/// One side of a segment, to send from and to receive at.
pub trait Side: Party + Send {
    /// The most bytes that a message may have.
    fn capacity(&self) -> usize;
    /// Say which process owns this side.
    fn sign(&self, pid: u32, started: u64);
    /// Tell the peer that nothing more will come, and wake it.
    fn close(&self);
    /// The length of the next message, if one comes without a sleep.
    fn glance(&mut self) -> Outcome<Option<usize>>;
    /// Wait for a message; returns its length.
    fn wait_for_message(&mut self, watch: &mut impl Watch) -> Outcome<usize>;
    /// Copy the message that is there into `target`, which has its length.
    fn take(&mut self, target: &mut [u8]);
}

/// A side that this process has taken, until it is closed, and its peer.
pub struct Joined<S: Side> {
    side: Option<S>,
    peer: Peer,
    owner: Pid,
}

impl<S: Side> Joined<S> {
    /// Sign `side` as this process's.
    pub fn new(side: S) -> Self {
        let owner = getpid();
        let pid = owner.as_raw_nonzero().get().unsigned_abs();
        side.sign(pid, started(pid).unwrap_or(0));
        Self { side: Some(side), peer: Peer::default(), owner }
    }

    #[inline]
    pub fn parts(&mut self) -> Outcome<(&mut S, &mut Peer)> {
        match &mut self.side {
            Some(side) => Ok((side, &mut self.peer)),
            None => Err(Failure::Invalid("the channel is closed".into())),
        }
    }

    /// The parts, when a message of `length` bytes may be sent.
    #[inline]
    pub fn sending(&mut self, length: usize) -> Outcome<(&mut S, &mut Peer)> {
        let (side, peer) = self.parts()?;
        if length > side.capacity() {
            let why = format!("a message of {length} bytes is beyond the capacity {}", side.capacity());
            return Err(Failure::Invalid(why));
        }
        if side.peer_closed() {
            return Err(Failure::PeerGone(CLOSED));
        }
        Ok((side, peer))
    }

    #[inline]
    pub fn wait_for_message(&mut self, py: Python<'_>, timeout_ns: u64) -> PyResult<usize> {
        let (side, peer) = self.parts()?;
        if let Some(length) = side.glance()? {
            return Ok(length);
        }
        Ok(py.detach(|| side.wait_for_message(&mut Vigil::new(peer, timeout_ns, true)))?)
    }

    #[inline]
    pub fn recv<'py>(&mut self, py: Python<'py>, timeout_ns: u64) -> PyResult<Bound<'py, PyBytes>> {
        let length = self.wait_for_message(py, timeout_ns)?;
        let side = self.parts()?.0;
        PyBytes::new_with(py, length, |target| {
            side.take(target);
            Ok(())
        })
    }

    #[inline]
    pub fn recv_into(
        &mut self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        timeout_ns: u64,
    ) -> PyResult<usize> {
        let buffer = Contiguous::get(buffer, true)?;
        let length = self.wait_for_message(py, timeout_ns)?;
        if length > buffer.len() {
            let why = format!("a message of {length} bytes does not fit a buffer of {}", buffer.len());
            return Err(Failure::Invalid(why).into());
        }
        // SAFETY: the buffer is writable, at least this long, and held; Python code cannot run during the copy.
        self.parts()?.0.take(unsafe { std::slice::from_raw_parts_mut(buffer.start(), length) });
        Ok(length)
    }

    pub fn close(&mut self) {
        if let Some(side) = self.side.take() {
            // A forked child that drops its copy must not close the parent's end.
            if getpid() == self.owner {
                side.close();
            }
        }
    }
}

impl<S: Side> Drop for Joined<S> {
    fn drop(&mut self) {
        self.close();
    }
}

const CLOSED: &str = "the peer closed the channel";
const DIED: &str = "the peer of the channel died";

pub fn checked(capacity: usize, largest: usize) -> Outcome<usize> {
    match capacity {
        1.. if capacity <= largest => Ok(capacity),
        _ => Err(Failure::Invalid(format!("capacity must be 1 to {largest} bytes, not {capacity}"))),
    }
}

pub fn wait_of(name: &str) -> Outcome<Wait> {
    match name {
        "spin" => Ok(Wait::Spin),
        "spin-then-block" => Ok(Wait::SpinThenBlock),
        "block" => Ok(Wait::Block),
        _ => name.parse().map(Wait::Window).map_err(|_| Failure::Invalid(format!("no such wait: {name}"))),
    }
}

/// Map the first `size` bytes of `fd`, which must be there.
pub fn attach(fd: RawFd, size: usize, side: usize) -> Outcome<Arc<Mapping>> {
    if side > 1 {
        return Err(Failure::Invalid(format!("side must be 0 or 1, not {side}")));
    }
    if fd < 0 {
        return Err(Failure::Os("fd", Errno::BADF));
    }
    // SAFETY: borrowed for this call only; a descriptor that is not open makes fstat fail, and nothing else.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let found = rustix::fs::fstat(fd).map_err(os("fstat"))?.st_size;
    if found < size as i64 {
        return Err(Failure::Invalid(format!("the segment has {found} bytes, {size} are needed")));
    }
    Ok(Arc::new(Mapping::of_file(fd, size)?))
}

/// What is known of the peer's process.
#[derive(Default)]
pub struct Peer {
    pidfd: Option<OwnedFd>,
    looked_at: u64,
}

impl Peer {
    /// Fail if the peer has signed and is no more.
    fn check(&mut self, party: &dyn Party) -> Outcome<()> {
        let (pid, start) = party.signature();
        if self.pidfd.is_none() && pid != 0 {
            let Some(known) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
                return Err(Failure::Invalid("corrupt header: the peer's pid".into()));
            };
            match pidfd_open(known, PidfdFlags::empty()) {
                Ok(pidfd) => self.pidfd = Some(pidfd),
                Err(Errno::SRCH) => return Err(Failure::PeerGone(DIED)),
                Err(errno) => return Err(Failure::Os("pidfd_open", errno)),
            }
            // The pid may be a newer process's by now; one that is opened and started then is the peer.
            if started(pid) != Some(start) {
                return Err(Failure::PeerGone(DIED));
            }
        }
        let Some(pidfd) = &self.pidfd else { return Ok(()) };
        let mut ended = [PollFd::new(pidfd, PollFlags::IN)];
        match poll(&mut ended, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(0) | Err(Errno::INTR) => Ok(()),
            Ok(_) => Err(Failure::PeerGone(DIED)),
            Err(errno) => Err(Failure::Os("poll", errno)),
        }
    }
}

/// Watches one wait: its deadline, the peer, and Python's signal handlers.
pub struct Vigil<'a> {
    peer: &'a mut Peer,
    timeout_ns: u64,
    deadline: Option<u64>,
    receiving: bool,
}

impl<'a> Vigil<'a> {
    pub fn new(peer: &'a mut Peer, timeout_ns: u64, receiving: bool) -> Self {
        Self { peer, timeout_ns, deadline: None, receiving }
    }
}

impl Watch for Vigil<'_> {
    fn look(&mut self, party: &dyn Party) -> Outcome<Timespec> {
        let time = now();
        let deadline = *self.deadline.get_or_insert(time.saturating_add(self.timeout_ns));
        let gone = if party.peer_closed() {
            Err(Failure::PeerGone(CLOSED))
        } else if time - self.peer.looked_at >= NAP.tv_nsec as u64 {
            self.peer.looked_at = time;
            check_signals()?;
            self.peer.check(party)
        } else {
            Ok(())
        };
        // What the peer sent before it left still counts.
        if gone.is_err() && !(self.receiving && party.has_message()?) {
            gone?;
        }
        match deadline.saturating_sub(time) {
            0 => Err(Failure::Timeout("the channel's deadline passed")),
            left => Ok(Timespec { tv_sec: 0, tv_nsec: NAP.tv_nsec.min(left.min(1 << 40) as i64) }),
        }
    }
}

/// A Python buffer whose bytes are one piece.
pub struct Contiguous(PyUntypedBuffer);

impl Contiguous {
    pub fn get(object: &Bound<'_, PyAny>, writable: bool) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        if !buffer.is_c_contiguous() {
            return Err(Failure::Invalid("the buffer is not contiguous".into()).into());
        }
        if writable && buffer.readonly() {
            return Err(Failure::Invalid("the buffer is read-only".into()).into());
        }
        Ok(Self(buffer))
    }

    pub fn len(&self) -> usize {
        self.0.len_bytes()
    }

    /// The first byte; never null, since a slice of no bytes must not be either.
    pub fn start(&self) -> *mut u8 {
        std::ptr::NonNull::new(self.0.buf_ptr().cast()).unwrap_or(std::ptr::NonNull::dangling()).as_ptr()
    }
}
