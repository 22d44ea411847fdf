//! Transfers in pieces, transfers as events, mapped memory: through the safe layer.

mod session;

use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use pjrt_fake::{Callbacks, Code, EventKind, Failure, Fake, Readiness, Table};
use session::{client, compile, pair, plugin, STEP};
use xla::{
    wait_any, wait_any_timeout, Buffer, ChunkedUpload, Client, Device, HostArray, HostValues,
    HostVec, PinnedVec, Plugin, Result, Shape,
};

/// Waits until something is so; whether it is, after a minute at the latest.
fn until(so: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(60);
    while !so() && Instant::now() < end {
        thread::yield_now();
    }
    so()
}

/// A vector of that many f32.
fn floats(count: usize) -> Shape {
    Shape::of::<f32>(&[count]).expect("small")
}

fn device(client: &Client) -> Device {
    client.device(0).expect("a device")
}

/// Numbers from `first` on.
fn numbers(first: usize, count: usize) -> Vec<f32> {
    (first..first + count).map(|n| n as f32).collect()
}

// Chunks.

#[test]
fn chunks_in_any_order_make_the_buffers() {
    let fake = Fake::new();
    let client = client(&fake);
    let shapes = [floats(6), Shape::of::<u8>(&[2, 2]).expect("small")];
    let (mut upload, buffers) = ChunkedUpload::new(&device(&client), &shapes).expect("chunks");
    assert_eq!(upload.leaf_count(), 2);
    upload.send(0, 4, numbers(4, 2)).expect("fits");
    assert!(!buffers[0].is_ready().expect("known"));
    upload.send(0, 0, numbers(0, 1)).expect("fits");
    assert_eq!(upload.missing(0), [Range { start: 4, end: 16 }]);
    // Borrowed, and in bytes that end inside an element.
    let rest: Vec<u8> = numbers(1, 3)
        .into_iter()
        .flat_map(f32::to_ne_bytes)
        .collect();
    upload.copy_bytes(0, 4, &rest[..5]).expect("fits");
    assert!(!buffers[0].is_ready().expect("known"));
    upload.append_bytes(0, rest[5..].to_vec()).expect("fits");
    assert!(buffers[0].is_ready().expect("known"));
    upload.append_bytes(1, vec![1u8, 2]).expect("fits");
    upload.append_bytes(1, &[3u8, 4][..]).expect("fits");
    assert!(upload.total_progress().is_complete());
    upload.finish().expect("complete");
    assert_eq!(buffers[0].to_host::<f32>().expect("values"), numbers(0, 6));
    assert_eq!(buffers[1].to_host::<u8>().expect("values"), [1, 2, 3, 4]);
    drop((buffers, client));
    fake.assert_clean();
}

