//! Errors, and the entries that serve them.

use std::ptr;

use pjrt_sys::{
    PJRT_Error, PJRT_Error_Code, PJRT_Error_Destroy_Args, PJRT_Error_ForEachPayload_Args,
    PJRT_Error_GetCode_Args, PJRT_Error_Message_Args,
};

use crate::call::Call;
use crate::failure::{Answer, Failure};
use crate::registry::{Kind, Object};
use crate::text::Text;

/// What a `PJRT_Error` stands for.
pub(crate) struct ErrorObject {
    code: PJRT_Error_Code,
    message: Text,
    payloads: Vec<(Text, Text)>,
}

impl Object for ErrorObject {
    type Raw = PJRT_Error;
    const KIND: Kind = Kind::Error;
}

impl ErrorObject {
    pub(crate) fn new(failure: &Failure) -> ErrorObject {
        let payloads = failure.payloads.iter();
        ErrorObject {
            code: failure.code,
            message: Text::new(&failure.message),
            payloads: payloads
                .map(|(key, value)| (Text::new(key), Text::new(value)))
                .collect(),
        }
    }
}

pub(crate) fn destroy(call: &Call, args: &mut PJRT_Error_Destroy_Args) -> Answer {
    // The header lets null be destroyed.
    if args.error.is_null() {
        return Ok(());
    }
    call.destroy::<ErrorObject>(args.error).map(drop)
}

pub(crate) fn message(call: &Call, args: &mut PJRT_Error_Message_Args) -> Answer {
    (args.message, args.message_size) = (ptr::null(), 0);
    let error = call.get::<ErrorObject>(args.error)?;
    (args.message, args.message_size) = (error.message.start(), error.message.size());
    Ok(())
}

pub(crate) fn code(call: &Call, args: &mut PJRT_Error_GetCode_Args) -> Answer {
    args.code = call.get::<ErrorObject>(args.error)?.code;
    Ok(())
}

pub(crate) fn payloads(call: &Call, args: &mut PJRT_Error_ForEachPayload_Args) -> Answer {
    let error = call.get::<ErrorObject>(args.error)?;
    let Some(visitor) = args.visitor else {
        return Err(call.breach("the visitor is null"));
    };
    for (key, value) in &error.payloads {
        // SAFETY: the caller's visitor, with its own argument and what the header promises.
        unsafe {
            visitor(
                key.start(),
                key.size(),
                value.start(),
                value.size(),
                args.user_arg,
            );
        }
    }
    Ok(())
}
