// A text encoder with its tokenizer. Truncates texts and encodes them in batches. Used by several pipelines.
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

/// The head that a task needs, and its name in error messages.
struct NeededHead {
  bool TextHeadsConfig::*has;
  const char* name;
};

/// Loads a text encoder with its tokenizer. Throws Error if the folder has no text encoder with `head`, or if the
/// tokenizer has more tokens than the model. Throws Error for options that encoders do not have.
HEADLIGHT_API EncoderFolder LoadEncoderFolder(const std::string& folder, const LoadOptions& options = {},
                                              std::optional<NeededHead> head = {});

/// Returns the name of a text in error messages: name(text), or by default "text 1" for the first text.
using TextName = std::function<std::string(std::size_t text)>;
std::string NameOf(const TextName& name, std::size_t text);

/// Throws Error naming the text if it is not UTF-8.
void CheckText(std::string_view text, const TextName& name, std::size_t index);

/// Returns the attention weights of every head of every layer for a text or a pair of texts. Throws Error if the texts
/// are longer than the model's positions.
AttentionRecord AttentionOf(const EncoderFolder& encoder, std::string_view text,
                            std::optional<std::string_view> second = {});

/// Throws Error if an encoding has no tokens, or more tokens than the model accepts. The message for too many tokens
/// ends with `advice`.
void CheckLength(const Encoding& encoding, const TextEncoder& model, const std::string& name,
                 std::string_view advice = "");
inline constexpr std::string_view kTruncateAdvice = "; `truncate` leaves out its end";

/// Throws Error naming the model and `step`, such as "embedding text 3", if the result has a NaN or infinite value.
HEADLIGHT_API void CheckFinite(const Tensor& result, const Model& model, const std::string& step);

/// Returns the token of a residue's letter. Throws Error, with a message that begins with `name`, if the letter is not
/// in the vocabulary.
std::int32_t TokenOfResidue(const EncoderFolder& encoder, char letter, const std::string& name);

/// Throws Error, with a message that begins with `name`, if `letters` is empty. Throws Error unless the encoding
/// consists of a special token, one token per residue, and another special token. The length is not checked.
void CheckResidues(const EncoderFolder& encoder, std::string_view letters, const Encoding& encoding,
                   const std::string& name);

/// Returns the tokens of a protein, with the special tokens around them. Throws Error if the protein is empty, too long
/// for the model, or not encoded as one token per residue. The message begins with `name`.
Encoding EncodeResidues(const EncoderFolder& encoder, std::string_view letters, const std::string& name);

/// Encodes all texts in batches of at most `batch_tokens` tokens. A longer text is a batch of one text. Equal
/// encodings, such as encodings of empty texts, are computed once. `done` receives the hidden states of a batch
/// [tokens, model], the indices of its encodings, and the rows of each encoding in the states. Equal encodings have the
/// same rows.
using EncodedTexts = std::function<void(Context& context, const Tensor& hidden, const Sequences& texts,
                                        std::span<const std::size_t> which)>;
void EncodeInBatches(const TextEncoder& model, std::span<const Encoding* const> encodings, std::int64_t batch_tokens,
                     const EncodedTexts& done);
void EncodeInBatches(const TextEncoder& model, std::span<const Encoding> encodings, std::int64_t batch_tokens,
                     const EncodedTexts& done);

}  // namespace headlight
