// The interface of all tokenizers, which convert between text and token ids.
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

/// A side of a translation pair. MarianTokenizer can have a separate SentencePiece model for each side. Other
/// tokenizers ignore the side.
enum class Side { source, target };

/// A tokenizer is immutable and cheap to copy. All methods are thread-safe.
class HEADLIGHT_API Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Returns the ids of a text without special tokens around them. The result is empty for a text without words.
  /// Special tokens in the text are treated as text. `spans`, if given, receives the byte range of `text` that each
  /// token represents. Throws Error naming the byte if `text` is not UTF-8.
  virtual std::vector<std::int32_t> Encode(std::string_view text, Side side = Side::source,
                                           std::vector<TextSpan>* spans = nullptr) const = 0;

  /// The special tokens before and after a source text. For example, T5 adds `</s>` after the text. BART adds `<s>`
  /// before the text and `</s>` after it.
  const std::vector<std::int32_t>& before() const { return before_; }
  const std::vector<std::int32_t>& after() const { return after_; }

  /// Returns the text of ids, without special tokens. Ids from size() on, which a model can generate, are skipped.
  virtual std::string Decode(std::span<const std::int32_t> ids) const = 0;

  /// Returns a token as it appears in the vocabulary, or an empty string if id >= size().
  virtual const std::string& Piece(std::int32_t id) const = 0;
  /// Returns readable tokens: the pieces, or the decoded characters for byte-level vocabularies. A space is written as
  /// U+2581. If the bytes of a character are divided among tokens, each of these tokens shows the character with a
  /// fraction: "🙂(1/3)".
  virtual std::vector<std::string> Labels(std::span<const std::int32_t> ids) const;
  /// Returns the id of a special token other than the end token, such as the language code "de_DE".
  virtual std::optional<std::int32_t> FindSpecial(std::string_view name) const = 0;
  virtual std::int32_t size() const = 0;  ///< largest id + 1
  /// Returns the size and kind of the tokenizer, for display.
  virtual Json::Object Description() const { return {{"vocabulary", size()}}; }

 protected:
  Tokenizer(std::vector<std::int32_t> before, std::vector<std::int32_t> after)
      : before_(std::move(before)), after_(std::move(after)) {}
  Tokenizer(const Tokenizer&) = default;
  Tokenizer(Tokenizer&&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;
  Tokenizer& operator=(Tokenizer&&) = default;

  /// Returns true for an id below `size`. Throws Error for a negative id.
  static bool Holds(std::int32_t id, std::int32_t size);

 private:
  std::vector<std::int32_t> before_, after_;
};

}  // namespace headlight
