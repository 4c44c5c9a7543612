#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

constexpr std::size_t kMaxDepth = 64;

std::string Place(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, std::min(position, text.size()));
  if (text.find('\n') == std::string_view::npos) return fmt::format("byte {}", std::max<std::size_t>(before.size(), 1));
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", line, std::max<std::size_t>(before.size() - line_begin, 1));
}

// Receives the parser's events and builds the value without recursion.
class Builder {
 public:
  Builder(std::string_view text, std::string_view source, const JsonLimits& limits)
      : text_(text), source_(source), limits_(limits) {}

  Json Take() { return std::move(root_); }

  bool null() { return Add(Json()); }
  bool boolean(bool value) { return Add(value); }
  bool number_integer(std::int64_t value) { return Add(value); }
  bool number_unsigned(std::uint64_t value) { return Add(value); }
  bool number_float(double value, const std::string&) { return Add(value); }
  bool string(std::string& value) { return Add(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // never called for text

  bool key(std::string& name) {
    if (skipped_in_ == 0 && std::ranges::find(limits_.without, name) != limits_.without.end())
      skipped_in_ = open_.size();
    open_.back().name = std::move(name);
    return true;
  }

  bool start_object(std::size_t) { return Open(true); }
  bool start_array(std::size_t) { return Open(false); }

  bool end_object() {
    std::vector<std::string_view> names;
    for (const Json::Member& member : open_.back().members) names.push_back(member.name);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end()) Fail("{}: key {} occurs twice in one object", source_, Quoted(*twice));
    return Close(std::move(open_.back().members));
  }
  bool end_array() { return Close(std::move(open_.back().items)); }

  template <typename Exception>
  bool parse_error(std::size_t position, const std::string& token, const Exception& error) {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow) Fail("{}: the number {} is too large", source_, Quoted(token));
    // The message is "[json.exception.parse_error.101] parse error at line ...: REASON; last read: 'TOKEN'; expected
    // ...". Only REASON is guaranteed to be short and printable.
    std::string reason = error.what();
    if (const auto begin = reason.find(": "); begin != std::string::npos) reason.erase(0, begin + 2);
    reason.resize(std::min(reason.size(), reason.find("; last read: ")));
    if (const auto begin = reason.find(" - "); reason.starts_with("syntax error") && begin != std::string::npos)
      reason.erase(0, begin + 3);
    Fail("{}: {}: not valid JSON: {}", source_, Place(text_, position), reason);
  }

 private:
  // An array or object that is not yet closed.
  struct Opened {
    bool is_object;
    Json::Array items;
    Json::Object members;
    std::string name;  // name of the next member
  };

  bool Add(Json value) {
    if (skipped_in_ > 0) {
      if (skipped_in_ == open_.size()) skipped_in_ = 0;
      return true;
    }
    Check(++values_ <= limits_.values, "{}: more than {} JSON values, the limit", source_, limits_.values);
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_object) {
      open_.back().members.push_back({std::move(open_.back().name), std::move(value)});
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  bool Open(bool is_object) {
    Check(open_.size() < kMaxDepth, "{}: arrays and objects are nested more than {} deep", source_, kMaxDepth);
    open_.push_back({is_object, {}, {}, {}});
    return true;
  }

  bool Close(Json value) {
    open_.pop_back();
    return Add(std::move(value));
  }

  std::string_view text_, source_;
  const JsonLimits& limits_;
  std::vector<Opened> open_;
  std::size_t skipped_in_ = 0;  // nesting depth at which a skipped member began; 0: none
  std::int64_t values_ = 0;
  Json root_;
};

}  // namespace

Json ParseJson(std::string_view text, std::string_view source, const JsonLimits& limits) {
  // The parser would treat a zero byte as the end of the text.
  const std::size_t zero = text.find('\0');
  Check(zero == std::string_view::npos, "{}: byte {} is zero: this is not text", source, zero);
  Builder builder(text, source, limits);
  const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  Ensure(parsed, "{}: the JSON parser stopped without a reason", source);
  return builder.Take();
}

}  // namespace headlight
