// Copied to the second device, given on both.
use xla::{Buffer, CompileOptions, Executable, Outputs, Program, Result};

fn step(step: &Executable, w: Buffer) -> Result<Vec<Outputs>> {
    let copy = w.copy_to_device(&step.devices()[1])?;
    Ok(step.run_per_device([w, copy])?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let program = Program::from_text(crate::DOUBLE)?;
    let double = client.compile(&program, &CompileOptions::new().replicas(2))?;
    for outputs in step(&double, crate::pair(&device, [3., 5.])?)? {
        assert_eq!(outputs[0].to_host::<f32>()?, [6., 10.]);
    }
    Ok(())
}
