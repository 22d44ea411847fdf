//! Element types: every one goes to the device and back with the bits that it had, and
//! means there what it means here.

mod cpu;
mod hlo;

use cpu::{api_minor, client, compiled_text, device};
use xla::{
    bf16, f16, Buffer, Client, Code, Complex, Element, ElementType, Error, Executable, Shape,
    F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
};

/// The element type's name in MLIR.
fn mlir(element_type: ElementType) -> String {
    let name = element_type.name();
    match element_type {
        ElementType::Pred => "i1".to_owned(),
        ElementType::C64 => "complex<f32>".to_owned(),
        ElementType::C128 => "complex<f64>".to_owned(),
        _ if name.starts_with('s') => name.replacen('s', "i", 1),
        _ if name.starts_with('u') => name.replacen('u', "ui", 1),
        _ if element_type.bits() <= 8 => format!("f{}", name[1..].to_uppercase()),
        _ => name.to_owned(),
    }
}

/// A program that returns its only argument.
fn identity(client: &Client, element_type: ElementType, dims: &str) -> Executable {
    let tensor = format!("tensor<{dims}{}>", mlir(element_type));
    compiled_text(
        client,
        &format!("func.func @main(%x: {tensor}) -> {tensor} {{ return %x : {tensor} }}"),
    )
}

/// A program of one operation on vectors of `count` elements.
fn operation(
    client: &Client,
    name: &str,
    arguments: &[ElementType],
    result: ElementType,
    count: usize,
) -> Executable {
    let tensor = |of: &ElementType| format!("tensor<{count}x{}>", mlir(*of));
    let types: Vec<String> = arguments.iter().map(tensor).collect();
    let numbered = types.iter().enumerate();
    let list: Vec<String> = numbered.map(|(i, of)| format!("%x{i}: {of}")).collect();
    let names: Vec<String> = (0..types.len()).map(|i| format!("%x{i}")).collect();
    let (list, names, types) = (list.join(", "), names.join(", "), types.join(", "));
    let result = tensor(&result);
    compiled_text(
        client,
        &format!(
            "func.func @main({list}) -> {result} {{ %y = \"stablehlo.{name}\"({names}) : ({types}) \
             -> {result} return %y : {result} }}"
        ),
    )
}

#[track_caller]
fn refused<T>(outcome: Result<T, Error>, parts: &[&str]) -> Error {
    let error = match outcome {
        Err(error) => error,
        Ok(_) => panic!("this was not refused: {parts:?}"),
    };
    for part in parts {
        assert!(error.message().contains(part), "no `{part}` in: {error}");
    }
    error
}

/// Sends values to the device and through a program, and compares all ways of reading
/// them with the bytes that they consist of.
fn there_and_back<T: Element>(values: [T; 3], bytes: impl Fn(T) -> Vec<u8>) {
    let client = client(1);
    let device = device(&client, 0);
    let bytes_of = |values: &[T]| values.iter().flat_map(|value| bytes(*value)).collect();
    let expected: Vec<u8> = bytes_of(&values);
    let shape = Shape::of::<T>(&[3]).expect("small");
    assert_eq!(expected.len(), shape.byte_size(), "{shape}");

    let sent = Buffer::from_host(&device, &values, &[3]).expect("room");
    assert_eq!(*sent.shape(), shape);
    assert_eq!(sent.element_type(), T::TYPE);
    let as_bytes = Buffer::from_bytes(&device, &expected, &shape).expect("room");
    let program = identity(&client, T::TYPE, "3x");
    assert_eq!(*program.signature().inputs()[0].shape(), shape);
    assert_eq!(*program.signature().outputs()[0].shape(), shape);
    let returned = program.run(&sent).expect("a run");
    let returned = returned.into_single().expect("one output");
    assert_eq!(*returned.shape(), shape);

    for buffer in [&sent, &as_bytes, &returned] {
        assert_eq!(buffer.to_bytes().expect("bytes"), expected, "{shape}");
        let read = buffer.to_host::<T>().expect("values");
        assert_eq!(bytes_of(&read), expected, "{shape}");
        let later = buffer.to_host_async::<T>().expect("a read");
        assert_eq!(bytes_of(&later.wait().expect("values")), expected);
        let mut into = [values[2]; 3];
        buffer.read_into(&mut into).expect("values");
        assert_eq!(bytes_of(&into), expected, "{shape}");
        let copy = buffer.copy_on_device().expect("room");
        assert_eq!(copy.to_bytes().expect("bytes"), expected, "{shape}");
    }
    let scalar = Buffer::scalar(&device, values[1]).expect("room");
    assert_eq!(scalar.dims(), [0usize; 0]);
    let read = scalar.to_scalar::<T>().expect("one value");
    assert_eq!(bytes(read), bytes(values[1]), "{shape}");
}

