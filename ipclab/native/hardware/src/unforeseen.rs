//! What names are made of that nobody else may foresee.

use rustix::io::Errno;

use crate::error::{Failure, Outcome};

/// 128 random bits (getrandom(2)).
pub fn random() -> Outcome<u128> {
    let mut bytes = [0; 16];
    // SAFETY: the pointer and the length are those of `bytes`.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    match usize::try_from(got) {
        Ok(16) => Ok(u128::from_ne_bytes(bytes)),
        _ => Err(Failure::Os("getrandom", Errno::NOSYS)),
    }
}
