//! What the tests share: programs, and a session that uses all of the layer.
// Each test file uses its own part of this.
#![allow(dead_code)]

use pjrt_fake::Fake;
use xla::{
    Buffer, ChunkedUpload, Client, CompileOptions, Device, DeviceAssignment, Executable, HostVec,
    Plugin, Program, Result, Shape, TopologyOptions,
};

/// `w + g` into the memory of `w`.
pub const STEP: &str = "program step\n\
    input f32[2] donated 0 named w\n\
    input f32[2] named g\n\
    output f32[2] = add 0 1";

/// Like it, with a sum over the two devices that run it, and a second output.
pub const REPLICATED: &str = "program replicated\n\
    mhlo.num_replicas = 2\n\
    input f32[2] donated 0\n\
    input f32[2]\n\
    output f32[2] = add 0 1\n\
    output f32[2] = all_reduce 1";

/// The layer over the fake's whole table.
pub fn plugin(fake: &Fake) -> Plugin {
    // SAFETY: the table stays as long as the process, and its functions keep the contract.
    unsafe { Plugin::from_table(fake.table()) }.expect("the whole table")
}

pub fn client(fake: &Fake) -> Client {
    plugin(fake).client().expect("a client")
}

pub fn compile(client: &Client, text: &str) -> Executable {
    let program = Program::from_text(text).expect("text");
    client
        .compile(&program, &CompileOptions::new())
        .expect("it compiles")
}

/// Two values on the device with this index.
pub fn pair(client: &Client, device: usize, values: [f32; 2]) -> Buffer {
    let device = client.device(device).expect("that many devices");
    Buffer::from_host(&device, &values, &[2]).expect("an upload")
}

/// Uses every entry that the layer uses, and checks what comes out: with a client made from the
/// table to the end of the client.
pub fn session(table: *const pjrt_sys::PJRT_Api) -> Result<()> {
    // SAFETY: the table is a fake's.
    let plugin = unsafe { Plugin::from_table(table) }?;
    let client = plugin.client()?;
    DeviceAssignment::default_for(&client, 2, 1)?;
    let (first, second) = (client.device(0)?, client.device(1)?);
    first.memory_stats()?;
    let options = CompileOptions::new();
    let step = client.compile(&Program::from_text(STEP)?, &options)?;
    step.memory_stats()?;
    let step = client.deserialize(&step.serialize()?)?;

    let w = Buffer::from_host(&first, &[1f32, 2.], &[2])?;
    let g = Buffer::from_host(&first, &[3f32, 4.], &[2])?;
    g.wait()?;
    g.on_device_size()?;
    let early = w.to_host_async::<f32>()?;
    let w = step.run((w, &g))?.into_single()?;
    assert_eq!(early.wait()?, [1., 2.]);
    assert_eq!(w.to_host::<f32>()?, [4., 6.]);
    let mut values = [0f32; 2];
    w.read_into(&mut values)?;
    assert_eq!(values, [4., 6.]);

    // A column-major matrix: the layer asks what the plugin makes of it.
    let columns = xla::Layout::new(&[0, 1])?;
    let matrix = Buffer::from_host_in_layout(&first, &[1u8, 2, 3, 4, 5, 6], &[2, 3], &columns)?;
    assert_eq!(matrix.to_host::<u8>()?, [1, 2, 3, 4, 5, 6]);

    let copy = w.copy_to_device(&second)?;
    assert_eq!(copy.to_host::<f32>()?, [4., 6.]);
    if let Some(memory) = client.memories().last() {
        g.memory()?;
        assert_eq!(w.copy_to_memory(memory)?.to_host::<f32>()?, [4., 6.]);
    }
    assert_eq!(w.copy_on_device()?.to_host::<f32>()?, [4., 6.]);

    // Host memory in place: owned, borrowed, looked at.
    let owned = Buffer::from_host_vec(&first, HostVec::from_slice(&[1f32, 1.]), &[2])?;
    let owned = step.run((owned, &w))?.into_single()?;
    assert_eq!(owned.view::<f32>()?[..], [5., 7.]);
    drop(owned);
    let values = HostVec::from_slice(&[1f32, 1.]);
    let sum = client.scope(|scope| -> Result<Buffer> {
        let borrowed = scope.borrow(&first, &values, &[2])?;
        let given = w.copy_on_device()?;
        step.run((given, borrowed))?.into_single()
    })?;
    assert_eq!(sum.to_host::<f32>()?, [5., 7.]);

    // The API has had chunks and ranges since 0.68 at the latest.
    if client.plugin().api_version().1 >= 68 && first.default_memory().is_some() {
        transfers(&first)?;
    }

    let ready = w.ready()?;
    ready.wait_timeout(std::time::Duration::from_secs(5))?;
    drop(ready);

    let replicated = client.compile(&Program::from_text(REPLICATED)?, &options)?;
    let mut state = vec![
        Buffer::from_host(&first, &[1f32, 2.], &[2])?,
        Buffer::from_host(&second, &[3f32, 4.], &[2])?,
    ];
    let batch = [w, copy];
    for _ in 0..2 {
        let lists = state.drain(..).zip(&batch);
        let outputs = replicated.run_per_device(lists)?;
        for each in outputs {
            let [new, sum] = each.into_array()?;
            assert_eq!(sum.to_host::<f32>()?, [8., 12.]);
            state.push(new);
        }
    }
    assert_eq!(state[1].to_host::<f32>()?, [11., 16.]);
    described(&plugin, &client)
}

/// What is compiled for devices that aren't there, and then loaded.
fn described(plugin: &Plugin, client: &Client) -> Result<()> {
    let mut topology = plugin.topology(&TopologyOptions::new("fake:4"))?;
    let bytes = topology.serialize()?;
    // The entry that reads them came later.
    if plugin.api_version().1 >= 81 {
        topology = plugin.deserialize_topology(&bytes)?;
    }
    let compiled = topology.compile(&Program::from_text(STEP)?, &CompileOptions::new())?;
    drop(topology);
    compiled.memory_stats()?;
    compiled.generated_code_bytes()?;
    compiled.cost_analysis()?;
    compiled.optimized_hlo()?;
    let loaded = client.deserialize(&compiled.serialize()?)?;
    assert_eq!(loaded.signature().donated_bytes(), 8);
    client.topology()?;
    Ok(())
}

/// An upload that is completed, one that is given up, and reads of ranges.
fn transfers(device: &Device) -> Result<()> {
    let shapes = [Shape::of::<f32>(&[2])?, Shape::of::<f32>(&[1])?];
    let (mut upload, buffers) = ChunkedUpload::new(device, &shapes)?;
    upload.send(0, 0, vec![1f32])?;
    upload.send(0, 1, vec![2f32])?;
    drop(upload);
    // It has failed: how is told by the tests of transfers.
    buffers[1].is_ready()?;
    assert_eq!(buffers[0].to_host_range::<f32>(1..2)?, [2.]);
    let (buffer, done) = Buffer::from_host_async(device, vec![3f32], &[1])?;
    done.wait()?;
    assert_eq!(buffer.to_host::<f32>()?, [3.]);
    Ok(())
}
