// The result is laid out column by column: minor-to-major {0,1}, where {1,0} is
// usual. Written by hand; jax.jit with a Layout for its output says the same.
module @column_major {
  func.func public @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}) {
    %y = stablehlo.add %x, %x : tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
}