#[test]
fn the_last_chunk_is_told_when_all_is_sent_and_never_before() {
    let fake = Fake::new();
    let client = client(&fake);
    // What the fake notes: a last chunk that leaves bytes out, a chunk behind it.
    for order in [[0usize, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
        let (mut upload, buffers) =
            ChunkedUpload::new(&device(&client), &[floats(6)]).expect("chunks");
        for (sent, part) in order.into_iter().enumerate() {
            assert!(!buffers[0].is_ready().expect("known"), "{order:?} {sent}");
            upload
                .send(0, part * 2, numbers(part * 2, 2))
                .expect("fits");
        }
        assert_eq!(buffers[0].to_host::<f32>().expect("values"), numbers(0, 6));
    }
    drop(client);
    fake.assert_clean();
}

#[test]
fn a_chunk_stays_in_memory_until_it_has_arrived() {
    for callbacks in [Callbacks::Inline, Callbacks::OnThread] {
        let fake = Fake::new();
        fake.callbacks(callbacks);
        fake.events(EventKind::Chunk, Readiness::Held);
        let client = client(&fake);
        let (mut upload, buffers) =
            ChunkedUpload::new(&device(&client), &[floats(4)]).expect("chunks");
        let chunk: Arc<[f32]> = numbers(0, 2).into();
        let kept = Arc::downgrade(&chunk);
        let done = upload.send(0, 0, chunk).expect("fits");
        let progress = upload.progress(0);
        assert_eq!((progress.sent, progress.done, progress.total), (8, 0, 16));
        assert!(!done.is_ready().expect("known") && kept.strong_count() == 1);
        drop(done);
        let last = upload.send(0, 2, numbers(2, 2)).expect("fits");
        assert!(!last.wait_timeout(Duration::from_millis(1)).expect("known"));
        // Neither the upload's end nor the client's name going ends the transfers.
        upload.finish().expect("all is sent");
        drop(client);
        assert_eq!(kept.strong_count(), 1);
        fake.release_events();
        last.wait().expect("arrived");
        assert_eq!(buffers[0].to_host::<f32>().expect("values"), numbers(0, 4));
        drop((last, buffers));
        fake.assert_clean();
        assert_eq!(kept.strong_count(), 0, "released");
    }
}

#[test]
fn what_is_done_is_counted_when_it_has_arrived() {
    let fake = Fake::new();
    fake.events(EventKind::Chunk, Readiness::Held);
    let client = client(&fake);
    let (mut upload, buffers) = ChunkedUpload::new(&device(&client), &[floats(4)]).expect("chunks");
    let first = upload.send(0, 0, numbers(0, 3)).expect("fits");
    assert_eq!(upload.total_progress().done, 0);
    fake.release(EventKind::Chunk);
    first.wait().expect("arrived");
    let progress = upload.total_progress();
    assert_eq!((progress.sent, progress.done, progress.total), (12, 12, 16));
    assert!(!progress.is_complete());
    drop((first, upload, buffers, client));
    fake.assert_clean();
}

#[test]
fn an_upload_that_is_given_up_fails_its_buffers() {
    let fake = Fake::new();
    let client = client(&fake);
    let shapes = [floats(2), floats(4), floats(3)];
    let (mut upload, buffers) = ChunkedUpload::new(&device(&client), &shapes).expect("chunks");
    upload.send(0, 0, numbers(0, 2)).expect("fits");
    upload.send(1, 0, numbers(0, 1)).expect("fits");
    let read = buffers[1].to_host_async::<f32>().expect("starts");
    drop(upload);
    assert_eq!(buffers[0].to_host::<f32>().expect("complete"), [0., 1.]);
    for (index, sent) in [
        (1, "`[1]`: the upload was given up when 4 of 16 bytes"),
        (2, "0 of 12"),
    ] {
        let error = buffers[index].wait().expect_err("incomplete");
        assert_eq!(error.code(), xla::Code::Cancelled, "{error}");
        assert!(error.message().contains(sent), "{error}");
    }
    assert_eq!(
        read.wait().expect_err("incomplete").code(),
        xla::Code::Cancelled
    );
    drop((buffers, client));
    fake.assert_clean();
}

#[test]
fn an_upload_with_gaps_does_not_finish() {
    let fake = Fake::new();
    let client = client(&fake);
    let (mut upload, buffers) = ChunkedUpload::new(&device(&client), &[floats(8)]).expect("chunks");
    upload.send(0, 2, numbers(0, 2)).expect("fits");
    let error = upload.finish().expect_err("gaps");
    assert_eq!(error.code(), xla::Code::FailedPrecondition);
    let message = error.message();
    assert!(
        message.contains("bytes 0..8 and 1 gap more of f32[8] (32 bytes)"),
        "{error}"
    );
    assert_eq!(
        buffers[0].wait().expect_err("given up").code(),
        xla::Code::Cancelled
    );
    drop((buffers, client));
    fake.assert_clean();
}

#[test]
fn chunks_that_do_not_belong_are_refused_before_the_plugin_is_asked() {
    let fake = Fake::new();
    let client = client(&fake);
    let shapes = [floats(4), Shape::of::<bool>(&[2]).expect("small")];
    let (mut upload, buffers) = ChunkedUpload::new(&device(&client), &shapes).expect("chunks");
    upload.send(0, 1, numbers(1, 2)).expect("fits");
    let asked = fake.count("PJRT_AsyncHostToDeviceTransferManager_TransferData");
    let wrong: [(Result<xla::Event>, xla::Code, &str); 9] = [
        (
            upload.send(0, 3, numbers(0, 2)),
            xla::Code::OutOfRange,
            "8 bytes at offset 12",
        ),
        (
            upload.send(0, usize::MAX, numbers(0, 1)),
            xla::Code::OutOfRange,
            "`[0]`",
        ),
        (
            upload.send_bytes(0, usize::MAX - 3, vec![0u8; 8]),
            xla::Code::OutOfRange,
            "takes 16",
        ),
        (
            upload.send(0, 0, numbers(0, 2)),
            xla::Code::AlreadyExists,
            "4..8",
        ),
        (
            upload.send_bytes(0, 11, vec![0u8; 3]),
            xla::Code::AlreadyExists,
            "11..12",
        ),
        (
            upload.send(0, 0, vec![0i32]),
            xla::Code::InvalidArgument,
            "s32",
        ),
        (
            upload.send(0, 0, numbers(0, 0)),
            xla::Code::InvalidArgument,
            "empty",
        ),
        (
            upload.send(2, 0, numbers(0, 1)),
            xla::Code::OutOfRange,
            "leaf 2",
        ),
        (
            upload.send_bytes(1, 0, vec![1u8, 2]),
            xla::Code::InvalidArgument,
            "byte 1",
        ),
    ];
    for (outcome, code, word) in wrong {
        let error = outcome.expect_err(word);
        assert_eq!((error.code(), error.function()), (code, None), "{error}");
        assert!(error.message().contains(word), "no `{word}` in {error}");
    }
    assert!(upload.copy_bytes(0, 16, &[1]).is_err());
    assert_eq!(
        fake.count("PJRT_AsyncHostToDeviceTransferManager_TransferData"),
        asked
    );
    // What was refused has changed nothing.
    upload.send(0, 0, numbers(0, 1)).expect("fits");
    upload.send(0, 3, numbers(3, 1)).expect("fits");
    upload.append_bytes(1, vec![1u8, 0]).expect("fits");
    assert!(upload.append_bytes(1, vec![0u8]).is_err(), "full");
    upload.finish().expect("complete");
    assert_eq!(buffers[0].to_host::<f32>().expect("values"), numbers(0, 4));
    assert_eq!(buffers[1].to_host::<bool>().expect("values"), [true, false]);
    drop((buffers, client));
    fake.assert_clean();
}

#[test]
fn a_chunk_that_the_plugin_refuses_ends_its_buffer_only() {
    for with_handles in [false, true] {
        let fake = Fake::new();
        let client = client(&fake);
        let shapes = [floats(2), floats(2)];
        let (mut upload, buffers) = ChunkedUpload::new(&device(&client), &shapes).expect("chunks");
        let failure = Failure::new(Code::RESOURCE_EXHAUSTED, "no room");
        if !with_handles {
            fake.fail(
                "PJRT_AsyncHostToDeviceTransferManager_TransferData",
                failure,
            );
            let error = upload
                .send(0, 0, numbers(0, 2))
                .expect_err("it's made to fail");
            assert_eq!(error.code(), xla::Code::ResourceExhausted, "{error}");
            let error = upload.send(0, 0, numbers(0, 2)).expect_err("it has failed");
            assert!(
                error.message().contains("an earlier chunk was refused"),
                "{error}"
            );
        } else {
            // The chunk arrives all the same.
            fake.events(EventKind::Chunk, Readiness::Held);
            let failure = failure.with_handles();
            fake.fail(
                "PJRT_AsyncHostToDeviceTransferManager_TransferData",
                failure,
            );
            let chunk: Arc<[f32]> = numbers(0, 1).into();
            let kept = Arc::downgrade(&chunk);
            upload.send(0, 0, chunk).expect_err("it's made to fail");
            assert_eq!(kept.strong_count(), 1, "it may be being read");
            fake.release_events();
            assert!(fake.wait_for(Duration::from_secs(60), |_| kept.strong_count() == 0));
            fake.events(EventKind::Chunk, Readiness::Immediate);
        }
        upload
            .send(1, 0, numbers(0, 2))
            .expect("the other one goes on");
        let error = upload.finish().expect_err("a buffer is missing");
        assert_eq!(error.code(), xla::Code::ResourceExhausted, "{error}");
        assert!(buffers[0].wait().is_err());
        assert_eq!(buffers[1].to_host::<f32>().expect("values"), [0., 1.]);
        drop((buffers, client));
        fake.assert_clean();
    }
}

#[test]
fn a_chunk_that_does_not_arrive_is_told_by_its_event_and_its_buffer() {
    let fake = Fake::new();
    let client = client(&fake);
    let (mut upload, buffers) = ChunkedUpload::new(&device(&client), &[floats(2)]).expect("chunks");
    let lost = Failure::new(Code::DATA_LOSS, "the link is down");
    fake.events(EventKind::Chunk, Readiness::Failing(lost));
    let done = upload.send(0, 0, numbers(0, 2)).expect("it's sent");
    assert_eq!(done.wait().expect_err("lost").code(), xla::Code::DataLoss);
    upload.finish().expect("all is sent");
    assert_eq!(
        buffers[0].wait().expect_err("lost").code(),
        xla::Code::DataLoss
    );
    drop((done, buffers, client));
    fake.assert_clean();
}

#[test]
fn a_chunk_without_an_event_is_never_released() {
    let fake = Fake::new();
    let client = client(&fake);
    let (mut upload, buffers) = ChunkedUpload::new(&device(&client), &[floats(2)]).expect("chunks");
    fake.silence("PJRT_AsyncHostToDeviceTransferManager_TransferData");
    let chunk: Arc<[f32]> = numbers(0, 2).into();
    let kept = Arc::downgrade(&chunk);
    let error = upload.send(0, 0, chunk).expect_err("no event");
    assert_eq!(error.code(), xla::Code::Internal, "{error}");
    assert_eq!(kept.strong_count(), 1);
    fake.heal();
    // It may have been the last: an error behind it could end the process.
    drop(upload);
    assert_eq!(
        fake.count("PJRT_AsyncHostToDeviceTransferManager_SetBufferError"),
        0
    );
    assert!(buffers[0].wait().is_err());
    drop((buffers, client));
    fake.assert_clean();
}

#[test]
fn trees_are_filled_leaf_by_leaf() {
    let fake = Fake::new();
    let client = client(&fake);
    let step = compile(&client, STEP);
    let structure = <(Buffer, Buffer) as xla::Tree>::constant_structure().expect("two buffers");
    let shapes = [floats(2), floats(2)];
    let device = device(&client);
    let made = ChunkedUpload::of_tree::<(Buffer, Buffer)>(&device, &structure, &shapes[..1]);
    assert_eq!(
        made.expect_err("a shape is missing").code(),
        xla::Code::InvalidArgument
    );
    let (mut upload, (w, g)) =
        ChunkedUpload::of_tree::<(Buffer, Buffer)>(&device, &structure, &shapes).expect("chunks");
    upload.send(1, 0, vec![3f32, 4.]).expect("fits");
    // A run may be started before its arguments have come.
    let sum = step.run((w, &g)).expect("runs").into_single().expect("one");
    assert!(!sum.is_ready().expect("known"));
    upload.send(0, 0, vec![1f32, 2.]).expect("fits");
    assert_eq!(sum.to_host::<f32>().expect("values"), [4., 6.]);
    drop((upload, sum, g, step, device, client));
    fake.assert_clean();
}

#[test]
fn buffers_of_nothing_are_ready_at_once() {
    let fake = Fake::new();
    let client = client(&fake);
    let (upload, buffers) = ChunkedUpload::new(&device(&client), &[floats(0)]).expect("chunks");
    assert!(buffers[0].is_ready().expect("known"));
    upload.finish().expect("nothing is missing");
    assert!(buffers[0].to_host::<f32>().expect("values").is_empty());
    let (upload, none) = ChunkedUpload::new(&device(&client), &[]).expect("no chunks");
    upload.finish().expect("nothing is missing");
    assert!(none.is_empty());
    drop((buffers, client));
    fake.assert_clean();
}

#[test]
fn what_the_plugin_lacks_is_told_and_leaves_nothing() {
    let lacking = [
        "PJRT_Client_CreateBuffersForAsyncHostToDevice",
        "PJRT_AsyncHostToDeviceTransferManager_TransferData",
        "PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer",
        "PJRT_AsyncHostToDeviceTransferManager_BufferSize",
        "PJRT_Client_DmaMap",
    ];
    for entry in lacking {
        let fake = Fake::new();
        let table = fake.table_of(&Table::new().without(entry));
        // SAFETY: the table is a fake's.
        let client = unsafe { Plugin::from_table(table) }
            .and_then(|plugin| plugin.client())
            .expect("a client");
        let error = transfers(&client).expect_err(entry);
        assert_eq!(error.code(), xla::Code::Unimplemented, "{error}");
        assert_eq!(error.function(), Some(entry), "{error}");
        drop(client);
        fake.assert_clean();
    }
    // Done without.
    for entry in [
        "PJRT_AsyncHostToDeviceTransferManager_SetBufferError",
        "PJRT_Buffer_CopyRawToHost",
    ] {
        let fake = Fake::new();
        let table = fake.table_of(&Table::new().without(entry));
        // SAFETY: as above.
        let client = unsafe { Plugin::from_table(table) }
            .and_then(|plugin| plugin.client())
            .expect("a client");
        transfers(&client).expect(entry);
        drop(client);
        fake.assert_clean();
    }
}

/// Everything of this file once.
fn transfers(client: &Client) -> Result<()> {
    let device = client.device(0)?;
    let (mut upload, buffers) = ChunkedUpload::new(&device, &[floats(4), floats(1)])?;
    upload.send(0, 0, numbers(0, 4))?;
    drop(upload);
    assert!(buffers[1].wait().is_err());
    assert_eq!(buffers[0].to_host_range::<f32>(1..3)?, [1., 2.]);
    let mut two = [0f32; 2];
    buffers[0].read_range_into(&mut two, 2)?;
    assert_eq!(two, [2., 3.]);
    let pinned = PinnedVec::<f32>::zeroed(client, 2)?;
    let (zeros, done) = Buffer::from_host_async(&device, pinned, &[2])?;
    done.wait()?;
    assert_eq!(zeros.to_host::<f32>()?, [0., 0.]);
    Ok(())
}

#[test]
fn any_call_of_a_transfer_may_fail() {
    let entries = [
        "PJRT_Client_CreateBuffersForAsyncHostToDevice",
        "PJRT_AsyncHostToDeviceTransferManager_TransferData",
        "PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer",
        "PJRT_AsyncHostToDeviceTransferManager_BufferSize",
        "PJRT_AsyncHostToDeviceTransferManager_Destroy",
        "PJRT_AsyncHostToDeviceTransferManager_SetBufferError",
        "PJRT_Buffer_CopyRawToHost",
        "PJRT_Client_BufferFromHostBuffer",
        "PJRT_Client_DmaMap",
        "PJRT_Event_OnReady",
    ];
    for entry in entries {
        for with_handles in [false, true] {
            for nth in 1..3 {
                let fake = Fake::new();
                let client = client(&fake);
                let failure = Failure::new(Code::ABORTED, "on demand").on_call(nth);
                let failure = if with_handles {
                    failure.with_handles()
                } else {
                    failure
                };
                fake.fail(entry, failure);
                // Well or not, nothing is left and nothing forbidden is done.
                let outcome = transfers(&client);
                if let Err(error) = outcome {
                    assert_eq!(error.function(), Some(entry), "{error}");
                }
                drop(client);
                fake.heal();
                if entry == "PJRT_Client_DmaMap" && with_handles {
                    // A mapping that was reported as a failure is nobody's.
                    continue;
                }
                fake.assert_clean();
            }
        }
    }
}

// Ranges.

#[test]
fn a_range_is_read_without_the_rest() {
    let fake = Fake::new();
    let client = client(&fake);
    let device = device(&client);
    let buffer = Buffer::from_host(&device, &numbers(0, 6), &[2, 3]).expect("room");
    assert_eq!(
        buffer.to_host_range::<f32>(3..6).expect("values"),
        numbers(3, 3)
    );
    assert_eq!(fake.count("PJRT_Buffer_CopyRawToHost"), 1);
    assert_eq!(fake.count("PJRT_Buffer_ToHostBuffer"), 0);
    // The values of now.
    fake.events(EventKind::Read, Readiness::Held);
    let read = buffer.to_host_range_async::<f32>(1..4).expect("starts");
    assert!(!read.is_ready().expect("known"));
    drop((buffer, device, client));
    fake.release_events();
    assert_eq!(read.wait().expect("values"), numbers(1, 3));
    fake.assert_clean();
}

#[test]
fn a_range_of_columns_is_read_by_way_of_the_whole() {
    let fake = Fake::new();
    let client = client(&fake);
    let device = device(&client);
    let columns = xla::Layout::new(&[0, 1]).expect("an order");
    let buffer = Buffer::from_host_in_layout(&device, &numbers(0, 6), &[2, 3], &columns);
    let buffer = buffer.expect("room");
    assert!(!buffer.layout().is_row_major());
    assert_eq!(
        buffer.to_host_range::<f32>(2..5).expect("values"),
        numbers(2, 3)
    );
    let mut row = [0f32; 3];
    buffer.read_range_into(&mut row, 3).expect("values");
    assert_eq!(row[..], numbers(3, 3));
    assert_eq!(fake.count("PJRT_Buffer_CopyRawToHost"), 0);
    drop((buffer, device, client));
    fake.assert_clean();
}

#[test]
fn an_old_plugin_is_not_asked_for_a_part_of_what_is_pending() {
    for (minor, raw_reads) in [(81, [0, 0, 1, 2]), (106, [1, 2, 2, 3])] {
        let fake = Fake::new();
        let table = fake.table_of(&Table::new().minor(minor));
        // SAFETY: the table is a fake's.
        let client = unsafe { Plugin::from_table(table) }
            .and_then(|plugin| plugin.client())
            .expect("a client");
        let step = compile(&client, STEP);
        let (w, g) = (pair(&client, 0, [1., 2.]), pair(&client, 0, [3., 4.]));
        fake.events(EventKind::Output, Readiness::Held);
        let sum = step.run((w, &g)).expect("runs").into_single().expect("one");
        let asked = || fake.count("PJRT_Buffer_CopyRawToHost");
        let read = sum.to_host_range_async::<f32>(1..2).expect("starts");
        assert_eq!(asked(), raw_reads[0]);
        assert!(!read.is_ready().expect("known"));
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let mut one = [0f32];
                sum.read_range_into(&mut one, 1).expect("values");
                one
            });
            let meanwhile = until(|| asked() >= raw_reads[1]) && !reading.is_finished();
            // On the old one it must not happen, however long one waits.
            std::thread::sleep(Duration::from_millis(20));
            let meanwhile = meanwhile.then(asked);
            while !reading.is_finished() {
                fake.release_events();
                thread::yield_now();
            }
            assert_eq!(meanwhile, Some(raw_reads[1]));
            assert_eq!(reading.join().expect("no panic"), [6.]);
        });
        assert_eq!(read.wait().expect("values"), [6.]);
        assert_eq!(asked(), raw_reads[2]);
        // There, so it's asked.
        assert_eq!(sum.to_host_range::<f32>(0..1).expect("values"), [4.]);
        assert_eq!(asked(), raw_reads[3]);
        // One that failed isn't.
        let failure = Failure::new(Code::DATA_LOSS, "gone");
        fake.events(EventKind::Output, Readiness::Immediate);
        fake.fail_outputs(failure);
        let failed = step
            .run((sum, &g))
            .expect("runs")
            .into_single()
            .expect("one");
        let before = asked();
        let error = failed.to_host_range::<f32>(0..1).expect_err("it failed");
        assert_eq!(error.code(), xla::Code::DataLoss);
        assert!(failed.read_range_into(&mut [0f32], 0).is_err());
        assert_eq!(asked() > before, minor >= 106);
        drop((failed, g, step, client));
        fake.assert_clean();
    }
}

