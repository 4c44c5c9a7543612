// Decodes a text while its tokens are generated.
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

/// An incremental detokenizer. The text equals Tokenizer::Decode of all tokens. For each new token, only a bounded tail
/// is decoded, so that the total time is linear. The tail covers the context that decoders depend on:
/// - the bytes of an incomplete character,
/// - the position of a piece, since some decoders drop the space of the first piece,
/// - a whole run of byte pieces (<0xE2>), which are decoded together.
class GrowingText {
 public:
  /// Uses the last tokens of the prompt as context for decoding. They are not part of the text.
  explicit GrowingText(const Tokenizer& tokenizer, std::span<const std::int32_t> prompt = {});

  /// Appends tokens. Returns true if the text has changed. Ids outside the tokenizer's vocabulary add no text.
  bool Add(std::span<const std::int32_t> ids);

  std::string_view text() const { return std::string_view(text_).substr(begin_); }  // valid until the next Add
  /// stable() returns the offset of the first byte that further tokens may change. run() returns the offset of the byte
  /// pieces that end the text. If these byte pieces turn out not to be UTF-8, all their bytes become U+FFFD.
  std::size_t stable() const { return std::max(kept_, begin_) - begin_; }
  std::size_t run() const { return std::max(std::min(run_, text_.size()), begin_) - begin_; }

 private:
  static constexpr std::size_t kNoRun = std::string::npos;

  bool SpellsByte(std::int32_t id) const;
  void Forget();

  const Tokenizer* tokenizer_;
  std::string before_, text_;  // the decoded prompt; the prompt with all generated text
  std::size_t begin_ = 0;
  // The text consists of its first kept_ bytes and the decoded ids_ without their first skipped_ bytes.
  std::vector<std::int32_t> ids_;
  std::size_t kept_ = 0, skipped_ = 0;
  std::size_t forget_at_;     // number of tokens at which Forget is called next
  std::size_t run_ = kNoRun;  // the index in text_ where a final run of byte pieces begins
};

}  // namespace headlight
