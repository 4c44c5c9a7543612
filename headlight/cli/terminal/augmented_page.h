// A page of images as a training sees them.
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

// Adds --show-augmented.
void AddShowAugmented(OptionTable& command, std::string& path, const char* group);

// Throws Error if the page's path does not end in .html, is one of the inputs, or cannot be written. An empty path
// means no page.
void CheckAugmentedPage(const std::string& path, const std::vector<std::string>& inputs);

// The page of a batch: its images after augmentation, and under each its classes.
std::string AugmentedPage(const ImageBatch& batch, const ImageProcessor& processor,
                          const std::vector<std::string>& labels);

// The page of a batch for detection, with boxes and their classes over the images.
std::string AugmentedPage(const DetectionPart& batch, const ImageProcessor& processor,
                          const std::vector<std::string>& labels);

// The page of the first images' crops in the first epoch, with the image's name under each.
std::string AugmentedPage(const DistilledImages& images, const std::function<std::string(std::int64_t)>& name_of,
                          const ImageProcessor& processor);

}  // namespace headlight
