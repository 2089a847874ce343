//! The engine as Python calls it.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::files::engine::run;
use crate::files::plan::Plan;
use crate::files::result::dict_of;

/// Read and compute the files of `plan` once each and return what was measured.
///
/// Keys of the plan (those with a default may be left out): folder, sizes (u64 little-endian), method (sync, overlapped,
/// mmap), roles (one a thread: read, compute, both, read-then-compute, compute-then-read), in_flight (files open at
/// once, lowered to what the limit of open files allows), deadline_ns (from now); compute_ns (u64, none), compute_clock
/// (wall or cpu), checksum_rounds (0), advice (none), direct (False), buffer (fresh), cpus (none), depth (1),
/// repeat_order (given or shuffled by seed), spans (0), keep_maps (False: unmap each file). A file that cannot be read is an entry of `errors`; raises
/// ValueError for a wrong plan, OSError when the kernel refuses what all files need, TimeoutError at the deadline.
#[pyfunction]
pub fn read_files<'py>(py: Python<'py>, plan: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let plan = Plan::of(plan)?;
    let run = py.detach(|| run(plan))?;
    dict_of(py, run)
}