macro_rules! there_and_back {
    ($($test:ident: $values:expr, |$value:ident| $bytes:expr;)*) => {$(
        #[test]
        fn $test() {
            there_and_back($values, |$value| Vec::from($bytes));
        }
    )*};
}

there_and_back! {
    bool_values: [true, false, true], |x| [u8::from(x)];
    i8_values: [1i8, -2, i8::MIN], |x| x.to_ne_bytes();
    i16_values: [1i16, -2, i16::MIN], |x| x.to_ne_bytes();
    i32_values: [1i32, -2, i32::MIN], |x| x.to_ne_bytes();
    i64_values: [1i64, -2, i64::MIN], |x| x.to_ne_bytes();
    u8_values: [1u8, 0x80, u8::MAX], |x| x.to_ne_bytes();
    u16_values: [1u16, 0x8000, u16::MAX], |x| x.to_ne_bytes();
    u32_values: [1u32, 0x8000_0000, u32::MAX], |x| x.to_ne_bytes();
    u64_values: [1u64, 1 << 63, u64::MAX], |x| x.to_ne_bytes();
    // NaNs with a payload, quiet and signalling, and a negative zero.
    f16_values: [f16::from_bits(0x7e55), f16::from_bits(0xfd55), f16::from_bits(0x8000)], |x| x.to_ne_bytes();
    bf16_values: [bf16::from_bits(0x7fd5), bf16::from_bits(0xff95), bf16::from_bits(0x8000)], |x| x.to_ne_bytes();
    f32_values: [f32::from_bits(0x7fc0_1234), f32::from_bits(0xff81_2345), -0.0], |x| x.to_ne_bytes();
    f64_values: [f64::from_bits(0x7ff8_0000_0000_1234), f64::MIN_POSITIVE / 4.0, -0.0], |x| x.to_ne_bytes();
    c64_values: [Complex::new(1f32, -2.0), Complex::new(f32::INFINITY, -0.0), Complex::new(0.5, 3.0)],
        |x| [x.re.to_ne_bytes(), x.im.to_ne_bytes()].concat();
    c128_values: [Complex::new(1f64, -2.0), Complex::new(f64::INFINITY, -0.0), Complex::new(0.5, 3.0)],
        |x| [x.re.to_ne_bytes(), x.im.to_ne_bytes()].concat();
    f8e3m4_values: [0x01, 0x80, 0xff].map(F8E3M4::from_bits), |x| [x.to_bits()];
    f8e4m3_values: [0x01, 0x80, 0xff].map(F8E4M3::from_bits), |x| [x.to_bits()];
    f8e4m3fn_values: [0x01, 0x80, 0xff].map(F8E4M3FN::from_bits), |x| [x.to_bits()];
    f8e4m3fnuz_values: [0x01, 0x80, 0xff].map(F8E4M3FNUZ::from_bits), |x| [x.to_bits()];
    f8e4m3b11fnuz_values: [0x01, 0x80, 0xff].map(F8E4M3B11FNUZ::from_bits), |x| [x.to_bits()];
    f8e5m2_values: [0x01, 0x80, 0xff].map(F8E5M2::from_bits), |x| [x.to_bits()];
    f8e5m2fnuz_values: [0x01, 0x80, 0xff].map(F8E5M2FNUZ::from_bits), |x| [x.to_bits()];
    f8e8m0fnu_values: [0x01, 0x80, 0xff].map(F8E8M0FNU::from_bits), |x| [x.to_bits()];
    f4e2m1fn_values: [0x1, 0x8, 0xf].map(F4E2M1FN::from_bits), |x| [x.to_bits()];
}

