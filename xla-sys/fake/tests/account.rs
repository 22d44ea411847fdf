//! The layer's account of buffers beside the plugin's own count.

mod session;

use pjrt_fake::{Code, Failure, Fake};
use session::{client, compile, pair, REPLICATED, STEP};
use xla::{Buffer, Client, HostVec};

/// Checks that account and plugin agree on how many buffers there are, and on their memory.
#[track_caller]
fn check(fake: &Fake, client: &Client, buffers: usize, bytes: usize) {
    let account = client.memory_account();
    assert_eq!(fake.live().buffers, buffers, "the plugin's count");
    assert_eq!(account.live_buffers(), buffers, "the account's:\n{account}");
    assert_eq!(account.live_bytes(), bytes, "{account}");
}

#[test]
fn they_agree_on_runs() {
    let fake = Fake::new();
    let client = client(&fake);
    let step = compile(&client, STEP);
    let replicated = compile(&client, REPLICATED);
    let g = [pair(&client, 0, [1., 1.]), pair(&client, 1, [1., 1.])];
    let mut w = pair(&client, 0, [0., 10.]);
    for _ in 0..3 {
        w = step
            .run((w, &g[0]))
            .expect("it runs")
            .into_single()
            .expect("1");
        check(&fake, &client, 3, 24);
    }
    let copied = step
        .run((&w, &g[0]))
        .expect("it runs")
        .into_single()
        .expect("1");
    check(&fake, &client, 4, 32);
    drop(copied);
    let mut state = vec![w, pair(&client, 1, [0., 0.])];
    for _ in 0..3 {
        let outputs = replicated
            .run_per_device(state.drain(..).zip(&g))
            .expect("it runs");
        check(&fake, &client, 6, 48);
        state = outputs
            .into_iter()
            .map(|each| each.into_vec().remove(0))
            .collect();
        check(&fake, &client, 4, 32);
    }
    let devices = client.memory_account();
    let peaks: Vec<usize> = devices.devices().iter().map(|of| of.peak_bytes).collect();
    assert_eq!(peaks, [24, 24]);
    drop((state, g));
    check(&fake, &client, 0, 0);
    drop((step, replicated, client));
    fake.assert_clean();
}

#[test]
fn they_agree_on_uploads_and_copies() {
    let fake = Fake::new();
    let client = client(&fake);
    let (first, second) = (client.device(0).expect("2"), client.device(1).expect("2"));
    let w = pair(&client, 0, [1., 2.]);
    let far = w.copy_to_device(&second).expect("room");
    check(&fake, &client, 2, 16);
    let near = w.copy_on_device().expect("room");
    let values = HostVec::from_slice(&[1u8, 2, 3]);
    let shared = Buffer::from_host_vec(&first, values, &[3]).expect("room");
    check(&fake, &client, 4, 27);
    for entry in [
        "PJRT_Client_BufferFromHostBuffer",
        "PJRT_Buffer_CopyToDevice",
    ] {
        for with_handles in [false, true] {
            let failure = Failure::new(Code::RESOURCE_EXHAUSTED, "no room").always();
            fake.fail(
                entry,
                if with_handles {
                    failure.with_handles()
                } else {
                    failure
                },
            );
            assert!(w.copy_on_device().is_err() || entry != "PJRT_Client_BufferFromHostBuffer");
            assert!(w.copy_to_device(&second).is_err() || entry != "PJRT_Buffer_CopyToDevice");
            fake.heal();
            check(&fake, &client, 4, 27);
        }
    }
    drop((w, far, near, shared));
    check(&fake, &client, 0, 0);
    drop((first, second, client));
    fake.assert_clean();
}

/// Two donated inputs, which a run exchanges.
const EXCHANGE: &str = "input f32[2] donated 0 named a\ninput f32[2] donated 1 named b\n\
                        output f32[2] = copy 1\noutput f32[2] = copy 0";

