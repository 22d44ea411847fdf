// Each device is given a buffer of its own.
use xla::{Buffer, CompileOptions, Executable, Outputs, Program, Result};

fn step(step: &Executable, values: &[f32]) -> Result<Vec<Outputs>> {
    let mut replicas = Vec::new();
    for device in step.devices() {
        replicas.push(Buffer::from_host(device, values, &[values.len()])?);
    }
    Ok(step.run_per_device(replicas)?)
}

#[test]
fn runs() -> Result<()> {
    let (client, _) = crate::cpu()?;
    let program = Program::from_text(crate::DOUBLE)?;
    let double = client.compile(&program, &CompileOptions::new().replicas(2))?;
    for outputs in step(&double, &[3., 5.])? {
        assert_eq!(outputs[0].to_host::<f32>()?, [6., 10.]);
    }
    Ok(())
}
