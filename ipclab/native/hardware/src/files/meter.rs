//! Where the time of a thread goes: execution, waiting for I/O, waiting for work, preempted.
//!
//! * execution: the thread's CPU time (CLOCK_THREAD_CPUTIME_ID), in user code and in the kernel;
//! * preempted: the time it was ready to run and did not (run delay of /proc/thread-self/schedstat), which includes the
//!   wait for a CPU after being woken;
//! * waiting for I/O, for work: the time it was blocked, by the phase it was blocked in. Where a phase that may block
//!   ends, `settle` takes the time by the clock since the thread was last settled, less the CPU time and the run delay
//!   since then. Between such phases a thread runs or is preempted, so the rest was spent blocked in this phase.
//!
//! The four are measured apart from the elapsed time, and nothing is scaled to make them add up to it. A phase shorter
//! than `SHORT_NS` is not settled: a thread cannot have been blocked in it for a time that matters.

use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::pread;
use rustix::time::{ClockId, clock_gettime};

use crate::clock::now;
use crate::process::usage;

const SHORT_NS: u64 = 3_000;
/// A difference between the two clocks that stands for nothing: what the two reads of them take.
const CLOCKS_NS: i64 = 1_000;

/// What a thread was blocked on.
#[derive(Clone, Copy)]
pub enum Blocked {
    Io,
    Work,
}

/// Counters of the kernel for one thread (getrusage).
#[derive(Clone, Copy, Default)]
pub struct Counters {
    pub minor_faults: i64,
    pub major_faults: i64,
    pub voluntary_switches: i64,
    pub involuntary_switches: i64,
}

/// The shares of one thread in ns, and its counters.
#[derive(Clone, Copy, Default)]
pub struct Account {
    pub elapsed_ns: u64,
    pub execution_ns: u64,
    pub io_wait_ns: u64,
    pub work_wait_ns: u64,
    pub preempted_ns: u64,
    pub counters: Counters,
}

/// Keeps the account of the thread that made it.
pub struct Meter {
    schedstat: Option<OwnedFd>,
    begun: (u64, u64, u64),
    last: (u64, u64, u64),
    counters: Counters,
    blocked: [i64; 2],
}

impl Meter {
    /// Open what is read during the run; to be called in the thread itself.
    pub fn new() -> Self {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let schedstat = openat(CWD, c"/proc/thread-self/schedstat", flags, Mode::empty()).ok();
        Self { schedstat, begun: (0, 0, 0), last: (0, 0, 0), counters: counters(), blocked: [0, 0] }
    }

    /// Start the account; returns the time.
    pub fn begin(&mut self) -> u64 {
        self.counters = counters();
        self.begun = self.together();
        self.last = self.begun;
        self.begun.0
    }

    /// A phase in which the thread may have been blocked lasted from `start` to `end`.
    #[inline]
    pub fn phase(&mut self, on: Blocked, start: u64, end: u64) {
        if end.saturating_sub(start) >= SHORT_NS {
            self.settle(on);
        }
    }

    #[cold]
    fn settle(&mut self, on: Blocked) {
        let (cpu, wall) = (cpu_time(), now());
        let gap = (wall - self.last.0) as i64 - (cpu - self.last.1) as i64;
        (self.last.0, self.last.1) = (wall, cpu);
        if gap > CLOCKS_NS {
            let delay = self.run_delay();
            self.blocked[on as usize] += gap - (delay - self.last.2) as i64;
            self.last.2 = delay;
        }
    }

    /// End the account.
    pub fn end(&self) -> Account {
        let (wall, cpu, delay) = self.together();
        let counters = counters();
        Account {
            elapsed_ns: wall - self.begun.0,
            execution_ns: cpu - self.begun.1,
            io_wait_ns: self.blocked[Blocked::Io as usize].max(0) as u64,
            work_wait_ns: self.blocked[Blocked::Work as usize].max(0) as u64,
            preempted_ns: delay - self.begun.2,
            counters: Counters {
                minor_faults: counters.minor_faults - self.counters.minor_faults,
                major_faults: counters.major_faults - self.counters.major_faults,
                voluntary_switches: counters.voluntary_switches - self.counters.voluntary_switches,
                involuntary_switches: counters.involuntary_switches - self.counters.involuntary_switches,
            },
        }
    }

    /// The clock, CPU time and run delay of one moment: taken again when the thread was preempted meanwhile.
    fn together(&self) -> (u64, u64, u64) {
        let mut delay = self.run_delay();
        loop {
            let (wall, cpu) = (now(), cpu_time());
            let before = std::mem::replace(&mut delay, self.run_delay());
            if before == delay {
                return (wall, cpu, delay);
            }
        }
    }

    /// The thread's run delay so far in ns; 0 where the kernel does not tell.
    fn run_delay(&self) -> u64 {
        let mut text = [0; 64];
        let read = self.schedstat.as_ref().and_then(|file| pread(file, &mut text[..], 0).ok()).unwrap_or(0);
        second_number(&text[..read])
    }
}

fn second_number(text: &[u8]) -> u64 {
    let second = text.split(|byte| *byte == b' ').nth(1).and_then(|word| std::str::from_utf8(word).ok());
    second.and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// The CPU time of this thread in ns.
#[inline]
pub fn cpu_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The bytes in the line of `file` that begins with `name` and tells kB; None when there is no such line.
pub fn kib(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let told = text.lines().find_map(|line| line.strip_prefix(name))?;
    told.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn counters() -> Counters {
    let usage = usage(libc::RUSAGE_THREAD);
    Counters {
        minor_faults: usage.ru_minflt,
        major_faults: usage.ru_majflt,
        voluntary_switches: usage.ru_nvcsw,
        involuntary_switches: usage.ru_nivcsw,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_is_read() {
        assert_eq!(second_number(b"376739 122472 2\n"), 122_472);
        assert_eq!(second_number(b""), 0);
    }

    #[test]
    fn a_sleep_is_a_wait_and_the_parts_are_the_whole() {
        let mut meter = Meter::new();
        let start = meter.begin();
        std::thread::sleep(std::time::Duration::from_millis(30));
        meter.phase(Blocked::Work, start, now());
        while cpu_time() - meter.begun.1 < 10_000_000 {}
        let account = meter.end();
        let parts = account.execution_ns + account.io_wait_ns + account.work_wait_ns + account.preempted_ns;
        assert!(account.work_wait_ns > 25_000_000 && account.io_wait_ns == 0);
        assert!(
            parts.abs_diff(account.elapsed_ns) * 100 <= account.elapsed_ns,
            "{parts} of {}",
            account.elapsed_ns
        );
    }
}
