//! Kept executables: what their header says, what is refused and by which name, and that
//! what is loaded does as what was compiled. On a real CPU plugin.
//!
//! What is forged here is built on the format as `src/serialized.rs` describes it, written
//! down a second time on purpose: a field that is added behind a protobuf message counts
//! instead of the one before.

mod cpu;

use std::collections::HashSet;

use cpu::{client, compiled, compiled_text, device, lesson, program, values, vector};
use prost::encoding::{decode_key, decode_varint, encode_key, encode_varint, WireType};
use xla::{Buffer, Client, Code, CompileOptions, Donation, Executable, ExecutableHeader};

/// The parts of a kept executable.
#[derive(Clone)]
struct Kept {
    /// The magic and the format's version.
    begin: Vec<u8>,
    header: Vec<u8>,
    payload: Vec<u8>,
}

impl Kept {
    fn of(executable: &Executable) -> Kept {
        let bytes = executable.serialize().expect("bytes");
        let length = u32::from_le_bytes(bytes[8..12].try_into().expect("four")) as usize;
        Kept {
            begin: bytes[..8].to_vec(),
            header: bytes[20..20 + length].to_vec(),
            payload: bytes[20 + length..].to_vec(),
        }
    }

    /// With a header whose checksum fits.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.begin.clone();
        bytes.extend_from_slice(&(self.header.len() as u32).to_le_bytes());
        let mut both = bytes.clone();
        both.extend_from_slice(&checksum(&self.header).to_le_bytes());
        bytes.extend_from_slice(&checksum(&both).to_le_bytes());
        bytes.extend_from_slice(&self.header);
        bytes.extend_from_slice(&self.payload);
        bytes
    }

    /// With another text or message in the header.
    fn with(mut self, tag: u32, content: &[u8]) -> Kept {
        encode_key(tag, WireType::LengthDelimited, &mut self.header);
        encode_varint(content.len() as u64, &mut self.header);
        self.header.extend_from_slice(content);
        self
    }

    fn with_payload(mut self, payload: &[u8]) -> Kept {
        encode_key(6, WireType::Varint, &mut self.header);
        encode_varint(payload.len() as u64, &mut self.header);
        encode_key(7, WireType::SixtyFourBit, &mut self.header);
        let sum = checksum(payload).to_le_bytes();
        self.header.extend_from_slice(&sum);
        self.payload = payload.to_vec();
        self
    }
}

fn text(tag: u32, text: &str) -> Vec<u8> {
    let mut message = Vec::new();
    encode_key(tag, WireType::LengthDelimited, &mut message);
    encode_varint(text.len() as u64, &mut message);
    message.extend_from_slice(text.as_bytes());
    message
}

fn number(tag: u32, number: u64) -> Vec<u8> {
    let mut message = Vec::new();
    encode_key(tag, WireType::Varint, &mut message);
    encode_varint(number, &mut message);
    message
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325u64 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
        sum ^= sum >> 29;
    }
    sum
}

/// Checks that the bytes are refused before the plugin sees them, for this reason.
#[track_caller]
fn refused(client: &Client, bytes: &[u8], code: Code, words: &[&str]) {
    let Err(error) = client.deserialize(bytes) else {
        panic!("not refused; wanted a message with {words:?}")
    };
    assert_eq!(error.function(), None, "the plugin was asked: {error}");
    assert_eq!(error.code(), code, "{error}");
    for word in words {
        assert!(error.message().contains(word), "no `{word}` in: {error}");
    }
}

#[test]
fn a_header_says_what_it_is_without_a_client() {
    let client = client(4);
    let options = CompileOptions::new().device(&device(&client, 2));
    let step = client
        .compile(&program("sgd_step"), &options)
        .expect("compiles");
    let bytes = step.serialize().expect("bytes");
    let kept = Kept::of(&step);
    let head = &bytes[..bytes.len() - kept.payload.len()];
    for bytes in [&bytes[..], head] {
        let header = ExecutableHeader::read(bytes).expect("a header");
        assert_eq!(header.platform_name(), "cpu");
        assert_eq!(header.platform_version(), client.platform_version());
        assert_eq!(header.api_version(), client.plugin().api_version());
        assert_eq!(header.device_ids(), [2]);
        assert_eq!(header.client_device_count(), 4);
        assert_eq!(header.payload_bytes(), kept.payload.len() as u64);
        assert_eq!(header.signature().to_string(), step.signature().to_string());
        assert!(header.to_string().contains("devices [2]"), "{header}");
    }
    ExecutableHeader::verify(&bytes).expect("whole");
    let error = ExecutableHeader::verify(head).expect_err("no payload");
    assert!(error.message().contains("ends early"), "{error}");
}

