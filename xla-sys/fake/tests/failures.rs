//! Every entry fails in turn: nothing leaks, nothing is destroyed twice, and the failure is told or
//! harmless.

mod session;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pjrt_fake::{Code, Failure, Fake};
use session::session;
use xla::Error;

const PLATFORMS: [&str; 2] = ["fake", "cpu"];

/// How often a healthy session calls each entry.
fn calls(platform: &str) -> BTreeMap<&'static str, usize> {
    let fake = Fake::builder().platform(platform).build();
    session(fake.table()).expect("nothing fails");
    fake.assert_clean();
    let mut calls = BTreeMap::new();
    for call in fake.calls() {
        *calls.entry(call.entry).or_insert(0) += 1;
    }
    // An error's own entries are only asked when there's one.
    for entry in ["PJRT_Error_GetCode", "PJRT_Error_ForEachPayload"] {
        calls.insert(entry, 1);
    }
    calls.retain(|entry, _| !["PJRT_Error_Message", "PJRT_Error_Destroy"].contains(entry));
    calls
}

fn session_with(platform: &str, entry: &str, failure: Failure) -> Result<(), Error> {
    let fake = Fake::builder().platform(platform).build();
    fake.fail(entry, failure);
    if entry.starts_with("PJRT_Error_") {
        fake.fail(
            "PJRT_Client_Compile",
            Failure::new(Code::ABORTED, "the first error"),
        );
    }
    let outcome = session(fake.table());
    fake.assert_clean();
    outcome
}

/// Entries whose failure nobody needs to hear of: what is destroyed is gone either way, an error is
/// told without its code, and memory that isn't looked at is as good.
fn is_harmless(entry: &str) -> bool {
    entry.ends_with("_Destroy")
        || [
            "PJRT_AsyncHostToDeviceTransferManager_SetBufferError",
            // Where it isn't known where values lie, the plugin copies them.
            "PJRT_Buffer_IsOnCpu",
            "PJRT_Buffer_OnDeviceSizeInBytes",
            "PJRT_Buffer_UnsafePointer",
            "PJRT_Event_IsReady",
            "PJRT_Event_OnReady",
            // A plugin may say by a failure that it has none.
            "PJRT_Executable_Fingerprint",
        ]
        .contains(&entry)
}

#[test]
fn the_session_uses_every_entry_that_the_layer_uses() {
    let fence = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/pjrt");
    let mut used = BTreeSet::new();
    for file in std::fs::read_dir(fence).expect("the layer's folder") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("source");
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        used.extend(
            pjrt_fake::ENTRIES
                .iter()
                .filter(|entry| words.clone().any(|word| word == **entry)),
        );
        // None is used that the fake lacks.
        let entry = |word: &&str| pjrt_sys::ENTRIES.iter().any(|(name, _, _)| name == word);
        let lacking = words.find(|word| entry(word) && !pjrt_fake::ENTRIES.contains(word));
        assert_eq!(lacking, None);
    }
    let calls = PLATFORMS.map(calls);
    let mut unused: Vec<&str> = used
        .into_iter()
        .filter(|entry| !calls.iter().any(|calls| calls.contains_key(entry)))
        .collect();
    unused.sort_unstable();
    // The errors' two can't fail; the first is for a plugin that can't destroy, see the tests of
    // tables; the second is asked when a run has failed, see the tests of donation; memory that can't
    // be unmapped stays mapped, see the tests of transfers.
    assert_eq!(
        unused,
        [
            "PJRT_Buffer_Delete",
            "PJRT_Buffer_IsDeleted",
            "PJRT_Client_DmaMap",
            "PJRT_Client_DmaUnmap",
            "PJRT_Error_Destroy",
            "PJRT_Error_Message"
        ]
    );
}

#[test]
fn every_call_of_every_entry_can_fail() {
    for platform in PLATFORMS {
        let mut unheard = Vec::new();
        let mut heard = BTreeSet::new();
        for (entry, calls) in calls(platform) {
            for call in 1..=calls {
                for with_handles in [false, true] {
                    let mut failure = Failure::new(Code::INTERNAL, "on demand").on_call(call);
                    if with_handles {
                        failure = failure.with_handles();
                    }
                    let outcome = session_with(platform, entry, failure);
                    let what = format!("{entry}, call {call}, handles {with_handles}: {outcome:?}");
                    if entry.starts_with("PJRT_Error_") {
                        // The error that was asked is told all the same.
                        let error = outcome.expect_err(&what);
                        assert!(error.message().contains("the first error"), "{what}");
                        assert_eq!(error.function(), Some("PJRT_Client_Compile"), "{what}");
                        continue;
                    }
                    match outcome {
                        Err(error) => {
                            assert!(error.message().contains("on demand"), "{what}");
                            // A collective that isn't started tells why in its own name.
                            let told = match error.function() {
                                None => error.message().contains("its values failed to come"),
                                Some(name) => name == entry,
                            };
                            assert!(told, "{what}");
                            heard.insert(entry);
                        }
                        Ok(()) if is_harmless(entry) => {}
                        Ok(()) => unheard.push((entry, call)),
                    }
                }
            }
        }
        // Who asks for it himself is told.
        assert!(heard.contains("PJRT_Buffer_OnDeviceSizeInBytes"));
        unheard.dedup();
        let entries: Vec<&str> = unheard.iter().map(|(entry, _)| *entry).collect();
        // The wait for the end of a borrow, which has nobody to tell; on CPU a read that begins asks
        // whether the values are there, and leaves it to the plugin's copy where it can't be known.
        let mut wanted = vec!["PJRT_Event_Await"];
        if platform == "cpu" {
            wanted.push("PJRT_Event_Error");
        }
        assert_eq!(entries, wanted, "{unheard:?}");
    }
}

