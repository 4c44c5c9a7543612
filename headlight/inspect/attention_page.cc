#include "headlight/inspect/attention_page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/inspect/color_ramp.h"
#include "headlight/inspect/page_files.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

// Text for HTML, between tags.
std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

// JSON for a script element, in which "</script" and "<!--" have a meaning: every '<', which JSON only has in strings,
// is escaped.
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

// Thousandths, each as two digits of base 36 ("00" to "rs"): short, and the page shows three decimals anyway.
std::string PackWeights(const std::vector<float>& weights) {
  constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string packed;
  packed.reserve(2 * weights.size());
  for (const float weight : weights) {
    const auto thousandths = std::min(std::lround(static_cast<double>(weight) * 1000), 1000L);
    packed += kDigits[thousandths / 36];
    packed += kDigits[thousandths % 36];
  }
  return packed;
}

std::string RampHex(Theme theme) {
  std::string hex;
  for (int i = 0; i < 256; ++i) {
    const Color color = RampColor(i / 255.0, theme);
    hex += fmt::format("{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
  }
  return hex;
}

Json Labels(const std::vector<std::string>& tokens) {
  Json::Array labels;
  for (const std::string& token : tokens) labels.push_back(TokenLabel(token));
  return labels;
}

// The data that page/look.js reads, where the fields are documented.
Json PageData(const AttentionRecord& record) {
  Json::Array maps;
  for (const AttentionMap& map : record.maps) {
    maps.push_back(Json::Object{{"kind", AttentionName(map.kind)},
                                {"title", AttentionTitle(map.kind)},
                                {"queries", map.kind == AttentionKind::encoder_self ? "source" : "target"},
                                {"keys", map.kind == AttentionKind::decoder_self ? "target" : "source"},
                                {"causal", map.kind == AttentionKind::decoder_self},
                                {"layer", map.layer + 1},
                                {"heads", map.heads},
                                {"weights", PackWeights(map.weights)}});
  }
  return Json::Object{{"source", Labels(record.source_tokens)},
                      {"target", Labels(record.target_tokens)},
                      {"maps", std::move(maps)},
                      {"ramps", Json::Object{{"light", RampHex(Theme::light)}, {"dark", RampHex(Theme::dark)}}}};
}

// The template with each {{name}} replaced, in one pass: replacements are not searched.
std::string Fill(std::string_view text, const std::map<std::string_view, std::string_view>& values) {
  std::string filled;
  while (true) {
    const std::size_t begin = text.find("{{");
    filled += text.substr(0, begin);
    if (begin == std::string_view::npos) return filled;
    const std::size_t end = text.find("}}", begin);
    Ensure(end != std::string_view::npos, "look.html: a {{{{ without its }}}}");
    const auto value = values.find(text.substr(begin + 2, end - begin - 2));
    Ensure(value != values.end(), "look.html: no value for {}", text.substr(begin, end + 2 - begin));
    filled += value->second;
    text.remove_prefix(end + 2);
  }
}

}  // namespace

std::string AttentionPage(const AttentionRecord& record) {
  CheckAttention(record);
  const std::string title = EscapeHtml(record.title.empty() ? "Attention" : TokenLabel(record.title));
  const std::string data = EscapeScript(PageData(record).Line());
  std::map<std::string_view, std::string_view> values = PageFiles();
  values["title"] = title;
  values["data"] = data;
  return Fill(values.at("look.html"), values);
}

}  // namespace headlight
