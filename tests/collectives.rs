//! Programs whose devices speak to each other, on a real CPU plugin: each collective by
//! number, over replicas and over partitions, and programs whose collectives speak to others
//! than those that run them.
//!
//! Why the latter are refused: where there is a single replica (or partition), the compilers
//! don't check numbers that count replicas (or partitions). The run then fails on every device,
//! and a `collective_permute` ends the process, on all three versions. An `all_to_all` without
//! groups ends it while it is compiled, on 0.81 and 0.106.

mod cpu;
#[path = "hlo/mod.rs"]
mod hlo;

use cpu::{client, compiled, lesson, values, vector};
use xla::{Client, Code, CompileOptions, ElementType, Executable, Program};

/// Over whom a program runs.
#[derive(Clone, Copy, Debug)]
struct World {
    replicas: usize,
    partitions: usize,
}

const CHANNEL: &str = ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";
const GLOBAL: &str = ", use_global_device_ids";

impl World {
    fn replicas(replicas: usize) -> World {
        World {
            replicas,
            partitions: 1,
        }
    }

    fn partitions(partitions: usize) -> World {
        World {
            replicas: 1,
            partitions,
        }
    }

    fn both(devices: usize) -> [World; 2] {
        [World::replicas(devices), World::partitions(devices)]
    }

    fn devices(self) -> usize {
        self.replicas * self.partitions
    }

    fn options(self) -> CompileOptions {
        let options = CompileOptions::new().replicas(self.replicas);
        options.partitions(self.partitions)
    }

    /// What a collective that knows of global ids needs to count this world's devices.
    fn reducing(self) -> String {
        match self.partitions {
            1 => String::new(),
            _ => format!("{CHANNEL}{GLOBAL}"),
        }
    }

    /// What any other collective needs.
    fn other(self) -> &'static str {
        match self.partitions {
            1 => "",
            _ => CHANNEL,
        }
    }
}

/// Lists of numbers as an attribute.
fn dense(lists: &[Vec<usize>]) -> String {
    format!(
        "dense<{lists:?}> : tensor<{}x{}xi64>",
        lists.len(),
        lists[0].len()
    )
}

/// A program of one operation, from `f32[takes]` to `f32[gives]`.
fn program(operation: &str, takes: usize, gives: usize) -> String {
    format!(
        "module @speaks {{
           func.func @main(%x: tensor<{takes}xf32>) -> tensor<{gives}xf32> {{
             %y = {operation} : (tensor<{takes}xf32>) -> tensor<{gives}xf32>
             return %y : tensor<{gives}xf32>
           }}
         }}"
    )
}

fn reduction(by: &str) -> String {
    format!(
        "({{
           ^bb0(%a: tensor<f32>, %b: tensor<f32>):
             %c = stablehlo.{by} %a, %b : tensor<f32>
             stablehlo.return %c : tensor<f32>
         }})"
    )
}

fn all_reduce(by: &str, groups: &[Vec<usize>], more: &str) -> String {
    let (by, groups) = (reduction(by), dense(groups));
    let operation =
        format!("\"stablehlo.all_reduce\"(%x) <{{replica_groups = {groups}{more}}}> {by}");
    program(&operation, 4, 4)
}

fn all_gather(groups: &[Vec<usize>], more: &str) -> String {
    let gives = 4 * groups[0].len();
    let groups = dense(groups);
    let operation = format!(
        "\"stablehlo.all_gather\"(%x) <{{all_gather_dim = 0 : i64, replica_groups = {groups}{more}}}>"
    );
    program(&operation, 4, gives)
}

fn reduce_scatter(groups: &[Vec<usize>], more: &str) -> String {
    let gives = 4 / groups[0].len();
    let (by, groups) = (reduction("add"), dense(groups));
    let operation = format!(
        "\"stablehlo.reduce_scatter\"(%x) <{{scatter_dimension = 0 : i64, replica_groups = \
         {groups}{more}}}> {by}"
    );
    program(&operation, 4, gives)
}