/// Every type goes through bytes, also those that have no Rust type, and a plugin that
/// is older than a type says so.
#[test]
fn every_type_goes_through_bytes() {
    let client = client(1);
    let device = device(&client, 0);
    let minor = api_minor(&client);
    for element_type in ElementType::ALL {
        let shape = Shape::new(*element_type, &[2, 2]).expect("small");
        // Bits that any type has in its low ones.
        let bytes: Vec<u8> = (0..shape.byte_size())
            .map(|i| u8::from(i % 3 == 0))
            .collect();
        let sent = Buffer::from_bytes(&device, &bytes, &shape);
        let (name, since) = match element_type {
            ElementType::Token => {
                let error = refused(sent, &["token"]);
                assert_eq!(error.code(), Code::InvalidArgument);
                assert_eq!(error.function(), None);
                continue;
            }
            ElementType::S1 | ElementType::U1 => (element_type.name(), 106),
            ElementType::F6E2M3FN | ElementType::F6E3M2FN => (element_type.name(), 114),
            _ => (element_type.name(), 0),
        };
        if minor < since {
            // Told a number that it doesn't know, the plugin would end the process.
            let error = refused(sent, &[name, &format!("PJRT API 0.{minor}")]);
            assert_eq!(error.code(), Code::Unimplemented);
            assert_eq!(error.function(), None);
            continue;
        }
        let sent = sent.expect(name);
        assert_eq!(sent.to_bytes().expect(name), bytes, "{name}");
        assert_eq!(sent.shape().to_string(), format!("{name}[2,2]"));
        let copy = sent.copy_on_device().expect(name);
        assert_eq!(copy.to_bytes().expect(name), bytes, "{name}");

        // Narrow ones are packed on the device.
        let packed = match element_type.bits() {
            1 | 2 => 1,
            4 => 2,
            // Not the 3 bytes that 4 x 6 bits would fit into.
            6 => 4,
            bits => 4 * bits / 8,
        };
        assert_eq!(sent.on_device_size().expect(name), packed, "{name}");

        // StableHLO has no integers of one bit: its `i1` is a truth value.
        if !matches!(element_type, ElementType::S1 | ElementType::U1) {
            let program = identity(&client, *element_type, "2x2x");
            let returned = program.run(&sent).expect(name);
            assert_eq!(returned[0].to_bytes().expect(name), bytes, "{name}");
        }
    }
}

#[test]
fn narrow_types_have_their_bits_in_the_low_ones() {
    let client = client(1);
    let device = device(&client, 0);
    let as_numbers = |element_type: ElementType, bytes: &[u8]| -> (Vec<u8>, Vec<i32>) {
        let shape = Shape::new(element_type, &[bytes.len()]).expect("small");
        let sent = Buffer::from_bytes(&device, bytes, &shape).expect("room");
        let convert = operation(
            &client,
            "convert",
            &[element_type],
            ElementType::S32,
            bytes.len(),
        );
        let numbers = convert.run(&sent).expect("a run");
        (
            sent.to_bytes().expect("bytes"),
            numbers[0].to_host().expect("numbers"),
        )
    };
    // What stands in the upper bits means nothing, and comes back as zeros.
    let (bytes, numbers) = as_numbers(ElementType::S4, &[0x7, 0x8, 0xf, 0xff, 0xf8, 0x13]);
    assert_eq!(bytes, [0x7, 0x8, 0xf, 0xf, 0x8, 0x3]);
    assert_eq!(numbers, [7, -8, -1, -1, -8, 3]);
    let (bytes, numbers) = as_numbers(ElementType::U4, &[0x7, 0x8, 0xf, 0xff, 0x10]);
    assert_eq!(bytes, [0x7, 0x8, 0xf, 0xf, 0x0]);
    assert_eq!(numbers, [7, 8, 15, 15, 0]);
    let (bytes, numbers) = as_numbers(ElementType::S2, &[0, 1, 2, 3, 0xff]);
    assert_eq!(bytes, [0, 1, 2, 3, 3]);
    assert_eq!(numbers, [0, 1, -2, -1, -1]);
    let (bytes, numbers) = as_numbers(ElementType::U2, &[0, 1, 2, 3, 0xfe]);
    assert_eq!(bytes, [0, 1, 2, 3, 2]);
    assert_eq!(numbers, [0, 1, 2, 3, 2]);
}

