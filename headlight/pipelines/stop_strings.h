// stop_strings: texts that end with a string.
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

/// The string or strings that `json` gives; none if it is absent. Throws Error for an empty one.
std::vector<std::string> ReadStopStrings(const JsonView& json);

/// For SearchOptions::stops: whether the last token completes one of the strings, which may begin in any earlier token,
/// one of a prompt too, and end within the last. `decode` gives the text of tokens. Null without strings.
std::shared_ptr<const StopCondition> StopsAt(std::vector<std::string> strings,
                                             std::function<std::string(std::span<const std::int32_t>)> decode);

/// Special tokens are text here, as in Transformers.
std::shared_ptr<const StopCondition> StopsAt(std::vector<std::string> strings, const PipelineTokenizer& tokenizer);
std::shared_ptr<const StopCondition> StopsAt(std::vector<std::string> strings,
                                             const std::shared_ptr<const Tokenizer>& tokenizer);

}  // namespace headlight
