//! What is in a file: incompressible bytes that follow from a seed, the file's index and the place in it.

/// SplitMix64 (Steele, Lea, Flood 2014): the output for `state`.
#[inline]
pub fn mix(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The bytes of one file.
#[derive(Clone, Copy)]
pub struct Content(u64);

impl Content {
    pub fn new(seed: u64, index: u64) -> Self {
        Self(mix(mix(seed.wrapping_add(STEP)) ^ index.wrapping_mul(STEP)))
    }

    /// Fill `target` with the bytes from `offset`, a multiple of 8.
    pub fn fill(self, offset: u64, target: &mut [u8]) {
        let mut state = self.0.wrapping_add((offset / 8).wrapping_mul(STEP));
        let mut words = target.chunks_exact_mut(8);
        for word in &mut words {
            state = state.wrapping_add(STEP);
            word.copy_from_slice(&mix(state).to_le_bytes());
        }
        let rest = words.into_remainder();
        let last = mix(state.wrapping_add(STEP)).to_le_bytes();
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// The numbers below `n` in an order that follows from `seed` (Fisher and Yates).
pub fn shuffled(n: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    let mut state = mix(seed.wrapping_add(STEP));
    for place in (1..n).rev() {
        state = state.wrapping_add(STEP);
        let other = ((u128::from(mix(state)) * (place as u128 + 1)) >> 64) as usize;
        order.swap(place, other);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_the_same_as_in_the_whole() {
        let mut whole = vec![0; 1003];
        Content::new(7, 3).fill(0, &mut whole);
        let mut part = vec![0; 203];
        Content::new(7, 3).fill(800, &mut part);
        assert_eq!(whole[800..], part);
    }

    #[test]
    fn seed_and_index_matter() {
        let bytes = |seed, index| {
            let mut target = [0; 64];
            Content::new(seed, index).fill(0, &mut target);
            target
        };
        assert_eq!(bytes(1, 2), bytes(1, 2));
        assert_ne!(bytes(1, 2), bytes(2, 1));
        assert_ne!(bytes(1, 2), bytes(1, 3));
    }

    #[test]
    fn a_shuffle_keeps_every_number() {
        let mut order = shuffled(1000, 5);
        assert_eq!(order, shuffled(1000, 5));
        assert_ne!(order, shuffled(1000, 6));
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..1000));
    }
}
