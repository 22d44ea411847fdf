//! Layouts: whatever the order of dimensions in a device's memory, values come and go row
//! by row; and copies of buffers are copies, wherever they lie.

mod cpu;

use cpu::{api_minor, client, compiled, compiled_text, device, program, values, vector};
use xla::{
    Buffer, Client, Code, CompileOptions, Device, Element, ElementType, Error, Executable, Layout,
    Shape, F4E2M1FN,
};

fn layout(minor_to_major: &[usize]) -> Layout {
    Layout::new(minor_to_major).expect("a layout")
}

/// All orders of three dimensions.
fn orders() -> Vec<Layout> {
    let all: [[usize; 3]; 6] = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    all.iter().map(|order| layout(order)).collect()
}

/// A row-major 2x3 matrix.
fn matrix(device: &Device) -> Buffer {
    Buffer::from_host(device, &[1f32, 2., 3., 4., 5., 6.], &[2, 3]).expect("room")
}

/// The same matrix, column after column.
fn columns(device: &Device) -> Buffer {
    let values = [1f32, 2., 3., 4., 5., 6.];
    Buffer::from_host_in_layout(device, &values, &[2, 3], &layout(&[0, 1])).expect("room")
}

/// All ways of reading give these values.
#[track_caller]
fn reads<T: Element + PartialEq + std::fmt::Debug>(buffer: &Buffer, expected: &[T], bytes: &[u8]) {
    assert_eq!(buffer.to_host::<T>().expect("values"), expected);
    let later = buffer.to_host_async::<T>().expect("a read");
    assert_eq!(later.wait().expect("values"), expected);
    let mut into: Vec<T> = expected.iter().rev().copied().collect();
    buffer.read_into(&mut into).expect("values");
    assert_eq!(into, expected);
    assert_eq!(buffer.to_bytes().expect("bytes"), bytes);
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect()
}

#[track_caller]
fn refused<T>(outcome: Result<T, impl Into<Error>>, parts: &[&str]) -> Error {
    let error: Error = match outcome {
        Err(error) => error.into(),
        Ok(_) => panic!("this was not refused: {parts:?}"),
    };
    for part in parts {
        assert!(error.message().contains(part), "no `{part}` in: {error}");
    }
    error
}

