#include "headlight/text/tokenizers/sentencepiece_normalizer.h"

#include "headlight/base/error.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

// A unit of the trie is either a node, which is reached by a byte, or the leaf of a node, which stores a value.
constexpr std::uint32_t kLeaf = 1u << 31;
bool IsLeaf(std::uint32_t unit) { return unit & kLeaf; }
std::uint32_t LeafValue(std::uint32_t unit) { return unit & ~kLeaf; }
bool HasLeaf(std::uint32_t node) { return node >> 8 & 1; }
std::uint32_t Label(std::uint32_t unit) { return unit & (kLeaf | 0xFF); }
// The leaf of a node has the index `index ^ Offset`. The child for a byte has the index `index ^ Offset ^ byte`.
std::uint32_t Offset(std::uint32_t node) { return (node >> 10) << ((node & 1u << 9) >> 6); }

std::uint32_t LittleEndian32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (int index = 3; index >= 0; --index) value = value << 8 | static_cast<unsigned char>(bytes[index]);
  return value;
}

// Limits in bytes. The output of a rule is bounded, so that a hostile file cannot exhaust memory. Unicode's longest
// output has 33 bytes. Offsets in the normalized form of the longest text fit 32 bits.
constexpr std::size_t kLongestMapped = 64;
constexpr std::size_t kLongestSegmentedText = std::size_t{1} << 22;

}  // namespace

TextNormalizer::TextNormalizer(const SentencePieceModel& model, const std::string& name)
    : add_dummy_prefix_(model.add_dummy_prefix), remove_extra_whitespaces_(model.remove_extra_whitespaces) {
  std::string_view map = model.charsmap;
  if (map.empty()) return;
  // The charsmap has the trie's size in bytes, the trie, and the replacements.
  const std::size_t trie_bytes = map.size() < 4 ? 0 : LittleEndian32(map);
  const auto check = [&](bool condition) { Check(condition, "{}: its precompiled charsmap is broken", name); };
  check(trie_bytes > 0 && trie_bytes % 4 == 0 && trie_bytes <= map.size() - 4);
  map.remove_prefix(4);
  trie_.resize(trie_bytes / 4);
  for (std::uint32_t& unit : trie_) {
    unit = LittleEndian32(map);
    map.remove_prefix(4);
  }
  replacements_ = map;
  CheckUtf8(replacements_, name + ": the replacements of its precompiled charsmap");

  // The trie is checked once here, so that lookups need no checks.
  check(!IsLeaf(trie_[0]) && !HasLeaf(trie_[0]));
  for (std::size_t index = 0; index < trie_.size(); ++index) {
    const std::uint32_t unit = trie_[index];
    if (IsLeaf(unit)) {
      const std::size_t begin = LeafValue(unit);
      check(begin < replacements_.size());
      const std::size_t end = replacements_.find('\0', begin);
      check(end != std::string::npos && end - begin <= kLongestMapped);
      check((replacements_[begin] & 0xC0) != 0x80);  // the offset is within a character
    } else {
      const std::size_t leaf = index ^ Offset(unit);
      check((leaf | 0xFF) < trie_.size());
      check(!HasLeaf(unit) || IsLeaf(trie_[leaf]));
    }
  }
}

// Calls found(bytes, value) for each rule that matches the beginning of the text, shortest first, until found returns
// false.
template <typename Found>
void TextNormalizer::ForEachRule(std::string_view text, const Found& found) const {
  if (trie_.empty()) return;
  std::size_t node = Offset(trie_[0]);
  for (std::size_t index = 0; index < text.size(); ++index) {
    const auto byte = static_cast<unsigned char>(text[index]);
    node ^= byte;
    const std::uint32_t unit = trie_[node];
    if (Label(unit) != byte) return;
    node ^= Offset(unit);
    if (HasLeaf(unit) && !found(index + 1, LeafValue(trie_[node]))) return;
  }
}

TextNormalizer::Replacement TextNormalizer::ReplacePrefix(std::string_view text) const {
  Replacement longest{"", 0};
  ForEachRule(text, [&](std::size_t bytes, std::size_t value) {
    longest = {replacements_.c_str() + value, bytes};
    return true;
  });
  if (longest.bytes > 0) return longest;
  const std::size_t bytes = DecodeUtf8(text).bytes;
  return bytes > 0 ? Replacement{text.substr(0, bytes), bytes} : Replacement{"\uFFFD", 1};
}

std::optional<std::string_view> TextNormalizer::ShortestReplacement(std::string_view text) const {
  std::optional<std::string_view> shortest;
  ForEachRule(text, [&](std::size_t, std::size_t value) {
    shortest = replacements_.c_str() + value;
    return false;
  });
  return shortest;
}

void TextNormalizer::Normalize(std::string_view text, std::string& normalized,
                               std::vector<std::int32_t>* origins) const {
  normalized.clear();
  if (origins) origins->clear();
  Check(text.size() <= kLongestSegmentedText, "a text of {} bytes is too long to be segmented: the limit is {}",
        text.size(), kLongestSegmentedText);
  std::size_t at = 0;
  const auto append = [&](std::string_view bytes) {
    normalized += bytes;
    if (origins) origins->resize(normalized.size(), static_cast<std::int32_t>(at));
  };
  if (remove_extra_whitespaces_) {
    while (at < text.size()) {
      const Replacement replacement = ReplacePrefix(text.substr(at));
      if (replacement.text != " ") break;
      at += replacement.bytes;
    }
  }
  if (add_dummy_prefix_ && at < text.size()) append(kSpaceSymbol);
  bool after_space = remove_extra_whitespaces_;
  while (at < text.size()) {
    const Replacement replacement = ReplacePrefix(text.substr(at));
    // Spaces are collapsed between replacements, but not within one.
    std::string_view rest = replacement.text;
    while (after_space && rest.starts_with(' ')) rest.remove_prefix(1);
    if (!rest.empty()) after_space = remove_extra_whitespaces_ && rest.ends_with(' ');
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      append(word);
      rest.remove_prefix(word.size());
      if (rest.empty()) break;
      append(kSpaceSymbol);
      rest.remove_prefix(1);
    }
    at += replacement.bytes;
  }
  if (remove_extra_whitespaces_) {
    while (normalized.ends_with(kSpaceSymbol)) {
      normalized.resize(normalized.size() - kSpaceSymbol.size());
      if (origins) {
        at = (*origins)[normalized.size()];
        origins->resize(normalized.size());
      }
    }
  }
  if (origins) origins->push_back(static_cast<std::int32_t>(at));
}

}  // namespace headlight