/// Names, shapes, layouts, shardings, donations, and whether there are collectives.
#[test]
fn a_header_has_the_signature_of_every_kind_of_program() {
    let client = client(8);
    let names = [
        "sgd_step",
        "must_alias.hlo.pb",
        "column_major",
        "two_devices",
        "sgd_replicas_4",
        "sgd_partitions_4",
        "shardings_2x4",
        "shardings_4_gspmd",
        "counter",
        "matmul_bf16",
        "train_step_4",
        "noise_4",
    ];
    let mut fingerprints = HashSet::new();
    for name in names {
        let executable = compiled(&client, name);
        let bytes = executable.serialize().expect("bytes");
        let header = ExecutableHeader::read(&bytes).expect("a header");
        let loaded = client.deserialize(&bytes).expect("loads");
        for signature in [header.signature(), loaded.signature()] {
            let wanted = executable.signature();
            assert_eq!(signature.to_string(), wanted.to_string(), "{name}");
            assert_eq!(
                signature.has_collectives(),
                wanted.has_collectives(),
                "{name}"
            );
            assert_eq!(
                format!("{:?}", signature.inputs()),
                format!("{:?}", wanted.inputs()),
                "{name}"
            );
            assert_eq!(
                format!("{:?}", signature.outputs()),
                format!("{:?}", wanted.outputs()),
                "{name}"
            );
        }
        assert_eq!(loaded.devices(), executable.devices(), "{name}");
        // XLA's own: all three plugins have one, each program another.
        let fingerprint = header.fingerprint().expect("a fingerprint");
        assert!(fingerprints.insert(fingerprint.to_vec()), "{name}");
    }
}

#[test]
fn what_is_loaded_gives_and_donates_as_jax_does() {
    let client = client(4);
    for name in [
        "sgd_step",
        "two_devices",
        "sgd_replicas_4",
        "matmul_bf16",
        "counter",
    ] {
        let lesson = lesson(name);
        let bytes = compiled(&client, name).serialize().expect("bytes");
        let loaded = client.deserialize(&bytes).expect("loads");
        // What was loaded can be kept again, and is the same: plugins give of it no code.
        let again = loaded.serialize().expect("bytes");
        assert!(again == bytes, "{name}: other bytes than before");
        drop(loaded);
        let loaded = client.deserialize(&again).expect("loads");
        let devices = loaded.devices().to_vec();
        let arguments: Vec<Vec<Buffer>> = devices
            .iter()
            .enumerate()
            .map(|(i, device)| {
                lesson
                    .arguments
                    .iter()
                    .map(|it| it.buffer(i, device))
                    .collect()
            })
            .collect();
        for (input, argument) in loaded.signature().inputs().iter().zip(&lesson.arguments) {
            let donated = !matches!(input.donation(), Donation::None);
            assert_eq!(donated, argument.donated, "{name}, {:?}", argument.name);
        }
        let outputs = loaded.run_per_device(arguments).expect("runs");
        for (position, outputs) in outputs.iter().enumerate() {
            for (output, wanted) in outputs.iter().zip(&lesson.results) {
                if wanted.dtype != "f32" {
                    continue;
                }
                let wanted = wanted.f32(position);
                for (got, wanted) in values(output).iter().zip(wanted) {
                    let deviation = (got - wanted).abs() / wanted.abs().max(1.);
                    assert!(deviation <= 1e-5, "{name}: {got} instead of {wanted}");
                }
            }
        }
    }
}

