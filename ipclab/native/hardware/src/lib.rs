//! What only native code can measure for ipclab. This file only registers; one idea lives in each module.

mod alone;
mod board;
mod cacheline;
mod channel;
mod clock;
mod echo;
mod error;
mod files;
mod flow;
mod futex;
mod joined;
mod limit;
mod mapping;
mod message;
mod process;
mod queue;
mod ring;
mod ring_channel;
mod slot;
mod stored;
mod stream;
mod transfer;
mod unforeseen;
mod waiting;

use pyo3::prelude::*;

/// Hardware limits of this machine, a shared-memory channel for two processes, and the file-reading engine.
#[pymodule]
mod ipclab_native {
    #[pymodule_export]
    use crate::channel::Channel;
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
    use crate::limit::Limit;
    #[pymodule_export]
    use crate::ring_channel::RingChannel;
}
