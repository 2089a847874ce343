//! What a run of the engine is asked to do, checked before anything starts.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use crate::error::{Failure, Outcome};
use crate::files::folder::sizes_of;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    Sync,
    Overlapped,
    Mmap,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advice {
    None,
    Populate,
    Sequential,
    Random,
    WillNeed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferKind {
    Fresh,
    Prefaulted,
    Registered,
}

/// What a thread does: read, compute, both file by file, or both with reading or computing preferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Read,
    Compute,
    Both,
    ReadThenCompute,
    ComputeThenRead,
}

const METHODS: [(&str, Method); 3] =
    [("sync", Method::Sync), ("overlapped", Method::Overlapped), ("mmap", Method::Mmap)];
const ADVICE: [(&str, Advice); 5] = [
    ("none", Advice::None),
    ("populate", Advice::Populate),
    ("sequential", Advice::Sequential),
    ("random", Advice::Random),
    ("willneed", Advice::WillNeed),
];
const BUFFERS: [(&str, BufferKind); 3] = [
    ("fresh", BufferKind::Fresh),
    ("prefaulted", BufferKind::Prefaulted),
    ("registered", BufferKind::Registered),
];
const ROLES: [(&str, Role); 5] = [
    ("read", Role::Read),
    ("compute", Role::Compute),
    ("both", Role::Both),
    ("read-then-compute", Role::ReadThenCompute),
    ("compute-then-read", Role::ComputeThenRead),
];
const KEYS: [&str; 18] = [
    "folder",
    "sizes",
    "compute_ns",
    "compute_clock",
    "checksum_rounds",
    "method",
    "advice",
    "direct",
    "buffer",
    "roles",
    "cpus",
    "depth",
    "in_flight",
    "repeat_order",
    "seed",
    "spans",
    "deadline_ns",
    "keep_maps",
];
const MOST_THREADS: usize = 1024;
const MOST_DEPTH: usize = 4096;

impl Role {
    pub fn reads(self) -> bool {
        self != Role::Compute
    }

    pub fn computes(self) -> bool {
        self != Role::Read
    }

    pub fn name(self) -> &'static str {
        ROLES.iter().find(|(_, role)| *role == self).expect("every role has a name").0
    }
}

/// A run of the engine.
#[derive(Debug)]
pub struct Plan {
    pub folder: String,
    pub sizes: Vec<u64>,
    /// The drawn time of each file; empty for none.
    pub compute_ns: Vec<u64>,
    /// Whether a drawn time is of the thread's CPU time rather than of the clock.
    pub cpu_time: bool,
    pub checksum_rounds: u32,
    pub method: Method,
    pub advice: Advice,
    pub direct: bool,
    pub buffer: BufferKind,
    pub roles: Vec<Role>,
    pub cpus: Vec<usize>,
    pub depth: usize,
    pub in_flight: usize,
    pub shuffled: bool,
    pub seed: u64,
    pub spans: usize,
    pub deadline_ns: u64,
    /// Whether maps and fresh buffers stay until the end of the run, as those of fio do.
    pub keep_maps: bool,
}

