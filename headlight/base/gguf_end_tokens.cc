#include "headlight/base/gguf_end_tokens.h"

#include <algorithm>
#include <string_view>

namespace headlight {
namespace {

constexpr std::int64_t kControl = 3;  // the value of control tokens in tokenizer.ggml.token_type

// The tokens that end a reply in chats of published models. Some tokens are also HTML tags or plain words in other
// vocabularies. Such tokens count only if the file marks them as control tokens.
struct EndName {
  std::string_view name;
  bool only_control = false;
};
constexpr EndName kEnds[] = {
    {"<|eot_id|>"},  {"<|eom_id|>"},       {"<|im_end|>"},           {"<|end|>"},       {"<|return|>"},
    {"<|call|>"},    {"<|endoftext|>"},    {"<|end_of_text|>"},      {"<end_of_turn>"}, {"<end_of_utterance>"},
    {"<turn|>"},     {"<|tool_response>"}, {"<EOT>", true},          {"[EOT]", true},   {"[EOS]", true},
    {"<eos>", true}, {"</s>", true},       {"<｜end▁of▁sentence｜>"}};

}  // namespace

std::vector<std::int64_t> GgufEndTokens(const Gguf& file) {
  constexpr const char *tokens_key = "tokenizer.ggml.tokens", *types_key = "tokenizer.ggml.token_type";
  std::vector<std::string_view> tokens;
  if (file.contains(tokens_key)) tokens = file.Array(tokens_key).Strings();
  std::vector<std::int64_t> types, ends;
  if (file.contains(types_key)) types = file.Array(types_key).Integers();
  const auto add = [&](std::int64_t id) {
    if (std::ranges::find(ends, id) == ends.end()) ends.push_back(id);
  };
  const std::int64_t most = file.contains(tokens_key) ? std::ssize(tokens) - 1 : std::int64_t{1} << 31;
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
    if (file.contains(key)) add(file.Integer(key, 0, most));
  // In gpt-oss, <|end|> ends a message, and more messages may follow.
  const bool messages_end = std::ranges::find(tokens, "<|return|>") != tokens.end();
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const auto end = std::ranges::find(kEnds, tokens[id], &EndName::name);
    if (end == std::end(kEnds)) continue;
    if (end->only_control && (id >= types.size() || types[id] != kControl)) continue;
    if (!messages_end || tokens[id] != "<|end|>") add(static_cast<std::int64_t>(id));
  }
  return ends;
}

}  // namespace headlight
