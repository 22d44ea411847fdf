// Measured: a donated buffer of shared host memory may have its output there, in the caller's.
// rustc: E0308, a scope's buffer is a reference where the program wants the buffer.
use xla::{Buffer, Client, Each, Give, HostVec, ParallelFunction, PerDevice, Result};

type Step = ParallelFunction<(Give<Buffer>,), Each<Buffer>>;

fn step(client: &Client, step: &Step, values: &HostVec<f32>) -> Result<PerDevice<Buffer>> {
    client.scope(|scope| {
        let [first, second] = [client.device(0)?, client.device(1)?];
        let lent = [
            scope.borrow(&first, values, &[2])?,
            scope.borrow(&second, values, &[2])?,
        ];
        Ok(step.call((PerDevice::from_parts(lent),))?)
    })
}

fn main() {}
