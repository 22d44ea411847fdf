//! Arrays and trees in host memory: which bytes are where.

mod cpu;

use cpu::{client, device};
use xla::tree::{Key, Structure};
use xla::{
    bf16, Block, Buffer, Code, Complex, Element, ElementType, Error, HostArray, HostTree, Layout,
    Shape, Tree,
};

#[track_caller]
fn says<T>(result: Result<T, Error>, words: &[&str]) {
    let error = result.err().expect("it is refused");
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    for word in words {
        assert!(error.message().contains(word), "no `{word}` in: {error}");
    }
}

/// Whether `inner` is borrowed from `outer`.
fn lies_in(inner: &HostArray<'_>, outer: &HostArray<'_>) -> bool {
    outer
        .as_bytes()
        .as_ptr_range()
        .contains(&inner.as_bytes().as_ptr())
}

/// The index along each axis of the `place`-th element.
fn index_of(mut place: usize, dims: &[usize]) -> Vec<usize> {
    let mut index = vec![0; dims.len()];
    for axis in (0..dims.len()).rev() {
        index[axis] = place % dims[axis];
        place /= dims[axis];
    }
    index
}

/// The elements of a box, one after the other.
fn naive<T: Copy>(values: &[T], dims: &[usize], block: &Block) -> Vec<T> {
    let count: usize = block.dims.iter().product();
    let places = (0..count).map(|place| {
        let index = index_of(place, &block.dims);
        let mut offset = 0;
        for axis in 0..dims.len() {
            offset = offset * dims[axis] + block.start[axis] + index[axis];
        }
        values[offset]
    });
    places.collect()
}

/// All boxes of an array.
fn boxes(dims: &[usize]) -> Vec<Block> {
    let mut all = vec![Block {
        start: vec![],
        dims: vec![],
    }];
    for dim in dims {
        let longer = all.iter().flat_map(|block| {
            let ends = (0..=*dim).flat_map(|start| (start..=*dim).map(move |end| (start, end)));
            ends.map(|(start, end)| {
                let mut block = block.clone();
                block.start.push(start);
                block.dims.push(end - start);
                block
            })
        });
        all = longer.collect();
    }
    all
}

#[test]
fn every_box_of_an_array_is_what_a_naive_loop_takes() {
    let mut seen = [0; 2];
    for dims in [
        &[][..],
        &[5],
        &[3, 4],
        &[2, 3, 4],
        &[3, 1, 2],
        &[2, 2, 1, 3],
        &[2, 0, 3],
        &[0],
        &[1, 1],
    ] {
        let count: usize = dims.iter().product();
        let values: Vec<i32> = (0..count as i32).collect();
        let array = HostArray::borrowed(&values, dims).expect("as many");
        for block in boxes(dims) {
            let cut = array.block(&block).expect("inside");
            let wanted = naive(&values, dims, &block);
            assert_eq!(cut.dims(), block.dims, "{dims:?} {block:?}");
            assert_eq!(
                cut.to_vec::<i32>().expect("i32"),
                wanted,
                "{dims:?} {block:?}"
            );
            if wanted.is_empty() {
                continue;
            }
            // What lies one after another isn't copied.
            let together = wanted.windows(2).all(|pair| pair[1] == pair[0] + 1);
            assert_eq!(lies_in(&cut, &array), together, "{dims:?} {block:?}");
            seen[usize::from(together)] += 1;
        }
    }
    assert!(seen.iter().all(|seen| *seen > 100), "{seen:?}");
}

#[test]
fn boxes_of_wide_and_narrow_elements() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(values: &[T]) {
        let dims = [3, 4];
        let array = HostArray::new(values, &dims).expect("12");
        for block in boxes(&dims) {
            let cut = array.block(&block).expect("inside");
            let wanted = naive(values, &dims, &block);
            assert_eq!(cut.to_vec::<T>().expect("its type"), wanted);
        }
    }
    let numbers: Vec<f64> = (0..12).map(f64::from).collect();
    let of = |x: &f64| Complex::new(*x, -x);
    check(&numbers.iter().map(of).collect::<Vec<_>>());
    check(
        &numbers
            .iter()
            .map(|x| bf16::from_f64(*x))
            .collect::<Vec<_>>(),
    );
    check(&numbers.iter().map(|x| *x as u8).collect::<Vec<_>>());
    check(&numbers.iter().map(|x| x % 3. == 0.).collect::<Vec<_>>());
    // Four bits each, in a byte of their own.
    let shape = Shape::new(ElementType::S4, &[3, 4]).expect("small");
    let bytes: Vec<u8> = (0..12).collect();
    let array = HostArray::borrowed_bytes(&bytes, shape).expect("12 bytes");
    for block in boxes(&[3, 4]) {
        let cut = array.block(&block).expect("inside");
        assert_eq!(cut.as_bytes(), naive(&bytes, &[3, 4], &block));
        assert_eq!(cut.element_type(), ElementType::S4);
    }
}