/// `x + x` of f32[2,2,3], with the argument and the result in these layouts.
fn doubled(client: &Client, argument: &Layout, result: &Layout) -> Executable {
    compiled_text(
        client,
        &format!(
            "func.func @main(%x: tensor<2x2x3xf32> {{mhlo.layout_mode = \"{argument}\"}})
               -> (tensor<2x2x3xf32> {{mhlo.layout_mode = \"{result}\"}}) {{
               %y = stablehlo.add %x, %x : tensor<2x2x3xf32>
               return %y : tensor<2x2x3xf32>
             }}"
        ),
    )
}

#[test]
fn column_major_output_is_read_row_by_row() {
    let client = client(1);
    let device = device(&client, 0);
    let double = compiled(&client, "column_major");
    let output = &double.signature().outputs()[0];
    assert_eq!(output.layout().minor_to_major(), [0, 1]);
    assert_eq!(output.layout().to_string(), "{0,1}");
    assert!(!output.layout().is_row_major());
    assert!(double.signature().to_string().contains("f32[2,3]{0,1}"));

    let result = double.run(matrix(&device)).expect("a run");
    let result = result.into_single().expect("one output");
    assert_eq!(*result.layout(), layout(&[0, 1]));
    assert_eq!(result.dims(), [2, 3]);
    let expected = [2f32, 4., 6., 8., 10., 12.];
    reads(&result, &expected, &bytes(&expected));
    assert_eq!(result.on_device_size().expect("a size"), 24);
    // What is made of its bytes is the same matrix, in the usual order.
    let again = Buffer::from_bytes(&device, &result.to_bytes().expect("bytes"), result.shape());
    let again = again.expect("room");
    assert!(again.layout().is_row_major());
    reads(&again, &expected, &bytes(&expected));
}

#[test]
fn column_major_output_is_read_row_by_row_while_other_work_goes_on() {
    let client = client(1);
    let device = device(&client, 0);
    let double = compiled(&client, "column_major");
    let x = matrix(&device);
    // Reads that are started before any is finished, of buffers that are gone by then.
    let reads: Vec<_> = (0..20)
        .map(|_| {
            let result = double.run(&x).expect("a run");
            result[0].to_host_async::<f32>().expect("a read")
        })
        .collect();
    for read in reads {
        assert_eq!(read.wait().expect("values"), [2., 4., 6., 8., 10., 12.]);
    }
}

#[test]
fn column_major_argument_is_made_as_such() {
    let client = client(1);
    let device = device(&client, 0);
    let double = compiled(&client, "column_major_argument");
    let input = &double.signature().inputs()[0];
    assert_eq!(input.layout().minor_to_major(), [0, 1]);
    assert!(double.signature().outputs()[0].layout().is_row_major());

    let x = columns(&device);
    assert_eq!(*x.layout(), layout(&[0, 1]));
    let expected = [1f32, 2., 3., 4., 5., 6.];
    reads(&x, &expected, &bytes(&expected));
    let result = double.run(&x).expect("a run");
    let expected = [2f32, 4., 6., 8., 10., 12.];
    reads(&result[0], &expected, &bytes(&expected));

    // The usual order would be taken for the other one: refused by name, not computed.
    let usual = matrix(&device);
    let parts = [
        "argument 0",
        "f32[2,3]",
        "{0,1}",
        "{1,0}",
        "from_host_in_layout",
    ];
    let error = refused(double.run(&usual), &parts);
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(error.function(), None);
    let mut given = double.run(usual).expect_err("refused").into_given();
    assert_eq!(values(&given.remove(0).buffer), [1., 2., 3., 4., 5., 6.]);

    // And the other way round.
    let double = compiled(&client, "column_major");
    let error = refused(double.run(&x), &["argument 0", "{1,0}", "{0,1}"]);
    assert_eq!(error.function(), None);
}

#[test]
fn every_order_of_three_dimensions_is_put_right() {
    let client = client(1);
    let device = device(&client, 0);
    let x: Vec<f32> = (1..=12).map(|i| i as f32).collect();
    let y: Vec<f32> = (1..=12).map(|i| 2.0 * i as f32).collect();
    let usual = Layout::row_major(3);
    for order in orders() {
        let array = Buffer::from_host_in_layout(&device, &x, &[2, 2, 3], &order).expect("room");
        assert_eq!(*array.layout(), order);
        reads(&array, &x, &bytes(&x));

        let double = doubled(&client, &order, &usual);
        assert_eq!(*double.signature().inputs()[0].layout(), order);
        let result = double.run(&array).expect("a run");
        reads(&result[0], &y, &bytes(&y));

        let double = doubled(&client, &usual, &order);
        let array = Buffer::from_host(&device, &x, &[2, 2, 3]).expect("room");
        let result = double.run(&array).expect("a run");
        assert_eq!(*result[0].layout(), order);
        reads(&result[0], &y, &bytes(&y));
    }
}

#[test]
fn wide_and_odd_elements_are_ordered_whole() {
    let client = client(1);
    let device = device(&client, 0);
    let order = layout(&[0, 1]);
    let wide = [1u64 << 40, 2, 3, 4, 5, u64::MAX];
    let array = Buffer::from_host_in_layout(&device, &wide, &[3, 2], &order).expect("room");
    let raw: Vec<u8> = wide.iter().flat_map(|x| x.to_ne_bytes()).collect();
    reads(&array, &wide, &raw);
    let bytes = [1u8, 2, 3, 4, 5, 6];
    let array = Buffer::from_host_in_layout(&device, &bytes, &[3, 2], &order).expect("room");
    reads(&array, &bytes, &bytes);
    let truths = [true, false, false, true, true, false];
    let array = Buffer::from_host_in_layout(&device, &truths, &[3, 2], &order).expect("room");
    reads(&array, &truths, &[1, 0, 0, 1, 1, 0]);
    let pairs: Vec<_> = (0..6)
        .map(|i| xla::Complex::new(f64::from(i), -1.0))
        .collect();
    let array = Buffer::from_host_in_layout(&device, &pairs, &[3, 2], &order).expect("room");
    assert_eq!(array.to_host::<xla::Complex<f64>>().expect("values"), pairs);
}

/// Elements narrower than a byte share bytes on the device; only the oldest plugin can
/// place them in another order from the host. Programs can on all.
#[test]
fn narrow_elements_in_another_order() {
    let client = client(1);
    let device = device(&client, 0);
    let order = layout(&[0, 1]);
    let x = [1u8, 2, 3, 4, 5, 6].map(F4E2M1FN::from_bits);
    let array = Buffer::from_host_in_layout(&device, &x, &[2, 3], &order);
    if api_minor(&client) == 81 {
        let array = array.expect("room");
        assert_eq!(array.to_bytes().expect("bytes"), [1, 2, 3, 4, 5, 6]);
    } else {
        let error = refused(array, &["f4e2m1fn[2,3]"]);
        assert_eq!(error.code(), Code::Unimplemented);
    }
    let usual = Buffer::from_host_in_layout(&device, &x, &[2, 3], &Layout::row_major(2));
    let usual = usual.expect("room");
    assert_eq!(usual.to_bytes().expect("bytes"), [1, 2, 3, 4, 5, 6]);

    let double = compiled_text(
        &client,
        "func.func @main(%x: tensor<2x3xi4>) -> (tensor<2x3xi4> {mhlo.layout_mode = \"{0,1}\"}) {
           %y = stablehlo.add %x, %x : tensor<2x3xi4>
           return %y : tensor<2x3xi4>
         }",
    );
    let shape = Shape::new(ElementType::S4, &[2, 3]).expect("small");
    let x = Buffer::from_bytes(&device, &[1, 2, 3, 0, 0xf, 7], &shape).expect("room");
    let result = double.run(&x).expect("a run");
    assert_eq!(*result[0].layout(), order);
    // -1 and -1 are -2, 7 and 7 as well.
    assert_eq!(result[0].to_bytes().expect("bytes"), [2, 4, 6, 0, 0xe, 0xe]);
}

