#include "headlight/pipelines/stop_strings.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {

std::vector<std::string> ReadStopStrings(const JsonView& json) {
  if (!json.present()) return {};
  std::vector<std::string> strings =
      json.value().As<std::string>() != nullptr ? std::vector{json.String()} : json.Strings();
  for (const std::string& one : strings) Check(!one.empty(), "{}: a stop string must not be empty", json.location());
  return strings;
}

std::shared_ptr<const StopCondition> StopsAt(std::vector<std::string> strings,
                                             std::function<std::string(std::span<const std::int32_t>)> decode) {
  if (strings.empty()) return {};
  // The number of tokens that a stop string can span. Nearly all tokens have at least one byte. kMore is a margin for
  // tokens that are bytes of one character or the space at the beginning of a text.
  constexpr std::size_t kMore = 8;
  const std::size_t longest = std::ranges::max(strings, {}, &std::string::size).size();
  auto stops = [strings = std::move(strings), decode = std::move(decode), longest](std::span<const std::int32_t> ids) {
    if (ids.empty()) return false;
    const std::span<const std::int32_t> tail = ids.last(std::min(ids.size(), longest + kMore));
    const std::string before = decode(tail.first(tail.size() - 1)), text = decode(tail);
    const auto common = static_cast<std::size_t>(std::ranges::mismatch(before, text).in2 -
                                                 text.begin());  // bytes that do not depend on the last token
    return std::ranges::any_of(strings, [&](const std::string& one) {
      return text.find(one, common + 1 - std::min(common + 1, one.size())) != std::string::npos;
    });
  };
  return std::make_shared<const StopCondition>(std::move(stops));
}

std::shared_ptr<const StopCondition> StopsAt(std::vector<std::string> strings, const PipelineTokenizer& tokenizer) {
  return StopsAt(std::move(strings), [tokenizer](std::span<const std::int32_t> ids) {
    return tokenizer.Decode(ids, /*skip_special=*/false);
  });
}

std::shared_ptr<const StopCondition> StopsAt(std::vector<std::string> strings,
                                             const std::shared_ptr<const Tokenizer>& tokenizer) {
  if (const auto* const pipeline = dynamic_cast<const PipelineTokenizer*>(tokenizer.get()))
    return StopsAt(std::move(strings), *pipeline);
  return StopsAt(std::move(strings), [tokenizer](std::span<const std::int32_t> ids) { return tokenizer->Decode(ids); });
}

}  // namespace headlight
