module @replicas attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%arg0: tensor<2xf32> {tf.aliasing_output = 0 : i32} loc("state.weights"), %arg1: tensor<i32> {tf.aliasing_output = 1 : i32} loc("state.steps"), %arg2: tensor<2xf32> loc("gradient")) -> (tensor<2xf32> {jax.result_info = "result[0].weights"}, tensor<i32> {jax.result_info = "result[0].steps"}, tensor<2xf32> {jax.result_info = "result[1]"}) {
    %sum = "stablehlo.all_reduce"(%arg2) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %ab = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %ab : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    %weights = stablehlo.subtract %arg0, %sum : tensor<2xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %steps = stablehlo.add %arg1, %one : tensor<i32>
    return %weights, %steps, %sum : tensor<2xf32>, tensor<i32>, tensor<2xf32>
  }
}
