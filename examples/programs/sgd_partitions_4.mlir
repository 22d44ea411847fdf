module @jit_sgd_partitions_4 attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<4xf32> {jax.buffer_donor = true} loc("w"), %arg1: tensor<4x4xf32> loc("g")) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}]>, <@mesh, [{"batch"}, {}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"batch"} (%arg2: tensor<4xf32>, %arg3: tensor<1x4xf32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.reduce(%arg3 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %6 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %6 : tensor<f32>
      }) : (tensor<4xf32>) -> tensor<4xf32>
      %cst_0 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %4 = stablehlo.multiply %3, %2 : tensor<4xf32>
      %5 = stablehlo.subtract %arg2, %4 : tensor<4xf32>
      sdy.return %5 : tensor<4xf32>
    } : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