fn all_to_all(groups: &[Vec<usize>], more: &str) -> String {
    let count = groups[0].len();
    let groups = dense(groups);
    let operation = format!(
        "\"stablehlo.all_to_all\"(%x) <{{split_dimension = 0 : i64, concat_dimension = 0 : i64, \
         split_count = {count} : i64, replica_groups = {groups}{more}}}>"
    );
    program(&operation, 4, 4)
}

fn collective_permute(pairs: &[Vec<usize>], more: &str) -> String {
    let pairs = dense(pairs);
    let operation =
        format!("\"stablehlo.collective_permute\"(%x) <{{source_target_pairs = {pairs}{more}}}>");
    program(&operation, 4, 4)
}

#[track_caller]
fn build(client: &Client, text: &str, world: World) -> Executable {
    let program = Program::from_text(text).expect("text");
    match client.compile(&program, &world.options()) {
        Ok(executable) => executable,
        Err(error) => panic!("{world:?}: {error}\n{text}"),
    }
}

/// What device `i` has: four numbers that no other has, not in order of size.
fn own(device: usize) -> [f32; 4] {
    let base = [30., -10., 20., 40.][device];
    [base, base + 0.5, base + 1., base + 1.5]
}

/// What each device gets when each has its own.
#[track_caller]
fn run(client: &Client, text: &str, world: World) -> Vec<Vec<f32>> {
    let executable = build(client, text, world);
    let devices = executable.devices().iter().enumerate();
    let rows = devices.map(|(i, device)| vector(device, &own(i)));
    let outputs = executable.run_per_device(rows).expect("runs");
    outputs.iter().map(|output| values(&output[0])).collect()
}

/// Checks what each device gets, where `wanted` says it for one.
#[track_caller]
fn check(client: &Client, text: &str, world: World, wanted: impl Fn(usize) -> Vec<f32>) {
    let got = run(client, text, world);
    let wanted: Vec<Vec<f32>> = (0..world.devices()).map(wanted).collect();
    assert_eq!(got, wanted, "{world:?}\n{text}");
}

/// All devices in one group; in groups of two; in one group, backwards.
fn groupings(devices: usize) -> Vec<Vec<Vec<usize>>> {
    vec![
        vec![(0..devices).collect()],
        (0..devices / 2).map(|i| vec![i, i + devices / 2]).collect(),
        vec![(0..devices).rev().collect()],
    ]
}

fn group_of(groups: &[Vec<usize>], device: usize) -> &[usize] {
    let group = groups.iter().find(|group| group.contains(&device));
    group.expect("each is in one")
}

fn place_of(groups: &[Vec<usize>], device: usize) -> usize {
    let mut group = group_of(groups, device).iter();
    group.position(|member| *member == device).expect("in it")
}

fn sum(members: &[usize]) -> Vec<f32> {
    let element = |i: usize| members.iter().map(|member| own(*member)[i]).sum();
    (0..4).map(element).collect()
}

// Right values.

#[test]
fn all_reduce_sums_and_finds_the_largest() {
    let client = client(4);
    for devices in [2, 4] {
        for world in World::both(devices) {
            for groups in groupings(devices) {
                let text = all_reduce("add", &groups, &world.reducing());
                check(&client, &text, world, |i| sum(group_of(&groups, i)));
                let text = all_reduce("maximum", &groups, &world.reducing());
                check(&client, &text, world, |i| {
                    let members = group_of(&groups, i).iter();
                    let largest = members.max_by(|a, b| own(**a)[0].total_cmp(&own(**b)[0]));
                    own(*largest.expect("one")).to_vec()
                });
            }
        }
    }
}

#[test]
fn all_gather_puts_all_in_the_order_of_the_group() {
    let client = client(4);
    for devices in [2, 4] {
        for world in World::both(devices) {
            for groups in groupings(devices) {
                let text = all_gather(&groups, &world.reducing());
                check(&client, &text, world, |i| {
                    group_of(&groups, i).iter().flat_map(|i| own(*i)).collect()
                });
            }
        }
    }
}

