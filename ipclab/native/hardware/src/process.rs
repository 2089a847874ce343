//! Two measuring processes and their supervisor.
//!
//! Both ends of a limit are forked once and run native code only. Between turns they sleep in a read. The parent
//! watches both through pidfds: when one fails, or the deadline passes, both are killed. So no timed loop has to look
//! at a clock.

use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, getppid, kill_process, pidfd_open,
    pidfd_send_signal, set_parent_process_death_signal, waitid, waitpid,
};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::clock::now;
use crate::error::{Failure, Outcome, check_signals, os};

/// How often the supervisor looks for signals while nothing happens.
const LOOK_NS: u64 = 250_000_000;

/// How a turn ended; but for `Done` it is the exit code of the process that ends with it.
#[derive(Clone, Copy)]
pub enum Ending {
    Done = 0,
    Wrong = 1,
    Refused = 2,
    Awake = 3,
    Unpinned = 4,
    Panicked = 5,
}

impl Ending {
    /// What a turn is told to have ended by.
    pub fn of(fine: bool) -> Self {
        if fine { Self::Done } else { Self::Wrong }
    }
}

/// The CPUs of the two processes; -1 leaves one to the scheduler.
#[derive(Clone, Copy)]
pub struct Cpus {
    pub timing: i32,
    pub other: i32,
}

impl Cpus {
    pub fn new((timing, other): (i32, i32)) -> Outcome<Self> {
        let known = -1..CpuSet::MAX_CPU as i32;
        if !known.contains(&timing) || !known.contains(&other) {
            return Err(Failure::Invalid(format!("no such CPU: {timing}, {other}")));
        }
        Ok(Self { timing, other })
    }

    /// Whether each process has a CPU of its own.
    pub fn apart(self) -> bool {
        self.timing >= 0 && self.other >= 0 && self.timing != self.other
    }
}

/// The two ends of a limit, each with what it does in a turn. Dropping them kills both.
pub struct Ends {
    ends: [Child; 2],
    /// Written to by each end that has done its part of a turn.
    done: OwnedFd,
}

impl Ends {
    /// Fork the end that is timed and the other one; both sleep until their first turn.
    pub fn fork(cpus: Cpus, timing: impl FnMut() -> Ending, other: impl FnMut() -> Ending) -> Outcome<Self> {
        let done = bell()?;
        let timing = Child::spawn(cpus.timing, "the timing process", &done, timing)?;
        let other = Child::spawn(cpus.other, "the other process", &done, other)?;
        Ok(Self { ends: [timing, other], done })
    }

    /// Let both ends take a turn; fails when one of them ends, and after `timeout_ns`: then they are to be dropped.
    pub fn turn(&self, timeout_ns: u64) -> Outcome<()> {
        let deadline = now().saturating_add(timeout_ns);
        for end in &self.ends {
            ring(&end.go).map_err(os("eventfd"))?;
        }
        let mut left = self.ends.len() as u64;
        while left > 0 {
            let now = now();
            if now >= deadline {
                return Err(Failure::Timeout("the measuring processes did not finish in time"));
            }
            // A signal that comes just before the poll does not end it: look again soon, but seldom.
            let wait = Timespec { tv_sec: 0, tv_nsec: (deadline - now).min(LOOK_NS) as i64 };
            let [timing, other] = &self.ends;
            let mut seen = [&timing.pidfd, &other.pidfd, &self.done].map(|fd| PollFd::new(fd, PollFlags::IN));
            match poll(&mut seen, Some(&wait)) {
                Ok(0) | Err(Errno::INTR) => check_signals()?,
                Err(errno) => return Err(Failure::Os("poll", errno)),
                Ok(_) if seen[..2].iter().any(|fd| !fd.revents().is_empty()) => return Err(self.ending()),
                Ok(_) => left -= heard(&self.done).map_err(os("eventfd"))?,
            }
        }
        Ok(())
    }

    /// Say why the turn cannot go on: a process that was killed, or else the first that says why it has ended.
    fn ending(&self) -> Failure {
        let mut told: Vec<_> = self.ends.iter().filter_map(Child::ending).collect();
        let killed = told.iter().position(|failure| matches!(failure, Failure::PeerGone(_))).unwrap_or(0);
        told.swap_remove(killed)
    }
}

fn bell() -> Outcome<OwnedFd> {
    eventfd(0, EventfdFlags::CLOEXEC).map_err(os("eventfd"))
}

fn ring(bell: &OwnedFd) -> Result<(), Errno> {
    retry_on_intr(|| write(bell, &1u64.to_ne_bytes())).map(drop)
}

/// Sleep until the bell was rung; returns how often.
fn heard(bell: &OwnedFd) -> Result<u64, Errno> {
    let mut count = [0; 8];
    retry_on_intr(|| read(bell, &mut count))?;
    Ok(u64::from_ne_bytes(count))
}

/// A forked child; dropping it kills and reaps it.
struct Child {
    who: &'static str,
    pidfd: OwnedFd,
    /// Rung for each turn.
    go: OwnedFd,
    /// A copy that another process got by a fork of its own must not kill it.
    parent: Pid,
}