#[test]
fn boxes_that_reach_out_are_refused() {
    let array = HostArray::new(&[0f32; 12], &[3, 4]).expect("12");
    for (start, dims) in [
        (vec![0, 0], vec![4, 4]),
        (vec![1, 0], vec![3, 4]),
        (vec![0, 2], vec![1, 3]),
        (vec![3, 0], vec![1, 1]),
        (vec![0], vec![3]),
        (vec![0, 0, 0], vec![3, 4, 1]),
        (vec![0, 0], vec![3]),
        (vec![0], vec![3, 4]),
        (vec![usize::MAX, 0], vec![2, 1]),
        (vec![4, 0], vec![0, 4]),
    ] {
        says(array.block(&Block { start, dims }), &["f32[3,4]"]);
    }
}

#[test]
fn other_counts_and_types_are_refused() {
    says(HostArray::borrowed(&[1f32; 5], &[2, 3]), &["6", "5"]);
    says(HostArray::new(&[1f32; 7], &[2, 3]), &["6", "7"]);
    let shape = Shape::of::<f32>(&[2, 3]).expect("small");
    says(
        HostArray::borrowed_bytes(&[0; 23], shape.clone()),
        &["f32[2,3]", "24 bytes", "23"],
    );
    let array = HostArray::zeros(shape);
    says(array.to_vec::<i32>(), &["f32", "s32"]);
    says(array.as_slice::<f64>(), &["f32", "f64"]);
    says(array.to_scalar::<f32>(), &["f32[2,3]", "6"]);
    assert_eq!(array.to_vec::<f32>().expect("f32"), [0.; 6]);
    let one = HostArray::new(&[4i64], &[1, 1]).expect("one");
    assert_eq!(one.to_scalar::<i64>().expect("one"), 4);
    says(one.to_scalar::<u64>(), &["s64", "u64"]);
    let truth = HostArray::scalar(true).expect("one");
    assert!(truth.to_scalar::<bool>().expect("one"));
}

#[test]
fn a_byte_that_is_no_truth_value_never_becomes_one() {
    let client = client(1);
    let device = device(&client, 0);
    let shape = Shape::of::<bool>(&[3]).expect("small");
    let array = HostArray::borrowed_bytes(&[1, 2, 0], shape.clone()).expect("3 bytes");
    says(array.to_vec::<bool>(), &["pred"]);
    assert!(array.to_device(&device).is_err());
    let good = HostArray::borrowed_bytes(&[1, 1, 0], shape).expect("3 bytes");
    assert_eq!(good.to_vec::<bool>().expect("truth"), [true, true, false]);
    let back = HostArray::read(&good.to_device(&device).expect("room")).expect("values");
    assert_eq!(back, good);
}

#[test]
fn bytes_that_are_not_aligned_are_read_all_the_same() {
    let client = client(1);
    let device = device(&client, 0);
    let values = [1.5f32, -2., 3., 4., 5., 6.];
    let mut bytes = [0u8; 4 * 6 + 8];
    for shift in 0..8 {
        for (index, value) in values.iter().enumerate() {
            bytes[shift + 4 * index..][..4].copy_from_slice(&value.to_ne_bytes());
        }
        let own = &bytes[shift..][..24];
        let shape = Shape::of::<f32>(&[2, 3]).expect("small");
        let array = HostArray::borrowed_bytes(own, shape).expect("24 bytes");
        assert_eq!(array.to_vec::<f32>().expect("f32"), values);
        let aligned = own.as_ptr() as usize % 4 == 0;
        match array.as_slice::<f32>() {
            Ok(slice) => assert!(aligned && *slice == values),
            Err(error) => {
                assert!(!aligned, "{error}");
                assert!(error.message().contains("to_vec"), "{error}");
            }
        }
        let buffer = array.to_device(&device).expect("room");
        assert_eq!(buffer.to_host::<f32>().expect("values"), values);
        let owned = array.clone().into_owned();
        assert_eq!(owned.as_slice::<f32>().expect("aligned"), values);
        assert_eq!(owned, array);
    }
}

