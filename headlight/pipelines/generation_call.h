// The steps of TextGenerator::Generate before and after decoding, which an Engine performs for each of its requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/generate/generate.h"
#include "headlight/pipelines/growing_text.h"
#include "headlight/pipelines/text_generator.h"

namespace headlight {

/// One call of TextGenerator::Generate. The requests refer to this object, which must outlive the requests and must not
/// move.
class GenerationCall {
 public:
  /// Throws Error for invalid options.
  GenerationCall(TextGenerator generator, GenerateOptions options);
  GenerationCall(const GenerationCall&) = delete;

  /// Returns the requests for prompts that are texts or tokens: one request per sample, or one per prompt without
  /// sampling. Throws the same errors as Generate.
  std::vector<DecodingRequest> Requests(std::span<const std::string> prompts);
  std::vector<DecodingRequest> Requests(std::vector<std::vector<std::int32_t>> prompts);

  /// Returns the texts of each prompt, from the hypotheses of each request. Calls on_text with the last piece of each
  /// text.
  std::vector<std::vector<GeneratedText>> Results(const std::vector<std::vector<Hypothesis>>& found);

 private:
  bool Add(std::size_t text, std::int32_t id);
  void Tell(std::size_t text, std::string_view written, std::size_t certain);

  TextGenerator generator_;
  GenerateOptions options_;
  GenerationOptions generation_;
  std::size_t n_best_ = 1, samples_ = 1;     // texts per prompt, and requests per prompt
  std::vector<std::int64_t> prompt_tokens_;  // for each prompt
  std::vector<GrowingText> texts_;
  std::vector<std::size_t> told_;  // bytes of each text that on_text has received
};

}  // namespace headlight
