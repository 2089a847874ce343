//! One payload from process to process: through a segment with two semaphores, or over TCP with an acknowledgement.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::ptr::copy_nonoverlapping;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread::yield_now;

use rustix::io::Errno;
use rustix::net::listen;

use crate::board::Board;
use crate::clock::now;
use crate::error::{Failure, Outcome, os};
use crate::mapping::Mapping;
use crate::message::Message;
use crate::process::{Cpus, Ending, Ends};

// Offsets in the segment, each in lines of its own.
const FULL: usize = 0;
const EMPTY: usize = 128;
const SENT_AT: usize = 256;
const PAYLOAD: usize = 4096;
/// Connections that may wait: strangers' keep nobody out.
const WAITING: i32 = 4096;

/// A receiver's half of a transfer: fill the target, then say that it was taken. Both return whether they went well.
trait Taking {
    fn take(&mut self, target: &mut [u8]) -> bool;
    fn taken(&mut self) -> bool;
}

/// A sender's half: hand the message over, once `begin` was called with nothing in the way, and wait until it was
/// taken.
trait Giving {
    fn give(&mut self, message: &[u8], begin: impl FnMut()) -> bool;
}

/// Semaphores of the C library in a segment, and the payload behind them.
struct Segment(Mapping);

impl Segment {
    fn new(size: usize) -> Outcome<Self> {
        let segment = Self(Mapping::shared(PAYLOAD + size)?);
        for (offset, value) in [(FULL, 0), (EMPTY, 1)] {
            // SAFETY: the memory is zero, aligned, large enough and shared by the processes that use it.
            if unsafe { libc::sem_init(segment.semaphore(offset), 1, value) } != 0 {
                return Err(Failure::Os("sem_init", Errno::NOSYS));
            }
        }
        Ok(segment)
    }

    fn semaphore(&self, offset: usize) -> *mut libc::sem_t {
        self.0.bytes(offset, size_of::<libc::sem_t>()).cast()
    }

    fn acquire(&self, offset: usize) -> bool {
        // SAFETY: a semaphore that `new` has made; a signal ends the wait early.
        while unsafe { libc::sem_wait(self.semaphore(offset)) } != 0 {
            if std::io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
                return false;
            }
        }
        true
    }

    fn release(&self, offset: usize) -> bool {
        // SAFETY: a semaphore that `new` has made.
        unsafe { libc::sem_post(self.semaphore(offset)) == 0 }
    }
}

impl Taking for &Segment {
    fn take(&mut self, target: &mut [u8]) -> bool {
        let full = self.acquire(FULL);
        // SAFETY: in bounds on both sides; the other process waits until this one says that it was taken.
        unsafe {
            copy_nonoverlapping(self.0.bytes(PAYLOAD, target.len()), target.as_mut_ptr(), target.len())
        };
        full
    }

    fn taken(&mut self) -> bool {
        self.release(EMPTY)
    }
}

impl Giving for &Segment {
    fn give(&mut self, message: &[u8], mut begin: impl FnMut()) -> bool {
        if !self.acquire(EMPTY) {
            return false;
        }
        begin();
        let target = self.0.bytes(PAYLOAD, message.len());
        // SAFETY: in bounds on both sides; the other process waits until the semaphore says that it is full.
        unsafe { copy_nonoverlapping(message.as_ptr(), target, message.len()) };
        // It was taken when it is empty again, which the next message waits for too.
        self.release(FULL) && self.acquire(EMPTY) && self.release(EMPTY)
    }
}

/// A TCP end: its connection, and for a new one each time, which is taken away after use, how to open it.
struct Tcp<Open> {
    stream: Option<TcpStream>,
    open: Option<Open>,
}

impl<Open: FnMut() -> std::io::Result<TcpStream>> Tcp<Open> {
    fn stream(&mut self) -> std::io::Result<&mut TcpStream> {
        if let (None, Some(open)) = (&self.stream, &mut self.open) {
            self.stream = Some(open()?);
        }
        self.stream.as_mut().ok_or(std::io::ErrorKind::NotConnected.into())
    }

    fn close(&mut self) {
        if self.open.is_some() {
            self.stream = None;
        }
    }

    fn ask(&mut self, message: &[u8]) -> std::io::Result<()> {
        let stream = self.stream()?;
        stream.write_all(message)?;
        stream.read_exact(&mut [0])
    }
}

impl<Open: FnMut() -> std::io::Result<TcpStream>> Taking for Tcp<Open> {
    fn take(&mut self, target: &mut [u8]) -> bool {
        self.stream().and_then(|stream| stream.read_exact(target)).is_ok()
    }

