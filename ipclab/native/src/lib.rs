//! What only native code can measure for ipclab. This file only registers; one idea lives in each module.

mod cacheline;
mod channel;
mod clock;
mod echo;
mod error;
mod futex;
mod mapping;
mod memcpy;
mod process;
mod samples;
mod slot;
mod stream;
mod waiting;

use pyo3::prelude::*;

/// Hardware limits of this machine, and a shared-memory channel for two processes.
#[pymodule]
mod ipclab_native {
    #[pymodule_export]
    use crate::cacheline::{cache_line, cache_line_cas};
    #[pymodule_export]
    use crate::channel::Channel;
    #[pymodule_export]
    use crate::clock::{clock_cost, clock_resolution_ns, monotonic_ns, syscall_cost};
    #[pymodule_export]
    use crate::echo::echo;
    #[pymodule_export]
    use crate::futex::futex_wake;
    #[pymodule_export]
    use crate::memcpy::memcpy;
}