#[test]
fn a_range_read_that_is_dropped_keeps_its_destination() {
    let fake = Fake::new();
    fake.events(EventKind::Read, Readiness::Held);
    let client = client(&fake);
    let buffer = pair(&client, 0, [1., 2.]);
    drop(buffer.to_host_range_async::<f32>(0..2).expect("starts"));
    // Written to memory that is there: a tool for memory errors would tell.
    fake.release_events();
    drop((buffer, client));
    fake.assert_clean();
}

// Borrowed memory.

/// Runs `work` on a thread, sees that it waits, lets what it waits for happen, and gives what it
/// gives.
fn waits<T: Send>(fake: &Fake, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let working = scope.spawn(work);
        thread::sleep(Duration::from_millis(30));
        let waited = !working.is_finished();
        while !working.is_finished() {
            fake.release_events();
            thread::yield_now();
        }
        assert!(
            waited,
            "it returned before it was done with what it borrows"
        );
        working.join().expect("no panic")
    })
}

#[test]
fn a_borrowed_chunk_or_destination_is_waited_for() {
    let fake = Fake::new();
    fake.events(EventKind::Chunk, Readiness::Held);
    fake.events(EventKind::Read, Readiness::Held);
    let client = client(&fake);
    let (mut upload, buffers) = ChunkedUpload::new(&device(&client), &[floats(2)]).expect("chunks");
    let chunk = [1f32, 2.].map(f32::to_ne_bytes).concat();
    waits(&fake, || upload.copy_bytes(0, 0, &chunk)).expect("fits");
    assert!(upload.total_progress().is_complete());
    upload.finish().expect("all is sent");
    let (mut both, mut second) = ([0f32; 2], [0f32; 1]);
    waits(&fake, || buffers[0].read_into(&mut both)).expect("values");
    waits(&fake, || buffers[0].read_range_into(&mut second, 1)).expect("values");
    assert_eq!((both, second), ([1., 2.], [2.]));
    drop((buffers, client));
    fake.assert_clean();
}

