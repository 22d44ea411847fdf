module @jit_train_step attributes {mhlo.num_partitions = 5 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=5]> {stablehlo.mesh = {axes = [{name = "batch", size = 5 : i64}]}}
  func.func public @main(%arg0: tensor<3x3x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>, tf.aliasing_output = 0 : i32} loc("state.params.conv1.w"), %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 1 : i32} loc("state.params.conv1.b"), %arg2: tensor<3x3x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>, tf.aliasing_output = 2 : i32} loc("state.params.conv2.w"), %arg3: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 3 : i32} loc("state.params.conv2.b"), %arg4: tensor<1568x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 4 : i32} loc("state.params.dense.w"), %arg5: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 5 : i32} loc("state.params.dense.b"), %arg6: tensor<3x3x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>, tf.aliasing_output = 6 : i32} loc("state.mu.conv1.w"), %arg7: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 7 : i32} loc("state.mu.conv1.b"), %arg8: tensor<3x3x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>, tf.aliasing_output = 8 : i32} loc("state.mu.conv2.w"), %arg9: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 9 : i32} loc("state.mu.conv2.b"), %arg10: tensor<1568x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 10 : i32} loc("state.mu.dense.w"), %arg11: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 11 : i32} loc("state.mu.dense.b"), %arg12: tensor<3x3x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>, tf.aliasing_output = 12 : i32} loc("state.nu.conv1.w"), %arg13: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 13 : i32} loc("state.nu.conv1.b"), %arg14: tensor<3x3x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>, tf.aliasing_output = 14 : i32} loc("state.nu.conv2.w"), %arg15: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 15 : i32} loc("state.nu.conv2.b"), %arg16: tensor<1568x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 16 : i32} loc("state.nu.dense.w"), %arg17: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 17 : i32} loc("state.nu.dense.b"), %arg18: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>, tf.aliasing_output = 18 : i32} loc("state.step"), %arg19: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>, tf.aliasing_output = 19 : i32} loc("metrics.loss_sum"), %arg20: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>, tf.aliasing_output = 20 : i32} loc("metrics.correct"), %arg21: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>, tf.aliasing_output = 21 : i32} loc("metrics.seen"), %arg22: tensor<65x784xui8> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>} loc("images"), %arg23: tensor<65xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>} loc("labels")) -> (tensor<3x3x1x16xf32> {jax.result_info = "result[0].params.conv1.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<16xf32> {jax.result_info = "result[0].params.conv1.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<3x3x16x32xf32> {jax.result_info = "result[0].params.conv2.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<32xf32> {jax.result_info = "result[0].params.conv2.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<1568x10xf32> {jax.result_info = "result[0].params.dense.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<10xf32> {jax.result_info = "result[0].params.dense.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<3x3x1x16xf32> {jax.result_info = "result[0].mu.conv1.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<16xf32> {jax.result_info = "result[0].mu.conv1.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<3x3x16x32xf32> {jax.result_info = "result[0].mu.conv2.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<32xf32> {jax.result_info = "result[0].mu.conv2.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<1568x10xf32> {jax.result_info = "result[0].mu.dense.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<10xf32> {jax.result_info = "result[0].mu.dense.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<3x3x1x16xf32> {jax.result_info = "result[0].nu.conv1.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<16xf32> {jax.result_info = "result[0].nu.conv1.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<3x3x16x32xf32> {jax.result_info = "result[0].nu.conv2.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, tensor<32xf32> {jax.result_info = "result[0].nu.conv2.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<1568x10xf32> {jax.result_info = "result[0].nu.dense.w", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<10xf32> {jax.result_info = "result[0].nu.dense.b", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<i32> {jax.result_info = "result[0].step", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<f32> {jax.result_info = "result[1].loss_sum", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<i32> {jax.result_info = "result[1].correct", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<i32> {jax.result_info = "result[1].seen", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<f32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0:23 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %arg9, %arg10, %arg11, %arg12, %arg13, %arg14, %arg15, %arg16, %arg17, %arg18, %arg19, %arg20, %arg21, %arg22, %arg23) in_shardings=[<@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, []>, <@mesh, []>, <@mesh, []>, <@mesh, []>, <@mesh, [{"batch"}, {}]>, <@mesh, [{"batch"}]>] out_shardings=[<@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, []>, <@mesh, []>, <@mesh, []>, <@mesh, []>, <@mesh, []>] manual_axes={"batch"} (%arg24: tensor<3x3x1x16xf32>, %arg25: tensor<16xf32>, %arg26: tensor<3x3x16x32xf32>, %arg27: tensor<32xf32>, %arg28: tensor<1568x10xf32>, %arg29: tensor<10xf32>, %arg30: tensor<3x3x1x16xf32>, %arg31: tensor<16xf32>, %arg32: tensor<3x3x16x32xf32>, %arg33: tensor<32xf32>, %arg34: tensor<1568x10xf32>, %arg35: tensor<10xf32>, %arg36: tensor<3x3x1x16xf32>, %arg37: tensor<16xf32>, %arg38: tensor<3x3x16x32xf32>, %arg39: tensor<32xf32>, %arg40: tensor<1568x10xf32>, %arg41: tensor<10xf32>, %arg42: tensor<i32>, %arg43: tensor<f32>, %arg44: tensor<i32>, %arg45: tensor<i32>, %arg46: tensor<13x784xui8>, %arg47: tensor<13xi32>) {
      %1 = stablehlo.reshape %arg46 : (tensor<13x784xui8>) -> tensor<13x28x28x1xui8>
      %2 = stablehlo.convert %1 : (tensor<13x28x28x1xui8>) -> tensor<13x28x28x1xf32>
      %cst = stablehlo.constant dense<2.550000e+02> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<13x28x28x1xf32>
      %4 = stablehlo.divide %2, %3 : tensor<13x28x28x1xf32>
      %5 = stablehlo.convolution(%4, %arg24) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<13x28x28x1xf32>, tensor<3x3x1x16xf32>) -> tensor<13x28x28x16xf32>
      %6 = stablehlo.broadcast_in_dim %arg25, dims = [3] : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
      %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<1x1x1x16xf32>) -> tensor<13x28x28x16xf32>
      %8 = stablehlo.add %5, %7 : tensor<13x28x28x16xf32>
      %9 = func.call @relu(%8) : (tensor<13x28x28x16xf32>) -> tensor<13x28x28x16xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<13x28x28x16xf32>
      %11 = stablehlo.compare GT, %8, %10, FLOAT : (tensor<13x28x28x16xf32>, tensor<13x28x28x16xf32>) -> tensor<13x28x28x16xi1>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<13x28x28x16xf32>
      %13 = stablehlo.reshape %9 : (tensor<13x28x28x16xf32>) -> tensor<13x14x2x14x2x16xf32>
      %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %14 = stablehlo.reduce(%13 init: %cst_2) applies stablehlo.maximum across dimensions = [2, 4] : (tensor<13x14x2x14x2x16xf32>, tensor<f32>) -> tensor<13x14x14x16xf32>
      %15 = stablehlo.reshape %14 : (tensor<13x14x14x16xf32>) -> tensor<13x14x1x14x1x16xf32>
      %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3, 4, 5] : (tensor<13x14x1x14x1x16xf32>) -> tensor<13x14x2x14x2x16xf32>
      %17 = stablehlo.compare EQ, %13, %16, FLOAT : (tensor<13x14x2x14x2x16xf32>, tensor<13x14x2x14x2x16xf32>) -> tensor<13x14x2x14x2x16xi1>
      %18 = stablehlo.convert %17 : (tensor<13x14x2x14x2x16xi1>) -> tensor<13x14x2x14x2x16xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %19 = stablehlo.reduce(%18 init: %cst_3) applies stablehlo.add across dimensions = [2, 4] : (tensor<13x14x2x14x2x16xf32>, tensor<f32>) -> tensor<13x14x14x16xf32>
      %20 = stablehlo.convolution(%14, %arg26) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<13x14x14x16xf32>, tensor<3x3x16x32xf32>) -> tensor<13x14x14x32xf32>
      %21 = stablehlo.broadcast_in_dim %arg27, dims = [3] : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
      %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<1x1x1x32xf32>) -> tensor<13x14x14x32xf32>
      %23 = stablehlo.add %20, %22 : tensor<13x14x14x32xf32>
      %24 = func.call @relu_0(%23) : (tensor<13x14x14x32xf32>) -> tensor<13x14x14x32xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<13x14x14x32xf32>
      %26 = stablehlo.compare GT, %23, %25, FLOAT : (tensor<13x14x14x32xf32>, tensor<13x14x14x32xf32>) -> tensor<13x14x14x32xi1>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %27 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<13x14x14x32xf32>
      %28 = stablehlo.reshape %24 : (tensor<13x14x14x32xf32>) -> tensor<13x7x2x7x2x32xf32>
      %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %29 = stablehlo.reduce(%28 init: %cst_6) applies stablehlo.maximum across dimensions = [2, 4] : (tensor<13x7x2x7x2x32xf32>, tensor<f32>) -> tensor<13x7x7x32xf32>
      %30 = stablehlo.reshape %29 : (tensor<13x7x7x32xf32>) -> tensor<13x7x1x7x1x32xf32>
      %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3, 4, 5] : (tensor<13x7x1x7x1x32xf32>) -> tensor<13x7x2x7x2x32xf32>
      %32 = stablehlo.compare EQ, %28, %31, FLOAT : (tensor<13x7x2x7x2x32xf32>, tensor<13x7x2x7x2x32xf32>) -> tensor<13x7x2x7x2x32xi1>
      %33 = stablehlo.convert %32 : (tensor<13x7x2x7x2x32xi1>) -> tensor<13x7x2x7x2x32xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %34 = stablehlo.reduce(%33 init: %cst_7) applies stablehlo.add across dimensions = [2, 4] : (tensor<13x7x2x7x2x32xf32>, tensor<f32>) -> tensor<13x7x7x32xf32>
      %35 = stablehlo.reshape %29 : (tensor<13x7x7x32xf32>) -> tensor<13x1568xf32>
      %36 = stablehlo.dot_general %35, %arg28, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<13x1568xf32>, tensor<1568x10xf32>) -> tensor<13x10xf32>
      %37 = stablehlo.broadcast_in_dim %arg29, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
      %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<13x10xf32>
      %39 = stablehlo.add %36, %38 : tensor<13x10xf32>
      %40 = func.call @_one_hot(%arg47) : (tensor<13xi32>) -> tensor<13x10xf32>
      %41:3 = func.call @log_softmax(%39) : (tensor<13x10xf32>) -> (tensor<13x10xf32>, tensor<13x10xf32>, tensor<13x1xf32>)
      %42 = stablehlo.multiply %40, %41#0 : tensor<13x10xf32>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %43 = stablehlo.reduce(%42 init: %cst_8) applies stablehlo.add across dimensions = [1] : (tensor<13x10xf32>, tensor<f32>) -> tensor<13xf32>
      %44 = stablehlo.negate %43 : tensor<13xf32>
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %45 = stablehlo.reduce(%44 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<13xf32>, tensor<f32>) -> tensor<f32>
      %46 = func.call @argmax(%39) : (tensor<13x10xf32>) -> tensor<13xi32>
      %47 = stablehlo.compare EQ, %46, %arg47, SIGNED : (tensor<13xi32>, tensor<13xi32>) -> tensor<13xi1>
      %48 = stablehlo.convert %47 : (tensor<13xi1>) -> tensor<13xi32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %49 = stablehlo.reduce(%48 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<13xi32>, tensor<i32>) -> tensor<i32>
      %c_10 = stablehlo.constant dense<-1> : tensor<i32>
      %50 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<13xi32>
      %51 = stablehlo.compare NE, %arg47, %50, SIGNED : (tensor<13xi32>, tensor<13xi32>) -> tensor<13xi1>
      %52 = stablehlo.convert %51 : (tensor<13xi1>) -> tensor<13xi32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %53 = stablehlo.reduce(%52 init: %c_11) applies stablehlo.add across dimensions = [0] : (tensor<13xi32>, tensor<i32>) -> tensor<i32>
      %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %54 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<13xf32>
      %55 = stablehlo.negate %54 : tensor<13xf32>
      %56 = stablehlo.broadcast_in_dim %55, dims = [0] : (tensor<13xf32>) -> tensor<13x10xf32>
      %57 = stablehlo.multiply %40, %56 : tensor<13x10xf32>
      %58 = func.call @log_softmax_1(%41#1, %41#2, %57) : (tensor<13x10xf32>, tensor<13x1xf32>, tensor<13x10xf32>) -> tensor<13x10xf32>
      %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %59 = stablehlo.reduce(%58 init: %cst_13) applies stablehlo.add across dimensions = [0] : (tensor<13x10xf32>, tensor<f32>) -> tensor<10xf32>
      %60 = stablehlo.reshape %59 : (tensor<10xf32>) -> tensor<1x10xf32>
      %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %61 = stablehlo.reduce(%60 init: %cst_14) applies stablehlo.add across dimensions = [0] : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
      %62 = stablehlo.dot_general %58, %35, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<13x10xf32>, tensor<13x1568xf32>) -> tensor<10x1568xf32>
      %63 = stablehlo.transpose %62, dims = [1, 0] : (tensor<10x1568xf32>) -> tensor<1568x10xf32>
      %64 = stablehlo.dot_general %58, %arg28, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<13x10xf32>, tensor<1568x10xf32>) -> tensor<13x1568xf32>
      %65 = stablehlo.reshape %64 : (tensor<13x1568xf32>) -> tensor<13x7x7x32xf32>
      %66 = stablehlo.divide %65, %34 : tensor<13x7x7x32xf32>
      %67 = stablehlo.broadcast_in_dim %66, dims = [0, 1, 3, 5] : (tensor<13x7x7x32xf32>) -> tensor<13x7x2x7x2x32xf32>
      %68 = stablehlo.multiply %67, %33 : tensor<13x7x2x7x2x32xf32>
      %69 = stablehlo.reshape %68 : (tensor<13x7x2x7x2x32xf32>) -> tensor<13x14x14x32xf32>
      %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %70 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<13x14x14x32xf32>
      %71 = stablehlo.select %26, %69, %70 : tensor<13x14x14x32xi1>, tensor<13x14x14x32xf32>
      %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %72 = stablehlo.reduce(%71 init: %cst_16) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<13x14x14x32xf32>, tensor<f32>) -> tensor<32xf32>
      %73 = stablehlo.reshape %72 : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
      %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %74 = stablehlo.reduce(%73 init: %cst_17) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
      %75 = stablehlo.convolution(%14, %71) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<13x14x14x16xf32>, tensor<13x14x14x32xf32>) -> tensor<3x3x16x32xf32>
      %76 = stablehlo.reverse %arg26, dims = [0, 1] : tensor<3x3x16x32xf32>
      %77 = stablehlo.convolution(%71, %76) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<13x14x14x32xf32>, tensor<3x3x16x32xf32>) -> tensor<13x14x14x16xf32>
      %78 = stablehlo.divide %77, %19 : tensor<13x14x14x16xf32>
      %79 = stablehlo.broadcast_in_dim %78, dims = [0, 1, 3, 5] : (tensor<13x14x14x16xf32>) -> tensor<13x14x2x14x2x16xf32>
      %80 = stablehlo.multiply %79, %18 : tensor<13x14x2x14x2x16xf32>
      %81 = stablehlo.reshape %80 : (tensor<13x14x2x14x2x16xf32>) -> tensor<13x28x28x16xf32>
      %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %82 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<13x28x28x16xf32>
      %83 = stablehlo.select %11, %81, %82 : tensor<13x28x28x16xi1>, tensor<13x28x28x16xf32>
      %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %84 = stablehlo.reduce(%83 init: %cst_19) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<13x28x28x16xf32>, tensor<f32>) -> tensor<16xf32>
      %85 = stablehlo.reshape %84 : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
      %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %86 = stablehlo.reduce(%85 init: %cst_20) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x16xf32>, tensor<f32>) -> tensor<16xf32>
      %87 = stablehlo.convolution(%4, %83) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<13x28x28x1xf32>, tensor<13x28x28x16xf32>) -> tensor<3x3x1x16xf32>
      %88 = "stablehlo.all_reduce"(%87) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi64>, use_global_device_ids}> ({
      ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
        %256 = stablehlo.add %arg48, %arg49 : tensor<f32>
        stablehlo.return %256 : tensor<f32>
      }) : (tensor<3x3x1x16xf32>) -> tensor<3x3x1x16xf32>
      %89 = "stablehlo.all_reduce"(%86) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi64>, use_global_device_ids}> ({
      ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
        %256 = stablehlo.add %arg48, %arg49 : tensor<f32>
        stablehlo.return %256 : tensor<f32>
      }) : (tensor<16xf32>) -> tensor<16xf32>
      %90 = "stablehlo.all_reduce"(%75) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi64>, use_global_device_ids}> ({
      ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
        %256 = stablehlo.add %arg48, %arg49 : tensor<f32>
        stablehlo.return %256 : tensor<f32>
      }) : (tensor<3x3x16x32xf32>) -> tensor<3x3x16x32xf32>
      %91 = "stablehlo.all_reduce"(%74) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi64>, use_global_device_ids}> ({
      ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
        %256 = stablehlo.add %arg48, %arg49 : tensor<f32>
        stablehlo.return %256 : tensor<f32>
      }) : (tensor<32xf32>) -> tensor<32xf32>
      %92 = "stablehlo.all_reduce"(%63) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi64>, use_global_device_ids}> ({
      ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
        %256 = stablehlo.add %arg48, %arg49 : tensor<f32>
        stablehlo.return %256 : tensor<f32>
      }) : (tensor<1568x10xf32>) -> tensor<1568x10xf32>
      %93 = "stablehlo.all_reduce"(%61) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi64>, use_global_device_ids}> ({
      ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
        %256 = stablehlo.add %arg48, %arg49 : tensor<f32>
        stablehlo.return %256 : tensor<f32>
      }) : (tensor<10xf32>) -> tensor<10xf32>
      %94 = "stablehlo.all_reduce"(%45) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi64>, use_global_device_ids}> ({
      ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
        %256 = stablehlo.add %arg48, %arg49 : tensor<f32>
        stablehlo.return %256 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %95 = "stablehlo.all_reduce"(%49) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi64>, use_global_device_ids}> ({
      ^bb0(%arg48: tensor<i32>, %arg49: tensor<i32>):
        %256 = stablehlo.add %arg48, %arg49 : tensor<i32>
        stablehlo.return %256 : tensor<i32>
      }) : (tensor<i32>) -> tensor<i32>
      %96 = "stablehlo.all_reduce"(%53) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi64>, use_global_device_ids}> ({
      ^bb0(%arg48: tensor<i32>, %arg49: tensor<i32>):
        %256 = stablehlo.add %arg48, %arg49 : tensor<i32>
        stablehlo.return %256 : tensor<i32>
      }) : (tensor<i32>) -> tensor<i32>
      %cst_21 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %97 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
      %98 = stablehlo.divide %88, %97 : tensor<3x3x1x16xf32>
      %cst_22 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %99 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %100 = stablehlo.divide %89, %99 : tensor<16xf32>
      %cst_23 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %101 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
      %102 = stablehlo.divide %90, %101 : tensor<3x3x16x32xf32>
      %cst_24 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %103 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<32xf32>
      %104 = stablehlo.divide %91, %103 : tensor<32xf32>
      %cst_25 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %105 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
      %106 = stablehlo.divide %92, %105 : tensor<1568x10xf32>
      %cst_26 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %107 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<10xf32>
      %108 = stablehlo.divide %93, %107 : tensor<10xf32>
      %109 = stablehlo.add %arg43, %94 : tensor<f32>
      %110 = stablehlo.add %arg44, %95 : tensor<i32>
      %111 = stablehlo.add %arg45, %96 : tensor<i32>
      %c_27 = stablehlo.constant dense<1> : tensor<i32>
      %112 = stablehlo.add %arg42, %c_27 : tensor<i32>
      %cst_28 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %113 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
      %114 = stablehlo.multiply %113, %arg30 : tensor<3x3x1x16xf32>
      %cst_29 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %115 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
      %116 = stablehlo.multiply %115, %98 : tensor<3x3x1x16xf32>
      %117 = stablehlo.add %114, %116 : tensor<3x3x1x16xf32>
      %cst_30 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %118 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %119 = stablehlo.multiply %118, %arg31 : tensor<16xf32>
      %cst_31 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %120 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %121 = stablehlo.multiply %120, %100 : tensor<16xf32>
      %122 = stablehlo.add %119, %121 : tensor<16xf32>
      %cst_32 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %123 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
      %124 = stablehlo.multiply %123, %arg32 : tensor<3x3x16x32xf32>
      %cst_33 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %125 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
      %126 = stablehlo.multiply %125, %102 : tensor<3x3x16x32xf32>
      %127 = stablehlo.add %124, %126 : tensor<3x3x16x32xf32>
      %cst_34 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %128 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<32xf32>
      %129 = stablehlo.multiply %128, %arg33 : tensor<32xf32>
      %cst_35 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %130 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<32xf32>
      %131 = stablehlo.multiply %130, %104 : tensor<32xf32>
      %132 = stablehlo.add %129, %131 : tensor<32xf32>
      %cst_36 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %133 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
      %134 = stablehlo.multiply %133, %arg34 : tensor<1568x10xf32>
      %cst_37 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %135 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
      %136 = stablehlo.multiply %135, %106 : tensor<1568x10xf32>
      %137 = stablehlo.add %134, %136 : tensor<1568x10xf32>
      %cst_38 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %138 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<10xf32>
      %139 = stablehlo.multiply %138, %arg35 : tensor<10xf32>
      %cst_39 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %140 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<10xf32>
      %141 = stablehlo.multiply %140, %108 : tensor<10xf32>
      %142 = stablehlo.add %139, %141 : tensor<10xf32>
      %cst_40 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
      %143 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
      %144 = stablehlo.multiply %143, %arg36 : tensor<3x3x1x16xf32>
      %cst_41 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %145 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
      %146 = stablehlo.multiply %145, %98 : tensor<3x3x1x16xf32>
      %147 = stablehlo.multiply %146, %98 : tensor<3x3x1x16xf32>
      %148 = stablehlo.add %144, %147 : tensor<3x3x1x16xf32>
      %cst_42 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
      %149 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %150 = stablehlo.multiply %149, %arg37 : tensor<16xf32>
      %cst_43 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %151 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %152 = stablehlo.multiply %151, %100 : tensor<16xf32>
      %153 = stablehlo.multiply %152, %100 : tensor<16xf32>
      %154 = stablehlo.add %150, %153 : tensor<16xf32>
      %cst_44 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
      %155 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
      %156 = stablehlo.multiply %155, %arg38 : tensor<3x3x16x32xf32>
      %cst_45 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %157 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
      %158 = stablehlo.multiply %157, %102 : tensor<3x3x16x32xf32>
      %159 = stablehlo.multiply %158, %102 : tensor<3x3x16x32xf32>
      %160 = stablehlo.add %156, %159 : tensor<3x3x16x32xf32>
      %cst_46 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
      %161 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<32xf32>
      %162 = stablehlo.multiply %161, %arg39 : tensor<32xf32>
      %cst_47 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %163 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<32xf32>
      %164 = stablehlo.multiply %163, %104 : tensor<32xf32>
      %165 = stablehlo.multiply %164, %104 : tensor<32xf32>
      %166 = stablehlo.add %162, %165 : tensor<32xf32>
      %cst_48 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
      %167 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
      %168 = stablehlo.multiply %167, %arg40 : tensor<1568x10xf32>
      %cst_49 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %169 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
      %170 = stablehlo.multiply %169, %106 : tensor<1568x10xf32>
      %171 = stablehlo.multiply %170, %106 : tensor<1568x10xf32>
      %172 = stablehlo.add %168, %171 : tensor<1568x10xf32>
      %cst_50 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
      %173 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<10xf32>
      %174 = stablehlo.multiply %173, %arg41 : tensor<10xf32>
      %cst_51 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %175 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<10xf32>
      %176 = stablehlo.multiply %175, %108 : tensor<10xf32>
      %177 = stablehlo.multiply %176, %108 : tensor<10xf32>
      %178 = stablehlo.add %174, %177 : tensor<10xf32>
      %179 = stablehlo.convert %112 : (tensor<i32>) -> tensor<f32>
      %cst_52 = stablehlo.constant dense<-0.105360515> : tensor<f32>
      %180 = stablehlo.multiply %179, %cst_52 : tensor<f32>
      %181 = stablehlo.exponential_minus_one %180 : tensor<f32>
      %cst_53 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
      %182 = stablehlo.divide %cst_53, %181 : tensor<f32>
      %cst_54 = stablehlo.constant dense<-0.00100050028> : tensor<f32>
      %183 = stablehlo.multiply %179, %cst_54 : tensor<f32>
      %184 = stablehlo.exponential_minus_one %183 : tensor<f32>
      %cst_55 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
      %185 = stablehlo.divide %cst_55, %184 : tensor<f32>
      %cst_56 = stablehlo.constant dense<1.400000e+02> : tensor<f32>
      %186 = stablehlo.divide %179, %cst_56 : tensor<f32>
      %cst_57 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %187 = stablehlo.minimum %cst_57, %186 : tensor<f32>
      %cst_58 = stablehlo.constant dense<2.000000e-03> : tensor<f32>
      %188 = stablehlo.multiply %cst_58, %187 : tensor<f32>
      %189 = stablehlo.broadcast_in_dim %182, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
      %190 = stablehlo.multiply %117, %189 : tensor<3x3x1x16xf32>
      %191 = stablehlo.broadcast_in_dim %188, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
      %192 = stablehlo.multiply %191, %190 : tensor<3x3x1x16xf32>
      %193 = stablehlo.broadcast_in_dim %185, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
      %194 = stablehlo.multiply %148, %193 : tensor<3x3x1x16xf32>
      %195 = stablehlo.sqrt %194 : tensor<3x3x1x16xf32>
      %cst_59 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
      %196 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<3x3x1x16xf32>
      %197 = stablehlo.add %195, %196 : tensor<3x3x1x16xf32>
      %198 = stablehlo.divide %192, %197 : tensor<3x3x1x16xf32>
      %199 = stablehlo.subtract %arg24, %198 : tensor<3x3x1x16xf32>
      %200 = stablehlo.broadcast_in_dim %182, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %201 = stablehlo.multiply %122, %200 : tensor<16xf32>
      %202 = stablehlo.broadcast_in_dim %188, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %203 = stablehlo.multiply %202, %201 : tensor<16xf32>
      %204 = stablehlo.broadcast_in_dim %185, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %205 = stablehlo.multiply %154, %204 : tensor<16xf32>
      %206 = stablehlo.sqrt %205 : tensor<16xf32>
      %cst_60 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
      %207 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %208 = stablehlo.add %206, %207 : tensor<16xf32>
      %209 = stablehlo.divide %203, %208 : tensor<16xf32>
      %210 = stablehlo.subtract %arg25, %209 : tensor<16xf32>
      %211 = stablehlo.broadcast_in_dim %182, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
      %212 = stablehlo.multiply %127, %211 : tensor<3x3x16x32xf32>
      %213 = stablehlo.broadcast_in_dim %188, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
      %214 = stablehlo.multiply %213, %212 : tensor<3x3x16x32xf32>
      %215 = stablehlo.broadcast_in_dim %185, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
      %216 = stablehlo.multiply %160, %215 : tensor<3x3x16x32xf32>
      %217 = stablehlo.sqrt %216 : tensor<3x3x16x32xf32>
      %cst_61 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
      %218 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<3x3x16x32xf32>
      %219 = stablehlo.add %217, %218 : tensor<3x3x16x32xf32>
      %220 = stablehlo.divide %214, %219 : tensor<3x3x16x32xf32>
      %221 = stablehlo.subtract %arg26, %220 : tensor<3x3x16x32xf32>
      %222 = stablehlo.broadcast_in_dim %182, dims = [] : (tensor<f32>) -> tensor<32xf32>
      %223 = stablehlo.multiply %132, %222 : tensor<32xf32>
      %224 = stablehlo.broadcast_in_dim %188, dims = [] : (tensor<f32>) -> tensor<32xf32>
      %225 = stablehlo.multiply %224, %223 : tensor<32xf32>
      %226 = stablehlo.broadcast_in_dim %185, dims = [] : (tensor<f32>) -> tensor<32xf32>
      %227 = stablehlo.multiply %166, %226 : tensor<32xf32>
      %228 = stablehlo.sqrt %227 : tensor<32xf32>
      %cst_62 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
      %229 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<32xf32>
      %230 = stablehlo.add %228, %229 : tensor<32xf32>
      %231 = stablehlo.divide %225, %230 : tensor<32xf32>
      %232 = stablehlo.subtract %arg27, %231 : tensor<32xf32>
      %233 = stablehlo.broadcast_in_dim %182, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
      %234 = stablehlo.multiply %137, %233 : tensor<1568x10xf32>
      %235 = stablehlo.broadcast_in_dim %188, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
      %236 = stablehlo.multiply %235, %234 : tensor<1568x10xf32>
      %237 = stablehlo.broadcast_in_dim %185, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
      %238 = stablehlo.multiply %172, %237 : tensor<1568x10xf32>
      %239 = stablehlo.sqrt %238 : tensor<1568x10xf32>
      %cst_63 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
      %240 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
      %241 = stablehlo.add %239, %240 : tensor<1568x10xf32>
      %242 = stablehlo.divide %236, %241 : tensor<1568x10xf32>
      %243 = stablehlo.subtract %arg28, %242 : tensor<1568x10xf32>
      %244 = stablehlo.broadcast_in_dim %182, dims = [] : (tensor<f32>) -> tensor<10xf32>
      %245 = stablehlo.multiply %142, %244 : tensor<10xf32>
      %246 = stablehlo.broadcast_in_dim %188, dims = [] : (tensor<f32>) -> tensor<10xf32>
      %247 = stablehlo.multiply %246, %245 : tensor<10xf32>
      %248 = stablehlo.broadcast_in_dim %185, dims = [] : (tensor<f32>) -> tensor<10xf32>
      %249 = stablehlo.multiply %178, %248 : tensor<10xf32>
      %250 = stablehlo.sqrt %249 : tensor<10xf32>
      %cst_64 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
      %251 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<10xf32>
      %252 = stablehlo.add %250, %251 : tensor<10xf32>
      %253 = stablehlo.divide %247, %252 : tensor<10xf32>
      %254 = stablehlo.subtract %arg29, %253 : tensor<10xf32>
      %cst_65 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
      %255 = stablehlo.divide %94, %cst_65 : tensor<f32>
      sdy.return %199, %210, %221, %232, %243, %254, %117, %122, %127, %132, %137, %142, %148, %154, %160, %166, %172, %178, %112, %109, %110, %111, %255 : tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>
    } : (tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<65x784xui8>, tensor<65xi32>) -> (tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9, %0#10, %0#11, %0#12, %0#13, %0#14, %0#15, %0#16, %0#17, %0#18, %0#19, %0#20, %0#21, %0#22 : tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<13x28x28x16xf32>) -> tensor<13x28x28x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<13x28x28x16xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<13x28x28x16xf32>
    return %1 : tensor<13x28x28x16xf32>
  }
  func.func private @relu_0(%arg0: tensor<13x14x14x32xf32>) -> tensor<13x14x14x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<13x14x14x32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<13x14x14x32xf32>
    return %1 : tensor<13x14x14x32xf32>
  }
  func.func private @_one_hot(%arg0: tensor<13xi32>) -> tensor<13x10xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<13xi32>) -> tensor<13x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x10xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<13x1xi32>) -> tensor<13x10xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x10xi32>) -> tensor<13x10xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<13x10xi32>, tensor<13x10xi32>) -> tensor<13x10xi1>
    %5 = stablehlo.convert %4 : (tensor<13x10xi1>) -> tensor<13x10xf32>
    return %5 : tensor<13x10xf32>
  }
  func.func private @log_softmax(%arg0: tensor<13x10xf32>) -> (tensor<13x10xf32>, tensor<13x10xf32>, tensor<13x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<13x10xf32>, tensor<f32>) -> tensor<13xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<13xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<13xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<13xf32>) -> tensor<13x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<13x1xf32>) -> tensor<13x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<13x10xf32>
    %6 = stablehlo.exponential %5 : tensor<13x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<13x10xf32>, tensor<f32>) -> tensor<13xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<13xf32>) -> tensor<13x1xf32>
    %9 = stablehlo.log %8 : tensor<13x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<13x1xf32>) -> tensor<13x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<13x10xf32>
    return %11, %6, %8 : tensor<13x10xf32>, tensor<13x10xf32>, tensor<13x1xf32>
  }
  func.func private @argmax(%arg0: tensor<13x10xf32>) -> tensor<13xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<13x10xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<13x10xf32>, tensor<13x10xi32>, tensor<f32>, tensor<i32>) -> (tensor<13xf32>, tensor<13xi32>)
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
    return %1#1 : tensor<13xi32>
  }
  func.func private @log_softmax_1(%arg0: tensor<13x10xf32>, %arg1: tensor<13x1xf32>, %arg2: tensor<13x10xf32>) -> tensor<13x10xf32> {
    %0 = stablehlo.negate %arg2 : tensor<13x10xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<13x10xf32>, tensor<f32>) -> tensor<13xf32>
    %2 = stablehlo.reshape %1 : (tensor<13xf32>) -> tensor<13x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<13x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<13x1xf32>, tensor<f32>) -> tensor<13xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<13xf32>) -> tensor<13x10xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<13x10xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<13x10xf32>
    return %7 : tensor<13x10xf32>
  }
}
