module @jit_train_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=1]> {stablehlo.mesh = {axes = [{name = "batch", size = 1 : i64}]}}
  func.func public @main(%arg0: tensor<3x3x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>} loc("state.params.conv1.w"), %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("state.params.conv1.b"), %arg2: tensor<3x3x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>} loc("state.params.conv2.w"), %arg3: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("state.params.conv2.b"), %arg4: tensor<1568x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("state.params.dense.w"), %arg5: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("state.params.dense.b"), %arg6: tensor<3x3x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>} loc("state.mu.conv1.w"), %arg7: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("state.mu.conv1.b"), %arg8: tensor<3x3x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>} loc("state.mu.conv2.w"), %arg9: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("state.mu.conv2.b"), %arg10: tensor<1568x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("state.mu.dense.w"), %arg11: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("state.mu.dense.b"), %arg12: tensor<3x3x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>} loc("state.nu.conv1.w"), %arg13: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("state.nu.conv1.b"), %arg14: tensor<3x3x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>} loc("state.nu.conv2.w"), %arg15: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("state.nu.conv2.b"), %arg16: tensor<1568x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("state.nu.dense.w"), %arg17: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("state.nu.dense.b"), %arg18: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>} loc("state.step"), %arg19: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>} loc("metrics.loss_sum"), %arg20: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>} loc("metrics.correct"), %arg21: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>} loc("metrics.seen"), %arg22: tensor<64x784xui8> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>} loc("images"), %arg23: tensor<64xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>} loc("labels")) -> (tensor<3x3x1x16xf32> {jax.result_info = "result[0].params.conv1.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<16xf32> {jax.result_info = "result[0].params.conv1.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<3x3x16x32xf32> {jax.result_info = "result[0].params.conv2.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<32xf32> {jax.result_info = "result[0].params.conv2.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<1568x10xf32> {jax.result_info = "result[0].params.dense.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<10xf32> {jax.result_info = "result[0].params.dense.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<3x3x1x16xf32> {jax.result_info = "result[0].mu.conv1.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<16xf32> {jax.result_info = "result[0].mu.conv1.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<3x3x16x32xf32> {jax.result_info = "result[0].mu.conv2.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<32xf32> {jax.result_info = "result[0].mu.conv2.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<1568x10xf32> {jax.result_info = "result[0].mu.dense.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<10xf32> {jax.result_info = "result[0].mu.dense.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<3x3x1x16xf32> {jax.result_info = "result[0].nu.conv1.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<16xf32> {jax.result_info = "result[0].nu.conv1.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<3x3x16x32xf32> {jax.result_info = "result[0].nu.conv2.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<32xf32> {jax.result_info = "result[0].nu.conv2.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<1568x10xf32> {jax.result_info = "result[0].nu.dense.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<10xf32> {jax.result_info = "result[0].nu.dense.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<i32> {jax.result_info = "result[0].step", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<f32> {jax.result_info = "result[1].loss_sum", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<i32> {jax.result_info = "result[1].correct", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<i32> {jax.result_info = "result[1].seen", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<f32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.reshape %arg22 : (tensor<64x784xui8>) -> tensor<64x28x28x1xui8>
    %1 = stablehlo.convert %0 : (tensor<64x28x28x1xui8>) -> tensor<64x28x28x1xf32>
    %cst = stablehlo.constant dense<2.550000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x28x28x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<64x28x28x1xf32>
    %4 = stablehlo.convolution(%3, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<64x28x28x1xf32>, tensor<3x3x1x16xf32>) -> tensor<64x28x28x16xf32>
    %5 = stablehlo.broadcast_in_dim %arg1, dims = [3] : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2, 3] : (tensor<1x1x1x16xf32>) -> tensor<64x28x28x16xf32>
    %7 = stablehlo.add %4, %6 : tensor<64x28x28x16xf32>
    %8 = call @relu(%7) : (tensor<64x28x28x16xf32>) -> tensor<64x28x28x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x28x28x16xf32>
    %10 = stablehlo.compare GT, %7, %9, FLOAT : (tensor<64x28x28x16xf32>, tensor<64x28x28x16xf32>) -> tensor<64x28x28x16xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64x28x28x16xf32>
    %12 = stablehlo.reshape %8 : (tensor<64x28x28x16xf32>) -> tensor<64x14x2x14x2x16xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.maximum across dimensions = [2, 4] : (tensor<64x14x2x14x2x16xf32>, tensor<f32>) -> tensor<64x14x14x16xf32>
    %14 = stablehlo.reshape %13 : (tensor<64x14x14x16xf32>) -> tensor<64x14x1x14x1x16xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3, 4, 5] : (tensor<64x14x1x14x1x16xf32>) -> tensor<64x14x2x14x2x16xf32>
    %16 = stablehlo.compare EQ, %12, %15, FLOAT : (tensor<64x14x2x14x2x16xf32>, tensor<64x14x2x14x2x16xf32>) -> tensor<64x14x2x14x2x16xi1>
    %17 = stablehlo.convert %16 : (tensor<64x14x2x14x2x16xi1>) -> tensor<64x14x2x14x2x16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_3) applies stablehlo.add across dimensions = [2, 4] : (tensor<64x14x2x14x2x16xf32>, tensor<f32>) -> tensor<64x14x14x16xf32>
    %19 = stablehlo.convolution(%13, %arg2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<64x14x14x16xf32>, tensor<3x3x16x32xf32>) -> tensor<64x14x14x32xf32>
    %20 = stablehlo.broadcast_in_dim %arg3, dims = [3] : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<1x1x1x32xf32>) -> tensor<64x14x14x32xf32>
    %22 = stablehlo.add %19, %21 : tensor<64x14x14x32xf32>
    %23 = call @relu_0(%22) : (tensor<64x14x14x32xf32>) -> tensor<64x14x14x32xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64x14x14x32xf32>
    %25 = stablehlo.compare GT, %22, %24, FLOAT : (tensor<64x14x14x32xf32>, tensor<64x14x14x32xf32>) -> tensor<64x14x14x32xi1>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64x14x14x32xf32>
    %27 = stablehlo.reshape %23 : (tensor<64x14x14x32xf32>) -> tensor<64x7x2x7x2x32xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_6) applies stablehlo.maximum across dimensions = [2, 4] : (tensor<64x7x2x7x2x32xf32>, tensor<f32>) -> tensor<64x7x7x32xf32>
    %29 = stablehlo.reshape %28 : (tensor<64x7x7x32xf32>) -> tensor<64x7x1x7x1x32xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3, 4, 5] : (tensor<64x7x1x7x1x32xf32>) -> tensor<64x7x2x7x2x32xf32>
    %31 = stablehlo.compare EQ, %27, %30, FLOAT : (tensor<64x7x2x7x2x32xf32>, tensor<64x7x2x7x2x32xf32>) -> tensor<64x7x2x7x2x32xi1>
    %32 = stablehlo.convert %31 : (tensor<64x7x2x7x2x32xi1>) -> tensor<64x7x2x7x2x32xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_7) applies stablehlo.add across dimensions = [2, 4] : (tensor<64x7x2x7x2x32xf32>, tensor<f32>) -> tensor<64x7x7x32xf32>
    %34 = stablehlo.reshape %28 : (tensor<64x7x7x32xf32>) -> tensor<64x1568xf32>
    %35 = stablehlo.dot_general %34, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x1568xf32>, tensor<1568x10xf32>) -> tensor<64x10xf32>
    %36 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<64x10xf32>
    %38 = stablehlo.add %35, %37 : tensor<64x10xf32>
    %39 = call @_one_hot(%arg23) : (tensor<64xi32>) -> tensor<64x10xf32>
    %40:3 = call @log_softmax(%38) : (tensor<64x10xf32>) -> (tensor<64x10xf32>, tensor<64x10xf32>, tensor<64x1xf32>)
    %41 = stablehlo.multiply %39, %40#0 : tensor<64x10xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_8) applies stablehlo.add across dimensions = [1] : (tensor<64x10xf32>, tensor<f32>) -> tensor<64xf32>
    %43 = stablehlo.negate %42 : tensor<64xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
    %45 = call @argmax(%38) : (tensor<64x10xf32>) -> tensor<64xi32>
    %46 = stablehlo.compare EQ, %45, %arg23, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %47 = stablehlo.convert %46 : (tensor<64xi1>) -> tensor<64xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %48 = stablehlo.reduce(%47 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<64xi32>, tensor<i32>) -> tensor<i32>
    %c_10 = stablehlo.constant dense<-1> : tensor<i32>
    %49 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %50 = stablehlo.compare NE, %arg23, %49, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %51 = stablehlo.convert %50 : (tensor<64xi1>) -> tensor<64xi32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %52 = stablehlo.reduce(%51 init: %c_11) applies stablehlo.add across dimensions = [0] : (tensor<64xi32>, tensor<i32>) -> tensor<i32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %54 = stablehlo.negate %53 : tensor<64xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0] : (tensor<64xf32>) -> tensor<64x10xf32>
    %56 = stablehlo.multiply %39, %55 : tensor<64x10xf32>
    %57 = call @log_softmax_1(%40#1, %40#2, %56) : (tensor<64x10xf32>, tensor<64x1xf32>, tensor<64x10xf32>) -> tensor<64x10xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%57 init: %cst_13) applies stablehlo.add across dimensions = [0] : (tensor<64x10xf32>, tensor<f32>) -> tensor<10xf32>
    %59 = stablehlo.reshape %58 : (tensor<10xf32>) -> tensor<1x10xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.reduce(%59 init: %cst_14) applies stablehlo.add across dimensions = [0] : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %61 = stablehlo.dot_general %57, %34, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x10xf32>, tensor<64x1568xf32>) -> tensor<10x1568xf32>
    %62 = stablehlo.transpose %61, dims = [1, 0] : (tensor<10x1568xf32>) -> tensor<1568x10xf32>
    %63 = stablehlo.dot_general %57, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x10xf32>, tensor<1568x10xf32>) -> tensor<64x1568xf32>
    %64 = stablehlo.reshape %63 : (tensor<64x1568xf32>) -> tensor<64x7x7x32xf32>
    %65 = stablehlo.divide %64, %33 : tensor<64x7x7x32xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 3, 5] : (tensor<64x7x7x32xf32>) -> tensor<64x7x2x7x2x32xf32>
    %67 = stablehlo.multiply %66, %32 : tensor<64x7x2x7x2x32xf32>
    %68 = stablehlo.reshape %67 : (tensor<64x7x2x7x2x32xf32>) -> tensor<64x14x14x32xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<64x14x14x32xf32>
    %70 = stablehlo.select %25, %68, %69 : tensor<64x14x14x32xi1>, tensor<64x14x14x32xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %71 = stablehlo.reduce(%70 init: %cst_16) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<64x14x14x32xf32>, tensor<f32>) -> tensor<32xf32>
    %72 = stablehlo.reshape %71 : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %73 = stablehlo.reduce(%72 init: %cst_17) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %74 = stablehlo.convolution(%13, %70) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<64x14x14x16xf32>, tensor<64x14x14x32xf32>) -> tensor<3x3x16x32xf32>
    %75 = stablehlo.reverse %arg2, dims = [0, 1] : tensor<3x3x16x32xf32>
    %76 = stablehlo.convolution(%70, %75) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<64x14x14x32xf32>, tensor<3x3x16x32xf32>) -> tensor<64x14x14x16xf32>
    %77 = stablehlo.divide %76, %18 : tensor<64x14x14x16xf32>
    %78 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 3, 5] : (tensor<64x14x14x16xf32>) -> tensor<64x14x2x14x2x16xf32>
    %79 = stablehlo.multiply %78, %17 : tensor<64x14x2x14x2x16xf32>
    %80 = stablehlo.reshape %79 : (tensor<64x14x2x14x2x16xf32>) -> tensor<64x28x28x16xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<64x28x28x16xf32>
    %82 = stablehlo.select %10, %80, %81 : tensor<64x28x28x16xi1>, tensor<64x28x28x16xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %83 = stablehlo.reduce(%82 init: %cst_19) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<64x28x28x16xf32>, tensor<f32>) -> tensor<16xf32>
    %84 = stablehlo.reshape %83 : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.reduce(%84 init: %cst_20) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %86 = stablehlo.convolution(%3, %82) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<64x28x28x1xf32>, tensor<64x28x28x16xf32>) -> tensor<3x3x1x16xf32>
    %87 = "stablehlo.all_reduce"(%86) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %255 = stablehlo.add %arg24, %arg25 : tensor<f32>
      stablehlo.return %255 : tensor<f32>
    }) : (tensor<3x3x1x16xf32>) -> tensor<3x3x1x16xf32>
    %88 = "stablehlo.all_reduce"(%85) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %255 = stablehlo.add %arg24, %arg25 : tensor<f32>
      stablehlo.return %255 : tensor<f32>
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %89 = "stablehlo.all_reduce"(%74) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %255 = stablehlo.add %arg24, %arg25 : tensor<f32>
      stablehlo.return %255 : tensor<f32>
    }) : (tensor<3x3x16x32xf32>) -> tensor<3x3x16x32xf32>
    %90 = "stablehlo.all_reduce"(%73) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %255 = stablehlo.add %arg24, %arg25 : tensor<f32>
      stablehlo.return %255 : tensor<f32>
    }) : (tensor<32xf32>) -> tensor<32xf32>
    %91 = "stablehlo.all_reduce"(%62) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %255 = stablehlo.add %arg24, %arg25 : tensor<f32>
      stablehlo.return %255 : tensor<f32>
    }) : (tensor<1568x10xf32>) -> tensor<1568x10xf32>
    %92 = "stablehlo.all_reduce"(%60) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %255 = stablehlo.add %arg24, %arg25 : tensor<f32>
      stablehlo.return %255 : tensor<f32>
    }) : (tensor<10xf32>) -> tensor<10xf32>
    %93 = "stablehlo.all_reduce"(%44) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %255 = stablehlo.add %arg24, %arg25 : tensor<f32>
      stablehlo.return %255 : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    %94 = "stablehlo.all_reduce"(%48) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg24: tensor<i32>, %arg25: tensor<i32>):
      %255 = stablehlo.add %arg24, %arg25 : tensor<i32>
      stablehlo.return %255 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %95 = "stablehlo.all_reduce"(%52) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg24: tensor<i32>, %arg25: tensor<i32>):
      %255 = stablehlo.add %arg24, %arg25 : tensor<i32>
      stablehlo.return %255 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %cst_21 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
    %97 = stablehlo.divide %87, %96 : tensor<3x3x1x16xf32>
    %cst_22 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %99 = stablehlo.divide %88, %98 : tensor<16xf32>
    %cst_23 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %101 = stablehlo.divide %89, %100 : tensor<3x3x16x32xf32>
    %cst_24 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %103 = stablehlo.divide %90, %102 : tensor<32xf32>
    %cst_25 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %104 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %105 = stablehlo.divide %91, %104 : tensor<1568x10xf32>
    %cst_26 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %107 = stablehlo.divide %92, %106 : tensor<10xf32>
    %108 = stablehlo.add %arg19, %93 : tensor<f32>
    %109 = stablehlo.add %arg20, %94 : tensor<i32>
    %110 = stablehlo.add %arg21, %95 : tensor<i32>
    %c_27 = stablehlo.constant dense<1> : tensor<i32>
    %111 = stablehlo.add %arg18, %c_27 : tensor<i32>
    %cst_28 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
    %113 = stablehlo.multiply %112, %arg6 : tensor<3x3x1x16xf32>
    %cst_29 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
    %115 = stablehlo.multiply %114, %97 : tensor<3x3x1x16xf32>
    %116 = stablehlo.add %113, %115 : tensor<3x3x1x16xf32>
    %cst_30 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %118 = stablehlo.multiply %117, %arg7 : tensor<16xf32>
    %cst_31 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %120 = stablehlo.multiply %119, %99 : tensor<16xf32>
    %121 = stablehlo.add %118, %120 : tensor<16xf32>
    %cst_32 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %123 = stablehlo.multiply %122, %arg8 : tensor<3x3x16x32xf32>
    %cst_33 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %125 = stablehlo.multiply %124, %101 : tensor<3x3x16x32xf32>
    %126 = stablehlo.add %123, %125 : tensor<3x3x16x32xf32>
    %cst_34 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %128 = stablehlo.multiply %127, %arg9 : tensor<32xf32>
    %cst_35 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %130 = stablehlo.multiply %129, %103 : tensor<32xf32>
    %131 = stablehlo.add %128, %130 : tensor<32xf32>
    %cst_36 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %133 = stablehlo.multiply %132, %arg10 : tensor<1568x10xf32>
    %cst_37 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %135 = stablehlo.multiply %134, %105 : tensor<1568x10xf32>
    %136 = stablehlo.add %133, %135 : tensor<1568x10xf32>
    %cst_38 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %138 = stablehlo.multiply %137, %arg11 : tensor<10xf32>
    %cst_39 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %140 = stablehlo.multiply %139, %107 : tensor<10xf32>
    %141 = stablehlo.add %138, %140 : tensor<10xf32>
    %cst_40 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
    %143 = stablehlo.multiply %142, %arg12 : tensor<3x3x1x16xf32>
    %cst_41 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
    %145 = stablehlo.multiply %144, %97 : tensor<3x3x1x16xf32>
    %146 = stablehlo.multiply %145, %97 : tensor<3x3x1x16xf32>
    %147 = stablehlo.add %143, %146 : tensor<3x3x1x16xf32>
    %cst_42 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %149 = stablehlo.multiply %148, %arg13 : tensor<16xf32>
    %cst_43 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %151 = stablehlo.multiply %150, %99 : tensor<16xf32>
    %152 = stablehlo.multiply %151, %99 : tensor<16xf32>
    %153 = stablehlo.add %149, %152 : tensor<16xf32>
    %cst_44 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %155 = stablehlo.multiply %154, %arg14 : tensor<3x3x16x32xf32>
    %cst_45 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %157 = stablehlo.multiply %156, %101 : tensor<3x3x16x32xf32>
    %158 = stablehlo.multiply %157, %101 : tensor<3x3x16x32xf32>
    %159 = stablehlo.add %155, %158 : tensor<3x3x16x32xf32>
    %cst_46 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %161 = stablehlo.multiply %160, %arg15 : tensor<32xf32>
    %cst_47 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %163 = stablehlo.multiply %162, %103 : tensor<32xf32>
    %164 = stablehlo.multiply %163, %103 : tensor<32xf32>
    %165 = stablehlo.add %161, %164 : tensor<32xf32>
    %cst_48 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %167 = stablehlo.multiply %166, %arg16 : tensor<1568x10xf32>
    %cst_49 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %168 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %169 = stablehlo.multiply %168, %105 : tensor<1568x10xf32>
    %170 = stablehlo.multiply %169, %105 : tensor<1568x10xf32>
    %171 = stablehlo.add %167, %170 : tensor<1568x10xf32>
    %cst_50 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %173 = stablehlo.multiply %172, %arg17 : tensor<10xf32>
    %cst_51 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %175 = stablehlo.multiply %174, %107 : tensor<10xf32>
    %176 = stablehlo.multiply %175, %107 : tensor<10xf32>
    %177 = stablehlo.add %173, %176 : tensor<10xf32>
    %178 = stablehlo.convert %111 : (tensor<i32>) -> tensor<f32>
    %cst_52 = stablehlo.constant dense<-0.105360515> : tensor<f32>
    %179 = stablehlo.multiply %178, %cst_52 : tensor<f32>
    %180 = stablehlo.exponential_minus_one %179 : tensor<f32>
    %cst_53 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %181 = stablehlo.divide %cst_53, %180 : tensor<f32>
    %cst_54 = stablehlo.constant dense<-0.00100050028> : tensor<f32>
    %182 = stablehlo.multiply %178, %cst_54 : tensor<f32>
    %183 = stablehlo.exponential_minus_one %182 : tensor<f32>
    %cst_55 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %184 = stablehlo.divide %cst_55, %183 : tensor<f32>
    %cst_56 = stablehlo.constant dense<1.400000e+02> : tensor<f32>
    %185 = stablehlo.divide %178, %cst_56 : tensor<f32>
    %cst_57 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %186 = stablehlo.minimum %cst_57, %185 : tensor<f32>
    %cst_58 = stablehlo.constant dense<2.000000e-03> : tensor<f32>
    %187 = stablehlo.multiply %cst_58, %186 : tensor<f32>
    %188 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
    %189 = stablehlo.multiply %116, %188 : tensor<3x3x1x16xf32>
    %190 = stablehlo.broadcast_in_dim %187, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
    %191 = stablehlo.multiply %190, %189 : tensor<3x3x1x16xf32>
    %192 = stablehlo.broadcast_in_dim %184, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
    %193 = stablehlo.multiply %147, %192 : tensor<3x3x1x16xf32>
    %194 = stablehlo.sqrt %193 : tensor<3x3x1x16xf32>
    %cst_59 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
    %195 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
    %196 = stablehlo.add %194, %195 : tensor<3x3x1x16xf32>
    %197 = stablehlo.divide %191, %196 : tensor<3x3x1x16xf32>
    %198 = stablehlo.subtract %arg0, %197 : tensor<3x3x1x16xf32>
    %199 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %200 = stablehlo.multiply %121, %199 : tensor<16xf32>
    %201 = stablehlo.broadcast_in_dim %187, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %202 = stablehlo.multiply %201, %200 : tensor<16xf32>
    %203 = stablehlo.broadcast_in_dim %184, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %204 = stablehlo.multiply %153, %203 : tensor<16xf32>
    %205 = stablehlo.sqrt %204 : tensor<16xf32>
    %cst_60 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %207 = stablehlo.add %205, %206 : tensor<16xf32>
    %208 = stablehlo.divide %202, %207 : tensor<16xf32>
    %209 = stablehlo.subtract %arg1, %208 : tensor<16xf32>
    %210 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %211 = stablehlo.multiply %126, %210 : tensor<3x3x16x32xf32>
    %212 = stablehlo.broadcast_in_dim %187, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %213 = stablehlo.multiply %212, %211 : tensor<3x3x16x32xf32>
    %214 = stablehlo.broadcast_in_dim %184, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %215 = stablehlo.multiply %159, %214 : tensor<3x3x16x32xf32>
    %216 = stablehlo.sqrt %215 : tensor<3x3x16x32xf32>
    %cst_61 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
    %217 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %218 = stablehlo.add %216, %217 : tensor<3x3x16x32xf32>
    %219 = stablehlo.divide %213, %218 : tensor<3x3x16x32xf32>
    %220 = stablehlo.subtract %arg2, %219 : tensor<3x3x16x32xf32>
    %221 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %222 = stablehlo.multiply %131, %221 : tensor<32xf32>
    %223 = stablehlo.broadcast_in_dim %187, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %224 = stablehlo.multiply %223, %222 : tensor<32xf32>
    %225 = stablehlo.broadcast_in_dim %184, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %226 = stablehlo.multiply %165, %225 : tensor<32xf32>
    %227 = stablehlo.sqrt %226 : tensor<32xf32>
    %cst_62 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %229 = stablehlo.add %227, %228 : tensor<32xf32>
    %230 = stablehlo.divide %224, %229 : tensor<32xf32>
    %231 = stablehlo.subtract %arg3, %230 : tensor<32xf32>
    %232 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %233 = stablehlo.multiply %136, %232 : tensor<1568x10xf32>
    %234 = stablehlo.broadcast_in_dim %187, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %235 = stablehlo.multiply %234, %233 : tensor<1568x10xf32>
    %236 = stablehlo.broadcast_in_dim %184, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %237 = stablehlo.multiply %171, %236 : tensor<1568x10xf32>
    %238 = stablehlo.sqrt %237 : tensor<1568x10xf32>
    %cst_63 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
    %239 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %240 = stablehlo.add %238, %239 : tensor<1568x10xf32>
    %241 = stablehlo.divide %235, %240 : tensor<1568x10xf32>
    %242 = stablehlo.subtract %arg4, %241 : tensor<1568x10xf32>
    %243 = stablehlo.broadcast_in_dim %181, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %244 = stablehlo.multiply %141, %243 : tensor<10xf32>
    %245 = stablehlo.broadcast_in_dim %187, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %246 = stablehlo.multiply %245, %244 : tensor<10xf32>
    %247 = stablehlo.broadcast_in_dim %184, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %248 = stablehlo.multiply %177, %247 : tensor<10xf32>
    %249 = stablehlo.sqrt %248 : tensor<10xf32>
    %cst_64 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
    %250 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %251 = stablehlo.add %249, %250 : tensor<10xf32>
    %252 = stablehlo.divide %246, %251 : tensor<10xf32>
    %253 = stablehlo.subtract %arg5, %252 : tensor<10xf32>
    %cst_65 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %254 = stablehlo.divide %93, %cst_65 : tensor<f32>
    return %198, %209, %220, %231, %242, %253, %116, %121, %126, %131, %136, %141, %147, %153, %159, %165, %171, %177, %111, %108, %109, %110, %254 : tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<64x28x28x16xf32>) -> tensor<64x28x28x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x28x28x16xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<64x28x28x16xf32>
    return %1 : tensor<64x28x28x16xf32>
  }
  func.func private @relu_0(%arg0: tensor<64x14x14x32xf32>) -> tensor<64x14x14x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x14x14x32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<64x14x14x32xf32>
    return %1 : tensor<64x14x14x32xf32>
  }
  func.func private @_one_hot(%arg0: tensor<64xi32>) -> tensor<64x10xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<64xi32>) -> tensor<64x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x10xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<64x1xi32>) -> tensor<64x10xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x10xi32>) -> tensor<64x10xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<64x10xi32>, tensor<64x10xi32>) -> tensor<64x10xi1>
    %5 = stablehlo.convert %4 : (tensor<64x10xi1>) -> tensor<64x10xf32>
    return %5 : tensor<64x10xf32>
  }
  func.func private @log_softmax(%arg0: tensor<64x10xf32>) -> (tensor<64x10xf32>, tensor<64x10xf32>, tensor<64x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<64x10xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<64xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<64x10xf32>
    %6 = stablehlo.exponential %5 : tensor<64x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<64x10xf32>, tensor<f32>) -> tensor<64xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %9 = stablehlo.log %8 : tensor<64x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<64x10xf32>
    return %11, %6, %8 : tensor<64x10xf32>, tensor<64x10xf32>, tensor<64x1xf32>
  }
  func.func private @argmax(%arg0: tensor<64x10xf32>) -> tensor<64xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<64x10xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<64x10xf32>, tensor<64x10xi32>, tensor<f32>, tensor<i32>) -> (tensor<64xf32>, tensor<64xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<64xi32>
  }
  func.func private @log_softmax_1(%arg0: tensor<64x10xf32>, %arg1: tensor<64x1xf32>, %arg2: tensor<64x10xf32>) -> tensor<64x10xf32> {
    %0 = stablehlo.negate %arg2 : tensor<64x10xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<64x10xf32>, tensor<f32>) -> tensor<64xf32>
    %2 = stablehlo.reshape %1 : (tensor<64xf32>) -> tensor<64x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<64x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<64x1xf32>, tensor<f32>) -> tensor<64xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<64xf32>) -> tensor<64x10xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<64x10xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<64x10xf32>
    return %7 : tensor<64x10xf32>
  }
}