#[test]
fn borrowed_memory_is_read_during_the_call_and_no_longer() {
    let fake = Fake::new();
    // What a plugin does after the call it does when it is told to.
    fake.events(EventKind::HostDone, Readiness::Held);
    let client = client(&fake);
    let device = device(&client);
    let mut values = numbers(1, 4);
    let buffer = Buffer::from_host(&device, &values, &[4]).expect("room");
    let array = HostArray::borrowed(&values, &[4]).expect("as many");
    let of_array = array.to_device(&device).expect("room");
    values.fill(9.);
    fake.release_events();
    for buffer in [&buffer, &of_array] {
        assert_eq!(buffer.to_host::<f32>().expect("values"), numbers(1, 4));
    }
    drop((buffer, of_array, device, client));
    fake.assert_clean();
}

// Uploads as events.

#[test]
fn host_memory_is_kept_until_the_device_has_read_it() {
    for callbacks in [Callbacks::Inline, Callbacks::OnThread] {
        let fake = Fake::new();
        fake.callbacks(callbacks);
        fake.events(EventKind::HostDone, Readiness::Held);
        let client = client(&fake);
        let device = device(&client);
        let values: Arc<[f32]> = numbers(0, 4).into();
        let kept = Arc::downgrade(&values);
        let (buffer, done) = Buffer::from_host_async(&device, values, &[4]).expect("room");
        assert!(!done.is_ready().expect("known") && !buffer.is_ready().expect("known"));
        drop((device, client));
        assert_eq!(kept.strong_count(), 1);
        fake.release_events();
        done.wait().expect("read");
        assert_eq!(buffer.to_host::<f32>().expect("values"), numbers(0, 4));
        drop((buffer, done));
        fake.assert_clean();
        assert_eq!(kept.strong_count(), 0);
    }
}

