module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<96x16xf32> {tf.aliasing_output = 0 : i32} loc("state.w_in"), %arg1: tensor<16x16xf32> {tf.aliasing_output = 1 : i32} loc("state.w_back"), %arg2: tensor<16xf32> {tf.aliasing_output = 2 : i32} loc("state.w_out"), %arg3: tensor<32x64x96xf32> loc("batch.x"), %arg4: tensor<64xf32> loc("batch.y")) -> (tensor<96x16xf32> {jax.result_info = "result[0].w_in"}, tensor<16x16xf32> {jax.result_info = "result[0].w_back"}, tensor<16xf32> {jax.result_info = "result[0].w_out"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x64x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x64x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x64x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:8 = stablehlo.while(%iterArg = %arg3, %iterArg_14 = %arg0, %iterArg_15 = %arg1, %iterArg_16 = %c, %iterArg_17 = %0, %iterArg_18 = %1, %iterArg_19 = %2, %iterArg_20 = %3) : tensor<32x64x96xf32>, tensor<96x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<32x64x16xf32>, tensor<32x64x16xf32>, tensor<32x64x16xf32>
    cond {
      %c_21 = stablehlo.constant dense<32> : tensor<i32>
      %29 = stablehlo.compare LT, %iterArg_16, %c_21, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %29 : tensor<i1>
    } do {
      %29 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_16) : (tensor<32x64x96xf32>, tensor<i32>) -> tensor<64x96xf32>
      %30:4 = func.call @closed_call(%iterArg_14, %iterArg_15, %iterArg_17, %29) : (tensor<96x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>, tensor<64x96xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>)
      %31 = func.call @dynamic_update_index_in_dim(%iterArg_18, %30#1, %iterArg_16) : (tensor<32x64x16xf32>, tensor<64x16xf32>, tensor<i32>) -> tensor<32x64x16xf32>
      %32 = func.call @dynamic_update_index_in_dim(%iterArg_19, %30#2, %iterArg_16) : (tensor<32x64x16xf32>, tensor<64x16xf32>, tensor<i32>) -> tensor<32x64x16xf32>
      %33 = func.call @dynamic_update_index_in_dim(%iterArg_20, %30#3, %iterArg_16) : (tensor<32x64x16xf32>, tensor<64x16xf32>, tensor<i32>) -> tensor<32x64x16xf32>
      %c_21 = stablehlo.constant dense<1> : tensor<i32>
      %34 = stablehlo.add %iterArg_16, %c_21 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_14, %iterArg_15, %34, %30#0, %31, %32, %33 : tensor<32x64x96xf32>, tensor<96x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<64x16xf32>, tensor<32x64x16xf32>, tensor<32x64x16xf32>, tensor<32x64x16xf32>
    }
    %5 = stablehlo.dot_general %4#4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<16xf32>) -> tensor<64xf32>
    %6 = stablehlo.subtract %5, %arg4 : tensor<64xf32>
    %7 = stablehlo.multiply %6, %6 : tensor<64xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %9 = stablehlo.multiply %8, %6 : tensor<64xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%7 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %11 = stablehlo.divide %10, %cst_5 : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %12 = stablehlo.divide %cst_6, %cst_7 : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %14 = stablehlo.multiply %13, %9 : tensor<64xf32>
    %15 = stablehlo.dot_general %14, %4#4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64x16xf32>) -> tensor<16xf32>
    %16 = stablehlo.dot_general %14, %arg2, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<16xf32>) -> tensor<64x16xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<96x16xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %19:9 = stablehlo.while(%iterArg = %arg3, %iterArg_14 = %4#5, %iterArg_15 = %4#6, %iterArg_16 = %4#7, %iterArg_17 = %arg1, %iterArg_18 = %c_10, %iterArg_19 = %17, %iterArg_20 = %18, %iterArg_21 = %16) : tensor<32x64x96xf32>, tensor<32x64x16xf32>, tensor<32x64x16xf32>, tensor<32x64x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<96x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>
    cond {
      %c_22 = stablehlo.constant dense<32> : tensor<i32>
      %29 = stablehlo.compare LT, %iterArg_18, %c_22, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %29 : tensor<i1>
    } do {
      %c_22 = stablehlo.constant dense<32> : tensor<i32>
      %29 = stablehlo.subtract %c_22, %iterArg_18 : tensor<i32>
      %c_23 = stablehlo.constant dense<1> : tensor<i32>
      %30 = stablehlo.subtract %29, %c_23 : tensor<i32>
      %31 = func.call @dynamic_index_in_dim(%iterArg, %30) : (tensor<32x64x96xf32>, tensor<i32>) -> tensor<64x96xf32>
      %32 = func.call @dynamic_index_in_dim_0(%iterArg_14, %30) : (tensor<32x64x16xf32>, tensor<i32>) -> tensor<64x16xf32>
      %33 = func.call @dynamic_index_in_dim_0(%iterArg_15, %30) : (tensor<32x64x16xf32>, tensor<i32>) -> tensor<64x16xf32>
      %34 = func.call @dynamic_index_in_dim_0(%iterArg_16, %30) : (tensor<32x64x16xf32>, tensor<i32>) -> tensor<64x16xf32>
      %35:3 = func.call @closed_call_1(%iterArg_17, %iterArg_19, %iterArg_20, %iterArg_21, %31, %32, %33, %34) : (tensor<16x16xf32>, tensor<96x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>, tensor<64x96xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) -> (tensor<96x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>)
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %36 = stablehlo.add %iterArg_18, %c_24 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %36, %35#0, %35#1, %35#2 : tensor<32x64x96xf32>, tensor<32x64x16xf32>, tensor<32x64x16xf32>, tensor<32x64x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<96x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>
    }
    %cst_11 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<96x16xf32>
    %21 = stablehlo.multiply %20, %19#6 : tensor<96x16xf32>
    %22 = stablehlo.subtract %arg0, %21 : tensor<96x16xf32>
    %cst_12 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %24 = stablehlo.multiply %23, %19#7 : tensor<16x16xf32>
    %25 = stablehlo.subtract %arg1, %24 : tensor<16x16xf32>
    %cst_13 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %27 = stablehlo.multiply %26, %15 : tensor<16xf32>
    %28 = stablehlo.subtract %arg2, %27 : tensor<16xf32>
    return %22, %25, %28, %11 : tensor<96x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<32x64x96xf32>, %arg1: tensor<i32>) -> tensor<64x96xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 96] : (tensor<32x64x96xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x96xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x96xf32>) -> tensor<64x96xf32>
    return %1 : tensor<64x96xf32>
  }
  func.func private @closed_call(%arg0: tensor<96x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<64x16xf32>, %arg3: tensor<64x96xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) {
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x96xf32>, tensor<96x16xf32>) -> tensor<64x16xf32>
    %1 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
    %2 = stablehlo.add %0, %1 : tensor<64x16xf32>
    %3 = stablehlo.tanh %2 : tensor<64x16xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %5 = stablehlo.subtract %4, %3 : tensor<64x16xf32>
    return %3, %arg2, %3, %5 : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<32x64x16xf32>, %arg1: tensor<64x16xf32>, %arg2: tensor<i32>) -> tensor<32x64x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x16xf32>) -> tensor<1x64x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<32x64x16xf32>, tensor<1x64x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<32x64x16xf32>
    return %1 : tensor<32x64x16xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<32x64x16xf32>, %arg1: tensor<i32>) -> tensor<64x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 16] : (tensor<32x64x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x16xf32>) -> tensor<64x16xf32>
    return %1 : tensor<64x16xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<16x16xf32>, %arg1: tensor<96x16xf32>, %arg2: tensor<16x16xf32>, %arg3: tensor<64x16xf32>, %arg4: tensor<64x96xf32>, %arg5: tensor<64x16xf32>, %arg6: tensor<64x16xf32>, %arg7: tensor<64x16xf32>) -> (tensor<96x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>) {
    %0 = stablehlo.multiply %arg3, %arg7 : tensor<64x16xf32>
    %1 = stablehlo.multiply %0, %arg6 : tensor<64x16xf32>
    %2 = stablehlo.add %0, %1 : tensor<64x16xf32>
    %3 = stablehlo.dot_general %2, %arg5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %5 = stablehlo.add %arg2, %4 : tensor<16x16xf32>
    %6 = stablehlo.dot_general %2, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
    %7 = stablehlo.dot_general %2, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<64x96xf32>) -> tensor<16x96xf32>
    %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<16x96xf32>) -> tensor<96x16xf32>
    %9 = stablehlo.add %arg1, %8 : tensor<96x16xf32>
    return %9, %5, %6 : tensor<96x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>
  }
}
