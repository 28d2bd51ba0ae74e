//! Many at once.

use store::{NewVerdict, RecordFilter, RecordingState};

use crate::harness::{Folder, call, done, panel};

#[test]
fn a_hundred_threads_write_and_read_at_once() {
    let folder = Folder::new();
    let store = folder.open();
    std::thread::scope(|scope| {
        for thread in 0..100 {
            let store = store.clone();
            scope.spawn(move || {
                for round in 0..5 {
                    let id = format!("p{thread}-{round}");
                    drop(store.panel_started(panel(&id)));
                    drop(store.call_ended(call(&id, 1, "alpha")));
                    store.call_ended(call(&id, 2, "beta")).blocking_wait().unwrap();
                    // What was acknowledged is seen by every reader.
                    assert_eq!(store.panel(&id).unwrap().unwrap().calls.len(), 2);
                    let verdict = NewVerdict {
                        call: format!("{id}.member1"),
                        useful: round % 2 == 0,
                        by: "window".to_owned(),
                        ..NewVerdict::default()
                    };
                    drop(store.give_verdict(verdict));
                    store.panel_ended(done(&id)).blocking_wait().unwrap();
                }
            });
        }
    });
    let record = store.record(RecordFilter::default()).unwrap();
    let counts: Vec<_> =
        record.iter().map(|it| (it.alias.as_str(), it.offloads, it.useful, it.not_useful)).collect();
    assert_eq!(counts, [("alpha", 500, 300, 200), ("beta", 500, 0, 0)]);
    assert_eq!(store.owed_count(u32::MAX).unwrap(), 500);
    assert_eq!(store.recording(), RecordingState::Ok);
    store.close();
    folder.assert_sound();
}
