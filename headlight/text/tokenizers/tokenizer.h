// Conversion between text and token ids: the interface of all kinds of tokenizers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/text/text_span.h"

namespace headlight {

/// The side of a translation pair. MarianTokenizer can have a SentencePiece model for each; other kinds have one.
enum class Side { source, target };

/// Immutable and cheap to copy; all methods are thread-safe.
class HEADLIGHT_API Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The ids of a text, without special tokens around them; empty for a text without words. Special tokens written in
  /// the text are treated as text. `spans`, if given, gets the bytes of `text` that each token represents. Throws Error
  /// naming the byte if `text` is not UTF-8.
  virtual std::vector<std::int32_t> Encode(std::string_view text, Side side = Side::source,
                                           std::vector<TextSpan>* spans = nullptr) const = 0;

  /// The special tokens before a source, and after it: T5 has `</s>` after it, BART `<s>` before and `</s>` after it.
  const std::vector<std::int32_t>& before() const { return before_; }
  const std::vector<std::int32_t>& after() const { return after_; }

  /// The text of ids, without special tokens. Ids from size() on, which a model can have, are skipped.
  virtual std::string Decode(std::span<const std::int32_t> ids) const = 0;

  /// A token as in the vocabulary; empty from size() on.
  virtual const std::string& Piece(std::int32_t id) const = 0;
  /// Readable tokens: their pieces, or in byte-level vocabularies the characters that the bytes represent, with U+2581
  /// for a space. A character divided among tokens is shown in each of them with its part, as in "🙂(1/3)".
  virtual std::vector<std::string> Labels(std::span<const std::int32_t> ids) const;
  /// The id of a special token other than the end, such as a language code "de_DE".
  virtual std::optional<std::int32_t> FindSpecial(std::string_view name) const = 0;
  virtual std::int32_t size() const = 0;  // largest id + 1
  /// Its size and kind, for display.
  virtual Json::Object Description() const { return {{"vocabulary", size()}}; }

 protected:
  Tokenizer(std::vector<std::int32_t> before, std::vector<std::int32_t> after)
      : before_(std::move(before)), after_(std::move(after)) {}
  Tokenizer(const Tokenizer&) = default;
  Tokenizer(Tokenizer&&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;
  Tokenizer& operator=(Tokenizer&&) = default;

  /// True for an id below `size`; throws Error for a negative one.
  static bool Holds(std::int32_t id, std::int32_t size);

 private:
  std::vector<std::int32_t> before_, after_;
};

}  // namespace headlight
