// 2 replicas of one program: each adds its own number to its own row, and the
// rows are summed over all replicas. Written by hand, in the way programs were
// written before partitioning: compile it with num_replicas = 2.
module @all_reduce_replicas_2 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%row: tensor<4xf32>) -> (tensor<4xf32>, tensor<ui32>) {
    %id = stablehlo.replica_id : tensor<ui32>
    %number = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %numbers = stablehlo.broadcast_in_dim %number, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %mine = stablehlo.add %row, %numbers : tensor<4xf32>
    %sum = "stablehlo.all_reduce"(%mine) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %ab = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %ab : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    return %sum, %id : tensor<4xf32>, tensor<ui32>
  }
}
