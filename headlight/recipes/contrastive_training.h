// Code shared by contrastive training on images with texts and on pairs of texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/recipes/model_training.h"
#include "headlight/train/objectives/contrastive.h"

namespace headlight {

struct ContrastiveTraining : ModelTraining {
  /// clip and siglip have two towers, for images and texts. bert is one encoder for pairs of texts.
  enum class Architecture { clip, siglip, bert };

  Architecture family = Architecture::clip;  ///< for a model from scratch
  std::string tokenizer;                     ///< the folder of the tokenizer for a model from scratch
  std::int64_t positions = 77;               ///< tokens of the longest text, for a model from scratch
  std::int64_t micro_batch_size =
      ContrastiveOptions{}.part;  ///< pairs per micro-batch; only the activations of one micro-batch are in memory

  /// Options for images with texts.
  std::vector<std::string> images;                      ///< folders of the images that COCO files name
  std::optional<std::int64_t> image_size, patch_size;   ///< pixels per side, for a model from scratch [224, 16]
  std::optional<std::int32_t> text_layers, text_heads;  ///< sizes of the text tower [`layers`, `heads`]
  std::optional<std::int64_t> text_model_dim;           ///< size of the text tower [`model_dim`]
  std::optional<std::int64_t> vector_dim;               ///< embedding size of a CLIP model; default: `model_dim`
  std::optional<double> random_resized_crop;  ///< smallest fraction of an image's area in a crop; 1: no cropping [1]
  bool truncate = false;                      ///< if true, truncates texts that are too long
  bool skip_errors = false;                   ///< if true, skips damaged images

  /// Options for pairs of texts.
  std::optional<double> scale;  ///< factor of the cosine similarities [20]

  const std::string& tokenizer_folder() const { return from.empty() ? tokenizer : from; }
};

/// The defaults of CLIP's paper, appendix F (Radford et al., 2021).
inline constexpr TrainingDefaults kContrastiveDefaults = {.sizes = {.model = 192, .heads = 3, .layers = 6},
                                                          .batch = 256,
                                                          .tuning_rate = 1e-5,
                                                          .weight_decay = 0.2,
                                                          .tuning_weight_decay = 0.2,
                                                          .beta2 = 0.98,
                                                          .epsilon = 1e-6};

/// Trains a text encoder, and saves it in the format of sentence-transformers.
TrainingResult TrainOnSimilarTexts(ContrastiveTraining& options, const TrainingObserver& observer);

}  // namespace headlight
