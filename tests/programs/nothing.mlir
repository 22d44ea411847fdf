module @nothing {
  func.func public @main(%x: tensor<f32>) {
    return
  }
}