#[test]
fn they_agree_on_failed_runs() {
    for with_handles in [false, true] {
        for known in [false, true] {
            let fake = Fake::new();
            let client = client(&fake);
            let program = compile(&client, EXCHANGE);
            let failure = Failure::new(Code::RESOURCE_EXHAUSTED, "no room").consuming(&[1]);
            let failure = if with_handles {
                failure.with_handles()
            } else {
                failure
            };
            fake.fail("PJRT_LoadedExecutable_Execute", failure);
            if !known {
                // A plugin that says nothing was lost, though it hands out the outputs.
                fake.silence("PJRT_Buffer_IsDeleted");
            }
            let _label = xla::label("failed runs");
            let arguments = (pair(&client, 0, [1., 2.]), pair(&client, 0, [3., 4.]));
            check(&fake, &client, 2, 16);
            let error = program.run(arguments).expect_err("it's made to fail");
            let survivors = match (known, with_handles) {
                (false, _) => 2,
                (true, false) => 1,
                (true, true) => 0,
            };
            assert_eq!(error.given().len(), survivors);
            check(&fake, &client, survivors, 8 * survivors);
            let account = client.memory_account();
            assert_eq!(account.live_bytes_of("failed runs"), 8 * survivors);
            assert_eq!(account.devices()[0].peak_bytes, 16, "{account}");
            drop(error);
            check(&fake, &client, 0, 0);
            drop((program, client));
            fake.assert_clean();
        }
    }
}

#[test]
fn survivors_run_again() {
    let fake = Fake::new();
    let client = client(&fake);
    let program = compile(&client, EXCHANGE);
    let failure = Failure::new(Code::INTERNAL, "not now");
    fake.fail("PJRT_LoadedExecutable_Execute", failure);
    let arguments = (pair(&client, 0, [1., 2.]), pair(&client, 0, [3., 4.]));
    let error = program.run(arguments).expect_err("it's made to fail");
    let mut given = error.into_given().into_iter().map(|given| given.buffer);
    let (a, b) = (given.next().expect("2"), given.next().expect("2"));
    drop(given);
    let outputs = program.run((a, b)).expect("it runs");
    check(&fake, &client, 2, 16);
    assert_eq!(client.memory_account().devices()[0].peak_bytes, 16);
    drop(outputs);
    check(&fake, &client, 0, 0);
    drop((program, client));
    fake.assert_clean();
}

#[test]
fn what_a_plugin_does_not_state_is_none() {
    let fake = Fake::new();
    let client = client(&fake);
    let step = compile(&client, STEP);
    let stats = step.memory_stats().expect("stats");
    assert_eq!((stats.argument_bytes, stats.alias_bytes), (16, 8));
    assert_eq!((stats.peak_bytes, stats.run_bytes()), (Some(16), 16));
    assert_eq!(stats.generated_code_bytes, Some(STEP.len() as i64));
    // As one from before these fields: it leaves them as they are.
    fake.silence("PJRT_Executable_GetCompiledMemoryStats");
    let stats = step.memory_stats().expect("stats");
    assert_eq!((stats.peak_bytes, stats.generated_code_bytes), (None, None));
    drop((step, client));
    fake.assert_clean();
}

#[test]
fn a_device_has_the_figures_that_its_plugin_keeps() {
    let fake = Fake::new();
    let client = client(&fake);
    let stats = client.device(0).expect("one").memory_stats().expect("kept");
    assert_eq!(stats.bytes_in_use, 4096);
    assert_eq!(stats.peak_bytes_in_use, Some(8192));
    assert_eq!(stats.bytes_limit, Some(1 << 30));
    // What it doesn't keep is told from 0.
    let others = [
        stats.allocation_count,
        stats.largest_allocation,
        stats.bytes_reserved,
        stats.peak_bytes_reserved,
        stats.bytes_reservable_limit,
        stats.largest_free_block,
        stats.pool_bytes,
        stats.peak_pool_bytes,
    ];
    assert_eq!(others, [None; 8]);
    drop(client);
    fake.assert_clean();
}
