#include "headlight/tasks/sequence_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {

SequenceTokenizer::SequenceTokenizer(Tokenizer marian) : tokenizer_(std::move(marian)) {
  after_ = {std::get<Tokenizer>(tokenizer_).eos()};
}

SequenceTokenizer::SequenceTokenizer(TokenizerPipeline pipeline) : tokenizer_(std::move(pipeline)) {
  // What is added to any text is added to this one.
  const Encoding some = std::get<TokenizerPipeline>(tokenizer_).Encode("a");
  const auto in_text = [](std::int32_t text) { return text >= 0; };
  const auto first = std::ranges::find_if(some.texts, in_text) - some.texts.begin();
  const auto behind = std::find_if(some.texts.rbegin(), some.texts.rend(), in_text) - some.texts.rbegin();
  Check(first < std::ssize(some.ids), "the tokenizer gives \"a\" no token");
  before_.assign(some.ids.begin(), some.ids.begin() + first);
  after_.assign(some.ids.end() - behind, some.ids.end());
}

SequenceTokenizer SequenceTokenizer::Load(const std::string& folder) {
  std::error_code error;  // what cannot be looked at is left to whoever opens it
  if (std::filesystem::exists(folder + "/source.spm", error) || error) return Tokenizer::Load(folder);
  return SequenceTokenizer(TokenizerPipeline::Load(folder));
}

std::vector<std::int32_t> SequenceTokenizer::Encode(std::string_view text, Side side,
                                                    std::vector<TextSpan>* spans) const {
  if (marian() != nullptr) return marian()->Encode(text, side, spans);
  Encoding encoding =
      std::get<TokenizerPipeline>(tokenizer_).Encode(text, {.add_special = false, .read_special = false});
  if (spans != nullptr) *spans = std::move(encoding.spans);
  return std::move(encoding.ids);
}

std::string SequenceTokenizer::Decode(std::span<const std::int32_t> tokens) const {
  std::vector<std::int32_t> named;
  std::ranges::copy_if(tokens, std::back_inserter(named), [&](std::int32_t token) { return token < size(); });
  return std::visit([&](const auto& tokenizer) { return tokenizer.Decode(named); }, tokenizer_);
}

const std::string& SequenceTokenizer::Piece(std::int32_t token) const {
  static const std::string nameless;
  if (token >= size()) return nameless;
  return std::visit([&](const auto& tokenizer) -> const std::string& { return tokenizer.Piece(token); }, tokenizer_);
}

std::optional<std::int32_t> SequenceTokenizer::FindSpecial(std::string_view name) const {
  const auto* pipeline = std::get_if<TokenizerPipeline>(&tokenizer_);
  if (pipeline == nullptr) return {};
  const std::optional<std::int32_t> found = pipeline->Find(name);
  return found && pipeline->IsSpecial(*found) ? found : std::nullopt;
}

std::int32_t SequenceTokenizer::size() const {
  return std::visit([](const auto& tokenizer) { return tokenizer.size(); }, tokenizer_);
}

}  // namespace headlight
