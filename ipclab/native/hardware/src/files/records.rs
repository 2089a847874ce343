//! What is kept of each file: times in arrays that are there before the run, an even sample of them when there are many.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// Files whose times are kept.
const MOST_ROWS: usize = 20_000;

/// A time of a file, in ns, or the thread that finished it.
#[derive(Clone, Copy)]
pub enum Column {
    Open,
    Submit,
    Read,
    Fault,
    Compute,
    Close,
    Latency,
    Thread,
}

/// The names of the columns in their order.
pub const COLUMNS: [&str; 8] =
    ["open_ns", "submit_ns", "read_ns", "fault_ns", "compute_ns", "close_ns", "latency_ns", "thread"];

/// An even choice of `most` of `files` numbers; all when there are no more.
#[derive(Clone, Copy)]
pub struct Sample {
    files: u64,
    chosen: u64,
}

impl Sample {
    pub fn new(files: usize, most: usize) -> Self {
        Self { files: files as u64, chosen: files.min(most) as u64 }
    }

    /// The place of `index` among the chosen, None when it is not one.
    #[inline]
    pub fn place(self, index: u64) -> Option<usize> {
        if self.files == self.chosen {
            return Some(index as usize);
        }
        if self.chosen == 0 {
            return None;
        }
        // An index is chosen when it is the first of those that share a place.
        let place = index * self.chosen / self.files;
        (self.index(place as usize) == index).then_some(place as usize)
    }

    /// The index that has `place`.
    pub fn index(self, place: usize) -> u64 {
        (place as u64 * self.files).div_ceil(self.chosen)
    }

    pub fn len(self) -> usize {
        self.chosen as usize
    }
}

/// The times of the chosen files. A file is in the hands of one thread at a time, so plain stores are enough.
pub struct Rows {
    pub sample: Sample,
    rows: Vec<[AtomicI64; COLUMNS.len()]>,
}

/// The row of one file, which may be one that is not kept.
#[derive(Clone, Copy)]
pub struct Row<'a>(Option<&'a [AtomicI64; COLUMNS.len()]>);

impl Rows {
    /// Rows of `files` files: times 0, thread -1 until a file is finished.
    pub fn new(files: usize) -> Self {
        let sample = Sample::new(files, MOST_ROWS);
        let empty = || {
            let row = [const { AtomicI64::new(0) }; COLUMNS.len()];
            row[Column::Thread as usize].store(-1, Relaxed);
            row
        };
        Self { sample, rows: (0..sample.len()).map(|_| empty()).collect() }
    }

    #[inline]
    pub fn row(&self, index: u64) -> Row<'_> {
        Row(self.sample.place(index).map(|place| &self.rows[place]))
    }

    /// A column as little-endian int64.
    pub fn bytes(&self, column: usize) -> Vec<u8> {
        self.rows.iter().flat_map(|row| row[column].load(Relaxed).to_le_bytes()).collect()
    }

    /// The indices of the rows as little-endian int64, None when every file has a row.
    pub fn indices(&self) -> Option<Vec<u8>> {
        let sample = self.sample;
        (sample.files > sample.chosen)
            .then(|| (0..sample.len()).flat_map(|place| sample.index(place).to_le_bytes()).collect())
    }
}

impl Row<'_> {
    #[inline]
    pub fn set(self, column: Column, value: u64) {
        if let Some(row) = self.0 {
            row[column as usize].store(value as i64, Relaxed);
        }
    }
}

/// Files and bytes read by one thread, which may be counted by another that sees the read complete.
#[derive(Default)]
#[repr(align(64))]
pub struct Reads {
    files: AtomicU64,
    bytes: AtomicU64,
}

impl Reads {
    #[inline]
    pub fn add(&self, bytes: u64) {
        self.files.fetch_add(1, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
    }

    pub fn files(&self) -> u64 {
        self.files.load(Relaxed)
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
}

/// What a thread was doing during a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Open,
    Submit,
    Read,
    Fault,
    Compute,
    Close,
    Wait,
}

/// The names of the kinds in their order.
pub const KINDS: [&str; 7] = ["open", "submit", "read", "fault", "compute", "close", "wait"];

/// One span: which thread did what, on which file (-1 for none), from when until when.
pub type Span = (usize, Kind, i64, u64, u64);

/// The spans of one thread on the chosen files, and so many of its waits.
pub struct Spans {
    sample: Sample,
    waits: usize,
    pub kept: Vec<Span>,
}

impl Spans {
    pub fn new(files: usize, most: usize) -> Self {
        let sample = Sample::new(files, most);
        Self { sample, waits: 4 * sample.len(), kept: Vec::with_capacity(sample.len().min(1 << 16)) }
    }

    /// Keep a span of file `index` when that file is chosen.
    #[inline]
    pub fn add(&mut self, thread: usize, kind: Kind, index: u32, start: u64, end: u64) {
        if self.sample.chosen > 0 && self.sample.place(u64::from(index)).is_some() {
            self.kept.push((thread, kind, i64::from(index), start, end));
        }
    }

    pub fn wait(&mut self, thread: usize, start: u64, end: u64) {
        if self.waits > 0 {
            self.waits -= 1;
            self.kept.push((thread, Kind::Wait, -1, start, end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_even_and_of_the_size_asked() {
        for (files, most) in [(0, 5), (3, 5), (10, 0), (10, 3), (25_000, 20_000), (1_000_000, 20_000)] {
            let sample = Sample::new(files, most);
            let places: Vec<usize> = (0..files as u64).filter_map(|index| sample.place(index)).collect();
            assert!(places.iter().copied().eq(0..files.min(most)), "{files} {most}");
            assert!(places.iter().all(|place| sample.place(sample.index(*place)) == Some(*place)));
        }
    }

    #[test]
    fn rows_tell_which_files_they_are_of() {
        let rows = Rows::new(40_000);
        rows.row(2).set(Column::Open, 7);
        rows.row(3).set(Column::Open, 8);
        assert_eq!(rows.bytes(0)[8..16], 7u64.to_le_bytes());
        assert_eq!(rows.indices().unwrap()[8..16], 2u64.to_le_bytes());
        assert!(Rows::new(5).indices().is_none());
    }
}