#[test]
fn reduce_scatter_gives_each_its_part_of_the_sum() {
    let client = client(4);
    for devices in [2, 4] {
        for world in World::both(devices) {
            for groups in groupings(devices) {
                let text = reduce_scatter(&groups, &world.reducing());
                check(&client, &text, world, |i| {
                    let part = 4 / groups[0].len();
                    let place = place_of(&groups, i);
                    sum(group_of(&groups, i))[place * part..][..part].to_vec()
                });
            }
        }
    }
}

#[test]
fn all_to_all_gives_each_a_part_of_everyone() {
    let client = client(4);
    for devices in [2, 4] {
        for world in World::both(devices) {
            for groups in groupings(devices) {
                let text = all_to_all(&groups, world.other());
                check(&client, &text, world, |i| {
                    let part = 4 / groups[0].len();
                    let place = place_of(&groups, i);
                    let members = group_of(&groups, i).iter();
                    members
                        .flat_map(|member| own(*member)[place * part..][..part].to_vec())
                        .collect()
                });
            }
        }
    }
}

#[test]
fn collective_permute_sends_on_and_leaves_zeros() {
    let client = client(4);
    for devices in [2, 4] {
        for world in World::both(devices) {
            let ring: Vec<Vec<usize>> = (0..devices).map(|i| vec![i, (i + 1) % devices]).collect();
            let text = collective_permute(&ring, world.other());
            check(&client, &text, world, |i| {
                own((i + devices - 1) % devices).to_vec()
            });
            // Nobody sends to the first.
            let text = collective_permute(&ring[..devices - 1], world.other());
            check(&client, &text, world, |i| match i {
                0 => vec![0.; 4],
                _ => own(i - 1).to_vec(),
            });
        }
    }
}

/// Numbers of partitions come with the programs that JAX exports: by hand, a partition can't
/// ask for its own.
#[test]
fn each_device_knows_its_number() {
    let client = client(4);
    let text = |ids: &str| {
        format!(
            "func.func @main() -> tensor<ui32> {{
               %id = stablehlo.{ids} : tensor<ui32>
               return %id : tensor<ui32>
             }}"
        )
    };
    for (replicas, partitions) in [(1, 1), (2, 1), (4, 1), (1, 4), (2, 2)] {
        let world = World {
            replicas,
            partitions,
        };
        let executable = build(&client, &text("replica_id"), world);
        let outputs = executable.run_per_device(vec![(); world.devices()]);
        for (i, output) in outputs.expect("runs").iter().enumerate() {
            let id = output[0].to_scalar::<u32>().expect("u32") as usize;
            assert_eq!(id, i / partitions, "{world:?}");
        }
        if partitions > 1 {
            let program = Program::from_text(text("partition_id")).expect("text");
            let error = client.compile(&program, &world.options());
            let error = error.expect_err("ambiguous");
            assert_eq!(error.code(), Code::Unimplemented, "{error}");
            assert_eq!(error.function(), Some("PJRT_Client_Compile"), "{error}");
        }
    }
}

