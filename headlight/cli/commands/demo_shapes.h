// Trains a ViT to classify synthetic shapes, in the second part of the demo.
#pragma once

#include <cstdint>
#include <string>

namespace headlight {

// Trains a model on images of shapes for `steps` steps, and prints the accuracy on held-out images. Writes the images
// and the model to `out`. Also writes the attention heads over one image there, as a page and an image.
void LearnShapes(const std::string& out, std::int64_t steps, std::uint64_t seed);

}  // namespace headlight
