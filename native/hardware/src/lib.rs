//! What only native code can measure for ipclab. This file only registers; one idea lives in each module.

mod cacheline;
mod channel;
mod clock;
mod echo;
mod error;
mod files;
mod futex;
mod hand_over;
mod joined;
mod mapping;
mod memcpy;
mod process;
mod ring;
mod ring_channel;
mod samples;
mod slot;
mod stream;
mod waiting;

use pyo3::prelude::*;

/// Hardware limits of this machine, a shared-memory channel for two processes, and the file-reading engine.
#[pymodule]
mod ipclab_native {
    #[pymodule_export]
    use crate::cacheline::{cache_line, cache_line_cas};
    #[pymodule_export]
    use crate::channel::Channel;
    #[pymodule_export]
    use crate::clock::{clock_cost, monotonic_ns, syscall_cost};
    #[pymodule_export]
    use crate::echo::echo;
    #[pymodule_export]
    use crate::files::bare::bare_read_cost;
    #[pymodule_export]
    use crate::files::keep::{cache_state, digest_files, drop_files, warm_files};
    #[pymodule_export]
    use crate::files::make::make_files;
    #[pymodule_export]
    use crate::files::missing::{direct_missing, io_uring_missing};
    #[pymodule_export]
    use crate::files::read::read_files;
    #[pymodule_export]
    use crate::futex::futex_wake;
    #[pymodule_export]
    use crate::hand_over::hand_over;
    #[pymodule_export]
    use crate::memcpy::memcpy;
    #[pymodule_export]
    use crate::ring_channel::RingChannel;
}
