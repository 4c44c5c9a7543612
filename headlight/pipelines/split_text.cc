#include "headlight/pipelines/split_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <tuple>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr std::array<std::string_view, 10> kSentenceEnds = {".", "!", "?", "…", "。", "！", "？", "।", "؟", "۔"};
constexpr std::array<std::string_view, 9> kClauseEnds = {",", ";", ":", "–", "—", "，", "、", "；", "،"};
constexpr std::array<std::string_view, 10> kClosing = {"\"", "'", ")", "]", "”", "’", "»", "“", "」", "』"};

// Returns the entry of `ends` that `text` ends with, or nullptr.
const std::string_view* EndOf(std::string_view text, std::span<const std::string_view> ends) {
  const auto found = std::ranges::find_if(ends, [&](std::string_view end) { return text.ends_with(end); });
  return found == ends.end() ? nullptr : &*found;
}

// Returns the cost of cutting `text` at byte `at`.
int Badness(std::string_view text, std::size_t at) {
  std::string_view before = text.substr(0, at);
  const bool space = before.ends_with(' ') || text[at] == ' ';
  while (before.ends_with(' ')) before.remove_suffix(1);
  const std::string_view word_end = before;
  for (const std::string_view* mark = EndOf(before, kClosing); mark != nullptr; mark = EndOf(before, kClosing))
    before.remove_suffix(mark->size());
  // The dot in "3.14" does not end a sentence. In languages without spaces, a sentence ends without a following space.
  const bool wide = !before.empty() && static_cast<unsigned char>(before.back()) >= 0x80;
  if ((space || wide) && EndOf(before, kSentenceEnds) != nullptr) return 0;
  if ((space || wide) && EndOf(word_end, kClauseEnds) != nullptr) return 1;
  return space ? 2 : 3;
}

bool BeginsCharacter(std::string_view text, std::size_t at) {
  return (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
}

// Returns the byte at which to cut a part, or 0 if there is none.
std::size_t BestCut(const TextPart& part) {
  const std::size_t tokens = part.tokens.size(), middle = tokens / 2;
  auto best = std::tuple(5, tokens, std::size_t{0});
  for (std::size_t i = tokens / 4; i < tokens - tokens / 4; ++i) {
    const auto at = static_cast<std::size_t>(part.spans[i].end);
    if (at == 0 || at >= part.text.size() || !BeginsCharacter(part.text, at)) continue;
    best = std::min(best, std::tuple(Badness(part.text, at), i < middle ? middle - i : i - middle, at));
  }
  if (std::get<2>(best) != 0) return std::get<2>(best);
  // One character can have many tokens. In this case the cut may be at any character boundary.
  for (std::size_t at = part.text.size() / 2; at < part.text.size(); ++at)
    if (at > 0 && BeginsCharacter(part.text, at)) return at;
  for (std::size_t at = part.text.size() / 2; at > 0; --at)
    if (BeginsCharacter(part.text, at)) return at;
  return 0;
}

// Splits `text`. The tokens `prefix`, which are not part of the text, are prepended to the tokens of each part.
void Split(const Tokenizer& tokenizer, std::string_view text, std::span<const std::int32_t> prefix, std::int64_t most,
           std::vector<TextPart>& parts) {
  TextPart part{text, {}, {}};
  part.tokens = tokenizer.Encode(text, Side::source, &part.spans);
  if (static_cast<std::int64_t>(part.tokens.size() + prefix.size()) <= most) {
    if (part.tokens.empty()) return;
    part.tokens.insert(part.tokens.begin(), prefix.begin(), prefix.end());
    part.spans.insert(part.spans.begin(), prefix.size(), {0, 0});
    parts.push_back(std::move(part));
    return;
  }
  const std::size_t cut = BestCut(part);
  Check(cut != 0, "the character \"{}\" has {} tokens, and the model reads at most {}", text, part.tokens.size(), most);
  Split(tokenizer, text.substr(0, cut), prefix, most, parts);
  Split(tokenizer, text.substr(cut), prefix, most, parts);
}

}  // namespace

std::vector<TextPart> SplitText(const Tokenizer& tokenizer, std::string_view text, std::int64_t most) {
  std::vector<TextPart> parts;
  std::vector<TextSpan> spans;
  const std::vector<std::int32_t> tokens = tokenizer.Encode(text, Side::source, &spans);
  if (static_cast<std::int64_t>(tokens.size()) <= most) {
    if (!tokens.empty()) parts.push_back({text, tokens, std::move(spans)});
    return parts;
  }
  // A multilingual model's target language, as in ">>fra<< Hello", is repeated in every part.
  const auto first = static_cast<std::size_t>(spans[0].end);
  const bool language = text.starts_with(">>") && text.substr(0, first).ends_with("<<");
  Split(tokenizer, language ? text.substr(first) : text, std::span(tokens).first(language ? 1 : 0), most, parts);
  return parts;
}

}  // namespace headlight
