//! `Limit`: what the hardware allows, one program for each question, in turns, for Python.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::alone::{self, Alone};
use crate::board::Board;
use crate::cacheline::{one_line, two_lines};
use crate::echo::echo;
use crate::error::{Failure, Outcome};
use crate::flow::{self, flow};
use crate::futex::wake;
use crate::process::{Cpus, Ends};
use crate::stored::{reading, writing};
use crate::transfer::transfer;

const LARGEST: usize = 1 << 30;

/// Who does what is timed.
enum Doing {
    Here(Alone),
    Ends(Ends),
}

/// A native program that does just what an operation cannot avoid, in turns; between them it sleeps.
///
/// `kind` is clock, syscall, memcpy, cache-line, cache-line-cas, futex-wake, echo-, flow- or transfer- with what it
/// goes over, or write- or read- with a way to come by a mapping of a file at `path`, made here and removed. `size` is in
/// bytes, 1 where none is needed. Of two processes `cpus` are the CPUs, of the one that is timed first, -1 not pinned.
/// They are forked here, once, and end with this process or at `close`. Raises ValueError for wrong arguments,
/// OSError where the kernel refuses.
#[pyclass(module = "ipclab_native")]
pub struct Limit {
    board: Arc<Board>,
    doing: Option<Doing>,
    /// How many operations a sample stands for.
    #[pyo3(get)]
    batch: u64,
}

#[pymethods]
impl Limit {
    #[new]
    #[pyo3(signature = (kind, size, cpus, path = ""))]
    fn new(py: Python<'_>, kind: &str, size: usize, cpus: (i32, i32), path: &str) -> PyResult<Self> {
        Ok(py.detach(|| Self::made(kind, size, Cpus::new(cpus)?, path))?)
    }

    /// Take a turn of about `budget_ns` and return its samples in ns, at most `most`, its first operations left out.
    ///
    /// Raises TimeoutError after `deadline_ns`, BrokenPipeError when a process died, ValueError for a wrong payload or
    /// one that is closed; after any of them it is closed.
    fn turn(&mut self, py: Python<'_>, budget_ns: u64, most: usize, deadline_ns: u64) -> PyResult<Vec<u64>> {
        let taken = py.detach(|| self.take(budget_ns, most, deadline_ns));
        if taken.is_err() {
            self.doing = None;
        }
        Ok(taken.map(|()| self.board.samples())?)
    }

    /// End the processes; closing twice is fine.
    fn close(&mut self) {
        self.doing = None;
    }
}

impl Limit {
    fn made(kind: &str, size: usize, cpus: Cpus, path: &str) -> Outcome<Self> {
        if size == 0 || size > LARGEST {
            return Err(Failure::Invalid(format!("size must be 1 to {LARGEST} bytes, not {size}")));
        }
        let board = Arc::new(Board::new()?);
        let doing = match kind.split_once('-') {
            Some(("echo", by)) => Doing::Ends(echo(by, size, cpus, &board)?),
            Some(("flow", by)) => Doing::Ends(flow(by, size, cpus, &board)?),
            Some(("transfer", by)) => Doing::Ends(transfer(by, size, cpus, &board)?),
            Some(("write", way)) => Doing::Here(writing(way, path, size)?),
            Some(("read", way)) => Doing::Here(reading(way, path, size)?),
            _ => match kind {
                "clock" => Doing::Here(alone::clock()),
                "syscall" => Doing::Here(alone::syscall()),
                "memcpy" => Doing::Here(alone::memcpy(size)?),
                "cache-line" => Doing::Ends(two_lines(cpus, &board)?),
                "cache-line-cas" => Doing::Ends(one_line(cpus, &board)?),
                "futex-wake" => Doing::Ends(wake(cpus, &board)?),
                _ => return Err(Failure::Invalid(format!("no such limit: {kind}"))),
            },
        };
        let batch = if kind.starts_with("flow-") { flow::BATCH } else { 1 };
        Ok(Self { board, doing: Some(doing), batch })
    }

    fn take(&mut self, budget_ns: u64, most: usize, deadline_ns: u64) -> Outcome<()> {
        self.board.plan(budget_ns, most);
        match &mut self.doing {
            None => Err(Failure::Invalid("the limit is closed".into())),
            Some(Doing::Ends(ends)) => ends.turn(deadline_ns),
            Some(Doing::Here(alone)) => match self.board.time(alone.each, &mut alone.operation) {
                true => Ok(()),
                false => {
                    Err(Failure::Invalid("the kernel refused, or the payload is not what was written".into()))
                }
            },
        }
    }
}
