// headlight's only exception type, and functions that throw it.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "headlight/base/export.h"

namespace headlight {

/// The cause of an error: the caller (a bad file, shape or option) or this code (a broken invariant).
enum class ErrorCause { user, internal };

/// The message is one line that states what is wrong, where, and what is allowed. Options are in backquotes, as in
/// "`top_k` must be at least 0". A front end replaces an option with its own name for the option, such as a flag.
class HEADLIGHT_API Error : public std::runtime_error {
 public:
  explicit Error(std::string message, ErrorCause cause = ErrorCause::user)
      : std::runtime_error(std::move(message)), cause_(cause) {}
  ErrorCause cause() const { return cause_; }
  /// Returns the first option named in the message, or an empty string if there is none.
  std::string option() const;

 private:
  ErrorCause cause_;
};

/// Throws Error with the formatted message. Not inlined, so that checks add little code to their callers.
[[noreturn]] HEADLIGHT_API void ThrowError(ErrorCause cause, fmt::string_view format, fmt::format_args args);

/// Fail("{}: line {}: ...", path, line, ...) throws Error with ErrorCause::user.
template <typename... Args>
[[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) {
  ThrowError(ErrorCause::user, format, fmt::make_format_args(args...));
}

/// Check(condition, "...", ...) calls Fail unless the condition holds.
template <typename... Args>
void Check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    ThrowError(ErrorCause::user, format, fmt::make_format_args(args...));
}

/// Throws Error with ErrorCause::internal unless the condition holds. For internal invariants.
template <typename... Args>
void Ensure(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    ThrowError(ErrorCause::internal, format, fmt::make_format_args(args...));
}

}  // namespace headlight
