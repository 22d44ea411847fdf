//! Device descriptions: what a device says of itself, also where it isn't there.

use pjrt_sys::{
    entry, Args, PJRT_DeviceDescription, PJRT_DeviceDescription_Attributes_Args,
    PJRT_DeviceDescription_DebugString_Args, PJRT_DeviceDescription_Id_Args,
    PJRT_DeviceDescription_Kind_Args, PJRT_DeviceDescription_ProcessIndex_Args,
};

use super::api::Api;
use super::client::absent_is_default;
use super::{named_value, parts};
use crate::error::Result;
use crate::value::Value;

/// What a description holds.
pub(crate) struct Description {
    pub(crate) id: i32,
    pub(crate) process_index: i32,
    pub(crate) kind: String,
    /// The device in words, for people.
    pub(crate) text: String,
    pub(crate) attributes: Vec<(String, Value)>,
}

/// Copies a description out of the plugin's memory.
///
/// # Safety
/// `raw` is a description of this plugin whose owner, a client or a topology, is alive.
pub(super) unsafe fn read(api: Api, raw: *mut PJRT_DeviceDescription) -> Result<Description> {
    let mut id = PJRT_DeviceDescription_Id_Args::zeroed();
    id.device_description = raw;
    let mut process = PJRT_DeviceDescription_ProcessIndex_Args::zeroed();
    process.device_description = raw;
    let mut kind = PJRT_DeviceDescription_Kind_Args::zeroed();
    kind.device_description = raw;
    let mut text = PJRT_DeviceDescription_DebugString_Args::zeroed();
    text.device_description = raw;
    let mut attributes = PJRT_DeviceDescription_Attributes_Args::zeroed();
    attributes.device_description = raw;
    // SAFETY: the description is alive; texts and attributes live as long, and are copied.
    unsafe {
        api.call(entry::PJRT_DeviceDescription_Id, &mut id)?;
        api.call(entry::PJRT_DeviceDescription_ProcessIndex, &mut process)?;
        api.call(entry::PJRT_DeviceDescription_Kind, &mut kind)?;
        api.call(entry::PJRT_DeviceDescription_DebugString, &mut text)?;
        let told = api.call(entry::PJRT_DeviceDescription_Attributes, &mut attributes);
        let attributes =
            told.map(|()| named_value::read(attributes.attributes, attributes.num_attributes));
        Ok(Description {
            id: id.id,
            process_index: process.process_index,
            kind: parts::text(kind.device_kind, kind.device_kind_size),
            text: parts::text(text.debug_string, text.debug_string_size),
            attributes: absent_is_default(attributes)?,
        })
    }
}