#[test]
fn what_was_made_elsewhere_is_refused_by_name() {
    let client = client(2);
    let kept = Kept::of(&compiled(&client, "sgd_step"));
    client
        .deserialize(&kept.bytes())
        .expect("as it was written");
    // A second `maker` counts in the fields that it has.
    client
        .deserialize(&kept.clone().with(1, &text(1, "cpu")).bytes())
        .expect("nothing else");
    let (_, minor) = client.plugin().api_version();
    let other = format!("PJRT API: 0.{}", minor + 1);
    let here = format!("this is 0.{minor}");
    let build = [&[0x29][..], &[7; 8]].concat();
    let cases: [(Vec<u8>, &[&str]); 5] = [
        (text(1, "cuda"), &["another platform: cuda", "this is cpu"]),
        (text(2, "v9"), &["another platform version: v9", "this is"]),
        (
            number(4, minor as u64 + 1),
            &["another plugin version", &other, &here],
        ),
        (build, &["another build of the plugin: 0707070707070707"]),
        (text(6, "z80"), &["another processor: z80"]),
    ];
    for (maker, words) in cases {
        let bytes = kept.clone().with(1, &maker).bytes();
        refused(&client, &bytes, Code::FailedPrecondition, words);
        // That it is for elsewhere comes before that it is damaged.
        refused(
            &client,
            &bytes[..bytes.len() - 1],
            Code::FailedPrecondition,
            words,
        );
        ExecutableHeader::verify(&bytes).expect("whole, though for elsewhere");
    }
}

#[test]
fn too_few_devices_are_told() {
    let four = client(4);
    let two = client(2);
    let kept = compiled(&four, "sgd_replicas_4")
        .serialize()
        .expect("bytes");
    let words = [
        "4 devices",
        "[0, 1, 2, 3]",
        "the client has 2",
        "cpu_device_count",
    ];
    refused(&two, &kept, Code::FailedPrecondition, &words);
    let last = CompileOptions::new().device(&device(&four, 3));
    let kept = four.compile(&program("add"), &last).expect("compiles");
    let kept = kept.serialize().expect("bytes");
    let words = ["1 device", "[3]", "the client has 2"];
    refused(&two, &kept, Code::FailedPrecondition, &words);
    four.deserialize(&kept).expect("there it is");
    // More devices than there were are no hindrance.
    let kept = compiled(&two, "add").serialize().expect("bytes");
    let add = four.deserialize(&kept).expect("device 0 is there");
    let x = vector(&device(&four, 0), &[1., 2., 3., 4.]);
    let sum = add.run((&x, &x)).expect("runs").into_single().expect("one");
    assert_eq!(values(&sum), [2., 4., 6., 8.]);
}

#[test]
fn other_formats_are_refused_by_number() {
    let client = client(1);
    let kept = Kept::of(&compiled(&client, "add"));
    assert_eq!(kept.begin, b"xlapjrt\x02");
    for (format, words) in [
        (3, ["format 3", "newer"]),
        (255, ["format 255", "newer"]),
        (1, ["format 1", "older"]),
    ] {
        let mut other = kept.clone();
        other.begin[7] = format;
        refused(&client, &other.bytes(), Code::FailedPrecondition, &words);
        let error = ExecutableHeader::read(&other.bytes()).expect_err("another format");
        assert!(error.message().contains(words[1]), "{error}");
    }
}

/// The bond of a header, written down a second time: the checksum of what it says of the plugin's
/// bytes and of the program.
fn bond(header: &[u8]) -> Vec<u8> {
    let header = fields(header);
    let last = |fields: &[(u32, Field)], tag: u32| {
        let found = fields.iter().rev().find(|(known, _)| *known == tag);
        found.map(|(_, field)| field.clone())
    };
    let number = |fields: &[(u32, Field)], tag: u32| match last(fields, tag) {
        Some(Field::Number(number)) => number,
        _ => 0,
    };
    let Some(Field::Bytes(program)) = last(&header, 3) else {
        panic!("no program")
    };
    let program = fields(&program);
    let Some(Field::Bytes(module)) = last(&program, 4) else {
        panic!("no module")
    };
    let all = [
        number(&header, 6),
        number(&header, 7),
        number(&program, 1),
        number(&program, 2),
        number(&program, 3),
        module.len() as u64,
        checksum(&module),
        0, // no output is an input
    ];
    let all: Vec<u8> = all.into_iter().flat_map(u64::to_le_bytes).collect();
    checksum(&all).to_le_bytes().to_vec()
}

#[derive(Clone)]
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

