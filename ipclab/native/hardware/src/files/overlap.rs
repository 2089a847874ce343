//! How a thread reads through rings: it opens and submits, and takes what has completed in its ring and in others'.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::Errno;

use crate::clock::now;
use crate::error::Failure;
use crate::files::buffers::Memory;
use crate::files::meter::Blocked;
use crate::files::records::{Column, Kind};
use crate::files::ring::{Ring, Target};
use crate::files::whole::{Fault, Held, Times};
use crate::files::worker::Worker;

/// Longest read of one call (MAX_RW_COUNT of the kernel); the rest of a longer file is read when that is there.
const LONGEST: usize = 0x7fff_f000;

/// A read that was submitted.
pub struct Pending {
    thread: usize,
    index: u32,
    file: OwnedFd,
    memory: Memory,
    length: usize,
    times: Times,
}

impl Worker<'_> {
    /// Read a file through this thread's ring and wait for it.
    pub fn read_by_ring(&mut self, index: u32) -> Option<Held> {
        let ring = self.ring()?;
        let mut out = vec![];
        self.submit(ring, index);
        self.reap_ring(ring, &mut out);
        while !ring.idle() && !self.engine.hub.stopped() {
            let start = now();
            ring.block(self.engine.hub.left());
            self.meter.phase(Blocked::Io, start, now());
            self.reap_ring(ring, &mut out);
        }
        out.pop()
    }

    /// Open file `index` and submit its read.
    pub fn submit(&mut self, ring: &Ring<Pending>, index: u32) {
        let (engine, start) = (self.engine, now());
        let opened = engine.source().open(index).and_then(|file| Ok((file, engine.source().memory(index)?)));
        let (file, (memory, length)) = match opened {
            Ok(opened) => opened,
            Err(fault) => return self.failed(index, fault),
        };
        let slot = match &memory {
            Memory::Slot(slot) if engine.registered() => Some(*slot as u16),
            _ => None,
        };
        let fd = file.as_raw_fd();
        let target = Target {
            fd,
            start: engine.buffers.start(&memory, length),
            length: length.min(LONGEST) as u32,
            slot,
        };
        let before = now();
        let times = [start, before, before, before];
        ring.prepare(&target, Pending { thread: self.thread, index, file, memory, length, times });
        if let Err(errno) = ring.submit() {
            engine.fail(Failure::Os("io_uring_enter", errno));
            return;
        }
        let submitted = now();
        engine.rows.row(u64::from(index)).set(Column::Submit, submitted - before);
        self.meter.phase(Blocked::Io, start, submitted);
        self.spans.add(self.thread, Kind::Open, index, start, before);
        self.spans.add(self.thread, Kind::Submit, index, before, submitted);
        self.tally.read_end = submitted;
    }

    /// Hand over what has completed.
    pub fn reap(&mut self) {
        let mut out = vec![];
        self.reap_into(&mut out);
        if !out.is_empty() {
            self.engine.hub.push(out.into_iter());
        }
    }

    /// Take what has completed in this thread's ring and in those that are shared.
    pub fn reap_into(&mut self, out: &mut Vec<Held>) {
        let engine = self.engine;
        for (thread, ring) in engine.rings.iter().enumerate() {
            if let Some(ring) = ring
                && (ring.shared || thread == self.thread)
                && !ring.idle()
            {
                let count = self.reap_ring(ring, out);
                if count > 0 && thread != self.thread {
                    engine.hub.wake(thread);
                }
            }
        }
    }

    /// Take what has completed in `ring`; returns how many reads that were.
    fn reap_ring(&mut self, ring: &Ring<Pending>, out: &mut Vec<Held>) -> usize {
        let mut count = 0;
        ring.reap(|pending, result| {
            count += 1;
            out.extend(self.completed(pending, result));
        });
        count
    }

    fn completed(&mut self, pending: Pending, result: i32) -> Option<Held> {
        let Pending { thread, index, file, memory, length, times } = pending;
        let read = match usize::try_from(result) {
            Ok(count) => self.engine.source().fill(index, &file, &memory, count, length),
            Err(_) => Err(Errno::from_raw_os_error(-result)),
        };
        match read {
            Ok(length) => {
                let end = now();
                self.spans.add(thread, Kind::Read, index, times[2], end);
                let submitted = [times[0], times[1], 0, end];
                Some(self.have(thread, Held { index, file, memory, length }, submitted))
            }
            Err(errno) => {
                self.engine.buffers.give(memory);
                self.failed(index, Fault(Kind::Read, errno));
                None
            }
        }
    }
}
