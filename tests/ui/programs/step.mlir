module @step {
  func.func public @main(%arg0: tensor<2xf32> {tf.aliasing_output = 0 : i32} loc("state.weights"), %arg1: tensor<i32> {tf.aliasing_output = 1 : i32} loc("state.steps"), %arg2: tensor<2xf32> loc("gradient")) -> (tensor<2xf32>, tensor<i32>) {
    %weights = stablehlo.subtract %arg0, %arg2 : tensor<2xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %steps = stablehlo.add %arg1, %one : tensor<i32>
    return %weights, %steps : tensor<2xf32>, tensor<i32>
  }
}