#[test]
fn layouts_are_checked() {
    let client = client(1);
    let device = device(&client, 0);
    for wrong in [
        &[0usize, 0][..],
        &[1],
        &[1, 2],
        &[0, 1, 3],
        &[usize::MAX, 0],
    ] {
        let error = refused(Layout::new(wrong), &["is no layout"]);
        assert_eq!(error.code(), Code::InvalidArgument);
    }
    assert_eq!(layout(&[]).rank(), 0);
    assert!(layout(&[]).is_row_major());
    assert_eq!(layout(&[1, 0]), Layout::row_major(2));

    let six = [0f32; 6];
    for order in [layout(&[]), layout(&[0]), layout(&[0, 2, 1])] {
        let parts = ["does not order the 2 dimensions", "f32[2,3]"];
        refused(
            Buffer::from_host_in_layout(&device, &six, &[2, 3], &order),
            &parts,
        );
    }
    let order = layout(&[0, 1]);
    refused(
        Buffer::from_host_in_layout(&device, &six, &[2, 2], &order),
        &["f32[2,2] has 4", "6 were given"],
    );
}

#[test]
fn orders_that_are_the_same_in_memory_are_one() {
    let client = client(1);
    let device = device(&client, 0);
    // A dimension of size 1 may stand anywhere.
    let program = compiled_text(
        &client,
        "func.func @main(%x: tensor<4x1xf32>) -> (tensor<4x1xf32> {mhlo.layout_mode = \"{0,1}\"}) {
           %y = stablehlo.add %x, %x : tensor<4x1xf32>
           return %y : tensor<4x1xf32>
         }",
    );
    let order = layout(&[0, 1]);
    let x = Buffer::from_host_in_layout(&device, &[1f32, 2., 3., 4.], &[4, 1], &order);
    let x = x.expect("room");
    let first = program.run(&x).expect("a run").into_single().expect("one");
    let second = program.run(&first).expect("a run");
    reads(
        &second[0],
        &[4f32, 8., 12., 16.],
        &bytes(&[4., 8., 12., 16.]),
    );
    // And there is only one order of nothing.
    let empty = Buffer::from_host_in_layout(&device, &[0f32; 0], &[0, 3], &order).expect("room");
    reads(&empty, &[0f32; 0], &[]);
    let scalar = Buffer::from_host_in_layout(&device, &[7f32], &[], &layout(&[])).expect("room");
    assert_eq!(scalar.to_scalar::<f32>().expect("it"), 7.0);
}

