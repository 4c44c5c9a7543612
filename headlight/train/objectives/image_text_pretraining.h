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
  std::size_t image = 0;  // of ImageTextPairs::images
};

struct ImageTextPairs {
  std::vector<ImageRegions> images;  // with the classes of their regions
  std::vector<ImageText> pairs;
};

struct PretrainingOptions {
  BatchOptions batches;  // its size is in pairs
  MaskingOptions masking;
  double region_share = 0.15;  // of the regions whose class is known: their features become 0, 9 times in 10
  // Of the pairs, whose text is replaced by that of another image: from them alignment alone is learned.
  double other_share = 0.5;
};

// The sum of three means: of the negative log-probability of masked words and of the classes of masked regions, both of
// the pairs that belong together, and of whether a text and an image do. A validation masks the same at every time;
// its score is the mean of the three accuracies, accuracy_words, accuracy_regions and accuracy_alignment, in per cent.
// Model and sets must outlive the task. Throws Error for a model without these heads, for regions of other widths, and
// for a class that the model does not know.
HEADLIGHT_API TrainingTask ImageTextPretraining(RegionTextEncoder& model, const ImageTextPairs& train,
                                                const ImageTextPairs& valid, const PretrainingOptions& options);

}  // namespace headlight
