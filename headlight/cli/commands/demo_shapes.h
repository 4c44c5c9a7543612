// Trains a ViT to classify synthetic shapes, in the second part of the demo.
#pragma once

#include <cstdint>
#include <string>

namespace headlight {

// Trains a model on images of shapes for `steps` steps. Writes the images, the model, and the attention of its heads
// over one image to `out`, as a page and an image. Prints the accuracy on held-out images.
void LearnShapes(const std::string& out, std::int64_t steps, std::uint64_t seed);

}  // namespace headlight