#[test]
fn donated_state_keeps_its_layout() {
    let client = client(1);
    let device = device(&client, 0);
    let step = compiled_text(
        &client,
        "func.func @main(%x: tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\", tf.aliasing_output = 0 : i32})
           -> (tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}) {
           %y = stablehlo.add %x, %x : tensor<2x3xf32>
           return %y : tensor<2x3xf32>
         }",
    );
    assert_eq!(step.signature().donated_bytes(), 24);
    let mut state = columns(&device);
    for _ in 0..3 {
        state = step.run(state).expect("a run").into_single().expect("one");
    }
    reads(
        &state,
        &[8f32, 16., 24., 32., 40., 48.],
        &bytes(&[8., 16., 24., 32., 40., 48.]),
    );
    // Lent, it stays as it is.
    let result = step.run(&state).expect("a run");
    assert_eq!(values(&result[0]), [16., 32., 48., 64., 80., 96.]);
    assert_eq!(values(&state), [8., 16., 24., 32., 40., 48.]);
}

#[test]
fn layouts_survive_serialisation() {
    let client = client(1);
    let device = device(&client, 0);
    let bytes = compiled(&client, "column_major")
        .serialize()
        .expect("bytes");
    let double = client.deserialize(&bytes).expect("the same program");
    assert_eq!(*double.signature().outputs()[0].layout(), layout(&[0, 1]));
    let result = double.run(matrix(&device)).expect("a run");
    assert_eq!(values(&result[0]), [2., 4., 6., 8., 10., 12.]);
}

/// A buffer in every memory of every device of the client, and copies from each to each.
#[test]
fn copies_go_from_every_memory_to_every_memory() {
    let client = client(2);
    let memories = client.memories();
    assert_eq!(memories.len(), 6);
    for from in &memories {
        let source = Buffer::from_host(from, &[1f32, 2., 3.], &[3]).expect("room");
        assert_eq!(source.memory().expect("a memory"), *from);
        assert_eq!(source.device(), from.devices()[0]);
        assert_eq!(values(&source), [1., 2., 3.]);
        for to in &memories {
            let copy = source.copy_to_memory(to).expect("a copy");
            assert_eq!(copy.memory().expect("a memory"), *to);
            assert_eq!(copy.device(), to.devices()[0]);
            assert_eq!(values(&copy), [1., 2., 3.]);
        }
        for device in client.devices() {
            let copy = source.copy_to_device(&device).expect("a copy");
            assert_eq!(copy.device(), device);
            assert_eq!(values(&copy), [1., 2., 3.]);
        }
        let copy = source.copy_on_device().expect("a copy");
        assert_eq!(copy.memory().expect("a memory"), *from);
        assert_eq!(values(&copy), [1., 2., 3.]);
    }
}

#[test]
fn copies_keep_the_layout() {
    let client = client(2);
    let source = columns(&device(&client, 0));
    let expected = [1f32, 2., 3., 4., 5., 6.];
    let mut copies = vec![source.copy_on_device().expect("a copy")];
    for device in client.devices() {
        copies.push(source.copy_to_device(&device).expect("a copy"));
        assert_eq!(copies[copies.len() - 1].device(), device);
    }
    for memory in client.memories() {
        copies.push(source.copy_to_memory(&memory).expect("a copy"));
        assert_eq!(copies[copies.len() - 1].memory().expect("one"), memory);
    }
    for copy in &copies {
        assert_eq!(*copy.layout(), layout(&[0, 1]), "{copy:?}");
        reads(copy, &expected, &bytes(&expected));
    }
    // A program that wants columns takes them.
    let double = compiled(&client, "column_major_argument");
    let result = double.run(copies.remove(0)).expect("a run");
    assert_eq!(values(&result[0]), [2., 4., 6., 8., 10., 12.]);
}

