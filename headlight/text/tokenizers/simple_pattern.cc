#include "headlight/text/tokenizers/simple_pattern.h"

#include <algorithm>
#include <string>
#include <utility>

#include "headlight/text/characters.h"

namespace headlight {
namespace {

constexpr std::int32_t kMostLeast =
    64;  // maximum N of {N,}, since matching restarts at the next character after a run that is too short

bool IsLetterOrDigit(char32_t c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

}  // namespace

// Each method returns false if the expression is not simple.
class SimplePatternParser {
 public:
  explicit SimplePatternParser(std::string_view expression) : rest_(expression) {}

  std::optional<SimplePattern> Run() {
    SimplePattern pattern;
    do {
      std::vector<SimplePattern::Step>& steps = pattern.alternatives_.emplace_back();
      do {
        SimplePattern::Step& step = steps.emplace_back();
        if (!ParseStep(step)) return std::nullopt;
        if (step.repeats && !rest_.empty() && rest_[0] != '|') return std::nullopt;
      } while (!rest_.empty() && rest_[0] != '|');
    } while (Skip("|"));
    pattern.first_.fill(SimplePattern::kNone);
    for (std::size_t index = pattern.alternatives_.size(); index-- > 0;) {
      const Set& first = pattern.alternatives_[index].front().set;
      const bool above = first.negated || first.space || first.letter || first.number || !first.others.empty();
      for (std::size_t byte = 0; byte < 256; ++byte)
        if (byte < 128 ? first.ascii[byte] : above && byte >= 0xC0)
          pattern.first_[byte] = static_cast<std::uint16_t>(index);
    }
    return pattern;
  }

 private:
  using Set = SimplePattern::Set;

  bool Skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  char32_t TakeCharacter() {
    const Utf8Character character = DecodeUtf8(rest_);
    rest_.remove_prefix(static_cast<std::size_t>(character.bytes));
    return character.code;
  }

  static void Add(char32_t character, Set& set) {
    if (character < 128)
      set.ascii.set(character);
    else
      set.others.push_back(character);
  }

  static void AddClass(CharacterClass of, bool Set::*above, Set& set) {
    for (char32_t character = 0; character < 128; ++character)
      if (ClassOf(character) == of) set.ascii.set(character);
    set.*above = true;
  }

  // Parses the characters after a backslash. Sets `character` if they represent a single character.
  bool ParseEscape(Set& set, std::optional<char32_t>& character) {
    character = std::nullopt;
    if (Skip("s")) return AddClass(CharacterClass::space, &Set::space, set), true;
    if (Skip("p{L}")) return AddClass(CharacterClass::letter, &Set::letter, set), true;
    if (Skip("p{N}")) return AddClass(CharacterClass::number, &Set::number, set), true;
    if (rest_.empty()) return false;
    char32_t given = TakeCharacter();
    const std::u32string_view from = U"nrt", to = U"\n\r\t";
    if (const std::size_t at = from.find(given); at != std::u32string_view::npos)
      given = to[at];
    else if (given >= 128 || IsLetterOrDigit(given))
      return false;
    character = given;
    return Add(given, set), true;
  }

  // Parses the characters after [.
  bool ParseSet(Set& set) {
    const bool negated = Skip("^");
    std::optional<char32_t> last;  // a possible beginning of a range
    for (bool first = true; first || !Skip("]"); first = false) {
      if (rest_.empty() || rest_.starts_with("--") || std::string_view("[]&").find(rest_[0]) != std::string_view::npos)
        return false;
      if (rest_[0] == '-' && !first && !rest_.starts_with("-]")) {
        rest_.remove_prefix(1);
        if (!last || rest_.empty()) return false;
        Set ignored;
        std::optional<char32_t> end;
        if (Skip("\\")) {
          if (!ParseEscape(ignored, end)) return false;
        } else if (rest_[0] != '[' && rest_[0] != ']') {
          end = TakeCharacter();
        }
        if (!end || *end < *last || *end >= 128) return false;
        for (char32_t character = *last; character <= *end; ++character) Add(character, set);
        last = std::nullopt;
      } else if (Skip("\\")) {
        if (!ParseEscape(set, last)) return false;
      } else {
        last = TakeCharacter();
        Add(*last, set);
      }
    }
    if (negated) set.ascii.flip();
    set.negated = negated;
    return true;
  }

  bool ParseStep(SimplePattern::Step& step) {
    std::optional<char32_t> ignored;
    if (rest_.empty()) return false;
    if (Skip("[")) {
      if (!ParseSet(step.set)) return false;
    } else if (Skip("\\")) {
      if (!ParseEscape(step.set, ignored)) return false;
    } else {
      const char32_t character = TakeCharacter();
      if (std::u32string_view(U"|.^$*+?(){}]").find(character) != std::u32string_view::npos) return false;
      Add(character, step.set);
    }
    if (Skip("+")) {
      step.repeats = true;
    } else if (Skip("{")) {
      step.least = 0;
      while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9' && step.least <= kMostLeast)
        step.least = 10 * step.least + static_cast<std::int32_t>(TakeCharacter() - U'0');
      step.repeats = true;
      if (!Skip(",}") || step.least < 1 || step.least > kMostLeast) return false;
    }
    return true;
  }

  std::string_view rest_;
};

std::size_t SimplePattern::Set::BytesAt(std::string_view text, std::size_t at) const {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 128) return ascii[byte] ? 1 : 0;
  const Utf8Character character = DecodeUtf8(text.substr(at));
  bool has = std::ranges::find(others, character.code) != others.end();
  if (!has && (space || letter || number)) {
    const CharacterClass of = ClassOf(character.code);
    has = (space && of == CharacterClass::space) || (letter && of == CharacterClass::letter) ||
          (number && of == CharacterClass::number);
  }
  return has != negated ? static_cast<std::size_t>(character.bytes) : 0;
}

std::optional<SimplePattern> SimplePattern::Parse(std::string_view expression) {
  return SimplePatternParser(expression).Run();
}

std::size_t SimplePattern::MatchAt(std::string_view text, std::size_t at) const {
  for (std::size_t index = first_[static_cast<unsigned char>(text[at])]; index < alternatives_.size(); ++index) {
    std::size_t end = at;
    const bool matches = std::ranges::all_of(alternatives_[index], [&](const Step& step) {
      std::int32_t count = 0;
      while (end < text.size() && (step.repeats || count < step.least)) {
        const std::size_t bytes = step.set.BytesAt(text, end);
        if (bytes == 0) break;
        end += bytes;
        count = std::min(count + 1, step.least);
      }
      return count == step.least;
    });
    if (matches) return end - at;
  }
  return 0;
}

}  // namespace headlight
