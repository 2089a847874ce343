//! Memory from the kernel: shared between processes (nothing named, nothing to leave behind), or private.

use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use crate::error::{Outcome, os};

/// A mapping that another process may write at any time, so it hands out pointers and atomics only.
pub struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only unmapped by its one owner.
unsafe impl Send for Mapping {}
// SAFETY: shared references give atomics (safe) and raw pointers (each use is an unsafe block of its own).
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Map `len` prefaulted zero bytes that children made by fork will share.
    pub fn shared(len: usize) -> Outcome<Self> {
        Self::anonymous(len, MapFlags::SHARED)
    }

    fn anonymous(len: usize, kind: MapFlags) -> Outcome<Self> {
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new anonymous mapping at an address that the kernel chooses aliases nothing.
        let start = unsafe { mmap_anonymous(null_mut(), len, prot, kind | MapFlags::POPULATE) };
        Ok(Self { start: NonNull::new(start.map_err(os("mmap"))?.cast()).expect("mmap gave null"), len })
    }

    /// Map the first `len` bytes of an open file, prefaulted.
    pub fn of_file(fd: BorrowedFd<'_>, len: usize) -> Outcome<Self> {
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses a free address; the memory is only reached through pointers and atomics.
        let start = unsafe { mmap(null_mut(), len, prot, MapFlags::SHARED | MapFlags::POPULATE, fd, 0) };
        Ok(Self { start: NonNull::new(start.map_err(os("mmap"))?.cast()).expect("mmap gave null"), len })
    }

    /// Map `len` private zero bytes, of which no page is there before it is touched unless `populate`.
    pub fn private(len: usize, populate: bool) -> Result<Self, Errno> {
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        let populate = if populate { MapFlags::POPULATE } else { MapFlags::empty() };
        // SAFETY: a new anonymous mapping at an address that the kernel chooses aliases nothing.
        let start = unsafe { mmap_anonymous(null_mut(), len, prot, MapFlags::PRIVATE | populate) }?;
        Ok(Self { start: NonNull::new(start.cast()).expect("mmap gave null"), len })
    }

    /// Map the first `len` bytes of an open file for reading only.
    pub fn of_file_for_reading(fd: impl AsFd, len: usize, populate: bool) -> Result<Self, Errno> {
        let populate = if populate { MapFlags::POPULATE } else { MapFlags::empty() };
        // SAFETY: the kernel chooses a free address; the memory is only reached through pointers.
        let start = unsafe { mmap(null_mut(), len, ProtFlags::READ, MapFlags::SHARED | populate, fd, 0) }?;
        Ok(Self { start: NonNull::new(start.cast()).expect("mmap gave null"), len })
    }

    /// Map the first `len` bytes of an open file, of which no page is there before it is touched.
    pub fn of_file_for_writing(fd: impl AsFd, len: usize) -> Result<Self, Errno> {
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses a free address; the memory is only reached through pointers.
        let start = unsafe { mmap(null_mut(), len, prot, MapFlags::SHARED, fd, 0) }?;
        Ok(Self { start: NonNull::new(start.cast()).expect("mmap gave null"), len })
    }

    /// How many bytes are mapped.
    pub fn len(&self) -> usize {
        self.len
    }

    /// A pointer to `len` bytes at `offset`, which must lie inside.
    pub fn bytes(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(offset <= self.len && len <= self.len - offset, "outside the mapping");
        // SAFETY: the assertion keeps the offset inside the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// The 32-bit word at `offset`.
    pub fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset % 4 == 0);
        // SAFETY: in bounds (checked by `bytes`), aligned, and only ever reached as an atomic.
        unsafe { AtomicU32::from_ptr(self.bytes(offset, 4).cast()) }
    }

    /// The 64-bit word at `offset`.
    pub fn long(&self, offset: usize) -> &AtomicU64 {
        assert!(offset % 8 == 0);
        // SAFETY: in bounds (checked by `bytes`), aligned, and only ever reached as an atomic.
        unsafe { AtomicU64::from_ptr(self.bytes(offset, 8).cast()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this exact range was mapped by us, and nothing borrowed from it outlives `self`.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Private page-aligned bytes, faulted in and filled, as a measured program's own buffer would be.
pub struct Buffer(Mapping);

impl Buffer {
    /// `len` bytes that are neither zero nor the kernel's zero page, the same for the same `seed`.
    pub fn filled(len: usize, seed: u64) -> Outcome<Self> {
        let mut buffer = Self(Mapping::anonymous(len, MapFlags::PRIVATE)?);
        let mut state = seed | 1;
        for word in buffer.chunks_mut(8) {
            // Marsaglia's xorshift64: cheap, and no run of equal bytes for a copy to profit from.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let odd = state | 0x0101_0101_0101_0101;
            word.copy_from_slice(&odd.to_le_bytes()[..word.len()]);
        }
        Ok(buffer)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: a private mapping of exactly this length, initialised (zeroed) by the kernel.
        unsafe { std::slice::from_raw_parts(self.0.start.as_ptr(), self.0.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.0.start.as_ptr(), self.0.len) }
    }
}
