// ViLBERT's pre-training (Lu et al., "ViLBERT", 2019, section 3.2): masked words, masked regions and alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/text_examples.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/train/objectives/masked_language_model.h"
#include "headlight/train/objectives/region_pairs.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct ImageText {
  TextExample text;
  std::size_t image = 0;  // index in ImageTextPairs::images
};

struct ImageTextPairs {
  std::vector<ImageRegions> images;  // regions of each image, with their classes
  std::vector<ImageText> pairs;
};

struct PretrainingOptions {
  BatchOptions batches;  // batch_size counts pairs
  MaskingOptions masking;
  double region_share = 0.15;  // fraction of regions with a known class that are masked; 9 in 10 have zero features
  /// The fraction of pairs in which the text is replaced by another image's text. These pairs train only the alignment.
  double other_share = 0.5;
};

/// Trains on three objectives. The loss is the sum of three mean negative log-probabilities: of masked words, of the
/// classes of masked regions, and of the alignment (does the text belong to the image?). The first two objectives only
/// use pairs that belong together. Every validation uses the same masks. Its score is the mean of three accuracies in
/// per cent: accuracy_words, accuracy_regions and accuracy_alignment. The model and the sets must outlive the task.
/// Throws Error for a model without these heads, for regions whose sizes do not fit the model, and for a class that the
/// model does not have.
HEADLIGHT_API TrainingTask ImageTextPretraining(RegionTextEncoder& model, const ImageTextPairs& train,
                                                const ImageTextPairs& valid, const PretrainingOptions& options);

}  // namespace headlight
