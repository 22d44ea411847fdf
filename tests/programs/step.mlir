module @step {
  func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %g: tensor<4xf32>) -> tensor<4xf32> {
    %next = stablehlo.subtract %w, %g : tensor<4xf32>
    return %next : tensor<4xf32>
  }
}