#[test]
fn narrow_integers_wrap() {
    let client = client(1);
    let device = device(&client, 0);
    for (element_type, bytes, doubled) in [
        // 7 + 7 is -2, -8 + -8 is 0, -1 + -1 is -2, 3 + 3 is 6.
        (ElementType::S4, [0x7, 0x8, 0xf, 0x3], [0xe, 0x0, 0xe, 0x6]),
        (ElementType::U4, [0x7, 0x8, 0xf, 0x3], [0xe, 0x0, 0xe, 0x6]),
        (ElementType::S2, [0, 1, 2, 3], [0, 2, 0, 2]),
        (ElementType::U2, [0, 1, 2, 3], [0, 2, 0, 2]),
    ] {
        let shape = Shape::new(element_type, &[4]).expect("small");
        let x = Buffer::from_bytes(&device, &bytes, &shape).expect("room");
        let add = operation(&client, "add", &[element_type; 2], element_type, 4);
        let sum = add.run((&x, &x)).expect("a run");
        assert_eq!(sum[0].to_bytes().expect("bytes"), doubled, "{element_type}");
    }
}

/// Runs an operation on one argument.
fn unary<T: Element, U: Element>(name: &str, x: &[T]) -> Vec<U> {
    let client = client(1);
    let device = device(&client, 0);
    let program = operation(&client, name, &[T::TYPE], U::TYPE, x.len());
    let x = Buffer::from_host(&device, x, &[x.len()]).expect("room");
    let result = program.run(x).expect("a run");
    result[0].to_host().expect("values")
}

/// Runs an operation on two arguments.
fn binary<T: Element>(name: &str, x: &[T], y: &[T]) -> Vec<T> {
    let client = client(1);
    let device = device(&client, 0);
    let program = operation(&client, name, &[T::TYPE; 2], T::TYPE, x.len());
    let x = Buffer::from_host(&device, x, &[x.len()]).expect("room");
    let y = Buffer::from_host(&device, y, &[y.len()]).expect("room");
    let result = program.run((x, y)).expect("a run");
    result[0].to_host().expect("values")
}

#[test]
fn integers_are_computed_with() {
    assert_eq!(unary::<i8, i8>("negate", &[1, -2, -128]), [-1, 2, -128]);
    assert_eq!(
        unary::<i16, i16>("negate", &[1, -2, -32768]),
        [-1, 2, -32768]
    );
    assert_eq!(unary::<i32, i32>("negate", &[7, i32::MIN]), [-7, i32::MIN]);
    assert_eq!(unary::<i64, i64>("negate", &[7, i64::MIN]), [-7, i64::MIN]);
    assert_eq!(binary("add", &[200u8, 255], &[55, 1]), [255, 0]);
    assert_eq!(binary("add", &[65535u16, 40000], &[2, 2]), [1, 40002]);
    assert_eq!(
        binary("add", &[u32::MAX, 1 << 31], &[2, 1]),
        [1, 0x8000_0001]
    );
    assert_eq!(
        binary("add", &[u64::MAX, 1 << 63], &[2, 1]),
        [1, (1 << 63) + 1]
    );
    // Signed or not is part of the type.
    assert_eq!(binary("divide", &[-7i32], &[2]), [-3]);
    assert_eq!(binary("divide", &[u32::MAX - 6], &[2]), [0x7fff_fffc]);
}

#[test]
fn truth_values_are_computed_with() {
    let not = unary::<bool, bool>("not", &[true, false, true]);
    assert_eq!(not, [false, true, false]);
    let and = binary("and", &[true, true, false], &[true, false, false]);
    assert_eq!(and, [true, false, false]);
    let as_numbers = unary::<bool, f32>("convert", &[true, false]);
    assert_eq!(as_numbers, [1.0, 0.0]);
    let from_numbers = unary::<f32, bool>("convert", &[0.5, 0.0, -3.0]);
    assert_eq!(from_numbers, [true, false, true]);
}

