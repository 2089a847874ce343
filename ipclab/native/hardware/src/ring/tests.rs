//! Two ends of a ring in one process, the second one hostile where it says so.

use rustix::time::Timespec;

use super::*;

struct Never;

impl Watch for Never {
    fn look(&mut self, _party: &dyn Party) -> Outcome<Timespec> {
        Err(Failure::Timeout("waited"))
    }
}

fn rings(capacity: usize) -> (Ring, Ring) {
    let map = Arc::new(Mapping::shared(segment_size(capacity)).unwrap());
    let new = |side| Ring::new(map.clone(), capacity, side, Wait::Block).unwrap();
    (new(0), new(1))
}

#[test]
fn messages_of_every_length_arrive_in_order_over_many_rounds() {
    let (mut one, mut other) = rings(70_000);
    let (mut sent, mut got) = (0_usize, 0_usize);
    let length = |number: usize| number * 7_919 % 70_001;
    while got < 500 {
        while one.put(&vec![sent as u8; length(sent)]).unwrap() {
            sent += 1;
        }
        one.publish();
        while let Some(there) = other.pending().unwrap() {
            let mut target = vec![0; there];
            other.take(&mut target);
            assert_eq!(target, vec![got as u8; length(got)]);
            got += 1;
        }
        other.free();
        assert_eq!(got, sent);
    }
    assert!(other.wait_for_message(&mut Never).is_err());
}

#[test]
fn a_full_ring_refuses_until_room_is_shown() {
    let (mut one, mut other) = rings(64);
    while one.put(&[1; 64]).unwrap() {}
    one.publish();
    assert!(one.wait_for_room(&mut Never).is_err());
    assert_eq!(other.pending().unwrap(), Some(64));
    other.take(&mut [0; 64]);
    assert!(!one.put(&[1; 64]).unwrap(), "one message's room is not shown at once");
    other.free();
    assert!(one.wait_for_room(&mut Never).is_ok());
    assert!(one.put(&[1; 64]).unwrap());
}

#[test]
fn nothing_in_the_header_is_trusted() {
    let (mut one, other) = rings(64);
    let set = |offset: usize, value: u64| other.map.long(other.mine + offset).store(value, Relaxed);
    for (head, length) in [(1 << 40, 8), (16, 65), (4, 0), (8, 8), (8, SKIP)] {
        set(HEAD, head);
        set(RING, length);
        assert!(matches!(one.pending(), Err(Failure::Invalid(_))), "{head} {length}");
        one.written = 0;
    }
    set(TAIL, 8);
    one.taken = 0;
    assert!(one.taken_by_peer().is_err());
    assert!(Ring::new(one.map.clone(), 64, 0, Wait::Block).is_err(), "a side is taken once");
}
