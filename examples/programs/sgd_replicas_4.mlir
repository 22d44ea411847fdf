// One step of gradient descent on 4 replicas. The weights are donated, the
// gradients are lent and summed over all replicas, so that every replica's
// weights stay the same. Written by hand: compile it with num_replicas = 4.
module @sgd_replicas_4 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func public @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %g: tensor<4xf32>) -> tensor<4xf32> {
    %sum = "stablehlo.all_reduce"(%g) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %ab = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %ab : tensor<f32>
    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    %rate = stablehlo.constant dense<1.250000e-01> : tensor<4xf32>
    %change = stablehlo.multiply %rate, %sum : tensor<4xf32>
    %next = stablehlo.subtract %w, %change : tensor<4xf32>
    return %next : tensor<4xf32>
  }
}