#[test]
fn floats_are_computed_with() {
    assert_eq!(
        binary("multiply", &[1.5f32, -0.1], &[2.25, 0.5]),
        [3.375, -0.05]
    );
    assert_eq!(
        binary("multiply", &[1.5f64, 1e200], &[2.25, 1e200]),
        [3.375, f64::INFINITY]
    );
    // 1/3 is rounded to 53 bits.
    assert_eq!(binary("divide", &[1f64], &[3.0]), [1.0 / 3.0]);

    let half = f16::from_f32;
    assert_eq!(
        binary(
            "add",
            // Odd numbers above 2048 aren't there: 2049 is halfway and goes to the even one.
            &[half(1.5), half(2048.0), half(2048.0), half(65504.0)],
            &[half(0.25), half(1.0), half(3.0), half(65504.0)],
        ),
        [half(1.75), half(2048.0), half(2052.0), f16::INFINITY]
    );
    let brain = bf16::from_f32;
    assert_eq!(
        binary(
            "add",
            // The same above 256.
            &[brain(1.5), brain(256.0), brain(256.0), brain(-1.0)],
            &[brain(0.25), brain(1.0), brain(3.0), brain(1.0)],
        ),
        [brain(1.75), brain(256.0), brain(260.0), brain(0.0)]
    );
    assert_eq!(unary::<f16, f32>("convert", &[half(0.1)]), [0.099_975_586]);
    assert_eq!(
        unary::<bf16, f32>("convert", &[brain(0.1)]),
        [0.100_097_656]
    );
}

#[test]
fn complex_numbers_are_computed_with() {
    let x = [Complex::new(1f32, 2.0), Complex::new(0.0, 1.0)];
    let y = [Complex::new(3f32, 4.0), Complex::new(0.0, 1.0)];
    // (1 + 2i)(3 + 4i) is 3 + 10i - 8, and i squared is -1.
    assert_eq!(
        binary("multiply", &x, &y),
        [Complex::new(-5f32, 10.0), Complex::new(-1.0, 0.0)]
    );
    assert_eq!(unary::<_, f32>("imag", &x), [2.0, 1.0]);
    assert_eq!(unary::<_, f32>("real", &y), [3.0, 0.0]);
    let wide = [Complex::new(1f64, -2.0)];
    assert_eq!(binary("add", &wide, &wide), [Complex::new(2f64, -4.0)]);
    assert_eq!(unary::<_, f64>("imag", &wide), [-2.0]);
}

/// What each pattern of a small float means, by the device's account and by ours; and
/// that the device makes the same pattern of the number again.
macro_rules! small_floats {
    ($($test:ident: $type:ident $patterns:literal;)*) => {$(
        #[test]
        fn $test() {
            let all: Vec<$type> = (0..$patterns).map(|bits: u16| $type::from_bits(bits as u8)).collect();
            let numbers = unary::<$type, f32>("convert", &all);
            for (ours, theirs) in all.iter().zip(&numbers) {
                let (bits, ours) = (ours.to_bits(), ours.to_f32());
                assert!(
                    ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()),
                    "{bits:#04x}: {ours} here, {theirs} there"
                );
            }
            let finite: Vec<f32> = numbers.into_iter().filter(|x| x.is_finite()).collect();
            let again = unary::<f32, $type>("convert", &finite);
            for (number, theirs) in finite.iter().zip(again) {
                let ours = $type::from_f32(*number);
                assert_eq!(ours.to_bits(), theirs.to_bits(), "{number}");
            }
        }
    )*};
}

small_floats! {
    f8e3m4_means_the_same: F8E3M4 256;
    f8e4m3_means_the_same: F8E4M3 256;
    f8e4m3fn_means_the_same: F8E4M3FN 256;
    f8e4m3fnuz_means_the_same: F8E4M3FNUZ 256;
    f8e4m3b11fnuz_means_the_same: F8E4M3B11FNUZ 256;
    f8e5m2_means_the_same: F8E5M2 256;
    f8e5m2fnuz_means_the_same: F8E5M2FNUZ 256;
    f8e8m0fnu_means_the_same: F8E8M0FNU 256;
    f4e2m1fn_means_the_same: F4E2M1FN 16;
}

