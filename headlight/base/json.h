// JSON values: built in code and printed, or parsed from text that is distrusted.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

template <typename Value>
struct Named {
  std::string name;
  Value value;
  bool operator==(const Named&) const = default;
};

// null, true or false, a number, a string, an array of values or an object of named ones, which keeps the order in
// which its members were read or written:
//   Json config = Json::Object{{"model_type", "marian"}, {"d_model", 512}, {"eos_token_ids", Json::Array{0, 2}}};
class HEADLIGHT_API Json {
 public:
  using Member = Named<Json>;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json() = default;  // null
  Json(bool value) : value_(value) {}
  template <std::integral T>
  Json(T value) : value_(static_cast<std::int64_t>(value)) {
    if (std::unsigned_integral<T> && std::get<std::int64_t>(value_) < 0) value_ = static_cast<std::uint64_t>(value);
  }
  Json(double value) : value_(value) {}
  Json(float value);  // the shortest decimal that reads back as this float: 0.1f is printed 0.1
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array items) : value_(std::move(items)) {}
  Json(Object members) : value_(std::move(members)) {}
  template <typename T>
  Json(const std::vector<T>& items) : value_(Array(items.begin(), items.end())) {}

  // The alternative that this value holds, or nullptr. An integer is an int64_t where it fits one, else a uint64_t.
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&value_);
  }
  bool is_null() const { return As<std::monostate>() != nullptr; }

  // The member of that name, or nullptr where there is none or this is not an object. Takes time linear in members.
  const Json* Find(std::string_view name) const;
  // Adds the member, or replaces it in its place. For objects only.
  void Set(std::string_view name, Json value);

  std::string Text() const;  // members and items on lines of their own, indented by 2, with a final newline
  std::string Line() const;  // without any space or newline

  bool operator==(const Json& other) const { return value_ == other.value_; }

 private:
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;
};

// Parses text that nobody vouches for: strict JSON in UTF-8, at most 64 deep and 2^21 values, no name twice in an
// object, no NaN and no Infinity. `source` is its file's path for the errors, which give line and column.
HEADLIGHT_API Json ParseJson(std::string_view text, std::string_view source);

// A string from a stranger's file made fit for an error message: in single quotes, on one line, control characters
// escaped, cut after 100 bytes.
HEADLIGHT_API std::string Quoted(std::string_view text);

}  // namespace headlight
