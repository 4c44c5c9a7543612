// The error of an option that is out of range.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/export.h"

namespace headlight {

/// Names the option apart from the message, so that a front end can name its own flag or key.
class HEADLIGHT_API OptionError : public Error {
 public:
  OptionError(std::string name, const std::string& message) : Error(message), option_(std::move(name)) {}
  const std::string& option() const { return option_; }

 private:
  std::string option_;
};

/// Throws OptionError unless `holds`.
template <typename... Args>
void CheckOption(const char* option, bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) throw OptionError(option, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace headlight
