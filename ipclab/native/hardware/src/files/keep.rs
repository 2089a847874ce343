//! Looking after a set: what is in it, what of it the page cache holds, and emptying or filling the cache.

use std::os::fd::{AsFd, AsRawFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pyo3::prelude::*;
use rustix::fs::{Advice, OFlags, fadvise, syncfs};
use rustix::io::{Errno, pread};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::error::{Failure, Outcome, check_signals, os};
use crate::files::each::{Progress, each};
use crate::files::folder::{Folder, sizes_of};
use crate::mapping::Mapping;

/// Bytes read at once.
const CHUNK: usize = 1 << 20;
/// The system call cachestat (Linux 6.5), of the same number on every architecture.
const SYS_CACHESTAT: libc::c_long = 451;

fn every<State>(
    path: &str,
    sizes: &[u8],
    threads: usize,
    start: impl Fn() -> State + Sync,
    work: impl Fn(&mut State, &Folder, usize, u64) -> Outcome<()> + Sync,
) -> Outcome<()> {
    let (folder, sizes) = (Folder::open(path)?, sizes_of(sizes, 0)?);
    let work = |state: &mut State, number: usize, _: &Progress| work(state, &folder, number, sizes[number]);
    each(sizes.len(), threads, start, work, |_| check_signals())
}

/// Read file `number` whole in chunks, handing each to `take`; an error when it has not `size` bytes.
fn chunks(
    folder: &Folder,
    number: usize,
    size: u64,
    chunk: &mut [u8],
    mut take: impl FnMut(&[u8]),
) -> Outcome<()> {
    let file = folder.file(number as u64, OFlags::empty()).map_err(os("opening a file of the set"))?;
    let mut offset = 0;
    loop {
        match pread(&file, &mut *chunk, offset) {
            Ok(0) if offset == size => return Ok(()),
            Ok(count) if count > 0 && offset + count as u64 <= size => {
                take(&chunk[..count]);
                offset += count as u64;
            }
            Ok(_) => {
                return Err(Failure::Invalid(format!(
                    "file {number} has not the {size} bytes it was made with"
                )));
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Failure::Os("reading a file of the set", errno)),
        }
    }
}

/// Return 32 hex digits: XXH3-128 over the XXH3-128 (16 bytes, little-endian) of every file in the order of indices.
#[pyfunction]
pub fn digest_files(py: Python<'_>, folder: &str, sizes: &[u8], threads: usize) -> PyResult<String> {
    let digests = Mutex::new(vec![[0; 16]; sizes.len() / 8]);
    py.detach(|| {
        every(
            folder,
            sizes,
            threads,
            || vec![0; CHUNK],
            |chunk, folder, number, size| {
                let mut hash = Xxh3::new();
                chunks(folder, number, size, chunk, |bytes| hash.update(bytes))?;
                digests.lock().expect("nobody panics here")[number] = hash.digest128().to_le_bytes();
                Ok(())
            },
        )
    })?;
    let digests = digests.into_inner().expect("nobody panics here");
    Ok(format!("{:032x}", xxh3_128(digests.as_flattened())))
}

/// Read every file once, so that the page cache holds what fits.
#[pyfunction]
pub fn warm_files(py: Python<'_>, folder: &str, sizes: &[u8], threads: usize) -> PyResult<()> {
    let read =
        |chunk: &mut Vec<u8>, folder: &Folder, number, size| chunks(folder, number, size, chunk, |_| ());
    Ok(py.detach(|| every(folder, sizes, threads, || vec![0; CHUNK], read))?)
}

/// Write back and drop the cached pages of every file (syncfs, POSIX_FADV_DONTNEED); inodes and names stay cached.
#[pyfunction]
pub fn drop_files(py: Python<'_>, folder: &str, sizes: &[u8], threads: usize) -> PyResult<()> {
    let drop_one = |(): &mut (), folder: &Folder, number: usize, size: u64| {
        let file = folder.file(number as u64, OFlags::empty()).map_err(os("opening a file of the set"))?;
        if cachestat(&file, size) == Ok(0) {
            return Ok(()); // asking is cheaper than dropping nothing
        }
        fadvise(&file, 0, None, Advice::DontNeed).map_err(os("posix_fadvise"))
    };
    Ok(py.detach(|| {
        // One write-back for all: a file at a time would commit the file system's journal for each.
        syncfs(&Folder::open(folder)?.0).map_err(os("syncfs"))?;
        every(folder, sizes, threads, || (), drop_one)
    })?)
}

/// Return how many pages of the set the page cache holds, and how many there are (cachestat, or else mincore).
#[pyfunction]
pub fn cache_state(py: Python<'_>, folder: &str, sizes: &[u8]) -> PyResult<(u64, u64)> {
    let (resident, all) = (AtomicU64::new(0), AtomicU64::new(0));
    let page = rustix::param::page_size() as u64;
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(4));
    let count = |(): &mut (), folder: &Folder, number: usize, size: u64| {
        let file = folder.file(number as u64, OFlags::empty()).map_err(os("opening a file of the set"))?;
        let cached = match cachestat(&file, size) {
            Err(Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP) => mincore(&file, size),
            known => known,
        };
        resident.fetch_add(cached.map_err(os("asking for cached pages"))?, Relaxed);
        all.fetch_add(size.div_ceil(page), Relaxed);
        Ok(())
    };
    py.detach(|| every(folder, sizes, threads, || (), count))?;
    Ok((resident.into_inner(), all.into_inner()))
}

fn cachestat(file: impl AsFd, size: u64) -> Result<u64, Errno> {
    if size == 0 {
        return Ok(0); // a length of 0 would mean the whole file
    }
    let range = [0u64, size];
    let mut found = [0u64; 5];
    // SAFETY: cachestat(fd, range of two u64, result of five u64, flags) reads and writes just these arrays.
    let code = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_fd().as_raw_fd(), range.as_ptr(), found.as_mut_ptr(), 0)
    };
    if code == 0 { Ok(found[0]) } else { Err(last_errno()) }
}

fn mincore(file: impl AsFd, size: u64) -> Result<u64, Errno> {
    if size == 0 {
        return Ok(0);
    }
    let map = Mapping::of_file_for_reading(file.as_fd(), size as usize, false)?;
    let mut pages = vec![0u8; (size as usize).div_ceil(rustix::param::page_size())];
    // SAFETY: the mapping has `size` bytes and `pages` one byte for each page of it.
    let code =
        unsafe { libc::mincore(map.bytes(0, size as usize).cast(), size as usize, pages.as_mut_ptr()) };
    if code == 0 { Ok(pages.iter().map(|page| u64::from(page & 1)).sum()) } else { Err(last_errno()) }
}

/// The errno of the last failed call of libc in this thread.
pub fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
