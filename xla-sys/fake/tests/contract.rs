//! The fake itself, through the raw C API: what it does as real plugins do, and what it notes.

mod raw;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use pjrt_fake::{Callbacks, EventKind, Live, Readiness};
use pjrt_sys::*;
use raw::{Lines, Raw};

const COPY: &str = "input f32[16] donated 0\noutput f32[16] = add 0 0";

#[test]
fn donated_mutable_host_memory_becomes_the_output() {
    let raw = Raw::new();
    let mut lines = Lines([1.; 16]);
    let memory = lines.0.as_mut_ptr();
    let (input, done) = raw.upload(memory, PJRT_HostBufferSemantics::MutableZeroCopy);
    let program = raw.compile(COPY);
    let output = raw.execute(program, &[input], &[]).expect("it runs");
    assert!(raw.is_deleted(input));
    assert_eq!(raw.destroy_buffer(input), None);
    assert!(!raw.is_ready(done), "the output lives in the memory");
    // SAFETY: as the fake, through the pointer that it was given.
    assert_eq!(unsafe { memory.read() }, 2.);
    assert_eq!(raw.destroy_buffer(output), None);
    assert!(raw.is_ready(done));
    raw.destroy_event(done);
    raw.destroy_executable(program);
    raw.destroy_client();
    raw.fake.assert_clean();
}

#[test]
fn donated_immutable_host_memory_is_copied() {
    let raw = Raw::new();
    let mut lines = Lines([1.; 16]);
    let (input, done) = raw.upload(
        lines.0.as_mut_ptr(),
        PJRT_HostBufferSemantics::ImmutableZeroCopy,
    );
    assert!(!raw.is_ready(done));
    let program = raw.compile(COPY);
    let output = raw.execute(program, &[input], &[]).expect("it runs");
    assert!(raw.is_deleted(input) && raw.is_ready(done));
    assert_eq!(raw.values(output), Ok([2.; 16]));
    assert_eq!(lines.0, [1.; 16]);
    for buffer in [input, output] {
        assert_eq!(raw.destroy_buffer(buffer), None);
    }
    raw.destroy_event(done);
    raw.destroy_executable(program);
    raw.destroy_client();
    raw.fake.assert_clean();
}

#[test]
fn lent_host_memory_is_in_use_until_the_run_is_over() {
    let raw = Raw::new();
    raw.fake.events(EventKind::Output, Readiness::Held);
    let mut lines = Lines([1.; 16]);
    let (input, done) = raw.upload(
        lines.0.as_mut_ptr(),
        PJRT_HostBufferSemantics::ImmutableZeroCopy,
    );
    let program = raw.compile(COPY);
    let output = raw.execute(program, &[input], &[0]).expect("it runs");
    let mut delete = PJRT_Buffer_Delete_Args::zeroed();
    delete.buffer = input;
    raw.call(entry::PJRT_Buffer_Delete, &mut delete);
    assert_eq!(raw.destroy_buffer(input), None);
    assert!(!raw.is_ready(done));
    raw.fake.release_events();
    assert!(raw.is_ready(done));
    assert_eq!(raw.values(output), Ok([2.; 16]));
    assert_eq!(raw.destroy_buffer(output), None);
    raw.destroy_event(done);
    raw.destroy_executable(program);
    raw.destroy_client();
    raw.fake.assert_clean();
}

#[test]
fn an_unfinished_transfer_reads_late() {
    let raw = Raw::new();
    raw.fake.events(EventKind::HostDone, Readiness::Held);
    let mut lines = Lines([1.; 16]);
    let memory = lines.0.as_mut_ptr();
    let late = PJRT_HostBufferSemantics::ImmutableUntilTransferCompletes;
    let (buffer, done) = raw.upload(memory, late);
    let (copied, other) = raw.upload(memory, PJRT_HostBufferSemantics::ImmutableOnlyDuringCall);
    // SAFETY: what a caller must not do, and can't do any harm here.
    unsafe { memory.write(7.) };
    raw.fake.release_events();
    let mut changed = [1.; 16];
    assert_eq!(raw.values(copied), Ok(changed));
    changed[0] = 7.;
    assert_eq!(
        raw.values(buffer),
        Ok(changed),
        "it was read before it was transferred"
    );
    for (buffer, event) in [(buffer, done), (copied, other)] {
        assert!(raw.is_ready(event));
        raw.destroy_event(event);
        assert_eq!(raw.destroy_buffer(buffer), None);
    }
    raw.destroy_client();
    raw.fake.assert_clean();
}

#[test]
fn consumed_buffers_say_so() {
    let raw = Raw::new();
    let mut lines = Lines([1.; 16]);
    let semantics = PJRT_HostBufferSemantics::ImmutableOnlyDuringCall;
    let (input, done) = raw.upload(lines.0.as_mut_ptr(), semantics);
    raw.destroy_event(done);
    let program = raw.compile("input f32[16] donated 0\ninput f32[16]\noutput f32[16] = add 0 1");
    let twice = raw.execute(program, &[input, input], &[1]);
    assert!(twice.expect_err("it's refused").contains("passed twice"));
    assert!(!raw.is_deleted(input), "a refused call consumes nothing");
    let lent = raw
        .execute(program, &[input, input], &[0, 1])
        .expect("lent twice is fine");
    let output = raw.execute(program, &[input, lent], &[]).expect("it runs");
    assert!(raw.is_deleted(input) && !raw.is_deleted(lent));
    assert!(raw.execute(program, &[input, lent], &[0]).is_err());
    assert!(
        raw.values(input).is_err(),
        "the call is fine, the event is not"
    );
    assert_eq!(raw.values(output), Ok([3.; 16]));
    let mut pointer = PJRT_Buffer_UnsafePointer_Args::zeroed();
    pointer.buffer = input;
    assert!(raw
        .call_for_error(entry::PJRT_Buffer_UnsafePointer, &mut pointer)
        .is_some());
    for buffer in [input, lent, output] {
        assert_eq!(raw.destroy_buffer(buffer), None);
    }
    raw.destroy_executable(program);
    raw.destroy_client();
    raw.fake.assert_clean();
}

