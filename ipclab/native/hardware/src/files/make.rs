//! Making a set: several threads write, each file under another name until it is whole.

use std::os::fd::AsFd;

use pyo3::prelude::*;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, write};

use crate::error::{Failure, Outcome, check_signals, os};
use crate::files::content::Content;
use crate::files::each::{Progress, each};
use crate::files::folder::{Folder, Name, PER_FOLDER, ensure, sizes_of};

/// Bytes written at once.
const CHUNK: usize = 1 << 20;

/// Write files `first`, `first + 1`, ... of the given sizes (little-endian u64) into `folder`, from `threads` threads.
///
/// The content is incompressible and follows from `seed` and the index alone. A file of the right size is kept, so a
/// making that was killed goes on where it was; `done` is called with the number of files there, about 10 times a
/// second and at the end. Raises OSError (no room, ...) after removing the files begun.
#[pyfunction]
#[pyo3(signature = (folder, first, sizes, seed, threads, done=None))]
pub fn make_files(
    py: Python<'_>,
    folder: &str,
    first: u64,
    sizes: &[u8],
    seed: u64,
    threads: usize,
    done: Option<Py<PyAny>>,
) -> PyResult<()> {
    let sizes = sizes_of(sizes, first)?;
    let look = |count: usize| -> Outcome<()> {
        check_signals()?;
        let Some(done) = &done else { return Ok(()) };
        Python::try_attach(|py| done.call1(py, (count,)).map(drop)).unwrap_or(Ok(())).map_err(Failure::Signal)
    };
    Ok(py.detach(|| make(folder, first, &sizes, seed, threads, look))?)
}

fn make(
    path: &str,
    first: u64,
    sizes: &[u64],
    seed: u64,
    threads: usize,
    look: impl FnMut(usize) -> Outcome<()>,
) -> Outcome<()> {
    let folder = ensure(path)?;
    let last = (first + sizes.len() as u64).div_ceil(PER_FOLDER);
    for number in first / PER_FOLDER..last {
        match mkdirat(&folder.0, Name::parent(number * PER_FOLDER).as_c_str(), Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(Failure::Os("making a folder for the files", errno)),
        }
    }
    let work = |chunk: &mut Vec<u8>, number: usize, progress: &Progress| {
        let index = first + number as u64;
        one(&folder, index, sizes[number], Content::new(seed, index), chunk, progress).inspect_err(|_| {
            let _ = unlinkat(&folder.0, Name::part(index).as_c_str(), AtFlags::empty());
        })
    };
    each(sizes.len(), threads, || vec![0; CHUNK], work, look)
}

fn one(
    folder: &Folder,
    index: u64,
    size: u64,
    content: Content,
    chunk: &mut [u8],
    progress: &Progress,
) -> Outcome<()> {
    let (name, part) = (Name::of(index), Name::part(index));
    match statat(&folder.0, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if stat.st_size as u64 == size => return Ok(()),
        Ok(_) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(Failure::Os("looking for a file of the set", errno)),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = openat(&folder.0, part.as_c_str(), flags, Mode::RUSR | Mode::WUSR)
        .map_err(os("making a file of the set"))?;
    let mut offset = 0;
    while offset < size {
        if progress.stopped() {
            return Err(Failure::Timeout("the making of files was stopped"));
        }
        let length = (size - offset).min(chunk.len() as u64) as usize;
        content.fill(offset, &mut chunk[..length]);
        write_all(&file, &chunk[..length])?;
        offset += length as u64;
    }
    drop(file);
    renameat(&folder.0, part.as_c_str(), &folder.0, name.as_c_str()).map_err(os("naming a file of the set"))
}

fn write_all(file: impl AsFd, mut bytes: &[u8]) -> Outcome<()> {
    while !bytes.is_empty() {
        match write(&file, bytes) {
            Ok(0) => return Err(Failure::Os("writing a file of the set", Errno::NOSPC)),
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Failure::Os("writing a file of the set", errno)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_set_is_whole_and_a_file_begun_is_begun_again() {
        let path = std::env::temp_dir().join(format!("ipclab-make-{}", std::process::id()));
        let name = path.to_str().unwrap();
        make(name, 998, &[5, 0, 4096], 1, 2, |_| Ok(())).unwrap();
        let read = |which: &str| std::fs::read(Path::new(name).join(which));
        let (small, large) = (read("0000/0000998").unwrap(), read("0001/0001000").unwrap());
        assert_eq!((small.len(), read("0000/0000999").unwrap().len(), large.len()), (5, 0, 4096));
        std::fs::write(path.join("0001/0001000.part"), b"killed").unwrap();
        std::fs::remove_file(path.join("0001/0001000")).unwrap();
        make(name, 998, &[5, 0, 4096], 1, 2, |_| Ok(())).unwrap();
        assert_eq!(read("0001/0001000").unwrap(), large);
        assert!(read("0001/0001000.part").is_err());
        std::fs::remove_dir_all(path).unwrap();
    }
}
