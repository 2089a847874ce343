//! One thread of a run: it reads, computes or both, as its role says.

use crate::clock::now;
use crate::files::buffers::Memory;
use crate::files::compute::{checksum, spin, spin_cpu};
use crate::files::engine::Engine;
use crate::files::guard::watched;
use crate::files::hub::Class;
use crate::files::meter::{Account, Blocked, Meter};
use crate::files::overlap::Pending;
use crate::files::plan::{Method, Role};
use crate::files::records::{Column, KINDS, Kind, Spans};
use crate::files::ring::Ring;
use crate::files::whole::{Fault, Held, Times, broken};
use crate::mapping::Mapping;

/// What a thread has done; times are of the clock, 0 and `u64::MAX` where nothing happened.
pub struct Tally {
    pub files_computed: u64,
    pub checksum: u64,
    pub first_compute: u64,
    pub read_end: u64,
    pub ended: u64,
    pub errors: Vec<(u32, i32, &'static str)>,
    pub account: Account,
    pub cpu: usize,
}

/// A thread at work.
pub struct Worker<'a> {
    pub engine: &'a Engine,
    pub thread: usize,
    pub meter: Meter,
    role: Role,
    kept: Vec<Mapping>,
    pub spans: Spans,
    pub tally: Tally,
}

impl<'a> Worker<'a> {
    pub fn new(engine: &'a Engine, thread: usize) -> Self {
        let tally = Tally {
            files_computed: 0,
            checksum: 0,
            first_compute: u64::MAX,
            read_end: 0,
            ended: 0,
            errors: vec![],
            account: Account::default(),
            cpu: 0,
        };
        let spans = Spans::new(engine.plan.sizes.len(), engine.plan.spans);
        Self {
            engine,
            thread,
            role: engine.plan.roles[thread],
            meter: Meter::new(),
            kept: vec![],
            spans,
            tally,
        }
    }

    /// Work until there is nothing left for this role.
    pub fn run(&mut self) {
        self.meter.begin();
        match self.role {
            Role::Both => self.file_by_file(),
            _ => self.by_preference(),
        }
        self.tally.account = self.meter.end();
        self.tally.ended = now();
        self.tally.cpu = rustix::thread::sched_getcpu();
    }

    fn file_by_file(&mut self) {
        let hub = &self.engine.hub;
        while !hub.over() {
            let Some(number) = hub.take_file() else {
                if hub.all_taken() {
                    return;
                }
                self.wait(Blocked::Work, |_| hub.can_read() || hub.all_taken());
                continue;
            };
            if let Some(held) = self.read(self.engine.index(number)) {
                self.compute(held);
            }
        }
    }

    fn by_preference(&mut self) {
        let hub = &self.engine.hub;
        while !hub.over() {
            let acted = match self.role {
                Role::Read => self.start_reading(),
                Role::ReadThenCompute => self.start_reading() || self.compute_ready(),
                Role::ComputeThenRead => self.compute_ready() || self.start_reading(),
                Role::Compute | Role::Both => self.compute_ready(),
            };
            if acted {
                continue;
            }
            let (role, ring) = (self.role, self.ring());
            let over = || role == Role::Read && hub.all_taken() && ring.is_none_or(Ring::idle);
            if over() {
                return;
            }
            let room = || role.reads() && hub.can_read() && ring.is_none_or(Ring::has_room);
            // A thread that can do nothing else meanwhile waits for its own reads.
            let own = ring.is_some_and(|ring| !ring.idle()) && (role == Role::Read || self.engine.alone());
            let on = if own { Blocked::Io } else { Blocked::Work };
            self.wait(on, |ready| (ready && role.computes()) || room() || over());
        }
    }

