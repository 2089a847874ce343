//! What the threads of a run share: the next file, the room for files in flight, the files that wait to be computed.
//!
//! Taking a file or room is one atomic operation. Only a thread that finds nothing to do takes the lock and sleeps, and
//! whoever makes something to do wakes one sleeper that can do it, the last to fall asleep first. Where reads complete
//! in the kernel, one of the sleepers watches the bell that the rings sound instead, and the others follow it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::clock::now;
use crate::files::bell::Bell;
use crate::files::lock;

/// Longest sleep in one go.
const NAP_NS: u64 = 1_000_000_000;

/// What a sleeper can do when it is woken: compute, read, both, or neither before its own reads complete.
#[derive(Clone, Copy)]
pub enum Class {
    Compute,
    Mixed,
    Read,
    Neither,
}

struct State<T> {
    ready: VecDeque<T>,
    /// The threads of each class that sleep, the last one on top.
    asleep: [Vec<usize>; 4],
    watcher: Option<usize>,
}

type Locked<'a, T> = MutexGuard<'a, State<T>>;

pub struct Hub<T> {
    files: usize,
    limit: usize,
    deadline: u64,
    next: AtomicUsize,
    done: AtomicUsize,
    room: AtomicIsize,
    least_room: AtomicIsize,
    stopped: AtomicBool,
    late: AtomicBool,
    sleepers: AtomicUsize,
    state: Mutex<State<T>>,
    conditions: Vec<Condvar>,
    bell: Option<Bell>,
}

impl<T> Hub<T> {
    /// A hub for `threads` threads and `files` files of which `limit` may be in flight; `bell` if rings will sound it.
    pub fn new(threads: usize, files: usize, limit: usize, deadline: u64, bell: Option<Bell>) -> Self {
        let ready = VecDeque::with_capacity(limit.min(files));
        Self {
            files,
            limit,
            deadline,
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            room: AtomicIsize::new(limit as isize),
            least_room: AtomicIsize::new(limit as isize),
            stopped: AtomicBool::new(false),
            late: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            state: Mutex::new(State { ready, asleep: [const { vec![] }; 4], watcher: None }),
            conditions: (0..threads).map(|_| Condvar::new()).collect(),
            bell,
        }
    }

    /// The number in the order of reading of a file that is now the caller's to read, None when there is none or no room.
    #[inline]
    pub fn take_file(&self) -> Option<usize> {
        if self.next.load(SeqCst) >= self.files || self.over() {
            return None;
        }
        let room = self.room.fetch_sub(1, SeqCst) - 1;
        if room < 0 {
            self.room.fetch_add(1, SeqCst);
            return None;
        }
        let number = self.next.fetch_add(1, SeqCst);
        if number >= self.files {
            self.give_room();
            return None;
        }
        if room < self.least_room.load(SeqCst) {
            self.least_room.fetch_min(room, SeqCst);
        }
        Some(number)
    }

    /// Whether a file and room for it are there.
    pub fn can_read(&self) -> bool {
        self.room.load(SeqCst) > 0 && !self.all_taken()
    }

    /// Whether every file has been taken.
    pub fn all_taken(&self) -> bool {
        self.next.load(SeqCst) >= self.files
    }

    /// A file has been computed, or failed: it is no longer in flight.
    #[inline]
    pub fn finish_file(&self) {
        self.give_room();
        if self.done.fetch_add(1, SeqCst) + 1 == self.files {
            self.wake_all();
        }
    }

    fn give_room(&self) {
        self.room.fetch_add(1, SeqCst);
        if self.sleepers.load(SeqCst) > 0 {
            self.wake_for_room(&mut self.lock());
        }
    }

    /// Hand over files whose data are there.
    pub fn push(&self, held: impl Iterator<Item = T>) {
        let mut state = self.lock();
        let before = state.ready.len();
        state.ready.extend(held);
        let count = state.ready.len() - before;
        self.wake_for_ready(&mut state, count);
    }

