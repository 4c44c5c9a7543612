// Vectors of pictures and of texts in one space, where a picture is near the texts that describe it: search of one by
// the other, and classes that are only named (Radford et al., "Learning Transferable Visual Models From Natural
// Language Supervision", 2021).
//   const DualEmbedder embedder = DualEmbedder::Load("clip-vit-base-patch32");
//   Tensor pictures = embedder.EmbedPictures({ReadPicture("cat.jpg"), ReadPicture("dog.png")});  // [2, dimension]
//   Tensor classes = embedder.EmbedLabels({"cat", "dog"}, {"a photo of a {}."});                 // [2, dimension]
//   Tensor scores = embedder.Probabilities(pictures, classes);                                   // [2, 2]
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/picture.h"
#include "headlight/tasks/embedder.h"
#include "headlight/tasks/image_classifier.h"
#include "headlight/tasks/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// Immutable and cheap to copy; every method may be called from many threads at once. A vector does not depend on the
// other texts or pictures of a call.
class HEADLIGHT_API DualEmbedder {
 public:
  // A folder of CLIP or SigLIP, or of one tower of them, with its tokenizer and preprocessor_config.json. Throws Error
  // naming the file and what is wrong with it or not supported.
  static DualEmbedder Load(const std::string& folder, const LoadOptions& options = {});

  // Vectors of length 1, [texts, dimension]. Throws Error for a model without a tower for texts, and naming the text
  // where one is not UTF-8, or is too long and not to be truncated.
  Embeddings EmbedTexts(std::span<const std::string> texts, const EmbedOptions& options = {}) const;
  Embeddings EmbedTexts(std::initializer_list<std::string> texts, const EmbedOptions& options = {}) const {
    return EmbedTexts(std::span(texts.begin(), texts.size()), options);
  }

  // Vectors of length 1, [pictures, dimension]. Throws Error for a model without a tower for pictures, and naming the
  // picture where one has no pixels or cannot be resized.
  Tensor EmbedPictures(std::span<const Picture> pictures, const ImageOptions& options = {}) const;
  Tensor EmbedPictures(std::initializer_list<Picture> pictures, const ImageOptions& options = {}) const {
    return EmbedPictures(std::span(pictures.begin(), pictures.size()), options);
  }
  // The same in two steps, of which the first can be done ahead while the second computes: the picture as resized and
  // cropped for the model, and the vectors of such pictures.
  Picture Fit(const Picture& picture) const;
  Tensor EmbedFitted(std::span<const Picture> fitted, const ImageOptions& options = {}) const;

  // One vector of each label, [labels, dimension]: the mean of those of all templates with the label in the place of
  // "{}", brought to length 1 again. Throws Error for a template without "{}", where there is none or no label, and as
  // EmbedTexts.
  Tensor EmbedLabels(std::span<const std::string> labels, std::span<const std::string> templates) const;
  Tensor EmbedLabels(std::initializer_list<std::string> labels, std::initializer_list<std::string> templates) const {
    return EmbedLabels(std::span(labels.begin(), labels.size()), std::span(templates.begin(), templates.size()));
  }

  // How well each of `others` fits each of `vectors`, both of length 1: [vectors, others]. Of CLIP a row sums to 1: one
  // of them fits. Of SigLIP each pair has a probability of its own. Throws Error for a model of one tower.
  Tensor Probabilities(const Tensor& vectors, const Tensor& others) const;

  bool reads_texts() const;
  bool reads_pictures() const;
  std::int64_t dimension() const;  // numbers of a vector
  std::int64_t longest() const;    // tokens of a text, special ones included; 0 without a tower for texts

 private:
  struct State;
  explicit DualEmbedder(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
