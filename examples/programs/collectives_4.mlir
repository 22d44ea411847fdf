module @jit_collectives attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<4x4xf32> loc("row")) -> (tensor<4x4x4xf32> {jax.result_info = "result['all_gather']"}, tensor<4x4xf32> {jax.result_info = "result['all_to_all']"}, tensor<4xi32> {jax.result_info = "result['axis_index']"}, tensor<4x1x4xf32> {jax.result_info = "result['pmax']"}, tensor<4x4xf32> {jax.result_info = "result['ppermute_line']"}, tensor<4x4xf32> {jax.result_info = "result['ppermute_ring']"}, tensor<4x1x4xf32> {jax.result_info = "result['psum']"}, tensor<4x1xf32> {jax.result_info = "result['psum_scatter']"}) {
    %0:8 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"batch"}, {}]>] out_shardings=[<@mesh, [{"batch"}, {}, {}]>, <@mesh, [{"batch"}, {}]>, <@mesh, [{"batch"}]>, <@mesh, [{"batch"}, {}, {}]>, <@mesh, [{"batch"}, {}]>, <@mesh, [{"batch"}, {}]>, <@mesh, [{"batch"}, {}, {}]>, <@mesh, [{"batch"}, {}]>] manual_axes={"batch"} (%arg1: tensor<1x4xf32>) {
      %1 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<1x4xf32>) -> tensor<4x4xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
      %3 = "stablehlo.all_to_all"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<1x4xf32>) -> tensor<4x1xf32>
      %4 = stablehlo.reshape %3 : (tensor<4x1xf32>) -> tensor<1x4xf32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<4> : tensor<ui32>
      %5 = stablehlo.partition_id : tensor<ui32>
      %6 = stablehlo.divide %5, %c : tensor<ui32>
      %7 = stablehlo.remainder %6, %c_0 : tensor<ui32>
      %8 = stablehlo.convert %7 : (tensor<ui32>) -> tensor<i32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %10 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %17 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
        stablehlo.return %17 : tensor<f32>
      }) : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %11 = stablehlo.broadcast_in_dim %10, dims = [1, 2] : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
      %12 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %13 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %14 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %17 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %17 : tensor<f32>
      }) : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [1, 2] : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
      %16 = "stablehlo.reduce_scatter"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %17 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %17 : tensor<f32>
      }) : (tensor<1x4xf32>) -> tensor<1x1xf32>
      sdy.return %2, %4, %9, %11, %12, %13, %15, %16 : tensor<1x4x4xf32>, tensor<1x4xf32>, tensor<1xi32>, tensor<1x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x1x4xf32>, tensor<1x1xf32>
    } : (tensor<4x4xf32>) -> (tensor<4x4x4xf32>, tensor<4x4xf32>, tensor<4xi32>, tensor<4x1x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x1x4xf32>, tensor<4x1xf32>)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7 : tensor<4x4x4xf32>, tensor<4x4xf32>, tensor<4xi32>, tensor<4x1x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x1x4xf32>, tensor<4x1xf32>
  }
}
