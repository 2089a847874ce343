//! Two ends in one process, the second one hostile where it says so.

use rustix::time::Timespec;

use super::*;

struct Never;

impl Watch for Never {
    fn look(&mut self, _party: &dyn Party) -> Outcome<Timespec> {
        Err(Failure::Timeout("waited"))
    }
}

fn ends(capacity: usize) -> (End, End) {
    let map = Arc::new(Mapping::shared(segment_size(capacity)).unwrap());
    let new = |side| End::new(map.clone(), capacity, side, Wait::Block).unwrap();
    (new(0), new(1))
}

#[test]
fn messages_arrive_whole_and_once() {
    let (mut one, mut other) = ends(5000);
    for length in [0, 1, 5000] {
        let message = vec![7; length];
        one.wait_for_room(&mut Never).unwrap();
        one.put(&message);
        assert!(one.wait_for_room(&mut Never).is_err(), "the slot is taken");
        let mut target = vec![0; other.wait_for_message(&mut Never).unwrap()];
        other.take(&mut target);
        assert_eq!(target, message);
        assert_eq!(other.pending().unwrap(), None);
    }
}

#[test]
fn the_sequence_may_wrap() {
    let (mut one, mut other) = ends(8);
    (one.sent, other.received) = (u32::MAX, u32::MAX);
    one.own(MESSAGE).store(u32::MAX, Relaxed);
    other.own(TAKEN).store(u32::MAX, Relaxed);
    one.wait_for_room(&mut Never).unwrap();
    one.put(b"wrapped");
    assert_eq!(other.wait_for_message(&mut Never).unwrap(), 7);
}

#[test]
fn nothing_in_the_header_is_trusted() {
    let (mut one, other) = ends(8);
    other.map.long(other.mine + MESSAGE).store(9 << 32 | 1, Relaxed);
    assert!(matches!(one.wait_for_message(&mut Never), Err(Failure::Invalid(_))));
    other.own(TAKEN).store(3, Relaxed);
    other.own(ACKNOWLEDGED).store(3, Relaxed);
    assert!(matches!(one.has_room(), Err(Failure::Invalid(_))));
    assert!(End::new(one.map.clone(), 8, 0, Wait::Spin).is_err(), "a side is taken once");
}
