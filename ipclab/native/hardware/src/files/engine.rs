//! A run: what is made before it, its threads, and the watch over signals and the deadline.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

use rustix::fs::{AtFlags, StatxFlags, statx};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::clock::now;
use crate::error::{Failure, Outcome};
use crate::files::bell::Bell;
use crate::files::buffers::Buffers;
use crate::files::content::shuffled;
use crate::files::folder::{Folder, Name};
use crate::files::gate::Gate;
use crate::files::guard::Guard;
use crate::files::hub::Hub;
use crate::files::lock;
use crate::files::meter::kib;
use crate::files::overlap::Pending;
use crate::files::plan::{BufferKind, Method, Plan, Role};
use crate::files::records::{Reads, Rows, Span};
use crate::files::ring::Ring;
use crate::files::whole::{Held, Source};
use crate::files::worker::{Tally, Worker};

/// Open files left to whatever else the process does meanwhile.
const SPARE_FILES: usize = 8;
/// How long reads under way may take to end after a run was stopped.
const DRAIN_NS: u64 = 10_000_000_000;
const STACK: usize = 256 << 10;
/// What a direct read is a multiple of where the file does not say.
const BLOCK: u64 = 4096;

/// Everything that the threads of a run share. The rings come first: they are dropped before the buffers.
pub struct Engine {
    pub rings: Vec<Option<Ring<Pending>>>,
    pub hub: Hub<Held>,
    pub buffers: Buffers,
    pub plan: Plan,
    pub rows: Rows,
    pub reads: Vec<Reads>,
    folder: Folder,
    order: Vec<u32>,
    block: u64,
    failure: Mutex<Option<Failure>>,
    gate: Gate,
    started: AtomicU64,
}

/// What a run gave: the start by the clock, each thread's tally, all spans.
pub struct Run {
    pub engine: Engine,
    pub started: u64,
    pub tallies: Vec<Tally>,
    pub spans: Vec<Span>,
    pub peak_rss_bytes: u64,
}

impl Engine {
    fn new(plan: Plan) -> Outcome<Self> {
        let folder = Folder::open(&plan.folder)?;
        let limit = in_flight(&plan)?;
        let block = if plan.direct { block(&folder, plan.sizes.len()) } else { 1 };
        let buffers = Buffers::new(&plan, limit, block)?;
        let threads = plan.roles.len();
        let shares = |role: Role| role.reads() && role != Role::Both && threads > 1;
        let overlapped = plan.method == Method::Overlapped;
        let some_share = plan.roles.iter().any(|role| shares(*role));
        let bell = if overlapped && some_share { Some(Bell::new()?) } else { None };
        let vectors = if plan.buffer == BufferKind::Registered { buffers.vectors() } else { vec![] };
        let ring = |role: &Role| match overlapped && role.reads() {
            true => {
                let depth = if *role == Role::Both { 1 } else { plan.depth };
                let bell = bell.as_ref().filter(|_| shares(*role));
                Ring::new(depth, shares(*role), bell, &vectors).map(Some)
            }
            false => Ok(None),
        };
        let rings = plan.roles.iter().map(ring).collect::<Outcome<Vec<_>>>()?;
        let deadline = now().saturating_add(plan.deadline_ns);
        let files = plan.sizes.len();
        Ok(Self {
            rings,
            hub: Hub::new(threads, files, limit, deadline, bell),
            buffers,
            rows: Rows::new(files),
            reads: plan.roles.iter().map(|_| Reads::default()).collect(),
            folder,
            order: if plan.shuffled { shuffled(files, plan.seed) } else { vec![] },
            block,
            failure: Mutex::new(None),
            gate: Gate::default(),
            started: AtomicU64::new(0),
            plan,
        })
    }

    /// The index of the file that is read as number `number`.
    #[inline]
    pub fn index(&self, number: usize) -> u32 {
        self.order.get(number).copied().unwrap_or(number as u32)
    }

