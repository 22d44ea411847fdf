//! What the rest builds on: structs that know their size, and a table that may be shorter than ours.

use std::mem::offset_of;
use std::ptr;

use pjrt_sys::layout;
use pjrt_sys::*;

unsafe extern "C" fn is_ready(args: *mut PJRT_Event_IsReady_Args) -> *mut PJRT_Error {
    // SAFETY: the test passes a whole struct.
    unsafe { (*args).is_ready = true };
    ptr::null_mut()
}

/// A table as a plugin has it, that ends where a slot begins.
fn table(end: usize) -> PJRT_Api {
    // SAFETY: every field is a number, a raw pointer, or a function that may be null.
    let mut api: PJRT_Api = unsafe { std::mem::zeroed() };
    api.struct_size = end;
    api.PJRT_Event_IsReady = Some(is_ready);
    api
}

#[test]
fn zeroed_knows_its_size_and_nothing_else() {
    let args = PJRT_Event_IsReady_Args::zeroed();
    assert_eq!(args.struct_size, 25);
    assert_eq!(PJRT_Event_IsReady_Args::STRUCT_SIZE, 25);
    assert_eq!(size_of::<PJRT_Event_IsReady_Args>(), 32);
    assert!(args.extension_start.is_null() && args.event.is_null() && !args.is_ready);
}

#[test]
fn a_slot_inside_the_table_is_called() {
    let api = table(size_of::<PJRT_Api>());
    // SAFETY: the table is as long as it says.
    let function = unsafe { entry::PJRT_Event_IsReady.of(&api) };
    let mut args = PJRT_Event_IsReady_Args::zeroed();
    // SAFETY: the function takes any struct of that type.
    let error = unsafe { function.expect("it's set")(&mut args) };
    assert!(error.is_null() && args.is_ready);
}

#[test]
fn a_null_slot_and_one_past_the_end_are_nothing() {
    let api = table(size_of::<PJRT_Api>());
    // SAFETY: the table is as long as it says.
    let null = unsafe { entry::PJRT_Event_Await.of(&api) };
    assert!(null.is_none());
    let short = table(offset_of!(PJRT_Api, PJRT_Event_IsReady) + 7);
    // SAFETY: the table is longer than it says.
    let past = unsafe { entry::PJRT_Event_IsReady.of(&short) };
    assert!(past.is_none());
}

#[test]
fn entries_are_the_slots_of_the_table_in_order() {
    let functions: Vec<&str> = layout::functions().map(|f| f.name).collect();
    let names: Vec<&str> = ENTRIES.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, functions);
    assert_eq!(names.len(), 138);
    for (slot, (name, offset, _)) in ENTRIES.iter().enumerate() {
        assert_eq!(*offset, 40 + 8 * slot, "{name}");
    }
    let minors = ENTRIES.iter().map(|(.., since)| *since);
    assert!(minors.is_sorted(), "slots are only ever added at the end");
    let last = entry::PJRT_TopologyDescription_GetMemorySpaceKindIds;
    assert_eq!(last.offset + 8, size_of::<PJRT_Api>());
    assert_eq!(last.since, API_MINOR as u32);
}

#[test]
fn a_function_takes_the_struct_of_its_name() {
    for f in layout::functions() {
        assert_eq!(f.args, format!("{}_Args", f.name));
    }
}

#[test]
fn enums_are_open_and_know_their_names() {
    assert_eq!(PJRT_Buffer_Type::F32.name(), Some("F32"));
    assert_eq!(PJRT_Error_Code(99).name(), None);
    assert_eq!(
        format!("{:?}", PJRT_NamedValue_Type::Int64List),
        "PJRT_NamedValue_Type::Int64List"
    );
    assert_eq!(format!("{:?}", PJRT_Error_Code(99)), "PJRT_Error_Code(99)");
}

#[test]
fn names_in_the_layout_are_unique_and_cs() {
    let mut names: Vec<&str> = layout::structs().map(|s| s.name).collect();
    names.extend(layout::enums().map(|e| e.name));
    names.extend(layout::opaque());
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    let fields: Vec<_> = layout::structs().flat_map(|s| s.fields).collect();
    assert!(fields.iter().any(|field| field.name == "type"));
    assert!(fields.iter().all(|field| !field.name.ends_with('_')));
}

#[test]
fn an_extension_shows_its_head() {
    // SAFETY: as for the table.
    let mut extension: PJRT_Stream_Extension = unsafe { std::mem::zeroed() };
    extension.base.type_ = PJRT_Stream_Extension::TYPE;
    assert_eq!(extension.base().type_, PJRT_Extension_Type::Stream);
    assert_eq!(PJRT_Stream_Extension::STRUCT_SIZE, 40);
}
