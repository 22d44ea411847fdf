module @jit_doubles attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"} loc("arrays[0]"), %arg1: tensor<8x16xf32> {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"} loc("arrays[1]"), %arg2: tensor<8x16xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"} loc("arrays[2]"), %arg3: tensor<8x16xf32> {mhlo.sharding = "{devices=[8,1]<=[2,4]T(1,0)}"} loc("arrays[3]"), %arg4: tensor<8x16xf32> {mhlo.sharding = "{devices=[1,8]<=[2,4]T(1,0)}"} loc("arrays[4]"), %arg5: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} loc("arrays[5]"), %arg6: tensor<8x16xf32> {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} loc("arrays[6]"), %arg7: tensor<8x16xf32> {mhlo.sharding = "{devices=[1,2,4]<=[8] last_tile_dim_replicate}"} loc("arrays[7]"), %arg8: tensor<8x16xf32> {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} loc("arrays[8]"), %arg9: tensor<8x16xf32> {mhlo.sharding = "{replicated}"} loc("arrays[9]"), %arg10: tensor<16xf32> {mhlo.sharding = "{devices=[8]<=[2,4]T(1,0)}"} loc("arrays[10]"), %arg11: tensor<16xf32> {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} loc("arrays[11]"), %arg12: tensor<4x2x8xf32> {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0)}"} loc("arrays[12]"), %arg13: tensor<4x2x8xf32> {mhlo.sharding = "{devices=[1,2,4]<=[8]}"} loc("arrays[13]")) -> (tensor<8x16xf32> {jax.result_info = "result[0]", mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"}, tensor<8x16xf32> {jax.result_info = "result[1]", mhlo.sharding = "{devices=[8,1]<=[8]}"}, tensor<8x16xf32> {jax.result_info = "result[2]", mhlo.sharding = "{devices=[8,1]<=[2,4]T(1,0)}"}, tensor<8x16xf32> {jax.result_info = "result[3]", mhlo.sharding = "{devices=[1,8]<=[2,4]T(1,0)}"}, tensor<8x16xf32> {jax.result_info = "result[4]", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}, tensor<8x16xf32> {jax.result_info = "result[5]", mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}, tensor<8x16xf32> {jax.result_info = "result[6]", mhlo.sharding = "{devices=[1,2,4]<=[8] last_tile_dim_replicate}"}, tensor<8x16xf32> {jax.result_info = "result[7]", mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}, tensor<8x16xf32> {jax.result_info = "result[8]", mhlo.sharding = "{replicated}"}, tensor<8x16xf32> {jax.result_info = "result[9]", mhlo.sharding = "{devices=[2,4]<=[8]}"}, tensor<16xf32> {jax.result_info = "result[10]", mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}, tensor<16xf32> {jax.result_info = "result[11]", mhlo.sharding = "{devices=[8]<=[2,4]T(1,0)}"}, tensor<4x2x8xf32> {jax.result_info = "result[12]", mhlo.sharding = "{devices=[1,2,4]<=[8]}"}, tensor<4x2x8xf32> {jax.result_info = "result[13]", mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0)}"}) {
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
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %7 = stablehlo.multiply %arg3, %6 : tensor<8x16xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %9 = stablehlo.multiply %arg4, %8 : tensor<8x16xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %11 = stablehlo.multiply %arg5, %10 : tensor<8x16xf32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %13 = stablehlo.multiply %arg6, %12 : tensor<8x16xf32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %15 = stablehlo.multiply %arg7, %14 : tensor<8x16xf32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %17 = stablehlo.multiply %arg8, %16 : tensor<8x16xf32>
    %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %19 = stablehlo.multiply %arg9, %18 : tensor<8x16xf32>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %21 = stablehlo.multiply %arg10, %20 : tensor<16xf32>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %23 = stablehlo.multiply %arg11, %22 : tensor<16xf32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x2x8xf32>
    %25 = stablehlo.multiply %arg12, %24 : tensor<4x2x8xf32>
    %cst_12 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x2x8xf32>
    %27 = stablehlo.multiply %arg13, %26 : tensor<4x2x8xf32>
    return %1, %3, %5, %7, %9, %11, %13, %15, %17, %19, %21, %23, %25, %27 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>
  }
}