#[test]
fn odd_types_go_to_a_device_and_back() {
    fn check<T: Element>(values: &[T], dims: &[usize], place: &xla::Device) {
        let array = HostArray::borrowed(values, dims).expect("as many");
        let buffer = array.to_device(place).expect("room");
        assert_eq!(buffer.shape(), array.shape());
        assert_eq!(HostArray::read(&buffer).expect("values"), array);
    }
    let client = client(1);
    let device = device(&client, 0);
    check(&[bf16::from_f32(1.5), bf16::NAN], &[2], &device);
    check(
        &[Complex::new(1f32, -2.), Complex::new(0., 3.)],
        &[1, 2],
        &device,
    );
    check(&[Complex::new(1f64, -2.)], &[], &device);
    check::<f32>(&[], &[0], &device);
    check::<i32>(&[], &[3, 0, 2], &device);
    for element_type in [ElementType::S4, ElementType::U4] {
        let shape = Shape::new(element_type, &[3]).expect("small");
        let array = HostArray::borrowed_bytes(&[1, 7, 2], shape).expect("3 bytes");
        let buffer = array.to_device(&device).expect("room");
        assert_eq!(HostArray::read(&buffer).expect("values"), array);
    }
    // Whatever the layout, the host's is row-major.
    let layout = Layout::new(&[0, 1]).expect("both");
    let values = [1f32, 2., 3., 4., 5., 6.];
    let buffer = Buffer::from_host_in_layout(&device, &values, &[2, 3], &layout).expect("room");
    let back = HostArray::read(&buffer).expect("values");
    assert_eq!(back.to_vec::<f32>().expect("f32"), values);
}

#[derive(Tree)]
struct Batch {
    x: Buffer,
    y: Buffer,
}

/// Six rows of two, and six numbers.
fn batch(rows: usize) -> HostTree<'static, Batch> {
    let x: Vec<f32> = (0..2 * rows).map(|x| x as f32).collect();
    let y: Vec<i32> = (0..rows as i32).map(|y| 10 * y).collect();
    HostTree::new([
        HostArray::new(&x, &[rows, 2]).expect("rows of two"),
        HostArray::new(&y, &[rows]).expect("rows"),
    ])
    .expect("two")
}

#[test]
fn a_tree_has_as_many_arrays_as_its_type() {
    let one = || HostArray::scalar(1f32).expect("small");
    says(HostTree::<Batch>::new([one()]), &["1 array", "2 leaves"]);
    says(
        HostTree::<Batch>::new([one(), one(), one()]),
        &["3 arrays", "2 leaves"],
    );
    says(
        HostTree::<Vec<Buffer>>::new([one()]),
        &["Vec", "with_structure"],
    );
    let list = |count: usize| {
        let leaves = (0..count).map(|index| (Key::Index(index), Structure::leaf()));
        Structure::node("Vec", leaves.collect())
    };
    let tree = HostTree::<Vec<Buffer>>::with_structure(list(2), [one(), one()]);
    let tree = tree.expect("two");
    let names: Vec<String> = tree
        .named_leaves("v")
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["v[0]", "v[1]"]);
    assert_eq!(tree.byte_size(), 8);
    says(
        HostTree::<Vec<Buffer>>::with_structure(list(1), [one(), one()]),
        &["2 arrays", "1 leaf"],
    );
    // A structure that is another type's is seen when the tree is built.
    let client = client(1);
    let device = device(&client, 0);
    let pair = Structure::node("pair", vec![(Key::Index(0), Structure::leaf())]);
    let wrong = HostTree::<Vec<Buffer>>::with_structure(pair, [one()]).expect("one");
    assert!(wrong.to_device(&device).is_err());
    let right: Vec<Buffer> = tree.to_device(&device).expect("room");
    assert_eq!(right.len(), 2);
}

#[test]
fn a_tree_is_saved_and_restored() {
    let client = client(1);
    let device = device(&client, 0);
    let host = batch(3);
    let tree = host.to_device(&device).expect("room");
    assert_eq!(tree.y.to_host::<i32>().expect("values"), [0, 10, 20]);
    let back = HostTree::read(&tree).expect("values");
    assert_eq!(back, host);
    let names: Vec<_> = back
        .named_leaves("batch")
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["batch.x", "batch.y"]);
    let leaves = back.into_leaves();
    assert_eq!(
        leaves[0].to_vec::<f32>().expect("f32"),
        [0., 1., 2., 3., 4., 5.]
    );
    let again = HostTree::<Batch>::new(leaves).expect("two");
    assert_eq!(again, host);
    assert_ne!(again, batch(4));
}

