//! POSIX message queues without a name: it cannot be foreseen, and is gone at once (mq_overview(7)).

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::io::Errno;

use crate::error::{Failure, Outcome};
use crate::unforeseen::random;

/// How many messages a queue holds: the kernel's usual msg_default, as the mechanism has it.
const DEPTH: i64 = 10;

/// A queue of messages of one length; a message queue descriptor is a file descriptor in Linux.
pub struct Queue {
    fd: OwnedFd,
    size: usize,
    awake: bool,
}

impl Queue {
    /// Make a queue for messages of `size` bytes, and take its name away; its ends wait asleep, or `awake`.
    pub fn new(size: usize, awake: bool) -> Outcome<Self> {
        let name = format!("/ipclab-limit-{:032x}", random()?);
        let name = CString::new(name).expect("a name without a zero byte");
        // SAFETY: mq_attr is plain numbers; the name ends in a zero byte, and both outlive the calls.
        let fd = unsafe {
            let mut attributes: libc::mq_attr = std::mem::zeroed();
            attributes.mq_maxmsg = DEPTH;
            attributes.mq_msgsize = size as i64;
            let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
            let flags = if awake { flags | libc::O_NONBLOCK } else { flags };
            let fd = libc::mq_open(name.as_ptr(), flags, 0o600, &mut attributes);
            let refused = last_error();
            if fd < 0 {
                return Err(Failure::Os("mq_open", refused));
            }
            libc::mq_unlink(name.as_ptr());
            OwnedFd::from_raw_fd(fd)
        };
        Ok(Self { fd, size, awake })
    }

    /// Send `message`, waiting for room; returns whether that went well.
    pub fn send(&self, message: &[u8]) -> bool {
        // SAFETY: the pointer and the length are those of `message`.
        self.again(
            || unsafe { libc::mq_send(self.fd.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) }
                as isize,
        )
        .is_some()
    }

    /// Wait for a message, which must fill `target`, of the queue's length; returns whether it did.
    pub fn recv(&self, target: &mut [u8]) -> bool {
        assert!(target.len() == self.size);
        let (fd, start) = (self.fd.as_raw_fd(), target.as_mut_ptr());
        // SAFETY: the pointer and the length are those of `target`, and no priority is asked for.
        let got =
            self.again(|| unsafe { libc::mq_receive(fd, start.cast(), target.len(), std::ptr::null_mut()) });
        got == Some(target.len())
    }

    fn again(&self, mut call: impl FnMut() -> isize) -> Option<usize> {
        loop {
            match call() {
                -1 if last_error() == Errno::INTR => {}
                -1 if self.awake && last_error() == Errno::AGAIN => std::hint::spin_loop(),
                result => return usize::try_from(result).ok(),
            }
        }
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use super::Queue;

    #[test]
    fn messages_arrive_in_order() {
        let queue = Queue::new(3, false).unwrap();
        let mut target = [0; 3];
        assert!(queue.send(b"one") && queue.send(b"two"));
        assert!(queue.recv(&mut target) && target == *b"one");
        assert!(queue.recv(&mut target) && target == *b"two");
        assert!(!queue.send(b"four"), "longer than its messages");
    }
}
