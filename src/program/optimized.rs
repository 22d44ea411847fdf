//! Programs as compilers give them back.

use std::fmt;

use crate::error::{Code, Error, Result};
use crate::hlo;

fn damaged(error: impl fmt::Display) -> Error {
    Error::new(
        Code::Internal,
        format!("the compiled program can't be read: {error}"),
    )
}

/// The module in a program that a compiler gave.
pub(crate) fn read_optimized<'a>(code: &'a [u8], format: &str) -> Result<hlo::Module<'a>> {
    hlo::Module::read(module_in(code, format)?).map_err(damaged)
}

/// The bytes of the module alone.
pub(crate) fn optimized_module(mut code: Vec<u8>, format: &str) -> Result<Vec<u8>> {
    let module = module_in(&code, format)?;
    hlo::Module::read(module).map_err(damaged)?;
    // What stands around it goes, so that there is one of it at a time.
    let start = module.as_ptr() as usize - code.as_ptr() as usize;
    let end = start + module.len();
    code.truncate(end);
    code.drain(..start);
    Ok(code)
}

fn module_in<'a>(code: &'a [u8], format: &str) -> Result<&'a [u8]> {
    match format {
        "hlo" => Ok(code),
        "hlo_with_config" => hlo::in_config(code)
            .map_err(damaged)?
            .ok_or_else(|| Error::new(Code::Internal, "the compiled program has no module")),
        other => Err(Error::new(
            Code::Unimplemented,
            format!("the plugin gives compiled programs as `{other}`, which this crate can't read"),
        )),
    }
}
