#include "headlight/text/tokenizers/text_pattern.h"

#include <unicode/regex.h>
#include <unicode/unistr.h>
#include <unicode/utext.h>

#include <chrono>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

constexpr std::int32_t kMostStack = 1 << 26;   // bytes that backtracking may hold
constexpr std::size_t kLongestPattern = 4096;  // bytes; published ones have up to 400
constexpr int kStartsPerLook = 64;             // at the clock

// Lines end at \n alone, and ^ and $ match at each.
constexpr std::uint32_t kFlags = UREGEX_MULTILINE | UREGEX_UNIX_LINES;

// Refuses what the two libraries read differently, or ICU not at all. Returns the pattern with \w, \W, \b and \B
// written out.
std::string ForIcu(std::string_view pattern, const std::string& place) {
  std::string written;
  const auto refuse = [&](std::string_view part) {
    Fail("{}: the regular expression {} has {}, which is not supported", place, Quoted(pattern), Quoted(part));
  };
  int sets = 0;  // how deep inside of [...]
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const std::string_view rest = pattern.substr(at);
    if (rest[0] == '\\') {
      const char next = rest.size() > 1 ? rest[1] : '\0';
      const bool letter = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
      if (letter && std::string_view("sSdDwWpPbBnrtfxuAzZk").find(next) == std::string_view::npos)
        refuse(rest.substr(0, 2));
      if (rest.size() > 2 && rest.substr(2).starts_with("{^")) refuse(rest.substr(0, 4));  // \p{^L}
      ++at;
      // Oniguruma's \w has no joiners, and outside of [...] it has some digits of Latin-1.
      const std::string word = fmt::format(R"(\p{{Alphabetic}}\p{{M}}\p{{Nd}}\p{{Pc}}{})",
                                           sets == 0 ? R"(\u00B2\u00B3\u00B9\u00BC-\u00BE)" : "");
      if (next == 'w') {
        written += fmt::format("[{}]", word);
      } else if (next == 'W') {
        written += fmt::format("[^{}]", word);
      } else if (sets == 0 && (next == 'b' || next == 'B')) {  // ICU's leave marks out
        const bool inside = next == 'B';
        written += fmt::format("(?:(?<=[{0}])(?{1}[{0}])|(?<![{0}])(?{2}[{0}]))", word, inside ? "=" : "!",
                               inside ? "!" : "=");
      } else {
        written += rest.substr(0, 2);
      }
      continue;
    } else if (sets > 0) {
      for (const char* operation :
           {"--", "[:punct:]", "[:^punct:]", "[:word:]", "[:graph:]", "[:print:]", "[:xdigit:]"})
        if (rest.starts_with(operation)) refuse(operation);
      if (rest.starts_with("[:")) {
        const std::size_t end = rest.find(":]");
        const std::size_t bytes = end == std::string_view::npos ? 1 : end + 2;
        written += rest.substr(0, bytes);
        at += bytes - 1;
        continue;
      }
      if (rest[0] == '[') ++sets;
      if (rest[0] == ']') --sets;
    } else if (rest[0] == '[') {
      sets = 1;
      // A ] that comes first is itself.
      if (rest.starts_with("[]") || rest.starts_with("[^]")) refuse(rest.substr(0, rest.find(']') + 1));
    } else if (rest.starts_with("(?")) {
      std::size_t end = 2;
      while (end < rest.size() && ((rest[end] >= 'a' && rest[end] <= 'z') || rest[end] == '-')) ++end;
      const std::string_view flags = rest.substr(2, end - 2);
      const bool set_here = end < rest.size() && (rest[end] == ')' || rest[end] == ':');
      // (?i) in the middle of alternatives would reach over the next |.
      const bool whole =
          flags.empty() || (set_here && (rest[end] == ':' || at == 0) && (flags == "i" || flags == "-i"));
      if (!whole) refuse(rest.substr(0, std::min(end + 1, rest.size())));
    }
    written += rest[0];
  }
  return written;
}

// ICU's units of 10,000 steps of backtracking that a search may take: a millisecond each.
std::int32_t MostSteps(std::size_t bytes) { return static_cast<std::int32_t>(200 + bytes / 100); }

// Stops searches that are slow without backtracking: they fail at each place of a long text, after reading on.
struct Deadline {
  using Clock = std::chrono::steady_clock;

  explicit Deadline(std::size_t bytes)
      : end(Clock::now() + std::chrono::seconds(10) + std::chrono::microseconds(5) * static_cast<std::int64_t>(bytes)) {
  }

  static UBool AfterStart(const void* context, std::int64_t) {
    const auto* deadline = static_cast<const Deadline*>(context);
    return ++deadline->starts % kStartsPerLook != 0 || deadline->Holds() ? 1 : 0;
  }
  bool Holds() const { return Clock::now() < end; }

  Clock::time_point end;
  mutable int starts = 0;
};

}  // namespace

struct TextPattern::Regex {
  std::unique_ptr<icu::RegexPattern> compiled;
  std::string place;  // for errors
};

TextPattern::TextPattern(std::string text) : text_(std::move(text)) {}

TextPattern TextPattern::Regular(const std::string& expression, const std::string& place) {
  Check(expression.size() <= kLongestPattern, "{}: the regular expression has {} bytes, {} are possible", place,
        expression.size(), kLongestPattern);
  UParseError where;
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<icu::RegexPattern> compiled(
      icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(ForIcu(expression, place)), kFlags, where, status));
  Check(U_SUCCESS(status), "{}: the regular expression {} cannot be read: {}", place, Quoted(expression),
        u_errorName(status));
  TextPattern pattern("");
  pattern.regex_ = std::make_shared<Regex>(Regex{std::move(compiled), place});
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
  const auto check = [&](UErrorCode status) {
    Check(U_SUCCESS(status), "{}: the regular expression takes too long for a text of {} bytes: {}", regex_->place,
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
  std::int64_t last = -1;  // the end of the last match
  for (std::int64_t from = 0; from <= size;) {
    const bool found = matcher->find(from, status) != 0;
    check(deadline.Holds() ? status : U_REGEX_TIME_OUT);
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
