#include "headlight/base/option_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "headlight/base/error.h"
#include "headlight/base/gguf.h"

namespace headlight {
namespace {

template <typename Number>
std::optional<Number> Parsed(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string Shown(const std::string& text) {
  constexpr std::size_t most = 40;  // in bytes
  if (text.empty()) return "\"\"";
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

bool HasLeadingZero(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0';
}

bool IsInteger(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

OptionCheck Whole(std::int64_t least, std::int64_t most, bool says_most) {
  const std::string range = says_most ? fmt::format("from {} to {}", least, most) : fmt::format("at least {}", least);
  return [=](const std::string& text) -> std::string {
    if (!IsInteger(text) || HasLeadingZero(text))
      return fmt::format("must be a whole number, {}, not {}", range, Shown(text));
    const std::optional<std::int64_t> number = IntegerOf(text);
    if (number && *number >= least && *number <= most) return {};
    const bool too_large = number ? *number > most : !text.starts_with('-');
    return fmt::format("must be {}, not {}", too_large && !says_most ? fmt::format("at most {}", most) : range,
                       Shown(text));
  };
}

// Returns a check for real numbers. `range` is empty if all numbers are allowed. Numbers beyond float's range are
// rejected, because some options are stored as float.
template <typename InRange>
OptionCheck Real(InRange in_range, const std::string& range) {
  return [=](const std::string& text) -> std::string {
    const std::string rule = range.empty() ? "" : ", " + range;
    const std::optional<double> number = NumberOf(text);
    if (!number) return fmt::format("must be a number{}, not {}", rule, Shown(text));
    if (!(std::abs(*number) <= std::numeric_limits<float>::max()))
      return fmt::format("must be a finite number{}, not {}", rule, Shown(text));
    return in_range(*number) ? "" : fmt::format("must be {}, not {}", range, Shown(text));
  };
}

}  // namespace

std::optional<std::int64_t> IntegerOf(std::string_view text) { return Parsed<std::int64_t>(text); }
std::optional<double> NumberOf(std::string_view text) { return Parsed<double>(text); }

OptionCheck AtLeast(std::int64_t least) { return Whole(least, std::numeric_limits<std::int32_t>::max(), false); }
OptionCheck Between(std::int64_t least, std::int64_t most) { return Whole(least, most, true); }
OptionCheck Seed() { return Whole(0, std::numeric_limits<std::int64_t>::max(), false); }

OptionCheck NumberFrom(double least) {
  return Real([=](double x) { return x >= least; }, fmt::format("at least {}", least));
}
OptionCheck NumberFrom(double least, double most) {
  return Real([=](double x) { return x >= least && x <= most; }, fmt::format("from {} to {}", least, most));
}
OptionCheck NumberAbove(double bound) {
  return Real([=](double x) { return x > bound; }, fmt::format("above {}", bound));
}
OptionCheck NumberAbove(double bound, double most) {
  return Real([=](double x) { return x > bound && x <= most; }, fmt::format("above {} and at most {}", bound, most));
}
OptionCheck NumberBelow(double least, double bound) {
  return Real([=](double x) { return x >= least && x < bound; }, fmt::format("at least {} and below {}", least, bound));
}
OptionCheck AnyNumber() {
  return Real([](double) { return true; }, "");
}

OptionCheck NotEmpty() {
  return [](const std::string& text) -> std::string { return text.empty() ? "must not be empty" : ""; };
}

OptionCheck OneOf(const std::vector<std::string>& words) {
  return [words](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    return fmt::format("must be {}, not {}", Alternatives(words), Shown(text));
  };
}

OptionCheck ExistingFolder() {
  return [](const std::string& path) -> std::string {
    if (path.empty()) return "must not be empty";
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    Check(std::filesystem::exists(status), "{}: no such folder", path);
    Check(std::filesystem::is_directory(status), "{}: is a file, not a folder", path);
    return "";
  };
}

OptionCheck ExistingModel() {
  return [](const std::string& path) -> std::string {
    std::error_code ignored;
    const bool is_file = std::filesystem::is_regular_file(path, ignored);
    Check(!is_file || IsGguf(path), "{}: is neither a folder nor a GGUF file", path);
    return is_file ? "" : ExistingFolder()(path);
  };
}

std::string Alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

}  // namespace headlight