#[test]
fn a_failure_of_a_tree_names_the_leaf() {
    let client = client(1);
    let device = device(&client, 0);
    let shape = Shape::of::<bool>(&[1]).expect("small");
    let bad = HostArray::borrowed_bytes(&[9], shape).expect("a byte");
    let good = HostArray::scalar(1f32).expect("small");
    let tree = HostTree::<Batch>::new([good, bad]).expect("two");
    let error = tree.to_device(&device).err().expect("9 is no truth");
    assert!(error.message().contains("`y`"), "{error}");
    let good = device_buffer(&device);
    let tree = Batch {
        x: good,
        y: cpu::failing(&client, &device),
    };
    let error = HostTree::read(&tree).expect_err("its run fails");
    assert!(error.message().contains("`y`"), "{error}");
    assert!(error.message().contains("Out of memory"), "{error}");
}

fn device_buffer(device: &xla::Device) -> Buffer {
    Buffer::scalar(device, 1f32).expect("room")
}

#[test]
fn a_tree_is_cut_into_equal_parts() {
    let whole = batch(6);
    let parts = whole.split(0, 3).expect("6 is 3 times 2");
    assert_eq!(parts.len(), 3);
    for (index, part) in parts.iter().enumerate() {
        let [x, y] = part.leaves() else { panic!("two") };
        let first = 4. * index as f32;
        let rows = [first, first + 1., first + 2., first + 3.];
        assert_eq!(x.to_vec::<f32>().expect("f32"), rows);
        let first = 20 * index as i32;
        assert_eq!(y.to_vec::<i32>().expect("i32"), [first, first + 10]);
        // Along the first axis nothing is copied.
        assert!(lies_in(x, &whole.leaves()[0]) && lies_in(y, &whole.leaves()[1]));
    }
    let one = whole.split(0, 1).expect("whole");
    assert!(one.len() == 1 && one[0] == whole);
    says(
        whole.split(0, 4),
        &[
            "`x`",
            "axis 0",
            "f32[6,2]",
            "size 6",
            "4 equal",
            "remainder is 2",
        ],
    );
    says(whole.split(1, 2), &["`y`", "s32[6]"]);
    // Also where nothing would be cut.
    says(whole.split(1, 1), &["`y`", "axis 1", "s32[6]"]);
    says(whole.split(0, 0), &["0 parts"]);
}

#[test]
fn a_tree_is_filled_up_with_zeros_and_a_mask_tells_where() {
    let whole = batch(5);
    let (padded, mask) = whole.pad(0, 4).expect("8 is above 5");
    let [x, y] = padded.leaves() else {
        panic!("two")
    };
    assert_eq!((x.dims(), y.dims()), (&[8, 2][..], &[8][..]));
    let mut rows: Vec<f32> = (0..10).map(|x| x as f32).collect();
    rows.resize(16, 0.);
    assert_eq!(x.to_vec::<f32>().expect("f32"), rows);
    assert_eq!(
        y.to_vec::<i32>().expect("i32"),
        [0, 10, 20, 30, 40, 0, 0, 0]
    );
    let real = [true, true, true, true, true, false, false, false];
    assert_eq!(mask.to_vec::<bool>().expect("truth"), real);
    // Nothing is missing, nothing is copied.
    let (same, mask) = whole.pad(0, 5).expect("5");
    assert!(same == whole && lies_in(&same.leaves()[0], &whole.leaves()[0]));
    assert_eq!(mask.to_vec::<bool>().expect("truth"), [true; 5]);
    // Along another axis.
    let array = HostArray::new(&[1f32, 2., 3., 4., 5., 6.], &[2, 3]).expect("6");
    let tree: HostTree<'_, Buffer> = array.into();
    let (wide, mask) = tree.pad(1, 2).expect("4 is above 3");
    assert_eq!(
        wide.leaves()[0].to_vec::<f32>().expect("f32"),
        [1., 2., 3., 0., 4., 5., 6., 0.]
    );
    assert_eq!(
        mask.to_vec::<bool>().expect("truth"),
        [true, true, true, false]
    );
    // Of nothing there is nothing to fill.
    let (none, mask) = batch(0)
        .pad(0, 4)
        .map(|(tree, mask)| (tree.byte_size(), mask))
        .expect("0");
    assert_eq!((none, mask.dims()), (0, &[0][..]));

    says(whole.pad(0, 0), &["multiple of 0"]);
    says(whole.pad(1, 2), &["`y`", "no axis 1"]);
    says(whole.pad(0, usize::MAX), &[]);
    let uneven = HostTree::<Batch>::new([
        HostArray::new(&[0f32; 3], &[3]).expect("3"),
        HostArray::new(&[0f32; 4], &[4]).expect("4"),
    ]);
    says(uneven.expect("two").pad(0, 2), &["`x` has 3", "`y` has 4"]);
    let empty = HostTree::<()>::new([]).expect("none");
    says(empty.pad(0, 2), &["without leaves"]);
}