#[test]
fn nobody_needs_to_hold_the_event_or_the_buffer() {
    let fake = Fake::new();
    fake.events(EventKind::HostDone, Readiness::Held);
    let client = client(&fake);
    let values: Arc<[f32]> = numbers(0, 4).into();
    let kept = Arc::downgrade(&values);
    drop(Buffer::from_host_async(&device(&client), values, &[4]).expect("room"));
    assert_eq!(kept.strong_count(), 1, "it's going to be read");
    fake.release_events();
    drop(client);
    fake.assert_clean();
    assert_eq!(kept.strong_count(), 0);
}

#[test]
fn a_failed_upload_keeps_what_may_be_read() {
    for with_handles in [false, true] {
        let fake = Fake::new();
        fake.events(EventKind::HostDone, Readiness::Held);
        let client = client(&fake);
        let failure = Failure::new(Code::RESOURCE_EXHAUSTED, "no room");
        let failure = if with_handles {
            failure.with_handles()
        } else {
            failure
        };
        fake.fail("PJRT_Client_BufferFromHostBuffer", failure);
        let values: Arc<[f32]> = numbers(0, 4).into();
        let kept = Arc::downgrade(&values);
        let error = Buffer::from_host_async(&device(&client), values, &[4]);
        assert_eq!(
            error.expect_err("no room").code(),
            xla::Code::ResourceExhausted
        );
        assert_eq!(kept.strong_count(), usize::from(with_handles));
        fake.release_events();
        drop(client);
        fake.assert_clean();
        assert_eq!(kept.strong_count(), 0);
    }
}

