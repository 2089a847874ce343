//! A payload written into a file and read back, by each way to come by its mapping: the system calls and the copy.

use std::path::{Path, PathBuf};
use std::ptr::copy_nonoverlapping;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, fsync, ftruncate, open};
use rustix::io::{Errno, read, write};

use crate::alone::Alone;
use crate::error::{Failure, Outcome, os};
use crate::mapping::{Buffer, Mapping};

type Done = Result<(), Errno>;

/// Writes of `size` bytes into a new file at `path`, by `way`; they are proven by what the file then holds.
///
/// `truncated` opens with O_TRUNC and sizes the file, maps, copies, unmaps and closes; `reopened` maps the pages that
/// are there; `kept` copies into a mapping that it has; `file` opens with O_TRUNC, writes, syncs and closes.
pub fn writing(way: &str, path: &str, size: usize) -> Outcome<Alone> {
    let content = Buffer::filled(size, 1)?;
    let (path, file) = Made::new(path, &content)?;
    Ok(match way {
        "truncated" => written(path, content, |path, content| {
            let file = opened(path, OFlags::RDWR | OFlags::TRUNC)?;
            ftruncate(&file, content.len() as u64)?;
            copied_into(&Mapping::of_file_for_writing(&file, content.len())?, content);
            Ok(())
        }),
        "reopened" => written(path, content, |path, content| {
            let file = opened(path, OFlags::RDWR)?;
            copied_into(&Mapping::of_file_for_writing(&file, content.len())?, content);
            Ok(())
        }),
        "kept" => {
            let map = Mapping::of_file_for_writing(&file, size).map_err(os("mmap"))?;
            written(path, content, move |_, content| {
                copied_into(&map, content);
                Ok(())
            })
        }
        "file" => written(path, content, |path, content| {
            let file = opened(path, OFlags::WRONLY | OFlags::TRUNC)?;
            let mut left = content;
            while !left.is_empty() {
                left = &left[write(&file, left)?..];
            }
            fsync(&file)
        }),
        _ => return Err(no_such(way)),
    })
}

/// Reads of `size` bytes that a new file at `path` holds, by `way`, each compared at the end of a turn.
pub fn reading(way: &str, path: &str, size: usize) -> Outcome<Alone> {
    let content = Buffer::filled(size, 1)?;
    let (path, file) = Made::new(path, &content)?;
    Ok(match way {
        "truncated" | "reopened" => was_read(content, move |target| {
            let file = opened(&path.0, OFlags::RDONLY)?;
            copied_from(&Mapping::of_file_for_reading(&file, target.len(), false)?, target);
            Ok(())
        })?,
        "kept" => {
            let map = Mapping::of_file_for_reading(&file, size, false).map_err(os("mmap"))?;
            was_read(content, move |target| {
                let _there = &path;
                copied_from(&map, target);
                Ok(())
            })?
        }
        "file" => was_read(content, move |target| {
            let (file, mut filled) = (opened(&path.0, OFlags::RDONLY)?, 0);
            while filled < target.len() {
                match read(&file, &mut target[filled..])? {
                    0 => return Err(Errno::NODATA),
                    count => filled += count,
                }
            }
            Ok(())
        })?,
        _ => return Err(no_such(way)),
    })
}

/// A write of `content` into the file at `path`, and at the end of a turn its proof.
fn written(
    path: Made,
    content: Buffer,
    mut step: impl FnMut(&Path, &[u8]) -> Done + Send + Sync + 'static,
) -> Alone {
    Alone::new(move |last| {
        let proof = || std::fs::read(&path.0).is_ok_and(|seen| seen == *content);
        step(&path.0, &content).is_ok() && (!last || proof())
    })
}

/// A read that must give `content`.
fn was_read(
    content: Buffer,
    mut step: impl FnMut(&mut [u8]) -> Done + Send + Sync + 'static,
) -> Outcome<Alone> {
    let mut target = Buffer::filled(content.len(), 2)?;
    Ok(Alone::new(move |last| step(&mut target).is_ok() && (!last || *target == *content)))
}

/// A file that we have made, which goes with this.
struct Made(PathBuf);

impl Made {
    /// Make the file at `path`, where nothing may be, with `content`; gives it open, too.
    fn new(path: &str, content: &[u8]) -> Outcome<(Self, OwnedFd)> {
        let file = match opened(Path::new(path), OFlags::CREATE | OFlags::EXCL | OFlags::RDWR) {
            Err(Errno::EXIST) => {
                let why = "another process or user made it; remove it, or have its owner remove it";
                return Err(Failure::Refused(format!("{path} is there already: {why}"), Errno::EXIST));
            }
            other => other.map_err(os("open"))?,
        };
        let (made, mut left) = (Self(PathBuf::from(path)), content);
        while !left.is_empty() {
            left = &left[write(&file, left).map_err(os("the payload's file"))?..];
        }
        Ok((made, file))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Open the file at `path`, which is no link.
fn opened(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    open(path, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)
}

fn copied_into(map: &Mapping, content: &[u8]) {
    // SAFETY: in bounds on both sides; the file belongs to this process, which alone shortens it.
    unsafe { copy_nonoverlapping(content.as_ptr(), map.bytes(0, content.len()), content.len()) };
}

fn copied_from(map: &Mapping, target: &mut [u8]) {
    // SAFETY: as above.
    unsafe { copy_nonoverlapping(map.bytes(0, target.len()), target.as_mut_ptr(), target.len()) };
}

fn no_such(way: &str) -> Failure {
    Failure::Invalid(format!("no such way to come by a mapping: {way}"))
}
