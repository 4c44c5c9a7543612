#include "headlight/pipelines/growing_text.h"

namespace headlight {
namespace {

constexpr std::size_t kContext = 8, kStep = 16;  // both in tokens

}  // namespace

GrowingText::GrowingText(const Tokenizer& tokenizer, std::span<const std::int32_t> prompt)
    : tokenizer_(&tokenizer), forget_at_(kContext + kStep) {
  Add(prompt.last(std::min(prompt.size(), kContext)));
  before_ = text_;
  begin_ = before_.size();
  run_ = kNoRun;
}

bool GrowingText::Add(std::span<const std::int32_t> ids) {
  if (ids_.size() >= forget_at_) Forget();
  for (const std::int32_t id : ids) {
    if (id >= tokenizer_->size()) continue;
    ids_.push_back(id);
    if (!SpellsByte(id))
      run_ = kNoRun;
    else if (run_ == kNoRun)
      run_ = text_.size();
  }
  const std::string decoded = tokenizer_->Decode(ids_);
  const std::string_view tail = std::string_view(decoded).substr(std::min(skipped_, decoded.size()));
  if (std::string_view(text_).substr(kept_) == tail) return false;
  text_.replace(kept_, std::string::npos, tail);
  begin_ = text_.starts_with(before_) ? before_.size() : 0;
  return true;
}

bool GrowingText::SpellsByte(std::int32_t id) const {
  const std::string_view piece = tokenizer_->Piece(id);
  return piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>');
}

// Keeps only the last tokens, whose decoding must agree with the end of the text. An incomplete character has at most
// three bytes, so four decoded characters are sufficient to find the first byte that agrees.
void GrowingText::Forget() {
  forget_at_ = ids_.size() + kStep;
  std::size_t first = ids_.size() - kContext;
  while (first > 0 && SpellsByte(ids_[first])) --first;
  if (first == 0) return;
  const std::string decoded = tokenizer_->Decode(std::span(ids_).subspan(first));
  const auto same = static_cast<std::size_t>(
      std::mismatch(text_.rbegin(), text_.rend(), decoded.rbegin(), decoded.rend()).first - text_.rbegin());
  const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  if (std::ranges::count_if(std::string_view(decoded).substr(decoded.size() - same), begins_character) < 4) return;
  kept_ = text_.size() - same;
  skipped_ = decoded.size() - same;
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(first));
  forget_at_ = ids_.size() + kStep;
}

}  // namespace headlight