#[test]
fn memory_that_nobody_promises_to_release_is_leaked() {
    let fake = Fake::new();
    fake.events(EventKind::HostDone, Readiness::Held);
    fake.fail(
        "PJRT_Event_OnReady",
        Failure::new(Code::UNIMPLEMENTED, "no callbacks"),
    );
    let client = client(&fake);
    let values: Arc<[f32]> = numbers(0, 4).into();
    let kept = Arc::downgrade(&values);
    let uploaded = Buffer::from_host_async(&device(&client), values, &[4]).expect("room");
    fake.release_events();
    drop((uploaded, client));
    fake.assert_clean();
    assert_eq!(kept.strong_count(), 1);
}

#[test]
fn arrays_are_uploaded_as_events_too() {
    let fake = Fake::new();
    let client = client(&fake);
    let array = HostArray::new(&[true, false], &[2]).expect("fits");
    let (buffer, done) = array.to_device_async(&device(&client)).expect("room");
    done.wait().expect("read");
    assert_eq!(buffer.to_host::<bool>().expect("values"), [true, false]);
    let wrong = Shape::of::<bool>(&[1]).expect("small");
    let wrong = HostArray::borrowed_bytes(&[2], wrong).expect("fits");
    assert!(wrong.to_device_async(&device(&client)).is_err());
    drop((buffer, done, client));
    fake.assert_clean();
}

