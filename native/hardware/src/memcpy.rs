//! Memory copy bandwidth of one core, through the C library's `memcpy`.

use std::hint::black_box;

use pyo3::prelude::*;

use crate::clock::now;
use crate::error::{Failure, Outcome};
use crate::mapping::Buffer;
use crate::samples::Samples;

/// Short copies are timed in batches this long, so that the clock read is not what is measured.
const BATCH_NS: u64 = 5_000;

/// Time copies of `size` bytes between two faulted-in buffers for `budget_ns` (at most `n` samples).
///
/// Returns ns per copy as little-endian int64 bytes. Raises ValueError for a size of 0 or above 2^32.
#[pyfunction]
#[pyo3(signature = (size, n, budget_ns))]
pub fn memcpy(py: Python<'_>, size: usize, n: usize, budget_ns: u64) -> PyResult<Vec<u8>> {
    Ok(py.detach(|| measure(size, n, budget_ns))?)
}

fn measure(size: usize, n: usize, budget_ns: u64) -> Outcome<Vec<u8>> {
    if size == 0 || size > 1 << 32 {
        return Err(Failure::Invalid(format!("size must be 1 to 2^32 bytes, not {size}")));
    }
    let (source, mut target) = (Buffer::filled(size, 1)?, Buffer::filled(size, 2)?);
    let mut copy = || black_box(&mut target[..]).copy_from_slice(black_box(&source));
    copy();
    let start = now();
    copy();
    let batch = BATCH_NS.div_ceil((now() - start).max(1)).min(1_000);
    let samples = Samples::new(n, budget_ns)?;
    samples.run(|_| {
        (0..batch).for_each(|_| copy());
        true
    });
    Ok(samples.bytes(batch as i64))
}

#[cfg(test)]
mod tests {
    #[test]
    fn refuses_no_bytes() {
        assert!(super::measure(0, 1, 1).is_err());
    }
}
