//! Touching a map whose file became shorter raises SIGBUS; here that becomes an error of that one file.
//!
//! The handler puts a page of zeros where the fault was and notes it, and the touch goes on. A fault elsewhere has the
//! default effect, as it would have had without us.

use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::Mutex;

use crate::files::lock;

thread_local! {
    /// The range this thread touches (start, end), and whether it was broken.
    static WATCHED: Cell<(usize, usize, bool)> = const { Cell::new((0, 0, false)) };
}

/// How many guards there are, and the handler that was there before them.
static INSTALLED: Mutex<(usize, Option<libc::sigaction>)> = Mutex::new((0, None));

/// While one exists, a broken map that is watched is an error rather than the end of the process.
pub struct Guard(());

impl Guard {
    pub fn new() -> Self {
        let mut installed = lock(&INSTALLED);
        if installed.0 == 0 {
            // SAFETY: sigaction is plain data, and the handler only does what a signal handler may do.
            unsafe {
                let mut ours: libc::sigaction = std::mem::zeroed();
                ours.sa_sigaction = handle as *const () as usize;
                ours.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_ONSTACK;
                let mut before: libc::sigaction = std::mem::zeroed();
                libc::sigaction(libc::SIGBUS, &ours, &mut before);
                installed.1 = Some(before);
            }
        }
        installed.0 += 1;
        Self(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut installed = lock(&INSTALLED);
        installed.0 -= 1;
        if installed.0 == 0
            && let Some(before) = installed.1.take()
        {
            // SAFETY: puts back what sigaction gave us.
            unsafe { libc::sigaction(libc::SIGBUS, &before, null_mut()) };
        }
    }
}

/// Do `work`, which touches the `length` bytes at `start`; returns what it gave and whether the map stayed whole.
#[inline]
pub fn watched<T>(start: *const u8, length: usize, work: impl FnOnce() -> T) -> (T, bool) {
    WATCHED.set((start as usize, start as usize + length, false));
    let given = work();
    let (.., broken) = WATCHED.replace((0, 0, false));
    (given, !broken)
}

extern "C" fn handle(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel hands a valid siginfo of a memory fault to a handler made with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    let (start, end, _) = WATCHED.get();
    // SAFETY: sigaction and mmap are system calls; the page replaced lies in the map that this thread watches.
    unsafe {
        if address < start || address >= end {
            libc::signal(libc::SIGBUS, libc::SIG_DFL); // the instruction is tried again and ends the process
            return;
        }
        let page = rustix::param::page_size();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        libc::mmap((address & !(page - 1)) as *mut _, page, libc::PROT_READ, flags, -1, 0);
    }
    WATCHED.set((start, end, true));
}
