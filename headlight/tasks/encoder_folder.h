// What everything that reads texts with an encoder shares: a model with its tokenizer, texts that are cut or cut up,
// and several of them encoded at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/nn/text_encoder.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/windows.h"

namespace headlight {

struct EncoderFolder {
  std::unique_ptr<const TextEncoder> model;
  PipelineTokenizer tokenizer;
};

// Throws Error where the folder holds no such model, or a tokenizer with more tokens than the model has.
EncoderFolder LoadEncoderFolder(const std::string& folder, std::optional<Compute> compute);

// What a text is called in errors, by its number from 0: "text 1" for the first, unless one is given.
using TextName = std::function<std::string(std::size_t text)>;
std::string NameOf(const TextName& name, std::size_t text);

// What every head of every layer looks at in a text, or in two of which the model reads the second behind the first.
// Throws Error where they are longer than the model.
AttentionRecord AttentionOf(const EncoderFolder& encoder, std::string_view text,
                            std::optional<std::string_view> second = {});

// Throws Error for an encoding of no tokens, or of more than the model reads.
void CheckLength(const Encoding& encoding, const TextEncoder& model, const std::string& name);

// Throws Error naming the model and `step`, such as "embedding text 3", where a number of the result is NaN or
// infinite.
void CheckFinite(const Tensor& result, const TextEncoder& model, const std::string& step);

// Takes tokens from the end of the text, or of the longer of two, until there are at most `longest`; special tokens
// stay. Whether any was taken. Throws Error where special tokens alone are more.
bool Truncate(Encoding& encoding, std::int64_t longest);

// Encodes them all, as many at once as have `batch_tokens` tokens, or one. `done` is given the states [tokens, model]
// of some, in packed rows, and which encodings they are of.
using EncodedTexts = std::function<void(Context& context, const Tensor& hidden, const Sequences& texts,
                                        std::span<const std::size_t> which)>;
void EncodeInBatches(const TextEncoder& model, std::span<const Encoding* const> encodings, std::int64_t batch_tokens,
                     const EncodedTexts& done);
void EncodeInBatches(const TextEncoder& model, std::span<const Encoding> encodings, std::int64_t batch_tokens,
                     const EncodedTexts& done);

}  // namespace headlight
