// The one exception of headlight, and the ways to throw it.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "headlight/base/export.h"

namespace headlight {

// Whose mistake it is: the caller's (a bad file, shape or option) or ours (a broken invariant of this code).
enum class Blame { user, internal };

// Its text is one line that names the thing, the place and the rule. Options are named in backquotes, as in "`top_k`
// must be at least 0": a front end writes its own name for them, such as a flag.
class HEADLIGHT_API Error : public std::runtime_error {
 public:
  explicit Error(std::string message, Blame blame = Blame::user)
      : std::runtime_error(std::move(message)), blame_(blame) {}
  Blame blame() const { return blame_; }
  /// The first option that the text names; empty if there is none.
  std::string option() const;

 private:
  Blame blame_;
};

/// Throws Error with the formatted message. Out of line, so that a check costs its callers little code.
[[noreturn]] HEADLIGHT_API void ThrowError(Blame blame, fmt::string_view format, fmt::format_args args);

/// Fail("{}: line {}: ...", path, line, ...) throws Error, blaming the user.
template <typename... Args>
[[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) {
  ThrowError(Blame::user, format, fmt::make_format_args(args...));
}

/// Check(condition, "...", ...) is Fail unless the condition holds.
template <typename... Args>
void Check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    ThrowError(Blame::user, format, fmt::make_format_args(args...));
}

/// Like Check, for internal invariants: blames this code.
template <typename... Args>
void Ensure(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    ThrowError(Blame::internal, format, fmt::make_format_args(args...));
}

}  // namespace headlight
