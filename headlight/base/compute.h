// The precision of matrix products.
#pragma once

namespace headlight {

/// The type to which the operands of a float matrix product are rounded. bfloat16 accumulates in float32. int8
/// accumulates exactly in 32-bit integers. Each row of the left side and each column of the right side has its own int8
/// scale, the largest magnitude / 127. int4 (kernels/int4.h) uses 4 bits for the right side and 8 bits for the left
/// side. blocks (kernels/block_product.h) uses the exact weights of a GGUF file. Quantized types are for inference
/// only.
enum class Compute { float32, bfloat16, int8, int4, blocks };

constexpr bool IsQuantized(Compute compute) { return compute >= Compute::int8; }

constexpr const char* Name(Compute compute) {
  switch (compute) {
    case Compute::float32:
      return "float32";
    case Compute::bfloat16:
      return "bfloat16";
    case Compute::int8:
      return "int8";
    case Compute::int4:
      return "int4";
    case Compute::blocks:
      return "blocks";
  }
  return "";
}

}  // namespace headlight