#[test]
fn a_hold_keeps_a_buffer_from_being_donated() {
    let raw = Raw::new();
    let mut lines = Lines([1.; 16]);
    let semantics = PJRT_HostBufferSemantics::ImmutableOnlyDuringCall;
    let (input, done) = raw.upload(lines.0.as_mut_ptr(), semantics);
    raw.destroy_event(done);
    let mut hold = PJRT_Buffer_IncreaseExternalReferenceCount_Args::zeroed();
    hold.buffer = input;
    raw.call(entry::PJRT_Buffer_IncreaseExternalReferenceCount, &mut hold);
    let program = raw.compile(COPY);
    let output = raw.execute(program, &[input], &[]).expect("it runs");
    assert!(!raw.is_deleted(input));
    assert_eq!(raw.values(input), Ok([1.; 16]));
    for buffer in [input, output] {
        assert_eq!(raw.destroy_buffer(buffer), None);
    }
    raw.destroy_executable(program);
    raw.destroy_client();
    raw.fake.assert_clean();
}

#[test]
fn breaches_are_noted() {
    let raw = Raw::new();
    let mut lines = Lines([1.; 16]);
    let semantics = PJRT_HostBufferSemantics::ImmutableOnlyDuringCall;
    let (buffer, done) = raw.upload(lines.0.as_mut_ptr(), semantics);
    assert_eq!(raw.destroy_buffer(buffer), None);
    assert!(raw.destroy_buffer(buffer).is_some());
    assert!(raw.destroy_buffer(ptr::null_mut()).is_some());
    assert!(raw.destroy_buffer(done.cast()).is_some());
    assert!(raw.destroy_buffer(lines.0.as_mut_ptr().cast()).is_some());
    let mut deleted = PJRT_Buffer_IsDeleted_Args::zeroed();
    deleted.buffer = buffer;
    assert!(raw
        .call_for_error(entry::PJRT_Buffer_IsDeleted, &mut deleted)
        .is_some());
    deleted.struct_size = 8;
    assert!(raw
        .call_for_error(entry::PJRT_Buffer_IsDeleted, &mut deleted)
        .is_some());
    raw.destroy_client();
    let violations = raw.fake.violations();
    let wanted = [
        "PJRT_Buffer_Destroy: the buffer with number",
        "PJRT_Buffer_Destroy: a null buffer was passed",
        "PJRT_Buffer_Destroy: number",
        "PJRT_Buffer_Destroy: a buffer was passed that this plugin never handed out",
        "PJRT_Buffer_IsDeleted: the buffer with number",
        "PJRT_Buffer_IsDeleted: the arguments state 8 bytes",
        "PJRT_Client_Destroy: it's destroyed before what it made: event",
    ];
    assert_eq!(violations.len(), wanted.len(), "{violations:#?}");
    for (violation, wanted) in violations.iter().zip(wanted) {
        assert!(violation.starts_with(wanted), "{violation}");
    }
    assert!(
        violations[0].ends_with("destroyed twice"),
        "{}",
        violations[0]
    );
    assert!(
        violations[4].ends_with("used after it was destroyed"),
        "{}",
        violations[4]
    );
    let left = raw.fake.live();
    assert_eq!((left.events, left.clients, left.buffers), (1, 0, 0));
    raw.destroy_event(done);
    assert_eq!(raw.fake.live(), Live::default());
}

static CALLED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn count(error: *mut PJRT_Error, thread: *mut c_void) {
    assert!(error.is_null());
    // SAFETY: the test passes a name of its thread that outlives the event.
    let asked_on = unsafe { *thread.cast::<std::thread::ThreadId>() };
    let here = std::thread::current().id() == asked_on;
    CALLED.fetch_add(if here { 1 } else { 100 }, Ordering::SeqCst);
}

#[test]
fn callbacks_run_inline_or_on_a_thread() {
    let raw = Raw::new();
    let mut lines = Lines([1.; 16]);
    let semantics = PJRT_HostBufferSemantics::ImmutableOnlyDuringCall;
    let (buffer, done) = raw.upload(lines.0.as_mut_ptr(), semantics);
    let mut this = std::thread::current().id();
    let mut args = PJRT_Event_OnReady_Args::zeroed();
    args.event = done;
    args.callback = Some(count);
    args.user_arg = (&raw mut this).cast();
    raw.call(entry::PJRT_Event_OnReady, &mut args);
    assert_eq!(CALLED.load(Ordering::SeqCst), 1);
    raw.fake.callbacks(Callbacks::OnThread);
    raw.call(entry::PJRT_Event_OnReady, &mut args);
    raw.destroy_event(done);
    assert_eq!(raw.destroy_buffer(buffer), None);
    raw.destroy_client();
    raw.fake.assert_clean();
    assert_eq!(CALLED.load(Ordering::SeqCst), 101);
}
