// What TextGenerator::Generate does before and after decoding. An Engine does the same for each of its requests.
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

// The requests refer to it: it must outlive them, at its address.
class GenerationCall {
 public:
  // Throws Error for impossible options.
  GenerationCall(TextGenerator generator, GenerateOptions options);
  GenerationCall(const GenerationCall&) = delete;

  // The requests for prompts as texts or as tokens: n_best samples of each, or one. Throws Error as Generate does.
  std::vector<DecodingRequest> Requests(std::span<const std::string> prompts);
  std::vector<DecodingRequest> Requests(std::vector<std::vector<std::int32_t>> prompts);

  // The texts of each prompt, from what each request found. Calls on_text for the ends of the texts.
  std::vector<std::vector<GeneratedText>> Results(const std::vector<std::vector<Hypothesis>>& found);

 private:
  bool Add(std::size_t text, std::int32_t id);
  void Tell(std::size_t text, std::string_view written, std::size_t certain);

  TextGenerator generator_;
  GenerateOptions options_;
  GenerationOptions generation_;
  std::size_t n_best_ = 1, samples_ = 1;     // texts of a prompt, and its requests
  std::vector<std::int64_t> prompt_tokens_;  // of each prompt
  std::vector<GrowingText> texts_;
  std::vector<std::size_t> told_;  // bytes reported of each text
};

}  // namespace headlight
