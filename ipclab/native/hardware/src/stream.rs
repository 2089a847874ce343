//! Pairs of connected byte streams and sockets of whole messages, with full reads and writes.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;

use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::net::sockopt::{set_socket_send_buffer_size, socket_send_buffer_size};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{fcntl_setpipe_size, pipe};

use crate::error::{Failure, Outcome, os};
use crate::mapping::Buffer;

const DEFAULT_PIPE: usize = 1 << 16;
const LARGEST_PIPE: usize = 1 << 20;
/// Bytes that a reader asks for at once, so that many small messages take one call.
const AHEAD: usize = 1 << 16;
/// Bytes of a socket's buffer that a packet cannot have.
const PACKET_HEAD: usize = 32;

/// One end of a duplex stream; a pipe has a descriptor each way, a socket the same one twice.
pub struct Stream {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Stream {
    /// Two pipes that hold a message of `size` bytes where the kernel lets them: fewer wake-ups within a message.
    pub fn pipes(size: usize) -> Outcome<(Self, Self)> {
        let (there, back) = (pipe().map_err(os("pipe"))?, pipe().map_err(os("pipe"))?);
        for writer in [&there.1, &back.1] {
            // An ordinary user may have 1 MiB (pipe(7)); what is refused stays as it was.
            let _ = fcntl_setpipe_size(writer, size.clamp(DEFAULT_PIPE, LARGEST_PIPE));
        }
        Ok((Self { reader: back.0, writer: there.1 }, Self { reader: there.0, writer: back.1 }))
    }

    /// A Unix stream socket pair that holds a message of `size` bytes where the kernel lets it.
    pub fn unix(size: usize) -> Outcome<(Self, Self)> {
        let (one, other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(os("socketpair"))?;
        for end in [&one, &other] {
            if socket_send_buffer_size(end).is_ok_and(|held| held < size) {
                let _ = set_socket_send_buffer_size(end, size);
            }
        }
        Ok((Self::duplex(one)?, Self::duplex(other)?))
    }

    /// A TCP connection on loopback without Nagle's delay.
    pub fn tcp() -> Outcome<(Self, Self)> {
        let (one, other) = connect().map_err(|error| {
            Failure::Os("tcp", Errno::from_io_error(&error).unwrap_or(Errno::CONNREFUSED))
        })?;
        Ok((Self::duplex(one.into())?, Self::duplex(other.into())?))
    }

    /// UDP on loopback: a message is one datagram, and one that does not come ends the measurement.
    pub fn udp() -> Outcome<(Self, Self)> {
        let pair = || {
            let (one, other) =
                (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
            one.connect(other.local_addr()?)?;
            other.connect(one.local_addr()?)?;
            emptied(&one)?;
            emptied(&other)?;
            Ok::<_, std::io::Error>((one, other))
        };
        let (one, other) = pair().map_err(|error| {
            Failure::Os("udp", Errno::from_io_error(&error).unwrap_or(Errno::CONNREFUSED))
        })?;
        Ok((Self::duplex(one.into())?, Self::duplex(other.into())?))
    }

    /// A pair of Unix sockets of packets: a message is one packet, and one that fits no buffer is refused.
    pub fn packets(size: usize) -> Outcome<(Self, Self)> {
        let (one, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(os("socketpair"))?;
        for end in [&one, &other] {
            // unix_dgram_sendmsg of the kernel: a packet has 32 bytes less than its socket's buffer.
            if socket_send_buffer_size(end).is_ok_and(|held| held < size + PACKET_HEAD) {
                let _ = set_socket_send_buffer_size(end, size + PACKET_HEAD);
            }
        }
        Ok((Self::duplex(one)?, Self::duplex(other)?))
    }

    fn duplex(fd: OwnedFd) -> Outcome<Self> {
        Ok(Self { reader: fd.try_clone().map_err(|_| Failure::Os("dup", Errno::MFILE))?, writer: fd })
    }

    /// Write all of `message`.
    pub fn send(&self, mut message: &[u8]) -> Result<(), Errno> {
        while !message.is_empty() {
            message = &message[retry_on_intr(|| write(&self.writer, message))?..];
        }
        Ok(())
    }

    /// Fill all of `target`.
    pub fn recv(&self, target: &mut [u8]) -> Result<(), Errno> {
        let mut filled = 0;
        while filled < target.len() {
            match retry_on_intr(|| read(&self.reader, &mut target[filled..]))? {
                0 => return Err(Errno::PIPE),
                count => filled += count,
            }
        }
        Ok(())
    }
}

/// A stream's reading end, which takes many short messages by one call, and long ones straight from the kernel.
pub struct Inlet {
    stream: Stream,
    buffer: Buffer,
    begin: usize,
    end: usize,
}

impl Inlet {
    /// Read messages of `size` bytes from `stream`.
    pub fn new(stream: Stream, size: usize) -> Outcome<Self> {
        let len = if size < AHEAD { AHEAD } else { 1 };
        Ok(Self { stream, buffer: Buffer::filled(len, 1)?, begin: 0, end: 0 })
    }

    /// Fill all of `target`.
    pub fn take(&mut self, target: &mut [u8]) -> Result<(), Errno> {
        if target.len() > self.buffer.len() {
            return self.stream.recv(target);
        }
        let mut filled = 0;
        while filled < target.len() {
            if self.begin == self.end {
                self.end = retry_on_intr(|| read(&self.stream.reader, &mut self.buffer[..]))?;
                self.begin = 0;
                if self.end == 0 {
                    return Err(Errno::PIPE);
                }
            }
            let count = (target.len() - filled).min(self.end - self.begin);
            target[filled..][..count].copy_from_slice(&self.buffer[self.begin..][..count]);
            (filled, self.begin) = (filled + count, self.begin + count);
        }
        Ok(())
    }
}

/// Drop what others have sent before the socket was connected, which hears its peer alone from then on.
fn emptied(socket: &UdpSocket) -> std::io::Result<()> {
    socket.set_nonblocking(true)?;
    while !matches!(socket.recv(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock) {}
    socket.set_nonblocking(false)
}

/// Both ends of a TCP connection on loopback without Nagle's delay; who else connects meanwhile is let go.
pub fn connect() -> std::io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    let one = TcpStream::connect(listener.local_addr()?)?;
    let (ours, mut accepted) = (one.local_addr()?, listener.accept()?);
    while accepted.1 != ours {
        accepted = listener.accept()?;
    }
    let other = accepted.0;
    one.set_nodelay(true)?;
    other.set_nodelay(true)?;
    Ok((one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_before_the_peer_is_dropped() {
        let new = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (one, peer, stranger) = (new(), new(), new());
        for message in [&b"nonsense"[..], b""] {
            stranger.send_to(message, one.local_addr().unwrap()).unwrap();
        }
        one.connect(peer.local_addr().unwrap()).unwrap();
        emptied(&one).unwrap();
        peer.send_to(b"ours", one.local_addr().unwrap()).unwrap();
        let mut target = [0; 8];
        assert_eq!(one.recv(&mut target).unwrap(), 4);
        assert!(target.starts_with(b"ours"));
    }
}
