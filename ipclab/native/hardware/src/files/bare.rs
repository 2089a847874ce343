//! What reading the files of a set costs without the engine: the system calls alone, in one thread.

use pyo3::prelude::*;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, pread};

use crate::clock::now;
use crate::error::{Failure, Outcome, os};
use crate::files::folder::{Folder, Name, sizes_of};
use crate::files::meter::cpu_time;

/// Return the ns that opening, reading whole (into one prefaulted buffer) and closing every file takes: elapsed, and of
/// CPU time.
#[pyfunction]
pub fn bare_read_cost(py: Python<'_>, folder: &str, sizes: &[u8]) -> PyResult<(u64, u64)> {
    let sizes = sizes_of(sizes, 0)?;
    Ok(py.detach(|| cost(folder, &sizes))?)
}

fn cost(path: &str, sizes: &[u64]) -> Outcome<(u64, u64)> {
    let folder = Folder::open(path)?;
    let mut buffer = vec![1u8; sizes.iter().copied().max().unwrap_or(0).max(1) as usize];
    let names: Vec<Name> = (0..sizes.len() as u64).map(Name::of).collect();
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let (start, cpu) = (now(), cpu_time());
    for (name, size) in names.iter().zip(sizes) {
        let file = openat(&folder.0, name.as_c_str(), flags, Mode::empty()).map_err(os("openat"))?;
        if pread(&file, &mut buffer[..*size as usize], 0).map_err(os("pread"))? as u64 != *size {
            return Err(Failure::Os("pread", Errno::NODATA));
        }
    }
    Ok((now() - start, cpu_time() - cpu))
}
