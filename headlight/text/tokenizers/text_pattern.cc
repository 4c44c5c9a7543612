#include "headlight/text/tokenizers/text_pattern.h"

#include <unicode/regex.h>
#include <unicode/unistr.h>
#include <unicode/utext.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/text/tokenizers/simple_pattern.h"

namespace headlight {
namespace {

constexpr std::int32_t kMostStack = 1 << 26;   // bytes for backtracking
constexpr std::size_t kLongestPattern = 4096;  // bytes; published patterns have up to 400
constexpr int kMatchesPerTimeCheck = 64;       // matches between checks of the time limit

// Only \n ends a line, and ^ and $ match at each line.
constexpr std::uint32_t kFlags = UREGEX_MULTILINE | UREGEX_UNIX_LINES;

// Oniguruma's character classes as the content of a set. Oniguruma's \w has no joiners, and outside of [...] it
// includes some digits of Latin-1.
constexpr std::string_view kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})",
                           kDigitsOfWords = R"(\u00B2\u00B3\u00B9\u00BC-\u00BE)";
constexpr std::string_view kHex = "0-9A-Fa-f";

std::string SetOf(std::string_view members, bool negated, bool inside) {
  return negated ? fmt::format("[^{}]", members) : inside ? std::string(members) : fmt::format("[{}]", members);
}

std::string WordCharacters(bool negated, bool inside) {
  return SetOf(fmt::format("{}{}", kWord, inside ? "" : kDigitsOfWords), negated, inside);
}

// Translates \b and \B, since ICU's version ignores marks.
std::string Boundary(bool inverted) {
  const std::string word = WordCharacters(false, false);
  return fmt::format("(?:(?<={0})(?{1}{0})|(?<!{0})(?{2}{0}))", word, inverted ? "=" : "!", inverted ? "!" : "=");
}