/// What numbers count, where there are both: two replicas of two partitions, so that device
/// `2 r + p` is partition `p` of replica `r`.
#[test]
fn replicas_of_partitions() {
    let client = client(4);
    let world = World {
        replicas: 2,
        partitions: 2,
    };
    let pair = [vec![0, 1]];
    let each = [vec![0], vec![1]];
    let swap = [vec![0, 1], vec![1, 0]];
    // Replicas, each partition by itself.
    check(&client, &all_reduce("add", &pair, ""), world, |i| {
        sum(&[i % 2, 2 + i % 2])
    });
    // Replicas with all their partitions.
    check(&client, &all_reduce("add", &pair, CHANNEL), world, |_| {
        sum(&[0, 1, 2, 3])
    });
    check(&client, &all_reduce("add", &each, CHANNEL), world, |i| {
        sum(&[i / 2 * 2, i / 2 * 2 + 1])
    });
    // Devices.
    let global = format!("{CHANNEL}{GLOBAL}");
    let across = [vec![0, 3], vec![1, 2]];
    check(&client, &all_reduce("add", &across, &global), world, |i| {
        sum(group_of(&across, i))
    });
    // Replicas, then partitions.
    check(&client, &collective_permute(&swap, ""), world, |i| {
        own((i + 2) % 4).to_vec()
    });
    check(&client, &collective_permute(&swap, CHANNEL), world, |i| {
        own(i / 2 * 2 + (i + 1) % 2).to_vec()
    });
    check(&client, &all_to_all(&pair, CHANNEL), world, |i| {
        let (replica, place) = (i / 2 * 2, i % 2);
        let parts = [replica, replica + 1];
        parts
            .map(|member| own(member)[place * 2..][..2].to_vec())
            .concat()
    });
}

#[test]
fn collectives_that_jax_exports() {
    let client = client(4);
    for name in ["collectives_2", "collectives_4"] {
        let executable = compiled(&client, name);
        let lesson = lesson(name);
        let devices = executable.devices().iter().enumerate();
        let rows = devices.map(|(i, device)| lesson.arguments[0].buffer(i, device));
        let outputs = executable.run_per_device(rows).expect("runs");
        assert_eq!(lesson.results.len(), 8, "{name}");
        for (i, output) in outputs.iter().enumerate() {
            assert_eq!(output.len(), lesson.results.len(), "{name}");
            for (result, wanted) in output.iter().zip(&lesson.results) {
                let got = match result.element_type() {
                    ElementType::S32 => {
                        let numbers = result.to_host::<i32>().expect("s32");
                        numbers.into_iter().map(|x| x as f32).collect()
                    }
                    _ => values(result),
                };
                assert_eq!(result.dims(), wanted.dims, "{name} on device {i}");
                assert_eq!(got, wanted.f32(i), "{name} on device {i}");
            }
        }
    }
}

/// No CPU plugin has `collective_broadcast`, and each says so.
#[test]
fn what_a_plugin_does_not_have_is_an_error() {
    let client = client(4);
    for (world, code) in [
        (World::replicas(4), Code::Unimplemented),
        (World::partitions(4), Code::Internal),
    ] {
        let groups = dense(&[vec![0, 1], vec![2, 3]]);
        let more = world.other();
        let operation =
            format!("\"stablehlo.collective_broadcast\"(%x) <{{replica_groups = {groups}{more}}}>");
        let program = Program::from_text(program(&operation, 4, 4)).expect("text");
        let error = client
            .compile(&program, &world.options())
            .expect_err("missing");
        assert_eq!(error.function(), Some("PJRT_Client_Compile"), "{error}");
        assert_eq!(error.code(), code, "{error}");
    }
}

// Programs that don't fit.

/// Checks that the plugin was not asked, or that what it made was not used.
#[track_caller]
fn refused(client: &Client, program: &Program, world: World, words: &[&str]) {
    let error = match client.compile(program, &world.options()) {
        Ok(_) => panic!("{world:?}: not refused: {program:?}"),
        Err(error) => error,
    };
    assert_eq!(error.function(), None, "{world:?}: {error}");
    assert_eq!(error.code(), Code::InvalidArgument, "{world:?}: {error}");
    for word in words {
        let message = error.message();
        assert!(message.contains(word), "no `{word}` in: {message}");
    }
}

/// What a message says of a program for 4 replicas, or partitions, that is to be compiled for
/// 4 of the others.
fn wrong_world(counted: &str, single: &str) -> Vec<String> {
    vec![
        // Called so before it is compiled.
        format!("of the program `speaks` speak to 4 {counted}"),
        format!("1 {single}"),
        format!("ask for 4 `{counted}`"),
    ]
}

