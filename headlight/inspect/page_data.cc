#include "headlight/inspect/page_data.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "headlight/base/error.h"
#include "headlight/inspect/color_ramp.h"
#include "headlight/inspect/page_files.h"
#include "headlight/text/html.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

// Escapes JSON for a script element, in which "</script" and "<!--" have a special meaning. Every '<' is escaped. In
// JSON it only occurs inside strings.
std::string EscapeScript(std::string_view json) {
  std::string escaped;
  for (const char letter : json) {
    if (letter == '<') {
      escaped += "\\u003c";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

// The base 64 digits, none of which has a special meaning in JSON or HTML.
constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void AppendTwoDigits(std::string& packed, int number) {
  packed += kDigits[number / 64];
  packed += kDigits[number % 64];
}

// Encodes weights as two digits each. Values up to kUnit are round(kUnit * sqrt(weight)), which keeps the precision of
// small weights. Larger values encode runs of 2, 3, ... weights of 0.
constexpr int kUnit = 3999, kLongestRun = 64 * 64 - 1 - kUnit + 1;
constexpr float kLeastWeight = 0.00002f;  // smaller weights are written as 0

// Replaces each {{name}} in the text, in one pass, so that the inserted texts are not searched.
std::string Fill(std::string_view text, const std::map<std::string_view, std::string_view>& values) {
  std::string filled;
  while (true) {
    const std::size_t begin = text.find("{{");
    filled += text.substr(0, begin);
    if (begin == std::string_view::npos) return filled;
    const std::size_t end = text.find("}}", begin);
    Ensure(end != std::string_view::npos, "a page has a {{{{ without its }}}}");
    const auto value = values.find(text.substr(begin + 2, end - begin - 2));
    Ensure(value != values.end(), "a page has no value for {}", text.substr(begin, end + 2 - begin));
    filled += value->second;
    text.remove_prefix(end + 2);
  }
}

std::string RampHex(Color (*color_of)(double weight)) {
  std::string hex;
  for (int i = 0; i < 256; ++i) {
    const Color color = color_of(i / 255.0);
    hex += fmt::format("{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
  }
  return hex;
}

}  // namespace

std::string PackWeights(std::span<const float> weights) {
  std::string packed;
  packed.reserve(2 * weights.size());
  for (std::size_t i = 0; i < weights.size();) {
    std::size_t end = i;
    while (end < weights.size() && end < i + kLongestRun && weights[end] < kLeastWeight) ++end;
    if (end > i + 1) {
      AppendTwoDigits(packed, kUnit + static_cast<int>(end - i) - 1);
      i = end;
      continue;
    }
    const float weight = weights[i] < kLeastWeight ? 0 : std::min(weights[i], 1.0f);
    AppendTwoDigits(packed, static_cast<int>(std::lround(kUnit * std::sqrt(weight))));
    ++i;
  }
  return packed;
}

std::string PackNumbers(std::span<const float> numbers, float least, float most) {
  std::string packed;
  packed.reserve(2 * numbers.size());
  for (const float number : numbers) {
    const float share = std::clamp((number - least) / (most - least), 0.0f, 1.0f);
    AppendTwoDigits(packed, static_cast<int>(std::lround(4094 * share)));
  }
  return packed;
}

std::string PackBytes(std::span<const std::uint8_t> bytes) {
  std::string packed;
  packed.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) { return at < bytes.size() ? int{bytes[at]} : 0; };
    const int three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    AppendTwoDigits(packed, three >> 12);
    AppendTwoDigits(packed, three & 4095);
  }
  return packed;
}

Json Ramps() {
  return Json::Object{{"light", RampHex([](double weight) { return RampColor(weight, Theme::light); })},
                      {"dark", RampHex([](double weight) { return RampColor(weight, Theme::dark); })},
                      {"heat", RampHex(HeatColor)}};
}

std::string FillPage(std::string_view page, std::string_view title, const Json& data) {
  const std::string escaped_title = EscapeHtml(TokenLabel(title)), escaped_data = EscapeScript(data.Line());
  std::map<std::string_view, std::string_view> values = PageFiles();
  values["title"] = escaped_title;
  values["data"] = escaped_data;
  return Fill(values.at(page), values);
}

}  // namespace headlight
