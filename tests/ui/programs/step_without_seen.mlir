module @step {
  func.func public @main(%arg0: tensor<2xf32> {tf.aliasing_output = 0 : i32} loc("state.weights"), %arg1: tensor<i32> {tf.aliasing_output = 1 : i32} loc("state.steps")) -> (tensor<2xf32> {jax.result_info = "result.weights"}, tensor<i32> {jax.result_info = "result.seen"}, tensor<i32> {jax.result_info = "result.steps"}) {
    %weights = stablehlo.negate %arg0 : tensor<2xf32>
    %seen = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %steps = stablehlo.add %arg1, %one : tensor<i32>
    return %weights, %seen, %steps : tensor<2xf32>, tensor<i32>, tensor<i32>
  }
}
