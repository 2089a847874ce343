//! What a run gave, as Python gets it.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::files::engine::Run;
use crate::files::records::{COLUMNS, KINDS, Reads};
use crate::files::worker::Tally;

/// The dict that `read_files` returns.
pub fn dict_of(py: Python<'_>, run: Run) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let since = |time: u64| time.saturating_sub(run.started);
    let last = |of: fn(&Tally) -> u64| since(run.tallies.iter().map(of).max().unwrap_or(0));
    let sum = |of: fn(&Tally) -> u64| run.tallies.iter().map(of).fold(0, u64::wrapping_add);
    let first = run.tallies.iter().map(|tally| tally.first_compute).min().filter(|first| *first < u64::MAX);
    dict.set_item("elapsed_ns", last(|tally| tally.ended))?;
    dict.set_item("first_compute_ns", first.map(since))?;
    dict.set_item("read_end_ns", last(|tally| tally.read_end))?;
    dict.set_item("files", sum(|tally| tally.files_computed))?;
    dict.set_item("bytes", run.engine.reads.iter().map(Reads::bytes).sum::<u64>())?;
    dict.set_item("checksum", sum(|tally| tally.checksum))?;
    dict.set_item("peak_rss_bytes", run.peak_rss_bytes)?;
    dict.set_item("in_flight", run.engine.hub.limit())?;
    dict.set_item("max_open_files", run.engine.hub.most_in_flight())?;
    let mut errors: Vec<(u32, i32, &str)> =
        run.tallies.iter().flat_map(|tally| tally.errors.iter().copied()).collect();
    errors.sort_unstable();
    dict.set_item("errors", errors)?;
    dict.set_item("tasks", tasks(py, &run)?)?;
    let threads: PyResult<Vec<_>> =
        run.tallies.iter().enumerate().map(|(number, tally)| thread(py, &run, number, tally)).collect();
    dict.set_item("threads", threads?)?;
    let mut spans: Vec<(usize, &str, i64, u64, u64)> = run
        .spans
        .iter()
        .map(|(thread, kind, index, start, end)| {
            (*thread, KINDS[*kind as usize], *index, since(*start), since(*end))
        })
        .collect();
    spans.sort_unstable_by_key(|span| (span.0, span.3, span.4));
    dict.set_item("spans", spans)?;
    Ok(dict)
}

fn tasks<'py>(py: Python<'py>, run: &Run) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (place, name) in COLUMNS.into_iter().enumerate() {
        dict.set_item(name, PyBytes::new(py, &run.engine.rows.bytes(place)))?;
    }
    if let Some(indices) = run.engine.rows.indices() {
        dict.set_item("task_index", PyBytes::new(py, &indices))?;
    }
    Ok(dict)
}

fn thread<'py>(py: Python<'py>, run: &Run, number: usize, tally: &Tally) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let account = &tally.account;
    dict.set_item("role", run.engine.plan.roles[number].name())?;
    dict.set_item("elapsed_ns", account.elapsed_ns)?;
    dict.set_item("execution_ns", account.execution_ns)?;
    dict.set_item("io_wait_ns", account.io_wait_ns)?;
    dict.set_item("work_wait_ns", account.work_wait_ns)?;
    dict.set_item("preempted_ns", account.preempted_ns)?;
    dict.set_item("minor_faults", account.counters.minor_faults)?;
    dict.set_item("major_faults", account.counters.major_faults)?;
    dict.set_item("voluntary_switches", account.counters.voluntary_switches)?;
    dict.set_item("involuntary_switches", account.counters.involuntary_switches)?;
    dict.set_item("files_read", run.engine.reads[number].files())?;
    dict.set_item("files_computed", tally.files_computed)?;
    dict.set_item("bytes", run.engine.reads[number].bytes())?;
    dict.set_item("cpu", tally.cpu)?;
    Ok(dict)
}