/// Halfway between two neighbours the even one is taken, here and there. 100 is more than
/// the largest number of two of them.
#[test]
fn small_floats_are_rounded_alike() {
    let numbers = [1.0625f32, 1.1875, -1.3125, 0.3, 3.3, 100.0, 0.01, 0.002];
    macro_rules! rounded {
        ($($type:ident)*) => {$({
            let theirs = unary::<f32, $type>("convert", &numbers);
            let ours = numbers.map($type::from_f32);
            for ((number, ours), theirs) in numbers.iter().zip(ours).zip(theirs) {
                assert_eq!(ours.to_bits(), theirs.to_bits(), "{} of {number}", stringify!($type));
            }
        })*};
    }
    rounded!(F8E3M4 F8E4M3 F8E4M3FN F8E4M3FNUZ F8E4M3B11FNUZ F8E5M2 F8E5M2FNUZ);
}

#[test]
fn bytes_that_are_no_truth_value_do_not_get_in() {
    let client = client(1);
    let device = device(&client, 0);
    let shape = Shape::of::<bool>(&[4]).expect("small");
    for (bytes, parts) in [
        ([0, 1, 2, 0], ["byte 2", "is 2"]),
        ([255, 1, 0, 0], ["byte 0", "is 255"]),
    ] {
        let error = refused(Buffer::from_bytes(&device, &bytes, &shape), &parts);
        assert_eq!(error.code(), Code::InvalidArgument);
        assert_eq!(error.function(), None);
    }
}

#[test]
fn bytes_that_are_no_truth_value_do_not_get_out_as_one() {
    let client = client(1);
    let device = device(&client, 0);
    let program = xla::Program::from_hlo(bytes_as_truth_values()).expect("a module");
    let program = client.compile(&program, &xla::CompileOptions::new());
    if api_minor(&client) == 81 {
        // It knows no way to take other bytes for truth values.
        let error = refused(
            program,
            &["Expected instruction to have shape equal to pred[4,8]"],
        );
        assert_eq!(error.function(), Some("PJRT_Client_Compile"));
        return;
    }
    let program = program.expect("a program");
    let result = |bytes: [u8; 4]| {
        let bytes = Buffer::from_host(&device, &bytes, &[4]).expect("room");
        let result = program.run(bytes).expect("a run");
        result.into_single().expect("one output")
    };
    let good = result([0, 1, 1, 0]);
    assert_eq!(
        good.to_host::<bool>().expect("truths"),
        [false, true, true, false]
    );

    let bad = result([0, 1, 2, 255]);
    assert_eq!(bad.element_type(), ElementType::Pred);
    let parts = ["element 2", "the byte 2", "to_bytes"];
    let error = refused(bad.to_host::<bool>(), &parts);
    assert_eq!(error.code(), Code::InvalidArgument);
    refused(bad.to_host_async::<bool>().expect("a read").wait(), &parts);
    refused(bad.read_into(&mut [true; 4]), &parts);
    refused(
        result([0, 1, 1, 255]).to_host::<bool>(),
        &["element 3", "the byte 255"],
    );
    // As bytes they may be looked at, and a copy has the same ones.
    assert_eq!(bad.to_bytes().expect("bytes"), [0, 1, 2, 255]);
    let copy = bad.copy_on_device().expect("room");
    assert_eq!(copy.to_bytes().expect("bytes"), [0, 1, 2, 255]);
    refused(copy.to_host::<bool>(), &parts);
    // Programs treat them as they like, and give truth values back.
    let not = operation(&client, "not", &[ElementType::Pred], ElementType::Pred, 4);
    let truths = not.run(&good).expect("a run");
    assert_eq!(
        truths[0].to_host::<bool>().expect("truths"),
        [true, false, false, true]
    );
}

/// A module that takes 4 bytes and gives them back as truth values, which StableHLO has
/// no operation for.
fn bytes_as_truth_values() -> Vec<u8> {
    let (bytes, truths) = (hlo::array(hlo::U8, &[4]), hlo::array(hlo::PRED, &[4]));
    let instructions = [
        hlo::parameter(1, 0, &bytes),
        hlo::instruction(2, "bitcast-convert", &truths, &[1], vec![]),
    ];
    hlo::module("truths", &[bytes], &truths, &instructions, 2)
}

