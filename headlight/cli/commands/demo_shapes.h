// Trains a ViT to classify synthetic shapes, in the second part of the demo.
#pragma once

#include <cstdint>
#include <string>

namespace headlight {

// Trains a model on images of shapes for `steps` steps, and prints the accuracy on held-out images. Writes the images
// and the model to `out`. Also writes the attention maps of one test image to `out`, as an HTML page and as a PNG file.
void LearnShapes(const std::string& out, std::int64_t steps, std::uint64_t seed);

}  // namespace headlight