#[test]
fn collectives_of_another_world_are_refused() {
    let client = client(4);
    let all = [vec![0, 1, 2, 3]];
    let pairs = [vec![0, 1], vec![2, 3]];
    for text in [
        all_reduce("add", &all, ""),
        all_reduce("add", &all, CHANNEL),
        all_reduce("add", &pairs, ""),
        all_gather(&all, ""),
        all_gather(&all, CHANNEL),
        reduce_scatter(&all, ""),
        all_to_all(&all, ""),
        collective_permute(&pairs, ""),
    ] {
        let program = Program::from_text(text).expect("text");
        let words = wrong_world("replicas", "replica");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        refused(&client, &program, World::partitions(4), &words);
    }
    for text in [
        all_to_all(&all, CHANNEL),
        collective_permute(&pairs, CHANNEL),
    ] {
        let program = Program::from_text(text).expect("text");
        let words = wrong_world("partitions", "partition");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        refused(&client, &program, World::replicas(4), &words);
    }
}

#[test]
fn collectives_of_more_devices_are_refused() {
    let client = client(4);
    let all = [vec![0, 1, 2, 3]];
    let ring = [vec![0, 3], vec![3, 0]];
    let global = format!("{CHANNEL}{GLOBAL}");
    for (text, world) in [
        (all_reduce("add", &all, ""), World::replicas(2)),
        (all_reduce("add", &all, &global), World::partitions(2)),
        (all_gather(&all, &global), World::replicas(1)),
        (reduce_scatter(&all, ""), World::replicas(1)),
        (all_to_all(&all, CHANNEL), World::partitions(2)),
        (collective_permute(&ring, ""), World::replicas(2)),
        (collective_permute(&ring, CHANNEL), World::replicas(1)),
    ] {
        let program = Program::from_text(text).expect("text");
        let words = ["4 devices", &format!("run on {}", world.devices())];
        refused(&client, &program, world, &words);
    }
}

/// A text in which the numbers can't be read, as long lists are printed.
#[test]
fn numbers_that_text_does_not_show_are_seen_once_compiled() {
    let client = client(4);
    let digits = |numbers: &[u64]| {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        bytes.map(|byte| format!("{byte:02X}")).collect::<String>()
    };
    let permute = |more: &str| {
        let pairs = digits(&[0, 1, 1, 2, 2, 3, 3, 0]);
        let operation = format!(
            "\"stablehlo.collective_permute\"(%x) <{{source_target_pairs = dense<\"0x{pairs}\"> : \
             tensor<4x2xi64>{more}}}>"
        );
        program(&operation, 4, 4)
    };
    let ring = permute(CHANNEL);
    check(&client, &ring, World::partitions(4), |i| {
        own((i + 3) % 4).to_vec()
    });
    for (more, world, word) in [
        (
            CHANNEL,
            World::replicas(4),
            "`speaks` speak to 4 partitions",
        ),
        ("", World::partitions(4), "`speaks` speak to 4 replicas"),
    ] {
        let program = Program::from_text(permute(more)).expect("text");
        refused(&client, &program, world, &[word]);
    }
}

/// A `collective-permute` around four, as HLO.
fn hlo_ring(channel: bool) -> Program {
    let shape = hlo::array(hlo::F32, &[4]);
    let pair = |source: u64| {
        let pair = [hlo::number(1, source), hlo::number(2, (source + 1) % 4)];
        hlo::bytes(52, &pair.concat())
    };
    let mut more: Vec<u8> = (0..4).flat_map(pair).collect();
    if channel {
        more.extend(hlo::number(26, 1));
    }
    let instructions = [
        hlo::parameter(1, 0, &shape),
        hlo::instruction(2, "collective-permute", &shape, &[1], more),
    ];
    let parameters = [shape.clone()];
    let module = hlo::module("ring", &parameters, &shape, &instructions, 2);
    Program::from_hlo(module).expect("a module")
}

