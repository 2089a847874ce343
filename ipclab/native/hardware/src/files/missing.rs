//! What cannot be used here, and why.

use io_uring::{IoUring, Probe, opcode};
use pyo3::prelude::*;
use rustix::fs::{CWD, Mode, OFlags, openat, unlink};
use rustix::io::Errno;

use crate::error::{Outcome, os};
use crate::unforeseen::random;

/// TMPFS_MAGIC and RAMFS_MAGIC of linux/magic.h: file systems whose files are the page cache.
const IN_MEMORY: [(i64, &str); 2] = [(0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs")];

/// Return why io_uring cannot be used here, None when it can.
#[pyfunction]
pub fn io_uring_missing() -> Option<String> {
    let ring = match IoUring::new(2) {
        Ok(ring) => ring,
        Err(error) => return Some(refusal(Errno::from_io_error(&error).unwrap_or(Errno::NOSYS))),
    };
    if !ring.params().is_feature_ext_arg() {
        return Some("this kernel's io_uring cannot wait with a deadline (Linux 5.11 or newer can)".into());
    }
    let mut probe = Probe::new();
    let known = ring.submitter().register_probe(&mut probe).is_ok();
    let codes = [opcode::Read::CODE, opcode::ReadFixed::CODE];
    if !known || codes.iter().any(|code| !probe.is_supported(*code)) {
        return Some("this kernel's io_uring cannot read".into());
    }
    None
}

/// Say why a ring was refused.
pub fn refusal(errno: Errno) -> String {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    match (errno, disabled.trim()) {
        (Errno::PERM, level @ ("1" | "2")) => {
            format!("io_uring is disabled by the sysctl kernel.io_uring_disabled = {level}")
        }
        (Errno::PERM | Errno::ACCESS, _) => "io_uring is refused by a security filter (seccomp)".into(),
        (Errno::NOSYS, _) => "this kernel has no io_uring, or a security filter (seccomp) hides it".into(),
        (Errno::NOMEM, _) => "io_uring needs more locked memory than the limit (ulimit -l) allows".into(),
        _ => format!("io_uring cannot be set up: {errno}"),
    }
}

/// Return why the files of `folder` cannot be read past the page cache (O_DIRECT), None when they can.
#[pyfunction]
pub fn direct_missing(folder: &str) -> PyResult<Option<String>> {
    Ok(direct(folder)?)
}

fn direct(folder: &str) -> Outcome<Option<String>> {
    let kind = rustix::fs::statfs(folder).map_err(os("asking for the file system of the folder"))?.f_type;
    // tmpfs lets a file be opened with O_DIRECT since Linux 6.6, and reads it from the page cache all the same.
    if let Some((_, name)) = IN_MEMORY.iter().find(|(magic, _)| *magic == kind as i64) {
        return Ok(Some(format!("the folder is on {name}, whose files are the page cache")));
    }
    let (flags, mode) = (OFlags::RDWR | OFlags::CLOEXEC | OFlags::DIRECT, Mode::RUSR | Mode::WUSR);
    let opened = match openat(CWD, folder, flags | OFlags::TMPFILE, mode) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR) => {
            let path = format!("{folder}/.ipclab-direct-{:032x}", random()?);
            let made = openat(CWD, &path, flags | OFlags::CREATE | OFlags::EXCL, mode);
            if made.is_ok() {
                let _ = unlink(&path);
            }
            made
        }
        tried => tried,
    };
    match opened {
        Ok(_) => Ok(None),
        Err(Errno::INVAL) => Ok(Some("the folder's file system refuses O_DIRECT".into())),
        Err(errno) => Err(crate::error::Failure::Os("trying O_DIRECT in the folder", errno)),
    }
}
