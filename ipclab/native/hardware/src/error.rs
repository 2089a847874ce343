//! What can go wrong, and the Python exception that says so.

use pyo3::exceptions::{PyBrokenPipeError, PyOSError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use rustix::io::Errno;

/// Why a measurement or a channel operation did not finish.
#[derive(Debug)]
pub enum Failure {
    /// The deadline passed.
    Timeout(&'static str),
    /// The other process closed its end or died.
    PeerGone(&'static str),
    /// An argument is out of range, or the shared header holds what no honest peer writes.
    Invalid(String),
    /// The kernel refused.
    Os(&'static str, Errno),
    /// The kernel refused, and this says it in the words of what was wanted.
    Refused(String, Errno),
    /// A Python signal handler raised while a measurement was waiting.
    Signal(PyErr),
}

pub type Outcome<T> = Result<T, Failure>;

/// Name the call that failed with an errno.
pub fn os(what: &'static str) -> impl FnOnce(Errno) -> Failure {
    move |errno| Failure::Os(what, errno)
}

/// Run the Python signal handlers that are due; one that raises ends the wait.
pub fn check_signals() -> Outcome<()> {
    Python::try_attach(|py| py.check_signals()).unwrap_or(Ok(())).map_err(Failure::Signal)
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Timeout(what) => PyTimeoutError::new_err(what),
            Failure::PeerGone(what) => PyBrokenPipeError::new_err(what),
            Failure::Invalid(what) => PyValueError::new_err(what),
            Failure::Os(what, errno) => {
                PyOSError::new_err((errno.raw_os_error(), format!("{what}: {errno}")))
            }
            Failure::Refused(what, errno) => PyOSError::new_err((errno.raw_os_error(), what)),
            Failure::Signal(error) => error,
        }
    }
}
