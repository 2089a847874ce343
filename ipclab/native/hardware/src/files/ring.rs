//! One io_uring of a reading thread. The thread alone submits; any thread may take what has completed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};
use rustix::io::Errno;

use crate::error::{Failure, Outcome};
use crate::files::bell::{Bell, timespec};
use crate::files::lock;
use crate::files::missing::refusal;

/// Where to read to: the registered buffer when there is one.
pub struct Target {
    pub fd: i32,
    pub start: *mut u8,
    pub length: u32,
    pub slot: Option<u16>,
}

/// A ring and what its submitted reads are about.
pub struct Ring<T> {
    ring: IoUring,
    /// Whether other threads take completions too.
    pub shared: bool,
    depth: usize,
    pending: Vec<Mutex<Option<T>>>,
    free: Mutex<Vec<u32>>,
    taking: Mutex<()>,
    outstanding: AtomicUsize,
}

impl<T> Ring<T> {
    /// A ring for `depth` reads; `bell` sounds when one completes, `buffers` are registered when there are any.
    pub fn new(depth: usize, shared: bool, bell: Option<&Bell>, buffers: &[libc::iovec]) -> Outcome<Self> {
        let told = |error: std::io::Error| {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
            Failure::Refused(refusal(errno), errno)
        };
        let mut builder = IoUring::builder();
        if !shared {
            // Completions need not interrupt the thread: it asks for them.
            builder.setup_coop_taskrun();
        }
        let ring = builder.build(depth as u32).or_else(|_| IoUring::new(depth as u32)).map_err(told)?;
        if let Some(bell) = bell {
            ring.submitter().register_eventfd(bell.fd()).map_err(told)?;
        }
        if !buffers.is_empty() {
            // SAFETY: the buffers outlive the ring: both are the engine's, which drops its rings first.
            unsafe { ring.submitter().register_buffers(buffers) }.map_err(told)?;
        }
        Ok(Self {
            ring,
            shared,
            depth,
            pending: (0..depth).map(|_| Mutex::new(None)).collect(),
            free: Mutex::new((0..depth as u32).collect()),
            taking: Mutex::new(()),
            outstanding: AtomicUsize::new(0),
        })
    }

    /// Whether another read may be submitted.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.outstanding.load(SeqCst) < self.depth
    }

    /// Whether no read is under way.
    pub fn idle(&self) -> bool {
        self.outstanding.load(SeqCst) == 0
    }

    /// Put the read of `target` from offset 0 into the ring; `about` comes back with its completion.
    ///
    /// Only the ring's thread may call this, when there is room; `submit` must follow.
    pub fn prepare(&self, target: &Target, about: T) {
        let place = lock(&self.free).pop().expect("there is room");
        *lock(&self.pending[place as usize]) = Some(about);
        self.outstanding.fetch_add(1, SeqCst);
        let fd = Fd(target.fd);
        let entry = match target.slot {
            Some(slot) => opcode::ReadFixed::new(fd, target.start, target.length, slot).build(),
            None => opcode::Read::new(fd, target.start, target.length).build(),
        };
        // SAFETY: this thread alone submits; file and memory are kept in `pending` until the read completes.
        let pushed = unsafe { self.ring.submission_shared().push(&entry.user_data(u64::from(place))) };
        pushed.expect("as many entries as reads");
    }

    /// The read CALL: hand what was prepared to the kernel.
    #[inline]
    pub fn submit(&self) -> Result<(), Errno> {
        loop {
            match self.ring.submit() {
                Ok(_) => return Ok(()),
                Err(error) => match Errno::from_io_error(&error).unwrap_or(Errno::IO) {
                    Errno::INTR | Errno::AGAIN | Errno::BUSY => {}
                    errno => return Err(errno),
                },
            }
        }
    }

    /// Hand every completion to `take`: what it is about, and bytes or a negative errno.
    pub fn reap(&self, mut take: impl FnMut(T, i32)) {
        let _taking = lock(&self.taking);
        // SAFETY: `taking` makes this thread the only one at the completions.
        for entry in unsafe { self.ring.completion_shared() } {
            let place = entry.user_data() as usize;
            let about = lock(&self.pending[place]).take().expect("a read completes once");
            lock(&self.free).push(place as u32);
            self.outstanding.fetch_sub(1, SeqCst);
            take(about, entry.result());
        }
    }

    /// Wait at most `left_ns` for a completion; only for a ring that is not shared.
    pub fn block(&self, left_ns: u64) {
        let left = timespec(left_ns);
        let left = Timespec::new().sec(left.tv_sec as u64).nsec(left.tv_nsec as u32);
        // Every refusal (the time is over, a signal came) is as good as a wake: the caller looks again.
        let _ = self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&left));
    }

    /// Wait at most `left_ns` until no read is under way, dropping what completes; false when some still is.
    pub fn drain(&self, left_ns: u64) -> bool {
        let end = crate::clock::now() + left_ns;
        while !self.idle() {
            self.reap(|about, _| drop(about));
            let left = end.saturating_sub(crate::clock::now());
            if left == 0 {
                return false;
            }
            if !self.idle() {
                self.block(left.min(10_000_000));
            }
        }
        true
    }
}
