#include "headlight/text/tokenizers/added_tokens.h"

#include <algorithm>

#include "headlight/text/characters.h"

namespace headlight {
namespace {

// Returns the last character of a non-empty text, and sets `begin` to its first byte.
char32_t LastCharacter(std::string_view text, std::size_t& begin) {
  begin = text.size() - 1;
  while (begin > 0 && (text[begin] & 0xC0) == 0x80) --begin;
  return DecodeUtf8(text.substr(begin)).code;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::stable_sort(tokens_.begin(), tokens_.end(),
                   [](const auto& a, const auto& b) { return a.content.size() > b.content.size(); });
  for (const AddedToken& token : tokens_) begins_[static_cast<unsigned char>(token.content[0])] = true;
}

const AddedToken* AddedTokens::Find(std::string_view text, std::size_t at) const {
  const auto found = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const AddedToken& token) { return text.substr(at).starts_with(token.content); });
  return found == tokens_.end() ? nullptr : &*found;
}

std::vector<AddedTokens::Part> AddedTokens::Split(std::string_view text, bool read_special) const {
  std::vector<Part> parts;
  std::size_t done = 0;
  const auto add = [&](std::int32_t id, std::size_t begin, std::size_t end) {
    if (begin < end) parts.push_back({id, {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)}});
  };
  for (std::size_t at = 0; at < text.size();) {
    const bool may_begin = begins_[static_cast<unsigned char>(text[at])];
    const AddedToken* const token = may_begin ? Find(text, at) : nullptr;
    if (token == nullptr) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + token->content.size(), last = 0;
    at = end;  // the next token may begin in the white space that rstrip includes
    if (token->special && !read_special) continue;
    if (token->single_word) {
      if (begin > 0 && IsWordCharacter(LastCharacter(text.substr(0, begin), last))) continue;
      if (end < text.size() && IsWordCharacter(DecodeUtf8(text.substr(end)).code)) continue;
    }
    if (token->lstrip) {
      while (begin > done && IsWhiteSpace(LastCharacter(text.substr(0, begin), last))) begin = last;
      begin = std::clamp(begin, std::min(done, end), end);
    }
    if (token->rstrip) {
      while (end < text.size()) {
        const Utf8Character next = DecodeUtf8(text.substr(end));
        if (!IsWhiteSpace(next.code)) break;
        end += next.bytes;
      }
    }
    add(-1, done, begin);
    add(token->id, begin, end);
    done = end;
  }
  add(-1, done, text.size());
  return parts;
}

}  // namespace headlight
