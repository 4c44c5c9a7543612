// The demo's second act: a ViT learns to name drawn shapes, and shows where it looks.
#pragma once

#include <cstdint>
#include <string>

namespace headlight {

// Fills out/ with drawings, the model that learned from them in so many steps, and the attention of its heads over one
// of them, as a page and an image. Prints how many held-out drawings it names.
void LearnShapes(const std::string& out, std::int64_t steps, std::uint64_t seed);

}  // namespace headlight