// Translates the class [:NAME:] in a set. Returns an empty text if Oniguruma has no such class.
std::string PosixClass(std::string_view name) {
  const bool negated = name.starts_with('^');
  if (negated) name.remove_prefix(1);
  if (name == "punct") return SetOf(R"(\p{P}\p{S})", negated, true);
  if (name == "word") return SetOf(kWord, negated, true);
  if (name == "xdigit") return SetOf(kHex, negated, true);
  for (const std::string_view same :
       {"alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "space", "upper"})
    if (name == same) return fmt::format("[:{}{}:]", negated ? "^" : "", name);
  return "";
}

// Translates \p{NAME}, or \P{NAME} if `negated`. Property names ignore case, spaces, - and _.
std::string Property(std::string_view name, bool negated, bool inside) {
  std::string plain;
  for (const char character : name)
    if (std::string_view(" -_").find(character) == std::string_view::npos)
      plain += static_cast<char>(character >= 'A' && character <= 'Z' ? character - 'A' + 'a' : character);
  if (plain == "word") return WordCharacters(negated, inside);
  if (plain == "xdigit") return SetOf(kHex, negated, inside);
  return fmt::format("\\{}{{{}}}", negated ? 'P' : 'p', name);
}

// Translates a regular expression from Oniguruma to ICU. Refuses syntax that ICU interprets differently or does not
// support.
class Translation {
 public:
  Translation(std::string_view pattern, const std::string& location) : pattern_(pattern), place_(location) {}

  std::string Run() {
    while (at_ < pattern_.size()) {
      const std::string_view rest = pattern_.substr(at_);
      if (rest[0] == '\\')
        Escape(rest);
      else if (sets_ > 0)
        InSet(rest);
      else
        Outside(rest);
    }
    return std::move(written_);
  }

 private:
  [[noreturn]] void Refuse(std::string_view part) const {
    Fail("{}: the regular expression {} has {}, which is not supported", place_, Quoted(pattern_), Quoted(part));
  }

  void Write(std::string_view text, std::size_t bytes) {
    written_ += text;
    at_ += bytes;
  }

  void Escape(std::string_view rest) {
    const std::string_view escape = rest.substr(0, 2);
    const char next = rest.size() > 1 ? rest[1] : '\0';
    const bool letter = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
    const bool inside = sets_ > 0;
    if (next == 'w' || next == 'W') return Write(WordCharacters(next == 'W', inside), 2);
    if (next == 'h' || next == 'H') return Write(SetOf(kHex, next == 'H', inside), 2);
    if (next == 'v') return Write("\\u000B", 2);
    if (next == 'e') return Write("\\u001B", 2);
    if ((next == 'b' || next == 'B') && !inside) return Write(Boundary(next == 'B'), 2);
    if (next == 'p' || next == 'P') {
      const std::size_t end = rest.find('}');
      if (!rest.substr(2).starts_with('{') || end == std::string_view::npos) Refuse(escape);
      std::string_view name = rest.substr(3, end - 3);
      const bool inverted = name.starts_with('^');
      if (inverted) name.remove_prefix(1);
      return Write(Property(name, (next == 'P') != inverted, inside), end + 1);
    }
    if (letter && std::string_view("sSdDBnrtfxuAzZkb").find(next) == std::string_view::npos) Refuse(escape);
    Write(escape, 2);
  }

  void InSet(std::string_view rest) {
    if (rest.starts_with("--")) Refuse("--");
    if (rest.starts_with("[:")) {
      const std::size_t end = std::min(rest.find(":]"), rest.size() - 2);
      const std::string written = PosixClass(rest.substr(2, end - 2));
      if (written.empty()) Refuse(rest.substr(0, end + 2));
      return Write(written, end + 2);
    }
    if (rest[0] == '[') ++sets_;
    if (rest[0] == ']') --sets_;
    Write(rest.substr(0, 1), 1);
  }

  void Outside(std::string_view rest) {
    if (rest[0] == '[') {
      // A ] directly after [ or [^ is literal.
      if (rest.starts_with("[]") || rest.starts_with("[^]")) Refuse(rest.substr(0, rest.find(']') + 1));
      sets_ = 1;
      if (rest.starts_with("[:")) return Write("[\\:", 2);  // [:NAME:] is a class only within a set
    } else if (rest.starts_with("(?")) {
      std::size_t end = 2;
      while (end < rest.size() && ((rest[end] >= 'a' && rest[end] <= 'z') || rest[end] == '-')) ++end;
      const std::string_view flags = rest.substr(2, end - 2);
      const bool set_here = end < rest.size() && (rest[end] == ')' || rest[end] == ':');
      // Otherwise (?i) in the middle of an alternative would also apply after the next |.
      const bool whole =
          flags.empty() || (set_here && (rest[end] == ':' || at_ == 0) && (flags == "i" || flags == "-i"));
      if (!whole) Refuse(rest.substr(0, std::min(end + 1, rest.size())));
    }
    Write(rest.substr(0, 1), 1);
  }

  std::string_view pattern_;
  const std::string& place_;
  std::size_t at_ = 0;
  int sets_ = 0;  // nesting depth of [...]
  std::string written_;
};

// Returns the limit of a search in ICU's units of 10,000 backtracking steps, about a millisecond each.
std::int32_t MostSteps(std::size_t bytes) { return static_cast<std::int32_t>(200 + bytes / 100); }

// Stops searches that are slow without backtracking, for example if each position of a long text fails only after many
// characters.
struct Deadline {
  using Clock = std::chrono::steady_clock;

  explicit Deadline(std::size_t bytes)
      : end(Clock::now() + std::chrono::seconds(10) + std::chrono::microseconds(5) * static_cast<std::int64_t>(bytes)) {
  }

  static UBool AfterStart(const void* context, std::int64_t) {
    const auto* deadline = static_cast<const Deadline*>(context);
    return ++deadline->starts % kMatchesPerTimeCheck != 0 || deadline->Holds() ? 1 : 0;
  }
  bool Holds() const { return Clock::now() < end; }

  Clock::time_point end;
  mutable int starts = 0;
};

}  // namespace

struct TextPattern::Regex {
  std::unique_ptr<icu::RegexPattern> compiled;
  std::optional<SimplePattern> simple;  // the same pattern, if it is simple
  std::string location;                 // for error messages
};

TextPattern::TextPattern(std::string text) : text_(std::move(text)) {}

TextPattern TextPattern::Regular(const std::string& expression, const std::string& location) {
  Check(expression.size() <= kLongestPattern, "{}: the regular expression has {} bytes, but at most {} are allowed",
        location, expression.size(), kLongestPattern);
  UParseError where;
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<icu::RegexPattern> compiled(icu::RegexPattern::compile(
      icu::UnicodeString::fromUTF8(Translation(expression, location).Run()), kFlags, where, status));
  Check(U_SUCCESS(status), "{}: the regular expression {} cannot be read: {}", location, Quoted(expression),
        u_errorName(status));
  TextPattern pattern("");
  pattern.regex_ = std::make_shared<Regex>(Regex{std::move(compiled), SimplePattern::Parse(expression), location});
  return pattern;
}

std::vector<TextSpan> TextPattern::Matches(std::string_view text) const {
  std::vector<TextSpan> matches;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    matches.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)});
  };
  if (regex_ == nullptr) {
    for (std::size_t at = text.find(text_); at != std::string_view::npos; at = text.find(text_, at + text_.size()))
      add(static_cast<std::int64_t>(at), static_cast<std::int64_t>(at + text_.size()));
    return matches;
  }
  if (const std::optional<SimplePattern>& simple = regex_->simple) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t bytes = simple->MayBegin(text[at]) ? simple->MatchAt(text, at) : 0;
      if (bytes > 0) add(static_cast<std::int64_t>(at), static_cast<std::int64_t>(at + bytes));
      at += std::max<std::size_t>(bytes, 1);  // no match begins within a character
    }
    return matches;
  }
  const auto check = [&](UErrorCode status) {
    Check(U_SUCCESS(status), "{}: the regular expression takes too long for a text of {} bytes: {}", regex_->location,
          text.size(), u_errorName(status));
  };
  UErrorCode status = U_ZERO_ERROR;
  UText bytes = UTEXT_INITIALIZER;
  utext_openUTF8(&bytes, text.data(), static_cast<std::int64_t>(text.size()), &status);
  const std::unique_ptr<UText, UText* (*)(UText*)> close(&bytes, utext_close);
  const std::unique_ptr<icu::RegexMatcher> matcher(regex_->compiled->matcher(status));
  check(status);
  const Deadline deadline(text.size());
  matcher->setStackLimit(kMostStack, status);
  matcher->setTimeLimit(MostSteps(text.size()), status);
  matcher->setFindProgressCallback(Deadline::AfterStart, &deadline, status);
  matcher->reset(&bytes);
  check(status);
  const auto size = static_cast<std::int64_t>(text.size());
  std::int64_t last = -1;  // the end of the previous match
  int searches = 0;
  for (std::int64_t from = 0; from <= size;) {
    const bool found = matcher->find(from, status) != 0;
    check(++searches % kMatchesPerTimeCheck != 0 || deadline.Holds() ? status : U_REGEX_TIME_OUT);
    if (!found) break;
    const std::int64_t begin = matcher->start64(status), end = matcher->end64(status);
    check(status);
    if (begin == end && end == last) {
      do ++from;
      while (from < size && (text[static_cast<std::size_t>(from)] & 0xC0) == 0x80);
      continue;
    }
    add(begin, end);
    from = last = end;
  }
  return matches;
}

}  // namespace headlight