    /// A file whose data are there.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.lock().ready.pop_front()
    }

    /// Whether the run is over: all files done, or stopped.
    #[inline]
    pub fn over(&self) -> bool {
        self.stopped.load(SeqCst) || self.done.load(SeqCst) >= self.files
    }

    pub fn stopped(&self) -> bool {
        self.stopped.load(SeqCst)
    }

    /// Make every thread end soon.
    pub fn stop(&self) {
        self.stopped.store(true, SeqCst);
        self.wake_all();
    }

    /// Stop when the deadline has passed; returns the ns left, at most one nap.
    pub fn left(&self) -> u64 {
        let left = self.deadline.saturating_sub(now());
        if left == 0 {
            self.late.store(true, SeqCst);
            self.stop();
        }
        left.min(NAP_NS)
    }

    pub fn late(&self) -> bool {
        self.late.load(SeqCst)
    }

    pub fn deadline(&self) -> u64 {
        self.deadline
    }

    /// How many files may be in flight.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The most files that were in flight at once.
    pub fn most_in_flight(&self) -> usize {
        self.limit - self.least_room.load(SeqCst) as usize
    }

    /// Put `thread` to sleep until `wanted`, which gets whether a file is ready, or the run is over.
    ///
    /// A sleeper that watches calls `reap` for what has completed in the kernel; `reap` pushes nothing itself.
    pub fn wait(
        &self,
        thread: usize,
        class: Class,
        wanted: impl Fn(bool) -> bool,
        mut reap: impl FnMut(&mut Vec<T>),
    ) {
        let mut reaped = Vec::new();
        let mut has_watched = false;
        self.sleepers.fetch_add(1, SeqCst);
        let mut left = self.left();
        let mut state = self.lock();
        while !self.over() && !wanted(!state.ready.is_empty()) {
            match &self.bell {
                Some(bell) if state.watcher.is_none() => {
                    state.watcher = Some(thread);
                    has_watched = true;
                    drop(state);
                    bell.listen(left);
                    reap(&mut reaped);
                    left = self.left();
                    state = self.lock();
                    state.watcher = None;
                    let count = reaped.len();
                    state.ready.extend(reaped.drain(..));
                    self.wake_for_ready(&mut state, count);
                }
                _ => {
                    state.asleep[class as usize].push(thread);
                    drop(self.sleep(thread, state, left));
                    left = self.left();
                    state = self.lock();
                    state.asleep[class as usize].retain(|other| *other != thread);
                }
            }
        }
        self.sleepers.fetch_sub(1, SeqCst);
        self.hand_on(&mut state, has_watched);
    }

    fn sleep<'a>(&self, thread: usize, state: Locked<'a, T>, left: u64) -> Locked<'a, T> {
        match self.conditions[thread].wait_timeout(state, Duration::from_nanos(left)) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        }
    }

    /// Wake others for what is left to do, and one to watch when the watcher leaves.
    fn hand_on(&self, state: &mut State<T>, has_watched: bool) {
        if self.sleepers.load(SeqCst) == 0 {
            return;
        }
        self.wake_for_ready(state, state.ready.len());
        if self.can_read() {
            self.wake_for_room(state);
        }
        if has_watched && state.watcher.is_none() {
            self.wake_one(state, &[Class::Neither, Class::Read, Class::Mixed, Class::Compute]);
        }
    }

    fn wake_for_ready(&self, state: &mut State<T>, count: usize) {
        for _ in 0..count {
            if !self.wake_one(state, &[Class::Compute, Class::Mixed]) {
                if state.watcher.is_some() {
                    self.sound();
                }
                return;
            }
        }
    }

    fn wake_for_room(&self, state: &mut State<T>) {
        if !self.wake_one(state, &[Class::Read, Class::Mixed]) && state.watcher.is_some() {
            self.sound();
        }
    }

    fn wake_one(&self, state: &mut State<T>, classes: &[Class]) -> bool {
        let found = classes.iter().find_map(|class| state.asleep[*class as usize].pop());
        found.is_some_and(|thread| {
            self.conditions[thread].notify_one();
            true
        })
    }

    /// Wake `thread` if it sleeps: others have taken completions of its ring.
    pub fn wake(&self, thread: usize) {
        if self.sleepers.load(SeqCst) == 0 {
            return;
        }
        let state = self.lock();
        self.conditions[thread].notify_one();
        if state.watcher == Some(thread) {
            self.sound();
        }
    }

    fn wake_all(&self) {
        let _state = self.lock();
        self.conditions.iter().for_each(Condvar::notify_one);
        self.sound();
    }

    fn sound(&self) {
        if let Some(bell) = &self.bell {
            bell.sound();
        }
    }

    fn lock(&self) -> Locked<'_, T> {
        // A thread that panicked has stopped the run; the others must still be able to leave.
        lock(&self.state)
    }
}
