use super::*;

fn shape(dims: &[usize]) -> Shape {
    Shape::of::<f32>(dims).expect("small")
}

fn starts(sharding: &Sharding, dims: &[usize], partitions: usize) -> Vec<Vec<usize>> {
    let each = 0..partitions;
    each.map(|partition| sharding.block(&shape(dims), partition).expect("fits").start)
        .collect()
}

#[test]
fn each_partition_has_its_box() {
    let whole = Sharding::replicated();
    assert_eq!(starts(&whole, &[4, 6], 2), [[0, 0], [0, 0]]);
    assert_eq!(starts(&Sharding::split(0, 2), &[4, 6], 2), [[0, 0], [2, 0]]);
    assert_eq!(
        starts(&Sharding::split(1, 3), &[4, 6], 3),
        [[0, 0], [0, 2], [0, 4]]
    );
    // Two rows of three tiles of 2x2, on partitions in no order.
    let tiled = Sharding::tiled(&[2, 3], &[5, 0, 3, 1, 4, 2]).expect("fits");
    assert_eq!(
        starts(&tiled, &[4, 6], 6),
        [[0, 2], [2, 0], [2, 4], [0, 4], [2, 2], [0, 0]]
    );
    // Two tiles, each on two partitions.
    let twice = Sharding::tiled(&[2], &[3, 1, 0, 2]).expect("fits");
    assert_eq!(starts(&twice, &[4, 6], 4), [[2, 0], [0, 0], [2, 0], [0, 0]]);
    let block = twice.block(&shape(&[4, 6]), 0).expect("fits");
    assert_eq!(block.dims, [2, 6]);
    let firsts = twice.distinct(&shape(&[4, 6]), 4).expect("fits");
    let firsts: Vec<_> = firsts.into_iter().map(|(b, p)| (b.start, p)).collect();
    assert_eq!(firsts, [(vec![0, 0], 1), (vec![2, 0], 0)]);
    let all = whole.distinct(&shape(&[4, 6]), 4).expect("fits");
    assert_eq!(all.len(), 1);
    assert_eq!((&all[0].0.dims, all[0].1), (&vec![4, 6], 0));
}

#[test]
fn local_and_global_shapes() {
    let tiled = Sharding::tiled(&[2, 1, 3], &[0, 1, 2, 3, 4, 5]).expect("fits");
    let local = tiled.local_shape(&shape(&[4, 5, 6])).expect("fits");
    assert_eq!(local, shape(&[2, 5, 2]));
    assert_eq!(tiled.global_shape(&local).expect("fits"), shape(&[4, 5, 6]));
    // Nothing can be cut into any number of parts.
    let none = tiled.local_shape(&shape(&[0, 5, 6])).expect("fits");
    assert_eq!(none, shape(&[0, 5, 2]));
    let many = Sharding::split(0, 1 << 10);
    assert!(many.global_shape(&shape(&[1 << 52])).is_err());
    assert!(many.global_shape(&shape(&[1 << 60])).is_err());
}

#[track_caller]
fn says<T: fmt::Debug>(result: Result<T>, words: &[&str]) {
    let message = result.expect_err("refused").to_string();
    for word in words {
        assert!(message.contains(word), "no `{word}` in: {message}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let split = Sharding::split(1, 4);
    says(
        split.block(&shape(&[8, 10]), 0),
        &[
            "axis 1",
            "f32[8,10]",
            "size 10",
            "4 equal parts",
            "remainder is 2",
        ],
    );
    says(split.block(&shape(&[8]), 0), &["2 dimensions", "one of 1"]);
    says(split.block(&shape(&[8, 8]), 4), &["0 to 3", "got 4"]);
    says(split.distinct(&shape(&[8, 8]), 2), &["2 partitions"]);
    says(
        Sharding::tiled(&[3], &[0, 1, 2, 3]),
        &["[3]", "4 partitions"],
    );
    says(Sharding::tiled(&[0], &[0, 1]), &["[0]"]);
    says(Sharding::tiled(&[], &[]), &["0 partitions"]);
    says(
        Sharding::tiled(&[usize::MAX, 2], &[0, 1]),
        &["2 partitions"],
    );
    says(Sharding::tiled(&[2], &[1, 1]), &["0 isn't"]);
    says(Sharding::tiled(&[2], &[0, 0]), &["0 is twice"]);
    says(Sharding::tiled(&[2], &[0, 2]), &["1 isn't"]);
}

#[test]
fn equal_when_everyone_holds_the_same() {
    let split = Sharding::split(0, 4);
    assert_eq!(
        split,
        Sharding::tiled(&[4, 1, 1], &[0, 1, 2, 3]).expect("fits")
    );
    assert_ne!(split, Sharding::tiled(&[4], &[1, 0, 2, 3]).expect("fits"));
    assert_ne!(split, Sharding::split(1, 4));
    assert_eq!(Sharding::split(3, 1), Sharding::replicated());
    let once = Sharding::tiled(&[1, 1], &[1, 0]).expect("fits");
    assert!(once.is_replicated() && !split.is_replicated());
    // The order among those that hold the same doesn't matter.
    let one = Sharding::tiled(&[2], &[0, 2, 1, 3]).expect("fits");
    assert_eq!(one, Sharding::tiled(&[2], &[2, 0, 3, 1]).expect("fits"));
}

#[test]
fn written_as_xla_does() {
    let tiled = |tiles: &[usize], holders: &[usize]| {
        let sharding = Sharding::tiled(tiles, holders).expect("fits");
        sharding.to_string()
    };
    assert_eq!(tiled(&[4, 1], &[0, 1, 2, 3]), "{devices=[4,1]<=[4]}");
    assert_eq!(
        tiled(&[4, 2], &[0, 4, 1, 5, 2, 6, 3, 7]),
        "{devices=[4,2]<=[2,4]T(1,0)}"
    );
    assert_eq!(tiled(&[2, 2], &[3, 0, 1, 2]), "{devices=[2,2]3,0,1,2}");
    assert_eq!(
        tiled(&[2, 1], &[0, 1, 2, 3]),
        "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"
    );
    assert_eq!(Sharding::replicated().to_string(), "{replicated}");
}
