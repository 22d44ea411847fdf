// The argument is wanted column by column, the result comes row by row.
module @column_major_argument {
  func.func public @main(%x: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}) -> tensor<2x3xf32> {
    %y = stablehlo.add %x, %x : tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
}
