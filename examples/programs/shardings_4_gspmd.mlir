module @jit_doubles attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x16xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"} loc("arrays[0]"), %arg1: tensor<8x16xf32> {mhlo.sharding = "{devices=[1,4]<=[4]}"} loc("arrays[1]"), %arg2: tensor<8x16xf32> {mhlo.sharding = "{replicated}"} loc("arrays[2]"), %arg3: tensor<16xf32> {mhlo.sharding = "{devices=[4]<=[4]}"} loc("arrays[3]"), %arg4: tensor<16xf32> {mhlo.sharding = "{replicated}"} loc("arrays[4]"), %arg5: tensor<4x2x8xf32> {mhlo.sharding = "{devices=[4,1,1]<=[4]}"} loc("arrays[5]"), %arg6: tensor<4x2x8xf32> {mhlo.sharding = "{devices=[1,1,4]<=[4]}"} loc("arrays[6]")) -> (tensor<8x16xf32> {jax.result_info = "result[0]", mhlo.sharding = "{devices=[1,4]<=[4]}"}, tensor<8x16xf32> {jax.result_info = "result[1]", mhlo.sharding = "{replicated}"}, tensor<8x16xf32> {jax.result_info = "result[2]", mhlo.sharding = "{devices=[4,1]<=[4]}"}, tensor<16xf32> {jax.result_info = "result[3]", mhlo.sharding = "{replicated}"}, tensor<16xf32> {jax.result_info = "result[4]", mhlo.sharding = "{devices=[4]<=[4]}"}, tensor<4x2x8xf32> {jax.result_info = "result[5]", mhlo.sharding = "{devices=[1,1,4]<=[4]}"}, tensor<4x2x8xf32> {jax.result_info = "result[6]", mhlo.sharding = "{devices=[4,1,1]<=[4]}"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<8x16xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %3 = stablehlo.multiply %arg1, %2 : tensor<8x16xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %5 = stablehlo.multiply %arg2, %4 : tensor<8x16xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %7 = stablehlo.multiply %arg3, %6 : tensor<16xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %9 = stablehlo.multiply %arg4, %8 : tensor<16xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x2x8xf32>
    %11 = stablehlo.multiply %arg5, %10 : tensor<4x2x8xf32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x2x8xf32>
    %13 = stablehlo.multiply %arg6, %12 : tensor<4x2x8xf32>
    return %1, %3, %5, %7, %9, %11, %13 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>
  }
}