#[test]
fn values_are_read_as_what_they_are_only() {
    let client = client(1);
    let device = device(&client, 0);
    let floats = Buffer::from_host(&device, &[1f32, 2.0], &[2]).expect("room");
    let parts = ["f32[2]", "asked for as s32"];
    let error = refused(floats.to_host::<i32>(), &parts);
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(error.function(), None);
    refused(floats.to_host_async::<i32>(), &parts);
    refused(floats.read_into(&mut [0i32; 2]), &parts);
    // Types of one size are two types.
    refused(floats.to_host::<u32>(), &["u32"]);
    let halves = Buffer::from_host(&device, &[f16::ONE], &[1]).expect("room");
    refused(halves.to_host::<bf16>(), &["f16[1]", "bf16"]);
    refused(halves.to_scalar::<u16>(), &["f16[1]", "u16"]);
    let truths = Buffer::from_host(&device, &[true], &[1]).expect("room");
    refused(truths.to_host::<u8>(), &["pred[1]", "u8"]);
    let bytes = Buffer::from_host(&device, &[1u8], &[1]).expect("room");
    refused(bytes.to_host::<bool>(), &["u8[1]", "pred"]);
    let small = Buffer::from_host(&device, &[F8E4M3::from_f32(1.0)], &[1]).expect("room");
    refused(small.to_host::<F8E4M3FN>(), &["f8e4m3[1]", "f8e4m3fn"]);
}

#[test]
fn counts_have_to_fit() {
    let client = client(1);
    let device = device(&client, 0);
    for (values, dims) in [
        (vec![1f32; 3], &[2usize, 2][..]),
        (vec![1f32; 5], &[2, 2]),
        (vec![], &[2]),
        (vec![], &[]),
        (vec![1f32; 2], &[]),
        (vec![1f32], &[0]),
    ] {
        let given = format!("but {} were given", values.len());
        let error = refused(Buffer::from_host(&device, &values, dims), &[&given]);
        assert_eq!(error.code(), Code::InvalidArgument);
    }
    let shape = Shape::of::<f32>(&[2]).expect("small");
    for count in [0, 7, 9] {
        let bytes = vec![0; count];
        let given = format!("but {count} were given");
        refused(
            Buffer::from_bytes(&device, &bytes, &shape),
            &["f32[2] takes 8 bytes", &given],
        );
    }
    let two = Buffer::from_host(&device, &[1f32, 2.0], &[2]).expect("room");
    refused(
        two.read_into(&mut [0f32; 1]),
        &["f32[2] has 2", "1 were given"],
    );
    refused(
        two.read_into(&mut [0f32; 3]),
        &["f32[2] has 2", "3 were given"],
    );
    refused(two.to_scalar::<f32>(), &["single element", "f32[2] has 2"]);
    let none = Buffer::from_host(&device, &[0f32; 0], &[0]).expect("room");
    refused(none.to_scalar::<f32>(), &["single element", "f32[0] has 0"]);
    // One element is one, whatever its dimensions.
    let one = Buffer::from_host(&device, &[5f32], &[1, 1, 1]).expect("room");
    assert_eq!(one.to_scalar::<f32>().expect("it"), 5.0);
}

#[test]
fn sizes_past_all_numbers_are_refused() {
    let client = client(1);
    let device = device(&client, 0);
    let most = usize::try_from(i64::MAX).expect("64 bits");
    for dims in [
        &[usize::MAX][..],
        &[usize::MAX, 2],
        &[most],
        &[1 << 62],
        &[1 << 32, 1 << 32],
        &[1 << 40, 1 << 40, 0],
        &[most + 1, 0],
    ] {
        let error = refused(Shape::of::<f32>(dims), &["more elements or bytes"]);
        assert_eq!(error.code(), Code::InvalidArgument);
        refused(
            Buffer::from_host(&device, &[1f32], dims),
            &["more elements or bytes"],
        );
    }
    // As bytes they would be few enough.
    assert!(Shape::of::<u8>(&[1 << 62]).is_ok());
    assert!(Shape::of::<u8>(&[most]).is_ok());
    assert!(Shape::of::<i16>(&[most]).is_err());
}

