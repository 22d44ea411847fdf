module @jit_update attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["devices"=4]> {stablehlo.mesh = {axes = [{name = "devices", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 0 : i32} loc("state.params.w1"), %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 1 : i32} loc("state.params.w2"), %arg2: tensor<6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 2 : i32} loc("state.momentum.w1"), %arg3: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 3 : i32} loc("state.momentum.w2"), %arg4: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>, tf.aliasing_output = 4 : i32} loc("state.step"), %arg5: tensor<24x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"devices"}, {}]>, tf.aliasing_output = 5 : i32} loc("sums.gradients.w1"), %arg6: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"devices"}]>, tf.aliasing_output = 6 : i32} loc("sums.gradients.w2"), %arg7: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"devices"}]>, tf.aliasing_output = 7 : i32} loc("sums.loss"), %arg8: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>, tf.aliasing_output = 8 : i32} loc("metrics.loss"), %arg9: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>, tf.aliasing_output = 9 : i32} loc("metrics.steps")) -> (tensor<6x16xf32> {jax.result_info = "result[0].params.w1", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<16xf32> {jax.result_info = "result[0].params.w2", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<6x16xf32> {jax.result_info = "result[0].momentum.w1", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<16xf32> {jax.result_info = "result[0].momentum.w2", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<i32> {jax.result_info = "result[0].step", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<24x16xf32> {jax.result_info = "result[1].gradients.w1", sdy.sharding = #sdy.sharding<@mesh, [{"devices"}, {}]>}, tensor<64xf32> {jax.result_info = "result[1].gradients.w2", sdy.sharding = #sdy.sharding<@mesh, [{"devices"}]>}, tensor<4xf32> {jax.result_info = "result[1].loss", sdy.sharding = #sdy.sharding<@mesh, [{"devices"}]>}, tensor<f32> {jax.result_info = "result[2].loss", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<i32> {jax.result_info = "result[2].steps", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0:10 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %arg9) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, []>, <@mesh, [{"devices"}, {}]>, <@mesh, [{"devices"}]>, <@mesh, [{"devices"}]>, <@mesh, []>, <@mesh, []>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, []>, <@mesh, [{"devices"}, {}]>, <@mesh, [{"devices"}]>, <@mesh, [{"devices"}]>, <@mesh, []>, <@mesh, []>] manual_axes={"devices"} (%arg10: tensor<6x16xf32>, %arg11: tensor<16xf32>, %arg12: tensor<6x16xf32>, %arg13: tensor<16xf32>, %arg14: tensor<i32>, %arg15: tensor<6x16xf32>, %arg16: tensor<16xf32>, %arg17: tensor<1xf32>, %arg18: tensor<f32>, %arg19: tensor<i32>) {
      %1 = "stablehlo.all_reduce"(%arg15) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
        %28 = stablehlo.add %arg20, %arg21 : tensor<f32>
        stablehlo.return %28 : tensor<f32>
      }) : (tensor<6x16xf32>) -> tensor<6x16xf32>
      %2 = "stablehlo.all_reduce"(%arg16) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
        %28 = stablehlo.add %arg20, %arg21 : tensor<f32>
        stablehlo.return %28 : tensor<f32>
      }) : (tensor<16xf32>) -> tensor<16xf32>
      %3 = "stablehlo.all_reduce"(%arg17) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
        %28 = stablehlo.add %arg20, %arg21 : tensor<f32>
        stablehlo.return %28 : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      %4 = stablehlo.reshape %3 : (tensor<1xf32>) -> tensor<f32>
      %cst = stablehlo.constant dense<1.600000e+01> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
      %6 = stablehlo.divide %1, %5 : tensor<6x16xf32>
      %cst_0 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %8 = stablehlo.divide %2, %7 : tensor<16xf32>
      %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
      %10 = stablehlo.multiply %9, %arg12 : tensor<6x16xf32>
      %11 = stablehlo.add %10, %6 : tensor<6x16xf32>
      %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %13 = stablehlo.multiply %12, %arg13 : tensor<16xf32>
      %14 = stablehlo.add %13, %8 : tensor<16xf32>
      %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
      %16 = stablehlo.multiply %15, %11 : tensor<6x16xf32>
      %17 = stablehlo.subtract %arg10, %16 : tensor<6x16xf32>
      %cst_4 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %19 = stablehlo.multiply %18, %14 : tensor<16xf32>
      %20 = stablehlo.subtract %arg11, %19 : tensor<16xf32>
      %c = stablehlo.constant dense<1> : tensor<i32>
      %21 = stablehlo.add %arg14, %c : tensor<i32>
      %cst_5 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
      %22 = stablehlo.divide %4, %cst_5 : tensor<f32>
      %23 = stablehlo.add %arg18, %22 : tensor<f32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %24 = stablehlo.add %arg19, %c_6 : tensor<i32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %25 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %27 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1xf32>
      sdy.return %17, %20, %11, %14, %21, %25, %26, %27, %23, %24 : tensor<6x16xf32>, tensor<16xf32>, tensor<6x16xf32>, tensor<16xf32>, tensor<i32>, tensor<6x16xf32>, tensor<16xf32>, tensor<1xf32>, tensor<f32>, tensor<i32>
    } : (tensor<6x16xf32>, tensor<16xf32>, tensor<6x16xf32>, tensor<16xf32>, tensor<i32>, tensor<24x16xf32>, tensor<64xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>) -> (tensor<6x16xf32>, tensor<16xf32>, tensor<6x16xf32>, tensor<16xf32>, tensor<i32>, tensor<24x16xf32>, tensor<64xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9 : tensor<6x16xf32>, tensor<16xf32>, tensor<6x16xf32>, tensor<16xf32>, tensor<i32>, tensor<24x16xf32>, tensor<64xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>
  }
}
