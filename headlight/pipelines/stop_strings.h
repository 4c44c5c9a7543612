// stop_strings: strings that end a text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/generate/search_options.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

/// Reads the string or strings in `json`. Returns an empty vector if it is absent. Throws Error for an empty string.
std::vector<std::string> ReadStopStrings(const JsonView& json);

/// Returns a condition for SearchOptions::stops that is true if the last token completes one of the strings. A string
/// may begin in any earlier token, including prompt tokens, and end within the last token. `decode` decodes tokens to
/// text. Returns null if there are no strings.
std::shared_ptr<const StopCondition> StopsAt(std::vector<std::string> strings,
                                             std::function<std::string(std::span<const std::int32_t>)> decode);

/// Decodes with `tokenizer`. Special tokens count as text, as in Transformers.
std::shared_ptr<const StopCondition> StopsAt(std::vector<std::string> strings, const PipelineTokenizer& tokenizer);
std::shared_ptr<const StopCondition> StopsAt(std::vector<std::string> strings,
                                             const std::shared_ptr<const Tokenizer>& tokenizer);

}  // namespace headlight