    pub fn ring(&self) -> Option<&'a Ring<Pending>> {
        self.engine.rings[self.thread].as_ref()
    }

    /// Sleep until `wanted` or the end of the run.
    fn wait(&mut self, on: Blocked, wanted: impl Fn(bool) -> bool) {
        let engine = self.engine;
        let start = now();
        match engine.rings[self.thread].as_ref() {
            Some(ring) if !ring.shared && !ring.idle() => {
                ring.block(engine.hub.left());
                self.reap();
            }
            ring => {
                let may_read = ring.is_none_or(Ring::has_room);
                let class =
                    match (self.role.computes() && self.role != Role::Both, self.role.reads() && may_read) {
                        (true, true) => Class::Mixed,
                        (true, false) => Class::Compute,
                        (false, true) => Class::Read,
                        (false, false) => Class::Neither,
                    };
                engine.hub.wait(self.thread, class, wanted, |out| self.reap_into(out));
            }
        }
        let end = now();
        self.meter.phase(on, start, end);
        self.spans.wait(self.thread, start, end);
    }

    /// Start reading a file, if there is one, room for it, and room in the ring.
    fn start_reading(&mut self) -> bool {
        let Some(ring) = self.ring() else {
            let Some(number) = self.engine.hub.take_file() else { return false };
            if let Some(held) = self.read(self.engine.index(number)) {
                self.engine.hub.push(std::iter::once(held));
            }
            return true;
        };
        if !ring.has_room() {
            self.reap();
        }
        if !ring.has_room() {
            return false;
        }
        let Some(number) = self.engine.hub.take_file() else { return false };
        self.submit(ring, self.engine.index(number));
        true
    }

    /// Read a file whole, by this thread alone.
    fn read(&mut self, index: u32) -> Option<Held> {
        let (result, kind) = match self.engine.plan.method {
            Method::Sync => (self.engine.source().pread(index), Kind::Read),
            Method::Mmap => (self.engine.source().map(index), Kind::Submit),
            Method::Overlapped => return self.read_by_ring(index),
        };
        match result {
            Ok((held, times)) => {
                self.meter.phase(Blocked::Io, times[0], times[3]);
                self.spans.add(self.thread, Kind::Open, index, times[0], times[1]);
                self.spans.add(self.thread, kind, index, times[1], times[2]);
                self.tally.read_end = times[2];
                if kind == Kind::Submit {
                    self.spans.add(self.thread, Kind::Fault, index, times[2], times[3]);
                    self.engine.rows.row(u64::from(index)).set(Column::Fault, times[3] - times[2]);
                }
                Some(self.have(self.thread, held, times))
            }
            Err(fault) => {
                self.failed(index, fault);
                None
            }
        }
    }

    /// The data of a file are there, which `thread` has read.
    pub fn have(&mut self, thread: usize, held: Held, times: Times) -> Held {
        let [start, opened, returned, end] = times;
        let row = self.engine.rows.row(u64::from(held.index));
        row.set(Column::Open, opened - start);
        if returned > 0 {
            row.set(Column::Submit, returned - opened);
        }
        row.set(Column::Read, end - opened);
        row.set(Column::Latency, end - start);
        self.engine.reads[thread].add(held.length as u64);
        held
    }

    fn compute_ready(&mut self) -> bool {
        let mut held = self.engine.hub.pop();
        if held.is_none() && self.engine.plan.method == Method::Overlapped {
            self.reap();
            held = self.engine.hub.pop();
        }
        held.is_some_and(|held| {
            self.compute(held);
            true
        })
    }

    /// Compute a file, close it, and let another into flight.
    fn compute(&mut self, held: Held) {
        let Held { index, file, memory, length } = held;
        let (plan, hub) = (&self.engine.plan, &self.engine.hub);
        let start = now();
        self.tally.first_compute = self.tally.first_compute.min(start);
        let mut end = start;
        if plan.checksum_rounds > 0 {
            let data = self.engine.buffers.start(&memory, length);
            // SAFETY: `length` bytes of this file's memory, which nobody writes any more.
            let bytes = unsafe { std::slice::from_raw_parts(data, length) };
            let sum = || checksum(u64::from(index), bytes, plan.checksum_rounds, || hub.stopped());
            let (sum, whole) = watched(data, length, sum);
            if !whole {
                let fault = Fault(Kind::Compute, broken(&file, length));
                self.engine.buffers.give(memory);
                return self.failed(index, fault);
            }
            self.tally.checksum = self.tally.checksum.wrapping_add(sum);
            end = now();
        } else if let Some(time) = plan.compute_ns.get(index as usize) {
            let spin = if plan.cpu_time { spin_cpu } else { spin };
            end = spin(start, *time, hub.deadline());
            if end >= hub.deadline() {
                hub.left(); // stops the run
            }
        }
        match memory {
            Memory::Mapped(map) if plan.keep_maps => self.kept.push(map),
            memory => self.engine.buffers.give(memory),
        }
        drop(file);
        let closed = now();
        let row = self.engine.rows.row(u64::from(index));
        row.set(Column::Compute, end - start);
        row.set(Column::Close, closed - end);
        row.set(Column::Thread, self.thread as u64);
        self.meter.phase(Blocked::Io, end, closed);
        self.spans.add(self.thread, Kind::Compute, index, start, end);
        self.spans.add(self.thread, Kind::Close, index, end, closed);
        self.tally.files_computed += 1;
        hub.finish_file();
    }

    pub fn failed(&mut self, index: u32, Fault(kind, errno): Fault) {
        self.tally.errors.push((index, errno.raw_os_error(), KINDS[kind as usize]));
        self.engine.hub.finish_file();
    }
}
