//! Where the files of a set lie: `<folder>/<index / 1000, 4 digits>/<index, 7 digits>`.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, open, openat};
use rustix::io::Errno;

use crate::error::{Failure, Outcome, os};

/// Files in one subfolder.
pub const PER_FOLDER: u64 = 1000;
/// One more than the largest index a name can hold.
pub const MOST_FILES: u64 = 10_000_000;

/// A path relative to the folder of the set, made without allocating.
#[derive(Clone, Copy)]
pub struct Name {
    text: [u8; 20],
}

impl Name {
    /// The name of file `index`, which must be below `MOST_FILES`.
    #[inline]
    pub fn of(index: u64) -> Self {
        let mut text = *b"0000/0000000\0\0\0\0\0\0\0\0";
        digits(&mut text[..4], index / PER_FOLDER);
        digits(&mut text[5..12], index);
        Self { text }
    }

    /// The name that file `index` has while it is being written.
    pub fn part(index: u64) -> Self {
        let mut name = Self::of(index);
        name.text[12..17].copy_from_slice(b".part");
        name
    }

    /// The subfolder of file `index`.
    pub fn parent(index: u64) -> Self {
        let mut name = Self::of(index);
        name.text[4..].fill(0);
        name
    }

    #[inline]
    pub fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.text).expect("a name ends with a zero")
    }
}

fn digits(text: &mut [u8], mut number: u64) {
    for place in text.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The open folder of a set.
pub struct Folder(pub OwnedFd);

impl Folder {
    pub fn open(path: &str) -> Outcome<Self> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        open(path, flags, Mode::empty()).map(Self).map_err(os("opening the folder of the files"))
    }

    /// Open file `index` for reading.
    #[inline]
    pub fn file(&self, index: u64, more: OFlags) -> Result<OwnedFd, Errno> {
        openat(&self.0, Name::of(index).as_c_str(), OFlags::RDONLY | OFlags::CLOEXEC | more, Mode::empty())
    }
}

/// Open the folder at `path`, which is made (0700) when it is not there.
pub fn ensure(path: &str) -> Outcome<Folder> {
    match rustix::fs::mkdirat(CWD, path, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => Folder::open(path),
        Err(errno) => Err(Failure::Os("making the folder of the files", errno)),
    }
}

/// The sizes of a set from little-endian u64; an error when there are too many for the names.
pub fn sizes_of(bytes: &[u8], first: u64) -> Outcome<Vec<u64>> {
    let words = bytes.chunks_exact(8);
    if !words.remainder().is_empty() {
        return Err(Failure::Invalid(format!("{} bytes are no whole number of 64-bit numbers", bytes.len())));
    }
    if first.saturating_add(words.len() as u64) > MOST_FILES {
        return Err(Failure::Invalid(format!("a set has at most {MOST_FILES} files")));
    }
    Ok(words.map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_digits() {
        assert_eq!(Name::of(0).as_c_str(), c"0000/0000000");
        assert_eq!(Name::of(1_234_567).as_c_str(), c"1234/1234567");
        assert_eq!(Name::part(9_999_999).as_c_str(), c"9999/9999999.part");
        assert_eq!(Name::parent(1_000).as_c_str(), c"0001");
    }

    #[test]
    fn sizes_must_be_whole_and_few() {
        assert_eq!(sizes_of(&[1, 0, 0, 0, 0, 0, 0, 0], 0).unwrap(), [1]);
        assert!(sizes_of(&[1], 0).is_err());
        assert!(sizes_of(&[0; 8], MOST_FILES).is_err());
    }
}
