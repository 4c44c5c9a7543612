// The interface of decoders that read a text and write the codes of an image, for training, drawing and inspection.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/grid.h"
#include "headlight/kinds/language_model.h"

namespace headlight {

// As a LanguageModel, its texts are a prompt, which holds a text, and codes, and what it writes are codes: ids below
// drawing().codes are codes, and TextId gives those of texts. limits().positions are all of a sequence but its last
// code, which is never read.
class HEADLIGHT_API TextToImageModel : public LanguageModel {
 public:
  static constexpr std::string_view kKind = "text-to-image model";  // it has a discrete VAE beside it

  // The decoder's input ids for a text of the tokenizer's ids, to which the model adds what it needs: drawing().prompt
  // ids. Throws Error for a text with more ids than positions and for an id outside of the vocabulary.
  virtual std::vector<std::int32_t> Prompt(std::span<const std::int32_t> text) const = 0;

  // The head that scores a text's next token: [ids of texts, model] and [ids of texts]. Throw Error where an encoder
  // reads the text, which no head predicts.
  virtual ops::Weight TextWeight(Context& context) const;
  virtual Tensor TextBias(Context& context) const;

  struct Drawing {
    std::int64_t text_vocabulary = 0;  // the tokenizer's
    std::int32_t text_positions = 0;   // the most tokens of a text
    std::int32_t prompt = 0;           // ids of every prompt: a text, padding, and what begins or ends them
    bool encodes_text = false;         // an encoder reads the text, and the decoder writes codes alone
    std::int64_t codes = 0;
    Grid grid;  // of an image's codes
  };
  const Drawing& drawing() const { return drawing_; }

  // The id, as Decode reads it, of a text's id.
  std::int32_t TextId(std::int64_t id) const { return static_cast<std::int32_t>(drawing_.codes + id); }

  NamedTensors Forward(const Safetensors& inputs) const override;

 protected:
  using LanguageModel::LanguageModel;

  // Throws Error as Prompt does.
  void CheckText(std::span<const std::int32_t> text) const;

  Drawing drawing_;
};

}  // namespace headlight
