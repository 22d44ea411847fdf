module @jit_evaluate attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<3x3x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>} loc("params.conv1.w"), %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("params.conv1.b"), %arg2: tensor<3x3x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>} loc("params.conv2.w"), %arg3: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("params.conv2.b"), %arg4: tensor<1568x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("params.dense.w"), %arg5: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("params.dense.b"), %arg6: tensor<500x784xui8> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>} loc("images"), %arg7: tensor<500xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>} loc("labels")) -> (tensor<f32> {jax.result_info = "result.loss_sum", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<i32> {jax.result_info = "result.correct", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<i32> {jax.result_info = "result.seen", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0:3 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7) in_shardings=[<@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}, {}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, [{"batch"}, {}]>, <@mesh, [{"batch"}]>] out_shardings=[<@mesh, []>, <@mesh, []>, <@mesh, []>] manual_axes={"batch"} (%arg8: tensor<3x3x1x16xf32>, %arg9: tensor<16xf32>, %arg10: tensor<3x3x16x32xf32>, %arg11: tensor<32xf32>, %arg12: tensor<1568x10xf32>, %arg13: tensor<10xf32>, %arg14: tensor<250x784xui8>, %arg15: tensor<250xi32>) {
      %1 = stablehlo.reshape %arg14 : (tensor<250x784xui8>) -> tensor<250x28x28x1xui8>
      %2 = stablehlo.convert %1 : (tensor<250x28x28x1xui8>) -> tensor<250x28x28x1xf32>
      %cst = stablehlo.constant dense<2.550000e+02> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<250x28x28x1xf32>
      %4 = stablehlo.divide %2, %3 : tensor<250x28x28x1xf32>
      %5 = stablehlo.convolution(%4, %arg8) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<250x28x28x1xf32>, tensor<3x3x1x16xf32>) -> tensor<250x28x28x16xf32>
      %6 = stablehlo.broadcast_in_dim %arg9, dims = [3] : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
      %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<1x1x1x16xf32>) -> tensor<250x28x28x16xf32>
      %8 = stablehlo.add %5, %7 : tensor<250x28x28x16xf32>
      %9 = func.call @relu(%8) : (tensor<250x28x28x16xf32>) -> tensor<250x28x28x16xf32>
      %10 = stablehlo.reshape %9 : (tensor<250x28x28x16xf32>) -> tensor<250x14x2x14x2x16xf32>
      %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.maximum across dimensions = [2, 4] : (tensor<250x14x2x14x2x16xf32>, tensor<f32>) -> tensor<250x14x14x16xf32>
      %12 = stablehlo.convolution(%11, %arg10) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<250x14x14x16xf32>, tensor<3x3x16x32xf32>) -> tensor<250x14x14x32xf32>
      %13 = stablehlo.broadcast_in_dim %arg11, dims = [3] : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
      %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<1x1x1x32xf32>) -> tensor<250x14x14x32xf32>
      %15 = stablehlo.add %12, %14 : tensor<250x14x14x32xf32>
      %16 = func.call @relu_0(%15) : (tensor<250x14x14x32xf32>) -> tensor<250x14x14x32xf32>
      %17 = stablehlo.reshape %16 : (tensor<250x14x14x32xf32>) -> tensor<250x7x2x7x2x32xf32>
      %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %18 = stablehlo.reduce(%17 init: %cst_1) applies stablehlo.maximum across dimensions = [2, 4] : (tensor<250x7x2x7x2x32xf32>, tensor<f32>) -> tensor<250x7x7x32xf32>
      %19 = stablehlo.reshape %18 : (tensor<250x7x7x32xf32>) -> tensor<250x1568xf32>
      %20 = stablehlo.dot_general %19, %arg12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<250x1568xf32>, tensor<1568x10xf32>) -> tensor<250x10xf32>
      %21 = stablehlo.broadcast_in_dim %arg13, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
      %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<250x10xf32>
      %23 = stablehlo.add %20, %22 : tensor<250x10xf32>
      %24 = func.call @_one_hot(%arg15) : (tensor<250xi32>) -> tensor<250x10xf32>
      %25 = func.call @log_softmax(%23) : (tensor<250x10xf32>) -> tensor<250x10xf32>
      %26 = stablehlo.multiply %24, %25 : tensor<250x10xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %27 = stablehlo.reduce(%26 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<250x10xf32>, tensor<f32>) -> tensor<250xf32>
      %28 = stablehlo.negate %27 : tensor<250xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %29 = stablehlo.reduce(%28 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<250xf32>, tensor<f32>) -> tensor<f32>
      %30 = func.call @argmax(%23) : (tensor<250x10xf32>) -> tensor<250xi32>
      %31 = stablehlo.compare EQ, %30, %arg15, SIGNED : (tensor<250xi32>, tensor<250xi32>) -> tensor<250xi1>
      %32 = stablehlo.convert %31 : (tensor<250xi1>) -> tensor<250xi32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %33 = stablehlo.reduce(%32 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<250xi32>, tensor<i32>) -> tensor<i32>
      %c_4 = stablehlo.constant dense<-1> : tensor<i32>
      %34 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<250xi32>
      %35 = stablehlo.compare NE, %arg15, %34, SIGNED : (tensor<250xi32>, tensor<250xi32>) -> tensor<250xi1>
      %36 = stablehlo.convert %35 : (tensor<250xi1>) -> tensor<250xi32>
      %c_5 = stablehlo.constant dense<0> : tensor<i32>
      %37 = stablehlo.reduce(%36 init: %c_5) applies stablehlo.add across dimensions = [0] : (tensor<250xi32>, tensor<i32>) -> tensor<i32>
      %38 = "stablehlo.all_reduce"(%29) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
        %41 = stablehlo.add %arg16, %arg17 : tensor<f32>
        stablehlo.return %41 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %39 = "stablehlo.all_reduce"(%33) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg16: tensor<i32>, %arg17: tensor<i32>):
        %41 = stablehlo.add %arg16, %arg17 : tensor<i32>
        stablehlo.return %41 : tensor<i32>
      }) : (tensor<i32>) -> tensor<i32>
      %40 = "stablehlo.all_reduce"(%37) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg16: tensor<i32>, %arg17: tensor<i32>):
        %41 = stablehlo.add %arg16, %arg17 : tensor<i32>
        stablehlo.return %41 : tensor<i32>
      }) : (tensor<i32>) -> tensor<i32>
      sdy.return %38, %39, %40 : tensor<f32>, tensor<i32>, tensor<i32>
    } : (tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<500x784xui8>, tensor<500xi32>) -> (tensor<f32>, tensor<i32>, tensor<i32>)
    return %0#0, %0#1, %0#2 : tensor<f32>, tensor<i32>, tensor<i32>
  }
  func.func private @relu(%arg0: tensor<250x28x28x16xf32>) -> tensor<250x28x28x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<250x28x28x16xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<250x28x28x16xf32>
    return %1 : tensor<250x28x28x16xf32>
  }
  func.func private @relu_0(%arg0: tensor<250x14x14x32xf32>) -> tensor<250x14x14x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<250x14x14x32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<250x14x14x32xf32>
    return %1 : tensor<250x14x14x32xf32>
  }
  func.func private @_one_hot(%arg0: tensor<250xi32>) -> tensor<250x10xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<250xi32>) -> tensor<250x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x10xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<250x1xi32>) -> tensor<250x10xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x10xi32>) -> tensor<250x10xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<250x10xi32>, tensor<250x10xi32>) -> tensor<250x10xi1>
    %5 = stablehlo.convert %4 : (tensor<250x10xi1>) -> tensor<250x10xf32>
    return %5 : tensor<250x10xf32>
  }
  func.func private @log_softmax(%arg0: tensor<250x10xf32>) -> tensor<250x10xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<250x10xf32>, tensor<f32>) -> tensor<250xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<250xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<250xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<250xf32>) -> tensor<250x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<250x1xf32>) -> tensor<250x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<250x10xf32>
    %6 = stablehlo.exponential %5 : tensor<250x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<250x10xf32>, tensor<f32>) -> tensor<250xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<250xf32>) -> tensor<250x1xf32>
    %9 = stablehlo.log %8 : tensor<250x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<250x1xf32>) -> tensor<250x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<250x10xf32>
    return %11 : tensor<250x10xf32>
  }
  func.func private @argmax(%arg0: tensor<250x10xf32>) -> tensor<250xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<250x10xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<250x10xf32>, tensor<250x10xi32>, tensor<f32>, tensor<i32>) -> (tensor<250xf32>, tensor<250xi32>)
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
    return %1#1 : tensor<250xi32>
  }
}
