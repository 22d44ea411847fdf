//! Tables that are short, old, or have holes.

mod session;

use std::collections::BTreeSet;

use pjrt_fake::{Fake, Table};
use session::session;
use xla::{Code, Plugin};

fn used() -> BTreeSet<&'static str> {
    let fake = Fake::builder().platform("cpu").build();
    session(fake.table()).expect("nothing fails");
    fake.assert_clean();
    fake.calls().into_iter().map(|call| call.entry).collect()
}

#[test]
fn a_null_slot_is_told_by_name() {
    for entry in used() {
        let fake = Fake::builder().platform("cpu").build();
        let outcome = session(fake.table_of(&Table::new().without(entry)));
        if entry.ends_with("_Destroy") {
            // There's no way to destroy it.
            outcome.expect("the rest works");
            continue;
        }
        fake.assert_clean();
        match outcome {
            Err(error) => {
                assert_eq!(error.code(), Code::Unimplemented, "{error}");
                assert_eq!(error.function(), Some(entry), "{error}");
                assert!(error.message().contains(entry), "{error}");
                assert!(error.message().contains("0.114"), "{error}");
            }
            // Facts that may be missing, and what can be done without.
            Ok(()) => assert!(
                [
                    "PJRT_Plugin_Attributes",
                    "PJRT_Client_AddressableMemories",
                    "PJRT_Device_AddressableMemories",
                    "PJRT_Device_DefaultMemory",
                    "PJRT_Device_LocalHardwareId",
                    "PJRT_DeviceDescription_Attributes",
                    "PJRT_TopologyDescription_Attributes",
                    "PJRT_TopologyDescription_Fingerprint",
                    "PJRT_Executable_Fingerprint",
                    "PJRT_Executable_GetCostAnalysis",
                    "PJRT_AsyncHostToDeviceTransferManager_SetBufferError",
                    "PJRT_Buffer_CopyRawToHost",
                    "PJRT_Buffer_UnsafePointer",
                    "PJRT_Event_OnReady",
                ]
                .contains(&entry),
                "{entry} is missing, and nobody minds"
            ),
        }
    }
}

#[test]
fn a_table_may_end_anywhere() {
    // One fake for all: what can't be destroyed stays.
    let fake = Fake::builder().platform("cpu").build();
    for (entry, offset, _) in pjrt_sys::ENTRIES {
        let table = Table::new().ending_before(entry);
        if let Err(error) = session(fake.table_of(&table)) {
            assert_eq!(error.code(), Code::Unimplemented, "{entry}: {error}");
            assert!(error.message().contains("has no PJRT_"), "{entry}: {error}");
        }
        // Half a slot is none.
        let half = Table::new().struct_size(offset + 4);
        if let Err(error) = session(fake.table_of(&half)) {
            assert_eq!(error.code(), Code::Unimplemented, "{entry}: {error}");
        }
    }
    let mut violations = fake.violations();
    // A client goes also where what it made can't.
    violations.retain(|what| !what.contains("destroyed before what it made"));
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn older_tables_are_enough() {
    for minor in [57, 68, 81, 90, 114] {
        let fake = Fake::new();
        session(fake.table_of(&Table::new().minor(minor))).expect("all that is needed is there");
        fake.assert_clean();
    }
}

#[test]
fn what_is_no_table_is_refused() {
    let fake = Fake::new();
    let refused = |table| {
        // SAFETY: null, or a table of the fake's.
        let outcome = unsafe { Plugin::from_table(table) };
        let error = outcome.expect_err("it's refused");
        assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
    };
    refused(std::ptr::null());
    for size in [0, 8, 16, 39] {
        refused(fake.table_of(&Table::new().struct_size(size)));
    }
    for (major, minor) in [(0, 56), (1, 114), (-1, 114)] {
        refused(fake.table_of(&Table::new().version(major, minor)));
    }
    assert_eq!(fake.calls(), []);
    fake.assert_clean();
}
