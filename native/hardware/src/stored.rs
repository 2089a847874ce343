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

/// Writes of `size` bytes into the file at `path`, by `way`; they are proven by what the file then holds.
///
/// `truncated` opens with O_TRUNC and sizes the file, maps, copies, unmaps and closes; `reopened` maps the pages that
/// are there; `kept` copies into a mapping that it has; `file` opens with O_TRUNC, writes, syncs and closes.
pub fn writing(way: &str, path: &str, size: usize) -> Outcome<Alone> {
    let (path, content) = (PathBuf::from(path), Buffer::filled(size, 1)?);
    let file = prepared(&path, &content)?;
    Ok(match way {
        "truncated" => written(path, content, |path, content| {
            let file = opened(path, OFlags::CREATE | OFlags::RDWR | OFlags::TRUNC)?;
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
            let file = opened(path, OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC)?;
            let mut left = content;
            while !left.is_empty() {
                left = &left[write(&file, left)?..];
            }
            fsync(&file)
        }),
        _ => return Err(no_such(way)),
    })
}

/// Reads of the `size` bytes that `writing` puts into the file at `path`, by `way`, each compared at the end of a turn.
pub fn reading(way: &str, path: &str, size: usize) -> Outcome<Alone> {
    let (path, content) = (PathBuf::from(path), Buffer::filled(size, 1)?);
    let file = prepared(&path, &content)?;
    Ok(match way {
        "truncated" | "reopened" => was_read(content, move |target| {
            let file = opened(&path, OFlags::RDONLY)?;
            copied_from(&Mapping::of_file_for_reading(&file, target.len(), false)?, target);
            Ok(())
        })?,
        "kept" => {
            let map = Mapping::of_file_for_reading(&file, size, false).map_err(os("mmap"))?;
            was_read(content, move |target| {
                copied_from(&map, target);
                Ok(())
            })?
        }
        "file" => was_read(content, move |target| {
            let (file, mut filled) = (opened(&path, OFlags::RDONLY)?, 0);
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
    path: PathBuf,
    content: Buffer,
    mut step: impl FnMut(&Path, &[u8]) -> Done + Send + Sync + 'static,
) -> Alone {
    Alone::new(move |last| {
        let proof = || std::fs::read(&path).is_ok_and(|seen| seen == *content);
        step(&path, &content).is_ok() && (!last || proof())
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

/// The file at `path` with `content`, open.
fn prepared(path: &Path, content: &[u8]) -> Outcome<OwnedFd> {
    let refused = |error: std::io::Error| {
        Failure::Os("the payload's file", Errno::from_io_error(&error).unwrap_or(Errno::IO))
    };
    let file = opened(path, OFlags::CREATE | OFlags::RDWR).map_err(os("open"))?;
    std::fs::write(path, content).map_err(refused)?;
    Ok(file)
}

fn opened(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    open(path, flags | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)
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