    #[inline]
    pub fn source(&self) -> Source<'_> {
        Source { plan: &self.plan, folder: &self.folder, buffers: &self.buffers, block: self.block }
    }

    pub fn registered(&self) -> bool {
        self.plan.buffer == BufferKind::Registered
    }

    /// Whether the run has one thread only.
    pub fn alone(&self) -> bool {
        self.plan.roles.len() == 1
    }

    /// End the run with this failure, unless it has one.
    pub fn fail(&self, failure: Failure) {
        lock(&self.failure).get_or_insert(failure);
        self.hub.stop();
    }

    fn thread(&self, number: usize) -> Option<(Tally, Vec<Span>)> {
        let mut worker = Worker::new(self, number);
        if let Some(cpu) = self.plan.cpus.get(number % self.plan.cpus.len().max(1)) {
            let mut set = CpuSet::new();
            let known = *cpu < CpuSet::MAX_CPU;
            if known {
                set.set(*cpu);
            }
            if !known || sched_setaffinity(None, &set).is_err() {
                self.fail(Failure::Invalid(format!("a thread cannot be placed on CPU {cpu}")));
            }
        }
        if !self.gate.pass() {
            return None;
        }
        worker.run();
        Some((worker.tally, worker.spans.kept))
    }
}

/// Run `plan`; the calling thread watches signals and the deadline.
pub fn run(plan: Plan) -> Outcome<Run> {
    reset_peak();
    let engine = Engine::new(plan)?;
    let _guard = (engine.plan.method == Method::Mmap).then(Guard::new);
    let threads = engine.plan.roles.len();
    let results: Vec<_> = thread::scope(|scope| {
        let mut handles = vec![];
        for number in 0..threads {
            let engine = &engine;
            let leave = engine.gate.leave(|| engine.hub.stop());
            let work = move || {
                let _leave = leave;
                engine.thread(number)
            };
            let name = format!("reader-{number}");
            match thread::Builder::new().name(name).stack_size(STACK).spawn_scoped(scope, work) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    let errno = Errno::from_io_error(&error).unwrap_or(Errno::AGAIN);
                    engine.fail(Failure::Refused(format!("{threads} threads cannot be started"), errno));
                    break;
                }
            }
        }
        engine.gate.open_for(handles.len(), || {
            engine.started.store(now(), SeqCst);
            !engine.hub.stopped()
        });
        engine.gate.watch(handles.len(), |failure| match failure {
            Some(failure) => engine.fail(failure),
            None => drop(engine.hub.left()),
        });
        handles.into_iter().map(|handle| handle.join()).collect()
    });
    finish(engine, results)
}

type Joined = thread::Result<Option<(Tally, Vec<Span>)>>;

fn finish(engine: Engine, results: Vec<Joined>) -> Outcome<Run> {
    if !engine.rings.iter().flatten().all(|ring| ring.drain(DRAIN_NS)) {
        // The kernel may still write into the buffers: they are never given back.
        std::mem::forget(engine);
        return Err(Failure::Timeout("reads under way did not end"));
    }
    if let Some(failure) = lock(&engine.failure).take() {
        return Err(failure);
    }
    if engine.hub.late() {
        return Err(Failure::Timeout("the files were not read and computed before the deadline"));
    }
    let mut run = Run {
        started: engine.started.load(SeqCst),
        engine,
        tallies: vec![],
        spans: vec![],
        peak_rss_bytes: kib("/proc/self/status", "VmHWM:").unwrap_or(0),
    };
    for result in results {
        let Ok(Some((tally, spans))) = result else {
            return Err(Failure::PeerGone("a thread of the engine failed"));
        };
        run.tallies.push(tally);
        run.spans.extend(spans);
    }
    Ok(run)
}

/// How many files may be in flight: what was asked, within the limit of open files.
fn in_flight(plan: &Plan) -> Outcome<usize> {
    let limit = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |limit| limit as usize);
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let threads = plan.roles.len() * plan.descriptors_per_thread();
    match limit.saturating_sub(open + threads + SPARE_FILES) {
        0 => {
            let what =
                format!("the limit of open files ({limit}, ulimit -n) is too low for {threads} threads");
            Err(Failure::Refused(what, Errno::MFILE))
        }
        room => Ok(plan.in_flight.min(room).min(plan.sizes.len().max(1))),
    }
}

fn block(folder: &Folder, files: usize) -> u64 {
    if files == 0 {
        return BLOCK;
    }
    let told =
        statx(&folder.0, Name::of(0).as_c_str(), AtFlags::empty(), StatxFlags::from_bits_retain(DIOALIGN));
    match told {
        Ok(told) if told.stx_dio_offset_align > 0 => u64::from(told.stx_dio_offset_align),
        _ => BLOCK,
    }
}

/// STATX_DIOALIGN of linux/stat.h.
const DIOALIGN: u32 = 0x2000;

fn reset_peak() {
    // 5 resets the peak (proc_pid_clear_refs(5)); where it is refused, the peak is that of the process so far.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