#[test]
fn every_code_is_told() {
    let codes = [
        (Code::CANCELLED, xla::Code::Cancelled),
        (Code::UNKNOWN, xla::Code::Unknown),
        (Code::INVALID_ARGUMENT, xla::Code::InvalidArgument),
        (Code::DEADLINE_EXCEEDED, xla::Code::DeadlineExceeded),
        (Code::NOT_FOUND, xla::Code::NotFound),
        (Code::ALREADY_EXISTS, xla::Code::AlreadyExists),
        (Code::PERMISSION_DENIED, xla::Code::PermissionDenied),
        (Code::RESOURCE_EXHAUSTED, xla::Code::ResourceExhausted),
        (Code::FAILED_PRECONDITION, xla::Code::FailedPrecondition),
        (Code::ABORTED, xla::Code::Aborted),
        (Code::OUT_OF_RANGE, xla::Code::OutOfRange),
        (Code::UNIMPLEMENTED, xla::Code::Unimplemented),
        (Code::INTERNAL, xla::Code::Internal),
        (Code::UNAVAILABLE, xla::Code::Unavailable),
        (Code::DATA_LOSS, xla::Code::DataLoss),
        (Code::UNAUTHENTICATED, xla::Code::Unauthenticated),
        // None that anybody knows.
        (Code(77), xla::Code::Unknown),
    ];
    for entry in calls("cpu").keys() {
        for (code, told) in codes {
            let outcome = session_with("cpu", entry, Failure::new(code, "on demand").always());
            match outcome {
                _ if entry.starts_with("PJRT_Error_") => assert!(outcome.is_err(), "{entry}"),
                Err(error) => assert_eq!(error.code(), told, "{entry}: {error}"),
                // A fact that a plugin doesn't have is left out.
                Ok(()) => assert!(
                    is_harmless(entry) || told == xla::Code::Unimplemented,
                    "{entry}"
                ),
            }
        }
    }
}

#[test]
fn success_without_a_handle_is_an_error() {
    for entry in calls("cpu").keys() {
        // What isn't destroyed, or never called back, can't be clean.
        if entry.ends_with("_Destroy") || *entry == "PJRT_Event_OnReady" {
            continue;
        }
        let fake = Fake::builder().platform("cpu").build();
        fake.silence(entry);
        let outcome = session(fake.table());
        fake.assert_clean();
        let hands_out = [
            "PJRT_Client_Create",
            "PJRT_Client_Compile",
            "PJRT_Client_TopologyDescription",
            "PJRT_TopologyDescription_Create",
            "PJRT_Compile",
            "PJRT_Device_GetDescription",
            "PJRT_Client_BufferFromHostBuffer",
            "PJRT_Executable_DeserializeAndLoad",
            "PJRT_LoadedExecutable_GetExecutable",
            "PJRT_LoadedExecutable_Execute",
            "PJRT_Buffer_CopyToDevice",
            "PJRT_Buffer_CopyToMemory",
            "PJRT_Buffer_ReadyEvent",
        ];
        if hands_out.contains(entry) {
            let error = outcome.expect_err(entry);
            assert!(
                error.message().contains("handed out nothing"),
                "{entry}: {error}"
            );
        }
    }
}

#[test]
fn an_error_is_told_whole() {
    let fake = Fake::new();
    let payload = [0u8, 255, 0];
    fake.fail(
        "PJRT_Client_Create",
        Failure::new(Code::NOT_FOUND, "no device\u{20ac}")
            .payload("type.example/A", payload)
            .payload("type.example/B", []),
    );
    let error = session::plugin(&fake)
        .client()
        .expect_err("it's made to fail");
    // The text has no NUL behind it, but more text.
    assert_eq!(error.message(), "no device\u{20ac}");
    assert_eq!(error.function(), Some("PJRT_Client_Create"));
    let wanted = [
        ("type.example/A".to_owned(), payload.to_vec()),
        ("type.example/B".to_owned(), Vec::new()),
    ];
    assert_eq!(error.payloads(), wanted);
    drop(error);
    fake.assert_clean();
}