/// The fields of a message.
fn fields(mut message: &[u8]) -> Vec<(u32, Field)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let (tag, wire) = decode_key(&mut message).expect("a key");
        let field = match wire {
            WireType::Varint => Field::Number(decode_varint(&mut message).expect("a number")),
            WireType::SixtyFourBit => {
                let (number, rest) = message.split_at(8);
                message = rest;
                Field::Number(u64::from_le_bytes(number.try_into().expect("eight")))
            }
            WireType::LengthDelimited => {
                let length = decode_varint(&mut message).expect("a length") as usize;
                let (bytes, rest) = message.split_at(length);
                message = rest;
                Field::Bytes(bytes.to_vec())
            }
            other => panic!("{other:?}"),
        };
        fields.push((tag, field));
    }
    fields
}

/// Where the header proves to belong to the plugin's bytes the loaded program isn't read, but what
/// a launch makes room for is asked all the same.
#[test]
fn a_header_that_lies_about_the_outputs_is_refused() {
    let client = client(2);
    let one = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %y = stablehlo.add %x, %x : tensor<2xf32>
        return %y : tensor<2xf32> }";
    let two = "func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
        %y = stablehlo.add %x, %x : tensor<2xf32>
        %z = stablehlo.multiply %x, %x : tensor<2xf32>
        return %y, %z : tensor<2xf32>, tensor<2xf32> }";
    let one = Kept::of(&compiled_text(&client, one));
    let two = Kept::of(&compiled_text(&client, two));
    let bound = |kept: Kept| {
        let bond = bond(&kept.header);
        let mut kept = kept;
        encode_key(10, WireType::SixtyFourBit, &mut kept.header);
        kept.header.extend_from_slice(&bond);
        kept.bytes()
    };
    // Its own, as it was written.
    assert_eq!(one.header[one.header.len() - 8..], bond(&one.header));
    client.deserialize(&bound(one.clone())).expect("its own");
    for (header, payload) in [(&one, &two), (&two, &one)] {
        let forged = bound(header.clone().with_payload(&payload.payload));
        ExecutableHeader::verify(&forged).expect("all checksums fit");
        let error = client.deserialize(&forged).expect_err("another program");
        assert_eq!(error.code(), Code::DataLoss, "{error}");
        let outputs = if payload.payload == two.payload {
            "2 outputs"
        } else {
            "1 output"
        };
        assert!(error.message().contains(outputs), "{error}");
    }
}

#[test]
fn what_was_kept_says_which_outputs_are_inputs() {
    let client = client(1);
    let program =
        "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
        %z = stablehlo.add %x, %y : tensor<2xf32>
        return %z, %y : tensor<2xf32>, tensor<2xf32> }";
    let executable = compiled_text(&client, program);
    let bytes = executable.serialize().expect("bytes");
    let loaded = client.deserialize(&bytes).expect("loads");
    let again = client
        .deserialize(&loaded.serialize().expect("bytes"))
        .expect("loads");
    let header = ExecutableHeader::read(&bytes).expect("a header");
    let signatures = [
        executable.signature(),
        loaded.signature(),
        again.signature(),
        header.signature(),
    ];
    for signature in signatures {
        let returned: Vec<Option<usize>> = signature
            .outputs()
            .iter()
            .map(|output| output.returned_input())
            .collect();
        assert_eq!(returned, [None, Some(1)]);
    }
}

#[test]
fn a_payload_of_another_program_is_not_taken() {
    let client = client(1);
    let add = Kept::of(&compiled(&client, "add"));
    let step = Kept::of(&compiled(&client, "sgd_step"));
    let forged = step.clone().with_payload(&add.payload).bytes();
    ExecutableHeader::verify(&forged).expect("all checksums fit");
    let error = client
        .deserialize(&forged)
        .expect_err("it is another program");
    assert_eq!(error.code(), Code::DataLoss, "{error}");
    assert!(error.message().contains("signature"), "{error}");
    // The same program without its donation has the same shapes.
    let donor = "module @same { func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {
        %y = stablehlo.add %x, %x : tensor<2xf32>
        return %y : tensor<2xf32> } }";
    let lender = donor.replace(" {tf.aliasing_output = 0 : i32}", "");
    let donor = Kept::of(&compiled_text(&client, donor));
    let lender = Kept::of(&compiled_text(&client, &lender));
    for (header, payload) in [(&donor, &lender), (&lender, &donor)] {
        let forged = header.clone().with_payload(&payload.payload).bytes();
        let error = client
            .deserialize(&forged)
            .expect_err("it donates otherwise");
        assert_eq!(error.code(), Code::DataLoss, "{error}");
    }
    let whole = donor.clone().with_payload(&donor.payload).bytes();
    client.deserialize(&whole).expect("its own");
}

