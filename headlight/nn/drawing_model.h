// The interface of decoders that read a text and write the codes of a picture, for training, drawing and inspection.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/grid.h"
#include "headlight/nn/language_model.h"

namespace headlight {

// As a LanguageModel, its texts are a start, a text of fixed length and codes, and what it writes are codes: ids below
// drawing().codes are codes, and TextId gives those of texts. limits().positions are all of a sequence but its last
// code, which is never read.
class HEADLIGHT_API DrawingModel : public LanguageModel {
 public:
  static constexpr std::string_view kKind = "text-to-picture model";  // it has a discrete VAE beside it

  // The head that scores a text's next token, among the vocabulary and the padding of each position: [text_ids(),
  // model] and [text_ids()].
  virtual ops::Weight TextWeight(Context& context) const = 0;
  virtual Tensor TextBias(Context& context) const = 0;

  struct Drawing {
    std::int64_t text_vocabulary = 0;  // the tokenizer's
    std::int32_t text_positions = 0;   // of every text, without the start; shorter ones are padded
    std::int64_t codes = 0;
    Grid grid;                     // of a picture's codes
    std::int64_t cache_width = 0;  // keys' and values' numbers of one token, of all layers

    // Each position of a text has a padding token of its own, behind the vocabulary.
    std::int64_t text_ids() const { return text_vocabulary + text_positions; }
  };
  const Drawing& drawing() const { return drawing_; }

  // The id, as Decode reads it, of a text's id.
  std::int32_t TextId(std::int64_t id) const { return static_cast<std::int32_t>(drawing_.codes + id); }
  // The decoder's input ids for a text: the start, then the tokenizer's ids, filled up with padding, for which id 0
  // stands too. Throws Error for a text with more ids than positions and for an id outside of the vocabulary.
  std::vector<std::int32_t> Prompt(std::span<const std::int32_t> text) const;

 protected:
  using LanguageModel::LanguageModel;

  Drawing drawing_;
};

}  // namespace headlight