#[test]
fn hlo_modules_are_looked_at_too() {
    let client = client(4);
    for (channel, fits, other, word) in [
        (
            true,
            World::partitions(4),
            World::replicas(4),
            "4 partitions",
        ),
        (
            false,
            World::replicas(4),
            World::partitions(4),
            "4 replicas",
        ),
    ] {
        let program = hlo_ring(channel);
        let executable = client.compile(&program, &fits.options()).expect("fits");
        let devices = executable.devices().iter().enumerate();
        let rows = devices.map(|(i, device)| vector(device, &own(i)));
        let outputs = executable.run_per_device(rows).expect("runs");
        for (i, output) in outputs.iter().enumerate() {
            assert_eq!(values(&output[0]), own((i + 3) % 4));
        }
        refused(&client, &program, other, &[word]);
    }
}

#[test]
fn an_all_to_all_without_groups_is_refused() {
    let client = client(4);
    let operation =
        "\"stablehlo.all_to_all\"(%x) <{split_dimension = 0 : i64, concat_dimension = 0 \
                     : i64, split_count = 4 : i64, replica_groups = dense<> : tensor<0x0xi64>}>";
    let program = Program::from_text(program(operation, 4, 4)).expect("text");
    let words = ["`all_to_all`", "empty `replica_groups`"];
    refused(&client, &program, World::replicas(4), &words);
}

/// What compilers refuse themselves, by an error.
#[test]
fn other_misfits_are_errors_of_the_plugin() {
    let client = client(4);
    let both = |text: fn(&[Vec<usize>], &str) -> String, lists: &[Vec<usize>], reduces: bool| {
        World::both(4).map(|world| {
            let more = match reduces {
                true => world.reducing(),
                false => world.other().to_owned(),
            };
            (text(lists, &more), world)
        })
    };
    let add = |groups: &[Vec<usize>], more: &str| all_reduce("add", groups, more);
    let some = [vec![0, 1]];
    let twice = [vec![0, 1], vec![1, 2]];
    let beyond = [vec![0, 1], vec![1, 2], vec![2, 2]];
    let two = World {
        replicas: 2,
        partitions: 2,
    };
    let all = [vec![0, 1, 2, 3]];
    let mut cases = vec![
        // Fewer replicas than are spoken to, though there are as many devices.
        (add(&all, ""), two),
        (add(&all, CHANNEL), two),
        (all_gather(&all, ""), two),
        (add(&all, GLOBAL), World::replicas(4)),
    ];
    for groups in [&some[..], &twice] {
        cases.extend(both(add, groups, true));
        cases.extend(both(all_gather, groups, true));
        cases.extend(both(reduce_scatter, groups, true));
        cases.extend(both(all_to_all, groups, false));
    }
    let source = [vec![0, 1], vec![0, 2]];
    for pairs in [&beyond[..], &source] {
        cases.extend(both(collective_permute, pairs, false));
    }
    for (text, world) in cases {
        let program = Program::from_text(text.clone()).expect("text");
        let error = match client.compile(&program, &world.options()) {
            Ok(_) => panic!("{world:?}: compiled\n{text}"),
            Err(error) => error,
        };
        // Those of both kinds are refused here.
        let ours = world.replicas > 1 && world.partitions > 1;
        let wanted = (!ours).then_some("PJRT_Client_Compile");
        assert_eq!(error.function(), wanted, "{world:?}: {error}\n{text}");
    }
}

/// Groups of different sizes are fine where each device gets as much as it has.
#[test]
fn groups_of_different_sizes() {
    let client = client(4);
    let groups = [vec![0, 1, 2], vec![3]];
    for world in World::both(4) {
        let more = world.reducing();
        let text = all_reduce("add", &[vec![0, 1, 2], vec![3, 9, 9]], &more).replace('9', "-1");
        check(&client, &text, world, |i| sum(group_of(&groups, i)));
    }
}
