// The interface of decoders that generate the codes of an image from a text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/grid.h"
#include "headlight/kinds/language_model.h"

namespace headlight {

/// A language model that predicts the codes of an image. A sequence is a prompt, which contains a text, followed by
/// codes. Ids below drawing().codes are codes, and TextId maps ids of texts. limits().positions counts all tokens of a
/// sequence except its last code, which is never an input.
class HEADLIGHT_API TextToImageModel : public LanguageModel {
 public:
  static constexpr std::string_view kKind = "text-to-image model";  ///< requires a discrete VAE

  /// Returns the decoder's input ids for a tokenized text: drawing().prompt ids, including padding and special ids.
  /// Throws Error for a text that is too long or an id outside the vocabulary.
  virtual std::vector<std::int32_t> Prompt(std::span<const std::int32_t> text) const = 0;

  /// The weight [text ids, model] and bias [text ids] of the head that predicts a text's next token. Throw Error if an
  /// encoder encodes the text, because there is no such head.
  virtual ops::Weight TextWeight(Context& context) const;
  virtual Tensor TextBias(Context& context) const;

  struct Drawing {
    std::int64_t text_vocabulary = 0;  ///< size of the tokenizer's vocabulary
    std::int32_t text_positions = 0;   ///< the maximum length of a text in tokens
    std::int32_t prompt = 0;           ///< length of every prompt, including padding and special ids
    bool encodes_text = false;         ///< if true, an encoder encodes the text, and the decoder generates only codes
    std::int64_t codes = 0;
    Grid grid;  ///< the grid of codes of an image
  };
  const Drawing& drawing() const { return drawing_; }

  /// Returns the decoder's id for a text id.
  std::int32_t TextId(std::int64_t id) const { return static_cast<std::int32_t>(drawing_.codes + id); }

  NamedTensors Forward(const Safetensors& inputs) const override;

 protected:
  using LanguageModel::LanguageModel;

  /// Throws the same errors as Prompt.
  void CheckText(std::span<const std::int32_t> text) const;

  Drawing drawing_;
};

}  // namespace headlight