#[test]
fn copies_live_on_when_the_source_is_given_away() {
    let client = client(2);
    let first = device(&client, 0);
    let step = compiled(&client, "counter");
    let count = Buffer::scalar(&first, 41f32).expect("room");
    let same = count.copy_on_device().expect("a copy");
    let also_same = count.copy_to_device(&first).expect("a copy");
    let there = count.copy_to_device(&device(&client, 1)).expect("a copy");
    let pinned = count.copy_to_memory(&first.memories()[1]).expect("a copy");
    let next = step.run(count).expect("a run").into_single().expect("one");
    assert_eq!(next.to_scalar::<f32>().expect("one"), 42.0);
    for copy in [&same, &also_same, &there, &pinned] {
        assert_eq!(copy.to_scalar::<f32>().expect("one"), 41.0, "{copy:?}");
    }
    // And the other way: giving a copy away leaves the source.
    let other = same.copy_on_device().expect("a copy");
    step.run(other).expect("a run");
    assert_eq!(same.to_scalar::<f32>().expect("one"), 41.0);
    // A copy that was started before its source was given away has the old values.
    let mut state = same;
    for i in 0..50 {
        let copy = state.copy_to_device(&device(&client, 1)).expect("a copy");
        state = step.run(state).expect("a run").into_single().expect("one");
        assert_eq!(copy.to_scalar::<f32>().expect("one"), 41.0 + i as f32);
    }
}

#[test]
fn copies_of_what_is_still_computed_wait_for_it() {
    let client = client(2);
    let first = device(&client, 0);
    let double = compiled_text(
        &client,
        "func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
           %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
             : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
           return %y : tensor<512x512xf32>
         }",
    );
    // A matrix of ones: every element of its square is 512.
    let ones = Buffer::from_host(&first, &vec![1f32; 512 * 512], &[512, 512]).expect("room");
    let square = double
        .run(&ones)
        .expect("a run")
        .into_single()
        .expect("one");
    let there = square.copy_to_device(&device(&client, 1)).expect("a copy");
    drop(square);
    assert!(values(&there).iter().all(|value| *value == 512.0));
}

/// The memory of a device is not the device: a program takes what lies in any of them.
#[test]
fn arguments_may_lie_in_any_memory_of_the_device() {
    let client = client(1);
    let add = compiled(&client, "add");
    for memory in device(&client, 0).memories() {
        let x = Buffer::from_host(&memory, &[1f32, 2., 3., 4.], &[4]).expect("room");
        let sum = add.run((&x, &x)).expect("a run");
        assert_eq!(values(&sum[0]), [2., 4., 6., 8.]);
        assert_eq!(sum[0].memory().expect("a memory").kind(), "device");
    }
}

#[test]
fn nothing_is_copied_between_clients() {
    let (ours, theirs) = (client(1), client(1));
    let buffer = vector(&device(&ours, 0), &[1., 2.]);
    let parts = ["another client", "f32[2]", "through the host"];
    let device = device(&theirs, 0);
    refused(buffer.copy_to_device(&device), &parts);
    let error = refused(buffer.copy_to_memory(&device.memories()[0]), &parts);
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(error.function(), None);
    // Nor is it an argument there.
    let add = theirs.compile(&program("add"), &CompileOptions::new());
    let add = add.expect("a program");
    let four = vector(&ours.device(0).expect("one"), &[1., 2., 3., 4.]);
    let error = refused(add.run((&four, &four)), &["argument 0", "another client"]);
    assert_eq!(error.function(), None);
    let given = add.run((four, &buffer)).expect_err("refused").into_given();
    assert_eq!(values(&given[0].buffer), [1., 2., 3., 4.]);
}

#[test]
fn tokens_are_not_copied() {
    let client = client(2);
    let first = device(&client, 0);
    let program = compiled_text(
        &client,
        "func.func @main(%x: tensor<f32>) -> (tensor<f32>, !stablehlo.token) {
           %t = stablehlo.create_token : !stablehlo.token
           return %x, %t : tensor<f32>, !stablehlo.token
         }",
    );
    let one = Buffer::scalar(&first, 1f32).expect("room");
    let [_, token] = program.run(&one).expect("a run").into_array().expect("two");
    assert_eq!(token.element_type(), ElementType::Token);
    // The plugins end the process when they are asked to.
    for error in [
        refused(token.copy_to_device(&device(&client, 1)), &["token"]),
        refused(token.copy_to_memory(&first.memories()[1]), &["token"]),
        refused(token.copy_on_device(), &["token"]),
        refused(token.to_bytes(), &["token"]),
        refused(token.to_host::<u8>(), &["token"]),
    ] {
        assert_eq!(error.code(), Code::InvalidArgument);
        assert_eq!(error.function(), None);
    }
    token.wait().expect("it is there");
}
