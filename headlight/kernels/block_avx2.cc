// Products with block types using AVX2. Every processor with AVX2 also has F16C.
#if defined(__x86_64__)

#define HEADLIGHT_TILE_TARGET __attribute__((target("avx2,fma,f16c")))
#define HEADLIGHT_TILE_LAMBDA __attribute__((target("avx2"), always_inline))
#define HEADLIGHT_TILE_VNNI 0
#include "headlight/kernels/block_tile256-inl.h"

namespace headlight::kernels {

BlockProduct Avx2BlockProduct(GgufType type) { return ProductFor<Of256>(type); }

}  // namespace headlight::kernels

#endif
