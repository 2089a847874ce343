//! Two measuring processes and their supervisor.
//!
//! Both ends of a measurement are forked children that run native code only. The parent watches both through
//! pidfds: when one fails, or the deadline passes, both are killed. So no timed loop has to look at a clock.

use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, getppid, kill_process, pidfd_open,
    pidfd_send_signal, set_parent_process_death_signal, waitid, waitpid,
};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::clock::now;
use crate::error::{Failure, Outcome, check_signals, os};

/// How often the supervisor looks for signals while nothing happens.
const LOOK_NS: u64 = 250_000_000;

/// How a child ended; the discriminant is its exit code.
#[derive(Clone, Copy)]
pub enum Ending {
    Done = 0,
    Wrong = 1,
    Refused = 2,
    Awake = 3,
    Unpinned = 4,
    Panicked = 5,
}

/// The CPUs of the two processes; -1 leaves one to the scheduler.
#[derive(Clone, Copy)]
pub struct Cpus {
    pub client: i32,
    pub server: i32,
}

impl Cpus {
    pub fn new((client, server): (i32, i32)) -> Outcome<Self> {
        let known = -1..CpuSet::MAX_CPU as i32;
        if !known.contains(&client) || !known.contains(&server) {
            return Err(Failure::Invalid(format!("no such CPU: {client}, {server}")));
        }
        Ok(Self { client, server })
    }
}

/// Run `server` and `client` (which gets the server's pid) in a process each until the client is done.
///
/// The server runs until it is killed. Fails when either ends early or badly, or after `timeout_ns`.
pub fn pair(
    cpus: Cpus,
    timeout_ns: u64,
    server: impl FnOnce() -> Ending,
    client: impl FnOnce(Pid) -> Ending,
) -> Outcome<()> {
    let deadline = now().saturating_add(timeout_ns);
    let server = Child::spawn(cpus.server, server)?;
    let server_pid = server.pid;
    let client = Child::spawn(cpus.client, || client(server_pid))?;
    loop {
        let now = now();
        if now >= deadline {
            return Err(Failure::Timeout("the measuring processes did not finish in time"));
        }
        // A signal that comes just before the poll does not end it: look again soon, but seldom.
        let left = Timespec { tv_sec: 0, tv_nsec: (deadline - now).min(LOOK_NS) as i64 };
        let mut ended =
            [PollFd::new(&client.pidfd, PollFlags::IN), PollFd::new(&server.pidfd, PollFlags::IN)];
        match poll(&mut ended, Some(&left)) {
            Ok(0) | Err(Errno::INTR) => check_signals()?,
            Err(errno) => return Err(Failure::Os("poll", errno)),
            Ok(_) if !ended[1].revents().is_empty() => return server.ending("the echoing process"),
            Ok(_) if !ended[0].revents().is_empty() => return client.ending("the timing process"),
            Ok(_) => {}
        }
    }
}

/// A forked child; dropping it kills and reaps it.
struct Child {
    pid: Pid,
    pidfd: OwnedFd,
}

impl Child {
    fn spawn(cpu: i32, work: impl FnOnce() -> Ending) -> Outcome<Self> {
        let parent = getpid();
        // SAFETY: the child runs `work` only, which calls the kernel and no Python, and leaves through `_exit`.
        match unsafe { libc::fork() } {
            -1 => Err(Failure::Os(
                "fork",
                Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::AGAIN),
            )),
            0 => {
                let ending =
                    catch_unwind(AssertUnwindSafe(|| begin(parent, cpu, work))).unwrap_or(Ending::Panicked);
                // SAFETY: ends the child at once, with none of the parent's exit handlers.
                unsafe { libc::_exit(ending as i32) }
            }
            pid => {
                let pid = Pid::from_raw(pid).expect("fork gave a pid");
                match pidfd_open(pid, PidfdFlags::empty()) {
                    Ok(pidfd) => Ok(Self { pid, pidfd }),
                    Err(errno) => {
                        let _ = kill_process(pid, Signal::KILL);
                        let _ = waitpid(Some(pid), WaitOptions::empty());
                        Err(Failure::Os("pidfd_open", errno))
                    }
                }
            }
        }
    }

    /// Say why a child that has ended did so.
    fn ending(&self, who: &str) -> Outcome<()> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::PidFd(self.pidfd.as_fd()), options).map_err(os("waitid"))?;
        let why = match status.and_then(|status| status.exit_status()) {
            Some(0) if who.contains("timing") => return Ok(()),
            Some(1) => "received a payload that was not sent",
            Some(2) => "was refused by the kernel",
            Some(3) => "was not asleep when it was woken",
            Some(4) => "could not be placed on its CPU",
            _ => return Err(Failure::PeerGone("a measuring process died")),
        };
        Err(Failure::Invalid(format!("{who} {why}")))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        let _ = waitid(WaitId::PidFd(self.pidfd.as_fd()), WaitIdOptions::EXITED);
    }
}

fn begin(parent: Pid, cpu: i32, work: impl FnOnce() -> Ending) -> Ending {
    // A child must not outlive a killed parent; one that died before this call has already left us to another.
    if set_parent_process_death_signal(Some(Signal::KILL)).is_err() || getppid() != Some(parent) {
        return Ending::Refused;
    }
    if cpu >= 0 {
        let mut set = CpuSet::new();
        set.set(cpu as usize);
        if sched_setaffinity(None, &set).is_err() {
            return Ending::Unpinned;
        }
    }
    work()
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

    #[test]
    fn every_ending_is_told() {
        let cpus = Cpus::new((-1, -1)).unwrap();
        assert!(pair(cpus, TIME, forever, |_| Ending::Done).is_ok());
        assert!(matches!(pair(cpus, TIME, forever, |_| Ending::Wrong), Err(Failure::Invalid(_))));
        assert!(matches!(pair(cpus, TIME, || Ending::Refused, |_| forever()), Err(Failure::Invalid(_))));
        assert!(matches!(pair(cpus, 50_000_000, forever, |_| forever()), Err(Failure::Timeout(_))));
        let killed = || -> Ending { std::process::abort() };
        assert!(matches!(pair(cpus, TIME, killed, |_| forever()), Err(Failure::PeerGone(_))));
    }

    #[test]
    fn a_process_has_a_start_time() {
        assert!(started(std::process::id()).is_some());
        assert_eq!(started(u32::MAX), None);
    }
}
