//! Memory for what is read: untouched pages for every file, or slots that were faulted in before the run.

use std::sync::Mutex;

use rustix::io::Errno;

use crate::error::{Failure, Outcome};
use crate::files::lock;
use crate::files::meter::kib;
use crate::files::plan::{BufferKind, Method, Plan};
use crate::mapping::Mapping;

/// Buffers are multiples of this at least, as pages are and O_DIRECT may need.
const ALIGNMENT: u64 = 4096;
/// Most buffers that a ring takes (IORING_MAX_REG_BUFFERS of the kernel).
const MOST_REGISTERED: usize = 1 << 14;
/// Most bytes of one registered buffer (io_uring_register(2)).
const LARGEST_REGISTERED: u64 = 1 << 30;
/// The part of the available memory that the slots may take.
const SHARE: u64 = 2;

/// Where the data of one file are.
pub enum Memory {
    Nowhere,
    Mapped(Mapping),
    Slot(u32),
}

/// The slots of a run, none when the buffers are fresh or the files are mapped.
pub struct Buffers {
    slab: Option<Mapping>,
    /// The bytes of a slot; without slots, what the bytes of a buffer are a multiple of.
    each: usize,
    free: Mutex<Vec<u32>>,
}

impl Buffers {
    /// Make the buffers of `plan`, with `slots` files in memory at once, read in multiples of `block` bytes.
    pub fn new(plan: &Plan, slots: usize, block: u64) -> Outcome<Self> {
        let largest = plan.sizes.iter().copied().max().unwrap_or(0);
        let each = largest.max(1).next_multiple_of(ALIGNMENT.max(block));
        if plan.method == Method::Mmap || plan.buffer == BufferKind::Fresh {
            return Ok(Self { slab: None, each: ALIGNMENT.max(block) as usize, free: Mutex::new(vec![]) });
        }
        let all = each.saturating_mul(slots as u64);
        let room = kib("/proc/meminfo", "MemAvailable:").unwrap_or(u64::MAX) / SHARE;
        if all > room {
            let what = format!(
                "{slots} buffers of {each} bytes are more than half of the memory there is ({room} bytes)"
            );
            return Err(Failure::Invalid(format!("{what}: lower in_flight or use fresh buffers")));
        }
        if plan.buffer == BufferKind::Registered && (slots > MOST_REGISTERED || each > LARGEST_REGISTERED) {
            let most = format!("{MOST_REGISTERED} buffers of {LARGEST_REGISTERED} bytes");
            return Err(Failure::Invalid(format!("a ring takes at most {most}, not {slots} of {each}")));
        }
        let slab = Mapping::private(all as usize, true)
            .map_err(|errno| Failure::Os("mapping the buffers", errno))?;
        // The last is taken first: the slots in use stay few and in the cache.
        let free = (0..slots as u32).rev().collect();
        Ok(Self { slab: Some(slab), each: each as usize, free: Mutex::new(free) })
    }

    /// Memory for `size` bytes; there is a slot for every file that may be in flight.
    #[inline]
    pub fn take(&self, size: u64) -> Result<Memory, Errno> {
        if self.slab.is_some() {
            let slot = lock(&self.free).pop();
            return slot.map(Memory::Slot).ok_or(Errno::NOBUFS);
        }
        let length = size.max(1).next_multiple_of(self.each as u64) as usize;
        Ok(Memory::Mapped(Mapping::private(length, false)?))
    }

    /// Give memory back.
    #[inline]
    pub fn give(&self, memory: Memory) {
        if let Memory::Slot(slot) = memory {
            lock(&self.free).push(slot);
        }
    }

    /// Where `length` bytes of `memory` begin.
    #[inline]
    pub fn start(&self, memory: &Memory, length: usize) -> *mut u8 {
        match (memory, &self.slab) {
            (Memory::Mapped(map), _) => map.bytes(0, length),
            (Memory::Slot(slot), Some(slab)) => {
                assert!(length <= self.each, "longer than a slot");
                slab.bytes(*slot as usize * self.each, length)
            }
            _ => std::ptr::NonNull::dangling().as_ptr(),
        }
    }

    /// The slots as the kernel wants them for registration.
    pub fn vectors(&self) -> Vec<libc::iovec> {
        let Some(slab) = &self.slab else { return vec![] };
        let slots = slab.len() / self.each;
        let start = |slot: usize| slab.bytes(slot * self.each, self.each).cast();
        (0..slots).map(|slot| libc::iovec { iov_base: start(slot), iov_len: self.each }).collect()
    }
}
