// A text that is decoded while its tokens come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

// An incremental detokenizer: has the bytes that Tokenizer::Decode gives for all tokens so far, but decodes with each
// token only a bounded tail, so that a text takes time linear in its tokens. The tail covers what decoders depend on:
// the bytes of an incomplete character, whether a piece is the first (some drop its space), and the whole run of pieces
// that spell bytes (<0xE2>), which are decoded together.
class GrowingText {
 public:
  // The prompt's last tokens are decoded with the text, and removed from it.
  explicit GrowingText(const Tokenizer& tokenizer, std::span<const std::int32_t> prompt = {});

  // True if the text has changed: ids beyond the vocabulary of the tokenizer add no text.
  bool Add(std::span<const std::int32_t> ids);

  std::string_view text() const { return std::string_view(text_).substr(begin_); }  // until the next Add
  // The first byte of the text that further tokens may change, at the earliest; and that of a run of pieces that spell
  // bytes at its end, all of which become U+FFFD where the run turns out not to be UTF-8.
  std::size_t stable() const { return std::max(kept_, begin_) - begin_; }
  std::size_t run() const { return std::max(std::min(run_, text_.size()), begin_) - begin_; }

 private:
  static constexpr std::size_t kNoRun = std::string::npos;

  bool SpellsByte(std::int32_t id) const;
  void Forget();

  const Tokenizer* tokenizer_;
  std::string before_, text_;  // the prompt's; with it, all that was written
  std::size_t begin_ = 0;
  // The text is its first kept_ bytes, and what ids_ decode to but for the first skipped_ bytes.
  std::vector<std::int32_t> ids_;
  std::size_t kept_ = 0, skipped_ = 0;
  std::size_t forget_at_;     // tokens
  std::size_t run_ = kNoRun;  // where the pieces that spell bytes at the end begin, in text_
};

}  // namespace headlight