// The first of several.

#[test]
fn the_first_event_is_found_while_others_are_pending() {
    let fake = Fake::new();
    fake.events(EventKind::HostDone, Readiness::Held);
    let client = client(&fake);
    let upload = || Buffer::from_host_async(&device(&client), numbers(0, 4), &[4]).expect("room");
    let ((_a, never), (_b, other)) = (upload(), upload());
    let patience = Duration::from_millis(5);
    for _ in 0..3 {
        let first = wait_any_timeout(&[&never, &other], patience).expect("known");
        assert_eq!(first, None);
    }
    fake.events(EventKind::Read, Readiness::Held);
    let pair = Buffer::from_host(&device(&client), &[1f32, 2.], &[2]).expect("room");
    let ready = pair.ready().expect("an event");
    assert_eq!(wait_any(&[&never, &ready, &other]).expect("known"), 1);
    assert!(wait_any(&[]).is_err());
    // Fired by another thread, while this one waits.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            fake.release_events();
        });
        assert_eq!(wait_any(&[&never, &other]).expect("known"), 0);
    });
    drop((_a, _b, never, other, pair, ready, client));
    fake.assert_clean();
}

#[test]
fn an_event_that_failed_counts_as_fired() {
    let fake = Fake::new();
    let client = client(&fake);
    let failure = Failure::new(Code::DATA_LOSS, "gone");
    fake.events(EventKind::HostDone, Readiness::Failing(failure));
    let (buffer, done) =
        Buffer::from_host_async(&device(&client), numbers(0, 1), &[1]).expect("room");
    assert_eq!(wait_any(&[&done]).expect("known"), 0);
    assert_eq!(done.wait().expect_err("gone").code(), xla::Code::DataLoss);
    drop((buffer, done, client));
    fake.assert_clean();
}

// Mapped memory.

#[test]
fn mapped_memory_is_unmapped_when_it_goes() {
    let fake = Fake::new();
    let client = client(&fake);
    let mut pinned = PinnedVec::new(&client, HostVec::from_slice(&[1f32, 2.])).expect("mapped");
    assert_eq!(fake.live().mappings, 1);
    pinned[1] = 3.;
    let buffer = Buffer::from_host(&device(&client), &pinned, &[2]).expect("room");
    assert_eq!(buffer.to_host::<f32>().expect("values"), [1., 3.]);
    let values = pinned.into_host_vec().expect("unmapped");
    assert_eq!((&values[..], fake.live().mappings), (&[1f32, 3.][..], 0));
    let again = PinnedVec::new(&client, values).expect("mapped");
    let nothing = PinnedVec::<f32>::zeroed(&client, 0).expect("nothing to map");
    assert_eq!(fake.live().mappings, 1);
    // It holds the client.
    drop((buffer, client));
    assert_eq!(fake.live().clients, 1);
    drop((again, nothing));
    fake.assert_clean();
}

