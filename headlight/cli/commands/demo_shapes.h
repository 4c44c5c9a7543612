// The second part of the demo: a ViT is trained to classify synthetic shapes.
#pragma once

#include <cstdint>
#include <string>

namespace headlight {

// Fills out/ with images of shapes, the model that was trained on them for `steps` steps, and the attention of its
// heads over one image, as a page and an image. Prints its accuracy on held-out images.
void LearnShapes(const std::string& out, std::int64_t steps, std::uint64_t seed);

}  // namespace headlight
