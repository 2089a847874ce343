//! What the ends of a limit send: bytes that both know, which begin with a number that runs on.

use std::ops::{Deref, DerefMut};

use crate::error::Outcome;
use crate::mapping::Buffer;

/// A message's bytes; those of two messages of one `Message::new` size differ in their number only.
pub struct Message(Buffer);

impl Message {
    pub fn new(size: usize) -> Outcome<Self> {
        Ok(Self(Buffer::filled(size, 1)?))
    }

    /// Write the running number into the first bytes, so that a stale message cannot pass.
    #[inline]
    pub fn stamp(&mut self, number: u64) {
        match self.0.first_chunk_mut() {
            Some(first) => *first = number.to_le_bytes(),
            None => self.0[0] = number as u8,
        }
    }

    /// Whether these bytes begin with `number`.
    #[inline]
    pub fn stamped(&self, number: u64) -> bool {
        match self.0.first_chunk() {
            Some(first) => *first == number.to_le_bytes(),
            None => self.0[0] == number as u8,
        }
    }

    /// Whether all bytes behind the number are those of `other`.
    pub fn agrees(&self, other: &Self) -> bool {
        self.0.get(8..) == other.0.get(8..)
    }
}

impl Deref for Message {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Message {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