#[test]
fn what_is_damaged_is_refused_before_the_plugin_sees_it() {
    let client = client(1);
    let kept = Kept::of(&compiled(&client, "sgd_step"));
    let whole = kept.bytes();
    let (size, payload) = (whole.len(), whole.len() - kept.payload.len());
    let refused = |bytes: &[u8], what: String| {
        let Err(error) = client.deserialize(bytes) else {
            panic!("{what} was not refused");
        };
        assert_eq!(error.function(), None, "{what} reached the plugin: {error}");
        let codes = [Code::DataLoss, Code::FailedPrecondition];
        assert!(codes.contains(&error.code()), "{what}: {error}");
        assert!(ExecutableHeader::verify(bytes).is_err(), "{what} verified");
        error
    };
    // All of magic, format, length, checksum and header; of the payload begin, end and some.
    let places = || {
        (0..payload + 64)
            .chain((payload..size).step_by(97))
            .chain(size - 16..size)
    };
    for cut in places() {
        let error = refused(&whole[..cut], format!("a cut at {cut} of {size}"));
        let early = ["end early", "ends early"];
        assert!(
            early.iter().any(|it| error.message().contains(it)),
            "{cut}: {error}"
        );
    }
    let mut damaged = whole.clone();
    for place in places() {
        for bit in [0, 3, 7] {
            damaged[place] ^= 1 << bit;
            let error = refused(&damaged, format!("bit {bit} of byte {place} of {size}"));
            let reason = match place {
                0..=6 => "don't begin",
                7 => "format",
                8..=11 => "", // the checksum, early, or absurd: by the bit
                _ if place < payload => "header's checksum",
                _ => "checksum of the plugin's bytes",
            };
            assert!(error.message().contains(reason), "byte {place}: {error}");
            damaged[place] ^= 1 << bit;
        }
    }
    damaged.push(0);
    let error = refused(&damaged, "a byte more".to_owned());
    assert!(error.message().contains("too long"), "{error}");
    refused(b"ELF", "something else".to_owned());
    client.deserialize(&whole).expect("whole, it loads");
}

#[test]
fn a_header_that_lacks_something_is_refused() {
    let client = client(1);
    let kept = Kept::of(&compiled(&client, "add"));
    let empty = Kept {
        header: Vec::new(),
        ..kept.clone()
    };
    refused(
        &client,
        &empty.bytes(),
        Code::DataLoss,
        &["header", "no program"],
    );
    for (tag, count) in [(1, 0), (2, 0), (1, u64::MAX), (2, 1 << 40)] {
        let bytes = kept.clone().with(3, &number(tag, count)).bytes();
        refused(
            &client,
            &bytes,
            Code::DataLoss,
            &["replicas of", &count.to_string()],
        );
    }
}

/// Numbers that look random, the same on each run (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[test]
fn random_bytes_never_panic() {
    let client = client(1);
    let kept = Kept::of(&compiled(&client, "sgd_step"));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..4000 {
        let mut other = kept.clone();
        let mut bytes: Vec<u8> = (0..random.next() % 300)
            .map(|_| random.next() as u8)
            .collect();
        if round % 4 > 0 {
            // Damaged here and there, and its checksum fits: a header that is read.
            for _ in 0..1 + random.next() % 4 {
                let place = random.next() as usize % other.header.len();
                other.header[place] = random.next() as u8;
            }
            if round % 4 == 2 {
                other
                    .header
                    .truncate(random.next() as usize % other.header.len());
            }
            if round % 4 == 3 {
                other.header = bytes;
            }
            bytes = other.bytes();
        }
        if let Ok(header) = ExecutableHeader::read(&bytes) {
            // All that it says can be shown.
            let _ = format!("{header} {header:?}");
            let signature = header.signature();
            for input in 0..signature.inputs().len() {
                let _ = signature.why_unused(input);
            }
        }
    }
}