impl Plan {
    /// Read a plan from its Python form; ValueError says what is wrong with it.
    pub fn of(dict: &Bound<'_, PyDict>) -> PyResult<Self> {
        for key in dict.keys() {
            let key: String = key.extract()?;
            if !KEYS.contains(&key.as_str()) {
                return Err(wrong(format!("a plan has no key {key:?}")).into());
            }
        }
        let name = |key: &str, default: &str| -> PyResult<String> { optional(dict, key, default.to_owned()) };
        let roles: Vec<String> = required(dict, "roles")?;
        let roles: Outcome<Vec<Role>> = roles.iter().map(|role| choice(&ROLES, "roles", role)).collect();
        let plan = Self {
            folder: required(dict, "folder")?,
            sizes: sizes_of(&required::<PyBackedBytes>(dict, "sizes")?, 0)?,
            compute_ns: match dict.contains("compute_ns")? {
                true => sizes_of(&required::<PyBackedBytes>(dict, "compute_ns")?, 0)?,
                false => vec![],
            },
            cpu_time: choice(
                &[("wall", false), ("cpu", true)],
                "compute_clock",
                &name("compute_clock", "wall")?,
            )?,
            checksum_rounds: optional(dict, "checksum_rounds", 0)?,
            method: choice(&METHODS, "method", &required::<String>(dict, "method")?)?,
            advice: choice(&ADVICE, "advice", &name("advice", "none")?)?,
            direct: optional(dict, "direct", false)?,
            buffer: choice(&BUFFERS, "buffer", &name("buffer", "fresh")?)?,
            roles: roles?,
            cpus: optional(dict, "cpus", vec![])?,
            depth: optional(dict, "depth", 1)?,
            in_flight: required(dict, "in_flight")?,
            shuffled: choice(
                &[("given", false), ("shuffled", true)],
                "repeat_order",
                &name("repeat_order", "given")?,
            )?,
            seed: optional(dict, "seed", 0)?,
            spans: optional(dict, "spans", 0)?,
            deadline_ns: required(dict, "deadline_ns")?,
            keep_maps: optional(dict, "keep_maps", false)?,
        };
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Outcome<()> {
        let range = |what: &str, value: usize, most: usize| match value {
            1.. if value <= most => Ok(()),
            _ => Err(wrong(format!("{what} must be 1 to {most}, not {value}"))),
        };
        range("the number of threads", self.roles.len(), MOST_THREADS)?;
        range("depth", self.depth, MOST_DEPTH)?;
        range("in_flight", self.in_flight, usize::MAX)?;
        if !self.roles.iter().any(|role| role.reads()) || !self.roles.iter().any(|role| role.computes()) {
            return Err(wrong(
                "some thread must read and some must compute (role \"both\" does both)".into(),
            ));
        }
        if self.roles.iter().all(|role| matches!(role, Role::Read | Role::Both))
            && self.roles.contains(&Role::Read)
        {
            return Err(wrong("nobody computes what the threads of role \"read\" have read".into()));
        }
        if !self.compute_ns.is_empty() && self.compute_ns.len() != self.sizes.len() {
            return Err(wrong("compute_ns has another number of files than sizes".into()));
        }
        if self.buffer == BufferKind::Registered && self.method != Method::Overlapped {
            return Err(wrong("registered buffers are io_uring's: the method must be overlapped".into()));
        }
        if self.method == Method::Mmap && self.direct {
            return Err(wrong("a map shows the page cache: mmap has no direct reading".into()));
        }
        if self.method != Method::Mmap && self.advice != Advice::None {
            return Err(wrong("advice is about a map: the method must be mmap".into()));
        }
        Ok(())
    }

    /// The most open descriptors a thread needs besides the files: its statistics and its ring.
    pub fn descriptors_per_thread(&self) -> usize {
        1 + usize::from(self.method == Method::Overlapped)
    }
}

fn wrong(what: String) -> Failure {
    Failure::Invalid(what)
}

fn required<'py, T>(dict: &Bound<'py, PyDict>, key: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let value = dict.get_item(key)?.ok_or_else(|| wrong(format!("the plan lacks {key:?}")))?;
    value.extract().map_err(Into::<PyErr>::into).map_err(|error| wrong(format!("{key}: {error}")).into())
}

fn optional<'py, T>(dict: &Bound<'py, PyDict>, key: &str, default: T) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    if dict.contains(key)? { required(dict, key) } else { Ok(default) }
}

fn choice<T: Copy>(known: &[(&str, T)], what: &str, name: &str) -> Outcome<T> {
    known.iter().find(|(word, _)| *word == name).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        wrong(format!("{what}: {name:?} is none of {}", words.join(", ")))
    })
}
