// Shared by the tasks of text encoders: a model with its tokenizer, truncation, and encoding in batches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/truncate.h"
#include "headlight/text/tokenizers/windows.h"

namespace headlight {

struct EncoderFolder {
  std::unique_ptr<const TextEncoder> model;
  PipelineTokenizer tokenizer;
};

// The head of a task, with its name in words.
struct NeededHead {
  bool TextHeadsConfig::*has;
  const char* name;
};

// Throws Error where the folder does not hold a text encoder with that head, or its tokenizer has more tokens than the
// model, and for options that encoders do not have.
HEADLIGHT_API EncoderFolder LoadEncoderFolder(const std::string& folder, const LoadOptions& options = {},
                                              std::optional<NeededHead> head = {});

// The name of a text in errors, by its index: "text 1" for the first, unless `name` is given.
using TextName = std::function<std::string(std::size_t text)>;
std::string NameOf(const TextName& name, std::size_t text);

// Throws Error naming the text, by its index, where it is not UTF-8.
void CheckText(std::string_view text, const TextName& name, std::size_t index);

// The attention weights of every head of every layer for a text or a pair of texts.
// Throws Error where they are longer than the model.
AttentionRecord AttentionOf(const EncoderFolder& encoder, std::string_view text,
                            std::optional<std::string_view> second = {});

// Throws Error for an encoding of no tokens, or of more than the model reads. `advice` ends the latter.
void CheckLength(const Encoding& encoding, const TextEncoder& model, const std::string& name,
                 std::string_view advice = "");
inline constexpr std::string_view kTruncateAdvice = "; `truncate` leaves out its end";

// Throws Error naming the model and `step`, such as "embedding text 3", where a number of the result is NaN or
// infinite.
HEADLIGHT_API void CheckFinite(const Tensor& result, const Model& model, const std::string& step);

// The token of a residue's letter. Throws Error, which begins with `name`, where the vocabulary has none.
std::int32_t TokenOfResidue(const EncoderFolder& encoder, char letter, const std::string& name);

// Throws Error, which begins with `name`, where the letters are none or the encoding, of any length, has not a token of
// its own for each, with one before and one after them.
void CheckResidues(const EncoderFolder& encoder, std::string_view letters, const Encoding& encoding,
                   const std::string& name);

// The sequence of a protein, with the tokens before and after it. Throws Error, which begins with `name`, where it is
// empty or longer than the model reads, and where a residue is not a token of its own.
Encoding EncodeResidues(const EncoderFolder& encoder, std::string_view letters, const std::string& name);

// Encodes all, in batches of at most `batch_tokens` tokens or of one text; equal ones, such as empty texts, once.
// `done` receives the hidden states [tokens, model] of a batch, the indices of its encodings and where each stands in
// them: equal ones at the same place.
using EncodedTexts = std::function<void(Context& context, const Tensor& hidden, const Sequences& texts,
                                        std::span<const std::size_t> which)>;
void EncodeInBatches(const TextEncoder& model, std::span<const Encoding* const> encodings, std::int64_t batch_tokens,
                     const EncodedTexts& done);
void EncodeInBatches(const TextEncoder& model, std::span<const Encoding> encodings, std::int64_t batch_tokens,
                     const EncodedTexts& done);

}  // namespace headlight