#[test]
fn arrays_without_elements_are_arrays() {
    let client = client(1);
    let device = device(&client, 0);
    for dims in [&[0usize][..], &[2, 0, 3], &[0, 0], &[1 << 40, 0]] {
        let empty = Buffer::from_host(&device, &[0f32; 0], dims).expect("room");
        assert_eq!(empty.dims(), dims);
        assert_eq!(empty.to_host::<f32>().expect("nothing"), [0f32; 0]);
        assert_eq!(empty.to_bytes().expect("nothing"), [0u8; 0]);
        empty.read_into(&mut [0f32; 0]).expect("nothing");
        assert_eq!(empty.on_device_size().expect("a size"), 0);
        let copy = empty.copy_on_device().expect("room");
        assert_eq!(copy.dims(), dims);
    }
    let add = compiled_text(
        &client,
        "func.func @main(%x: tensor<2x0x3xf32>) -> (tensor<2x0x3xf32>, tensor<0xi32>) {
           %y = stablehlo.add %x, %x : tensor<2x0x3xf32>
           %z = stablehlo.constant dense<> : tensor<0xi32>
           return %y, %z : tensor<2x0x3xf32>, tensor<0xi32>
         }",
    );
    let empty = Buffer::from_host(&device, &[0f32; 0], &[2, 0, 3]).expect("room");
    let [y, z] = add.run(empty).expect("a run").into_array().expect("two");
    assert_eq!(y.shape().to_string(), "f32[2,0,3]");
    assert_eq!(y.to_host::<f32>().expect("nothing"), [0f32; 0]);
    assert_eq!(z.to_host::<i32>().expect("nothing"), [0i32; 0]);
    // Other dimensions that hold nothing are other dimensions.
    let other = Buffer::from_host(&device, &[0f32; 0], &[3, 0, 2]).expect("room");
    let error = add.run(&other).expect_err("another shape");
    assert!(error
        .error()
        .message()
        .contains("wanted f32[2,0,3], got f32[3,0,2]"));
}

#[test]
fn arrays_of_many_dimensions_keep_their_order() {
    let client = client(1);
    let device = device(&client, 0);
    let values: Vec<i32> = (0..2 * 3 * 2 * 5 * 2).collect();
    let dims = [2, 3, 1, 2, 5, 2];
    let array = Buffer::from_host(&device, &values, &dims).expect("room");
    assert_eq!(array.dims(), dims);
    assert_eq!(array.to_host::<i32>().expect("values"), values);
    // The element at (1, 2, 0, 1, 4, 0), by the device's own arithmetic:
    // ((((1 * 3 + 2) * 1 + 0) * 2 + 1) * 5 + 4) * 2 + 0.
    let slice = compiled_text(
        &client,
        "func.func @main(%x: tensor<2x3x1x2x5x2xi32>) -> tensor<1x1x1x1x1x1xi32> {
           %y = stablehlo.slice %x [1:2, 2:3, 0:1, 1:2, 4:5, 0:1]
             : (tensor<2x3x1x2x5x2xi32>) -> tensor<1x1x1x1x1x1xi32>
           return %y : tensor<1x1x1x1x1x1xi32>
         }",
    );
    let element = slice.run(&array).expect("a run");
    assert_eq!(element[0].to_scalar::<i32>().expect("one"), 118);
    let deep = Buffer::from_host(&device, &[7f32], &[1; 20]).expect("room");
    assert_eq!(deep.to_scalar::<f32>().expect("one"), 7.0);
}

/// Uploads of every size around the multiples of what machines copy at once.
#[test]
fn sizes_that_are_no_round_number() {
    let client = client(1);
    let device = device(&client, 0);
    for count in (0..130).chain([1023, 1024, 1025, 65_537]) {
        let values: Vec<u8> = (0..count).map(|i| (i % 251) as u8).collect();
        let buffer = Buffer::from_host(&device, &values, &[count]).expect("room");
        assert_eq!(buffer.to_host::<u8>().expect("values"), values, "{count}");
    }
}
