//! What programs take and need, as JSON and as text.

use serde_json::{json, Value};
use xla::{
    Donation, DonationAdvice, DonationPair, Error, ExecutableMemoryStats, Input, Output, Shape,
    Signature,
};

/// What a program takes, gives and donates.
pub(crate) fn signature(signature: &Signature) -> Value {
    let inputs = signature.inputs().iter().enumerate();
    let outputs = signature.outputs().iter().enumerate();
    json!({
        "name": signature.name(),
        "replicas": signature.replicas(),
        "partitions": signature.partitions(),
        "compiled": signature.is_compiled(),
        "has_collectives": signature.has_collectives(),
        "donated_bytes": signature.donated_bytes(),
        "inputs": inputs.map(|(index, it)| input(signature, index, it)).collect::<Vec<_>>(),
        "outputs": outputs.map(|(index, it)| output(signature, index, it)).collect::<Vec<_>>(),
    })
}

fn input(signature: &Signature, index: usize, input: &Input) -> Value {
    let donation = match input.donation() {
        Donation::Into { output, required } => {
            json!({"kind": "into", "output": output, "required": required})
        }
        Donation::Unused => json!({"kind": "unused", "reason": signature.why_unused(index)}),
        Donation::Offered => json!({"kind": "offered"}),
        _ => json!({"kind": "none"}),
    };
    let [on_device, whole] = types(signature, input.shape(), input.global_shape());
    json!({
        "index": index,
        "name": input.name(),
        "type": on_device,
        "global_type": whole,
        "layout": input.layout().to_string(),
        "sharding": input.sharding().map(|sharding| sharding.to_string()),
        "bytes": input.device_bytes(),
        "donation": donation,
    })
}

fn output(signature: &Signature, index: usize, output: &Output) -> Value {
    let [on_device, whole] = types(signature, output.shape(), output.global_shape());
    json!({
        "index": index,
        "name": output.name(),
        "type": on_device,
        "global_type": whole,
        "layout": output.layout().to_string(),
        "sharding": output.sharding().map(|sharding| sharding.to_string()),
        "bytes": output.device_bytes(),
        "returned_input": output.returned_input(),
    })
}

/// The type on a device and that over all partitions, as far as they are known: a program that
/// isn't compiled states the latter.
fn types(signature: &Signature, shape: &Shape, whole: Option<Shape>) -> [Option<String>; 2] {
    let whole = whole.map(|whole| whole.to_string());
    match signature.is_compiled() || signature.partitions() == 1 {
        true => [Some(shape.to_string()), whole],
        false => [None, Some(shape.to_string())],
    }
}

/// The rows of the tables of memory: what each is called, and its bytes on a device.
pub(crate) fn memory_rows(stats: &ExecutableMemoryStats) -> [(&'static str, Option<i64>); 6] {
    [
        ("argument", Some(stats.argument_bytes)),
        ("output", Some(stats.output_bytes)),
        ("alias", Some(stats.alias_bytes)),
        ("temp", Some(stats.temp_bytes)),
        ("peak", stats.peak_bytes),
        ("code", stats.generated_code_bytes),
    ]
}

/// The bytes on each device, by name; null where the plugin doesn't tell.
pub(crate) fn memory(stats: &ExecutableMemoryStats) -> Value {
    let rows = memory_rows(stats).into_iter();
    let fields = rows.map(|(name, bytes)| (format!("{name}_bytes"), Value::from(bytes)));
    Value::Object(fields.collect())
}

/// A failure that doesn't end the command.
pub(crate) fn error(error: &Error) -> Value {
    json!({"code": error.code().name(), "message": error.message()})
}

/// What the adviser found.
pub(crate) fn advice(advice: &DonationAdvice) -> Value {
    let unused = advice.unused().iter().map(|donor| {
        json!({
            "input": donor.input,
            "name": donor.name,
            "type": donor.shape.to_string(),
            "reason": donor.reason,
        })
    });
    json!({
        "bytes_saved": advice.bytes_saved(),
        "donated": advice.donated().iter().map(pair).collect::<Vec<_>>(),
        "candidates": advice.candidates().iter().map(pair).collect::<Vec<_>>(),
        "unused": unused.collect::<Vec<_>>(),
    })
}

fn pair(pair: &DonationPair) -> Value {
    json!({
        "input": pair.input,
        "name": pair.name,
        "type": pair.shape.to_string(),
        "output": pair.output,
        "output_name": pair.output_name,
        "output_type": pair.output_shape.to_string(),
        "bytes": pair.bytes,
    })
}
