//! Reading one file whole in the calling thread: pread into a buffer, or a map of it.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{OFlags, fstat};
use rustix::io::{Errno, pread};
use rustix::mm::{Advice as Madvice, madvise};

use crate::clock::now;
use crate::files::buffers::{Buffers, Memory};
use crate::files::folder::Folder;
use crate::files::guard::watched;
use crate::files::plan::{Advice, Plan};
use crate::files::records::Kind;
use crate::mapping::Mapping;

/// A file whose data are there.
pub struct Held {
    pub index: u32,
    pub file: OwnedFd,
    pub memory: Memory,
    pub length: usize,
}

/// Which call failed for a file, and how.
#[derive(Clone, Copy, Debug)]
pub struct Fault(pub Kind, pub Errno);

/// The times of reading: open start, opened, read call returned, data there.
pub type Times = [u64; 4];

/// What reading needs, the same for all threads.
pub struct Source<'a> {
    pub plan: &'a Plan,
    pub folder: &'a Folder,
    pub buffers: &'a Buffers,
    /// What the offset and length of a direct read are multiples of; 1 when reads are buffered.
    pub block: u64,
}

impl Source<'_> {
    /// Open file `index`.
    #[inline]
    pub fn open(&self, index: u32) -> Result<OwnedFd, Fault> {
        let direct = if self.plan.direct { OFlags::DIRECT } else { OFlags::empty() };
        self.folder.file(u64::from(index), direct).map_err(|errno| Fault(Kind::Open, errno))
    }

    /// Memory for file `index`, and how long a read call for it must be.
    #[inline]
    pub fn memory(&self, index: u32) -> Result<(Memory, usize), Fault> {
        let size = self.plan.sizes[index as usize];
        let memory = self.buffers.take(size).map_err(|errno| Fault(Kind::Open, errno))?;
        Ok((memory, size.next_multiple_of(self.block) as usize))
    }

    /// Read file `index` by pread.
    #[inline]
    pub fn pread(&self, index: u32) -> Result<(Held, Times), Fault> {
        let start = now();
        let file = self.open(index)?;
        let (memory, length) = self.memory(index)?;
        let opened = now();
        match self.fill(index, &file, &memory, 0, length) {
            Ok(length) => {
                let end = now();
                Ok((Held { index, file, memory, length }, [start, opened, end, end]))
            }
            Err(errno) => {
                self.buffers.give(memory);
                Err(Fault(Kind::Read, errno))
            }
        }
    }

    /// Read from `from` to the end of the file; returns its size, or ENODATA when it is not the one of the plan.
    pub fn fill(
        &self,
        index: u32,
        file: &OwnedFd,
        memory: &Memory,
        from: usize,
        length: usize,
    ) -> Result<usize, Errno> {
        let size = self.plan.sizes[index as usize] as usize;
        // SAFETY: `length` bytes of this memory belong to this file alone, and the kernel gave them zeroed.
        let target = unsafe { std::slice::from_raw_parts_mut(self.buffers.start(memory, length), length) };
        let mut done = from;
        while done < size {
            if done as u64 % self.block != 0 {
                return Err(Errno::NODATA); // a direct read ends within a block at the end of the file only
            }
            match pread(file, &mut target[done..], done as u64) {
                Ok(0) => return Err(Errno::NODATA),
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(size)
    }

    /// Map file `index` and touch every page of it.
    pub fn map(&self, index: u32) -> Result<(Held, Times), Fault> {
        let start = now();
        let file = self.open(index)?;
        let length = self.plan.sizes[index as usize] as usize;
        let opened = now();
        if length == 0 {
            return Ok((
                Held { index, file, memory: Memory::Nowhere, length },
                [start, opened, opened, opened],
            ));
        }
        let map = self.mapped(&file, length).map_err(|errno| Fault(Kind::Submit, errno))?;
        let mapped = now();
        let (_, whole) = watched(map.bytes(0, length), length, || touch(&map, length));
        if !whole {
            return Err(Fault(Kind::Fault, broken(&file, length)));
        }
        Ok((Held { index, file, memory: Memory::Mapped(map), length }, [start, opened, mapped, now()]))
    }

    fn mapped(&self, file: &OwnedFd, length: usize) -> Result<Mapping, Errno> {
        let map = Mapping::of_file_for_reading(file.as_fd(), length, self.plan.advice == Advice::Populate)?;
        let advice = match self.plan.advice {
            Advice::None | Advice::Populate => return Ok(map),
            Advice::Sequential => Madvice::Sequential,
            Advice::Random => Madvice::Random,
            Advice::WillNeed => Madvice::WillNeed,
        };
        // SAFETY: these kinds of advice change no data, and the range is the map.
        unsafe { madvise(map.bytes(0, length).cast(), length, advice) }?;
        Ok(map)
    }
}

fn touch(map: &Mapping, length: usize) {
    for offset in (0..length).step_by(rustix::param::page_size()) {
        // SAFETY: in bounds; volatile, since the fault is what is wanted.
        unsafe { map.bytes(offset, 1).read_volatile() };
    }
}

/// Why a map had a page that could not be read: the file has become shorter (ENODATA), or the device failed (EIO).
pub fn broken(file: &OwnedFd, length: usize) -> Errno {
    match fstat(file) {
        Ok(stat) if (stat.st_size as usize) < length => Errno::NODATA,
        _ => Errno::IO,
    }
}