impl Child {
    fn spawn(cpu: i32, who: &'static str, done: &OwnedFd, turn: impl FnMut() -> Ending) -> Outcome<Self> {
        let (parent, go) = (getpid(), bell()?);
        // SAFETY: the child runs turns only, which call the kernel and no Python, and leaves through `_exit`.
        match unsafe { libc::fork() } {
            -1 => Err(Failure::Os(
                "fork",
                Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::AGAIN),
            )),
            0 => {
                let work = || begin(parent, cpu).err().unwrap_or_else(|| turns(&go, done, turn));
                let ending = catch_unwind(AssertUnwindSafe(work)).unwrap_or(Ending::Panicked);
                // SAFETY: ends the child at once, with none of the parent's exit handlers.
                unsafe { libc::_exit(ending as i32) }
            }
            pid => {
                let pid = Pid::from_raw(pid).expect("fork gave a pid");
                match pidfd_open(pid, PidfdFlags::empty()) {
                    Ok(pidfd) => Ok(Self { who, pidfd, go, parent }),
                    Err(errno) => {
                        let _ = kill_process(pid, Signal::KILL);
                        let _ = waitpid(Some(pid), WaitOptions::empty());
                        Err(Failure::Os("pidfd_open", errno))
                    }
                }
            }
        }
    }

    /// Say why this child has ended, None when it has not.
    fn ending(&self) -> Option<Failure> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let status = waitid(WaitId::PidFd(self.pidfd.as_fd()), options).ok().flatten()?;
        let why = match status.exit_status() {
            Some(1) => "received a payload that was not sent",
            Some(2) => "was refused by the kernel",
            Some(3) => "was not asleep when it was woken",
            Some(4) => "could not be placed on its CPU",
            _ => return Some(Failure::PeerGone("a measuring process died")),
        };
        Some(Failure::Invalid(format!("{} {why}", self.who)))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if getpid() == self.parent {
            let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
            let _ = waitid(WaitId::PidFd(self.pidfd.as_fd()), WaitIdOptions::EXITED);
        }
    }
}

/// Make this process a child that ends with its parent, on its CPU.
fn begin(parent: Pid, cpu: i32) -> Result<(), Ending> {
    // A child must not outlive a killed parent; one that died before this call has already left us to another.
    if set_parent_process_death_signal(Some(Signal::KILL)).is_err() || getppid() != Some(parent) {
        return Err(Ending::Refused);
    }
    if cpu >= 0 {
        let mut set = CpuSet::new();
        set.set(cpu as usize);
        return sched_setaffinity(None, &set).map_err(|_| Ending::Unpinned);
    }
    Ok(())
}

/// Take turns until one fails.
fn turns(go: &OwnedFd, done: &OwnedFd, mut turn: impl FnMut() -> Ending) -> Ending {
    while heard(go).is_ok() {
        match turn() {
            Ending::Done if ring(done).is_ok() => {}
            Ending::Done => break,
            ending => return ending,
        }
    }
    Ending::Refused
}

/// What this process (RUSAGE_SELF) or this thread (RUSAGE_THREAD) has used (getrusage(2)).
pub fn usage(who: i32) -> libc::rusage {
    // SAFETY: rusage is plain numbers, for which zeros are valid, and getrusage writes one of them.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    }
}

/// When a process was started, in clock ticks since boot; None when there is none of this pid.
pub fn started(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The 22nd field (proc_pid_stat(5)); the second, the name, may hold spaces and parentheses.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: u64 = 5_000_000_000;

    fn forever() -> Ending {
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }

    fn turn(timing: fn() -> Ending, other: fn() -> Ending, timeout_ns: u64) -> Outcome<()> {
        Ends::fork(Cpus::new((-1, -1)).unwrap(), timing, other).unwrap().turn(timeout_ns)
    }

    #[test]
    fn every_ending_is_told() {
        let killed = || -> Ending { std::process::abort() };
        assert!(turn(|| Ending::Done, || Ending::Done, TIME).is_ok());
        assert!(matches!(turn(|| Ending::Wrong, forever, TIME), Err(Failure::Invalid(_))));
        assert!(matches!(turn(forever, || Ending::Refused, TIME), Err(Failure::Invalid(_))));
        assert!(matches!(turn(forever, || Ending::Done, 50_000_000), Err(Failure::Timeout(_))));
        assert!(matches!(turn(forever, killed, TIME), Err(Failure::PeerGone(_))));
    }

    #[test]
    fn ends_take_one_turn_after_the_other() {
        let ends = Ends::fork(Cpus::new((-1, -1)).unwrap(), || Ending::Done, || Ending::Done).unwrap();
        (0..100).for_each(|_| ends.turn(TIME).unwrap());
    }

    #[test]
    fn a_process_has_a_start_time() {
        assert!(started(std::process::id()).is_some());
        assert_eq!(started(u32::MAX), None);
    }
}
