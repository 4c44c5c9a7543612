// Writes an HTML page of the augmented images that a training run uses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/option_table.h"
#include "headlight/image/processor.h"
#include "headlight/train/objectives/detection.h"
#include "headlight/train/objectives/image_classification.h"
#include "headlight/train/objectives/self_distillation.h"

namespace headlight {

// Adds the option --show-augmented.
void AddShowAugmented(OptionTable& command, std::string& path, const char* group);

// Throws Error if `path` does not end in .html, is one of the inputs, or cannot be written. If `path` is empty, no page
// is written.
void CheckAugmentedPage(const std::string& path, const std::vector<std::string>& inputs);

// Returns an HTML page with the images of a batch after augmentation, with their classes below.
std::string AugmentedPage(const ImageBatch& batch, const ImageProcessor& processor,
                          const std::vector<std::string>& labels);

// Returns an HTML page with the images of a detection batch, with boxes and their classes over the images.
std::string AugmentedPage(const DetectionPart& batch, const ImageProcessor& processor,
                          const std::vector<std::string>& labels);

// Returns an HTML page with the crops of the first images in the first epoch, and the name of each image.
std::string AugmentedPage(const DistilledImages& images, const std::function<std::string(std::int64_t)>& name_of,
                          const ImageProcessor& processor);

}  // namespace headlight