#[test]
fn mapped_memory_stays_mapped_while_a_transfer_reads_it() {
    let fake = Fake::new();
    fake.events(EventKind::HostDone, Readiness::Held);
    fake.events(EventKind::Chunk, Readiness::Held);
    let client = client(&fake);
    let pinned = PinnedVec::new(&client, HostVec::from_slice(&[1f32, 2.])).expect("mapped");
    let (buffer, _) = Buffer::from_host_async(&device(&client), pinned, &[2]).expect("room");
    let (mut upload, filled) = ChunkedUpload::new(&device(&client), &[floats(2)]).expect("chunks");
    let pinned = PinnedVec::<f32>::zeroed(&client, 2).expect("mapped");
    upload.send(0, 0, pinned).expect("fits");
    upload.finish().expect("complete");
    assert_eq!(fake.live().mappings, 2);
    fake.release_events();
    assert_eq!(buffer.to_host::<f32>().expect("values"), [1., 2.]);
    assert_eq!(filled[0].to_host::<f32>().expect("values"), [0., 0.]);
    drop((buffer, filled, client));
    fake.assert_clean();
}

#[test]
fn memory_that_cannot_be_mapped_comes_back() {
    let fake = Fake::new();
    let client = client(&fake);
    let refusal = Failure::new(Code::UNIMPLEMENTED, "not on this platform");
    fake.fail("PJRT_Client_DmaMap", refusal);
    let values = HostVec::from_slice(&[1f32, 2.]);
    let start = values.as_ptr();
    let error = PinnedVec::new(&client, values).expect_err("it's made to fail");
    assert_eq!(error.error().code(), xla::Code::Unimplemented);
    assert!(error.to_string().contains("mapping 8 bytes"), "{error}");
    let values = error.into_values();
    assert_eq!((values.as_ptr(), &values[..]), (start, &[1f32, 2.][..]));
    drop(client);
    fake.assert_clean();
}

#[test]
fn memory_that_cannot_be_unmapped_is_not_released() {
    let fake = Fake::new();
    let client = client(&fake);
    let failure = || Failure::new(Code::INTERNAL, "stuck");
    fake.fail("PJRT_Client_DmaUnmap", failure());
    // So large that the allocator gives it back to the system, and takes the same again.
    const SIZE: usize = 40 << 20;
    let pinned = PinnedVec::<u8>::zeroed(&client, SIZE).expect("mapped");
    let taken = pinned.as_ptr() as usize;
    assert!(pinned.into_host_vec().is_err());
    fake.fail("PJRT_Client_DmaUnmap", failure());
    let pinned = PinnedVec::<u8>::zeroed(&client, SIZE).expect("mapped");
    let dropped = pinned.as_ptr() as usize;
    drop(pinned);
    assert_eq!(fake.count("PJRT_Client_DmaUnmap"), 2);
    for _ in 0..4 {
        let other = HostVec::<u8>::zeroed(SIZE);
        assert!(![taken, dropped].contains(&(other.as_ptr() as usize)));
        std::mem::forget(other);
    }
    assert_eq!(fake.live().mappings, 2);
}

#[test]
fn values_of_every_owner_are_taken() {
    static FIXED: [u8; 2] = [1, 2];
    fn check(values: impl Into<HostValues<u8>>) {
        let values = values.into();
        assert_eq!(values[..], [1, 2]);
        let start = values.as_ptr();
        let moved = Box::new(values);
        assert_eq!(moved.as_ptr(), start, "it stays where it is");
    }
    check(vec![1, 2]);
    check(vec![1, 2].into_boxed_slice());
    check(HostVec::from_slice(&[1, 2]));
    check(Arc::<[u8]>::from([1, 2]));
    check(&FIXED[..]);
    let fake = Fake::new();
    let client = plugin(&fake).client().expect("a client");
    check(PinnedVec::new(&client, HostVec::from_slice(&[1, 2])).expect("mapped"));
    drop(client);
    fake.assert_clean();
}

#[test]
fn an_old_manager_is_leaked_after_a_refused_chunk() {
    // Destroying it would wait for the chunk for ever on 0.81.
    for (minor, left) in [(81, 1), (106, 0)] {
        let fake = Fake::new();
        let table = fake.table_of(&Table::new().minor(minor));
        // SAFETY: the table is a fake's.
        let client = unsafe { Plugin::from_table(table) }
            .and_then(|plugin| plugin.client())
            .expect("a client");
        let (mut upload, buffers) =
            ChunkedUpload::new(&device(&client), &[floats(2)]).expect("chunks");
        let failure = Failure::new(Code::RESOURCE_EXHAUSTED, "no room");
        fake.fail(
            "PJRT_AsyncHostToDeviceTransferManager_TransferData",
            failure,
        );
        assert!(upload.send(0, 0, numbers(0, 2)).is_err());
        drop(upload);
        let error = buffers[0].wait().expect_err("given up");
        assert_eq!(error.code(), xla::Code::Cancelled, "{error}");
        drop((buffers, client));
        assert_eq!(fake.live().transfers, left, "0.{minor}");
        assert_eq!(fake.violations(), [""; 0]);
    }
}