    fn taken(&mut self) -> bool {
        let told = self.stream().and_then(|stream| stream.write_all(b"k")).is_ok();
        self.close();
        told
    }
}

impl<Open: FnMut() -> std::io::Result<TcpStream>> Giving for Tcp<Open> {
    fn give(&mut self, message: &[u8], mut begin: impl FnMut()) -> bool {
        begin();
        let taken = self.ask(message).is_ok();
        self.close();
        taken
    }
}

/// Connect for the transfer of this `number`, and tell the other end from which port.
fn connected(to: SocketAddr, told: &AtomicU64, number: u64) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(to)?;
    stream.set_nodelay(true)?;
    told.store(number << u16::BITS | u64::from(stream.local_addr()?.port()), Release);
    Ok(stream)
}

/// Take the connection of the transfer of this `number`; who else has connected is let go unheard.
///
/// Any program may connect to a port of loopback, by mistake too: its bytes would be taken for a payload.
fn accepted(listener: &TcpListener, told: &AtomicU64, number: u64) -> std::io::Result<TcpStream> {
    loop {
        let (stream, from) = listener.accept()?;
        // The sender tells as soon as it is connected, for which it does not need this end.
        let port = loop {
            let said = told.load(Acquire);
            if said >> u16::BITS == number {
                break said as u16;
            }
            yield_now();
        };
        if from == SocketAddrV4::new(Ipv4Addr::LOCALHOST, port).into() {
            return Ok(stream);
        }
    }
}

/// Two processes that time transfers of `size` bytes by `kind`: shm (copy, wake, copy), tcp-new or tcp-kept.
///
/// From before the sender's copy or connection until the receiver has all bytes. Every payload's number is checked,
/// and of the last one of a turn each byte.
pub fn transfer(kind: &str, size: usize, cpus: Cpus, board: &Board) -> Outcome<Ends> {
    let refused = |error: std::io::Error| {
        Failure::Os("tcp", Errno::from_io_error(&error).unwrap_or(Errno::CONNREFUSED))
    };
    match kind {
        "shm" => {
            let segment = Segment::new(size)?;
            fork(&segment, &segment, size, cpus, board)
        }
        "tcp-new" => {
            let listener = TcpListener::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).map_err(refused)?;
            let to = listener.local_addr().map_err(refused)?;
            listen(&listener, WAITING).map_err(os("listen"))?;
            let (door, mut taken, mut given) = (Mapping::shared(8)?, 0, 0);
            let accept = || {
                taken += 1;
                accepted(&listener, door.long(0), taken)
            };
            let connect = || {
                given += 1;
                connected(to, door.long(0), given)
            };
            let taking = Tcp { stream: None, open: Some(accept) };
            fork(taking, Tcp { stream: None, open: Some(connect) }, size, cpus, board)
        }
        "tcp-kept" => {
            let (one, other) = crate::stream::connect().map_err(refused)?;
            let kept =
                |stream| Tcp { stream: Some(stream), open: None::<fn() -> std::io::Result<TcpStream>> };
            fork(kept(one), kept(other), size, cpus, board)
        }
        _ => Err(Failure::Invalid(format!("no such kind of transfer: {kind}"))),
    }
}

fn fork(
    mut taking: impl Taking,
    mut giving: impl Giving,
    size: usize,
    cpus: Cpus,
    board: &Board,
) -> Outcome<Ends> {
    let (mut message, mut target, mut known) =
        (Message::new(size)?, Message::new(size)?, Message::new(size)?);
    let start = Mapping::shared(SENT_AT + 8)?;
    let (mut sent, mut received) = (0, 0);
    message.stamp(sent);
    let take = || {
        Ending::of(board.collect(|last| {
            let whole = taking.take(&mut target);
            let time = now();
            let took = time.saturating_sub(start.long(SENT_AT).load(Relaxed));
            known.stamp(received);
            if !whole || !target.stamped(received) || (last && !target.agrees(&known)) {
                return None;
            }
            if last {
                board.end_at(received);
            }
            received += 1;
            taking.taken().then_some((time, took))
        }))
    };
    let give = || {
        loop {
            if !giving.give(&message, || start.long(SENT_AT).store(now(), Relaxed)) {
                return Ending::Refused;
            }
            sent += 1;
            message.stamp(sent);
            if board.ends_at(sent - 1) {
                return Ending::Done;
            }
        }
    };
    Ends::fork(cpus, take, give)
}
