module @jit_evaluate attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=1]> {stablehlo.mesh = {axes = [{name = "batch", size = 1 : i64}]}}
  func.func public @main(%arg0: tensor<3x3x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>} loc("params.conv1.w"), %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("params.conv1.b"), %arg2: tensor<3x3x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>} loc("params.conv2.w"), %arg3: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("params.conv2.b"), %arg4: tensor<1568x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("params.dense.w"), %arg5: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("params.dense.b"), %arg6: tensor<500x784xui8> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>} loc("images"), %arg7: tensor<500xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>} loc("labels")) -> (tensor<f32> {jax.result_info = "result.loss_sum", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<i32> {jax.result_info = "result.correct", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<i32> {jax.result_info = "result.seen", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.reshape %arg6 : (tensor<500x784xui8>) -> tensor<500x28x28x1xui8>
    %1 = stablehlo.convert %0 : (tensor<500x28x28x1xui8>) -> tensor<500x28x28x1xf32>
    %cst = stablehlo.constant dense<2.550000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<500x28x28x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<500x28x28x1xf32>
    %4 = stablehlo.convolution(%3, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<500x28x28x1xf32>, tensor<3x3x1x16xf32>) -> tensor<500x28x28x16xf32>
    %5 = stablehlo.broadcast_in_dim %arg1, dims = [3] : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2, 3] : (tensor<1x1x1x16xf32>) -> tensor<500x28x28x16xf32>
    %7 = stablehlo.add %4, %6 : tensor<500x28x28x16xf32>
    %8 = call @relu(%7) : (tensor<500x28x28x16xf32>) -> tensor<500x28x28x16xf32>
    %9 = stablehlo.reshape %8 : (tensor<500x28x28x16xf32>) -> tensor<500x14x2x14x2x16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_0) applies stablehlo.maximum across dimensions = [2, 4] : (tensor<500x14x2x14x2x16xf32>, tensor<f32>) -> tensor<500x14x14x16xf32>
    %11 = stablehlo.convolution(%10, %arg2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<500x14x14x16xf32>, tensor<3x3x16x32xf32>) -> tensor<500x14x14x32xf32>
    %12 = stablehlo.broadcast_in_dim %arg3, dims = [3] : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<1x1x1x32xf32>) -> tensor<500x14x14x32xf32>
    %14 = stablehlo.add %11, %13 : tensor<500x14x14x32xf32>
    %15 = call @relu_0(%14) : (tensor<500x14x14x32xf32>) -> tensor<500x14x14x32xf32>
    %16 = stablehlo.reshape %15 : (tensor<500x14x14x32xf32>) -> tensor<500x7x2x7x2x32xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_1) applies stablehlo.maximum across dimensions = [2, 4] : (tensor<500x7x2x7x2x32xf32>, tensor<f32>) -> tensor<500x7x7x32xf32>
    %18 = stablehlo.reshape %17 : (tensor<500x7x7x32xf32>) -> tensor<500x1568xf32>
    %19 = stablehlo.dot_general %18, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<500x1568xf32>, tensor<1568x10xf32>) -> tensor<500x10xf32>
    %20 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<500x10xf32>
    %22 = stablehlo.add %19, %21 : tensor<500x10xf32>
    %23 = call @_one_hot(%arg7) : (tensor<500xi32>) -> tensor<500x10xf32>
    %24 = call @log_softmax(%22) : (tensor<500x10xf32>) -> tensor<500x10xf32>
    %25 = stablehlo.multiply %23, %24 : tensor<500x10xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<500x10xf32>, tensor<f32>) -> tensor<500xf32>
    %27 = stablehlo.negate %26 : tensor<500xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<500xf32>, tensor<f32>) -> tensor<f32>
    %29 = call @argmax(%22) : (tensor<500x10xf32>) -> tensor<500xi32>
    %30 = stablehlo.compare EQ, %29, %arg7, SIGNED : (tensor<500xi32>, tensor<500xi32>) -> tensor<500xi1>
    %31 = stablehlo.convert %30 : (tensor<500xi1>) -> tensor<500xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %32 = stablehlo.reduce(%31 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<500xi32>, tensor<i32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<-1> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<500xi32>
    %34 = stablehlo.compare NE, %arg7, %33, SIGNED : (tensor<500xi32>, tensor<500xi32>) -> tensor<500xi1>
    %35 = stablehlo.convert %34 : (tensor<500xi1>) -> tensor<500xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %36 = stablehlo.reduce(%35 init: %c_5) applies stablehlo.add across dimensions = [0] : (tensor<500xi32>, tensor<i32>) -> tensor<i32>
    %37 = "stablehlo.all_reduce"(%28) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %40 = stablehlo.add %arg8, %arg9 : tensor<f32>
      stablehlo.return %40 : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    %38 = "stablehlo.all_reduce"(%32) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg8: tensor<i32>, %arg9: tensor<i32>):
      %40 = stablehlo.add %arg8, %arg9 : tensor<i32>
      stablehlo.return %40 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %39 = "stablehlo.all_reduce"(%36) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg8: tensor<i32>, %arg9: tensor<i32>):
      %40 = stablehlo.add %arg8, %arg9 : tensor<i32>
      stablehlo.return %40 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    return %37, %38, %39 : tensor<f32>, tensor<i32>, tensor<i32>
  }
  func.func private @relu(%arg0: tensor<500x28x28x16xf32>) -> tensor<500x28x28x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<500x28x28x16xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<500x28x28x16xf32>
    return %1 : tensor<500x28x28x16xf32>
  }
  func.func private @relu_0(%arg0: tensor<500x14x14x32xf32>) -> tensor<500x14x14x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<500x14x14x32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<500x14x14x32xf32>
    return %1 : tensor<500x14x14x32xf32>
  }
  func.func private @_one_hot(%arg0: tensor<500xi32>) -> tensor<500x10xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<500xi32>) -> tensor<500x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x10xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<500x1xi32>) -> tensor<500x10xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x10xi32>) -> tensor<500x10xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<500x10xi32>, tensor<500x10xi32>) -> tensor<500x10xi1>
    %5 = stablehlo.convert %4 : (tensor<500x10xi1>) -> tensor<500x10xf32>
    return %5 : tensor<500x10xf32>
  }
  func.func private @log_softmax(%arg0: tensor<500x10xf32>) -> tensor<500x10xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<500x10xf32>, tensor<f32>) -> tensor<500xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<500xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<500xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<500xf32>) -> tensor<500x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<500x1xf32>) -> tensor<500x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<500x10xf32>
    %6 = stablehlo.exponential %5 : tensor<500x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<500x10xf32>, tensor<f32>) -> tensor<500xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<500xf32>) -> tensor<500x1xf32>
    %9 = stablehlo.log %8 : tensor<500x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<500x1xf32>) -> tensor<500x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<500x10xf32>
    return %11 : tensor<500x10xf32>
  }
  func.func private @argmax(%arg0: tensor<500x10xf32>) -> tensor<500xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<500x10xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<500x10xf32>, tensor<500x10xi32>, tensor<f32>, tensor<i32>) -> (tensor<500xf32>, tensor<500xi32>)
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
    return %1#1 : tensor<500xi32>
  }
}
