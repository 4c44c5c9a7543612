// JSON values to build and print, a strict and bounded parser for untrusted text, and views that check values. Other
// files do not include the JSON library.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

/// A JSON value: null, a Boolean, a number, a string, an array of values, or an object of named values. Objects keep
/// the order of their members:
///   Json config = Json::Object{{"model_type", "marian"}, {"d_model", 512}, {"eos_token_ids", Json::Array{0, 2}}};
class HEADLIGHT_API Json {
 public:
  using Member = Named<Json>;
  /// Write an array that contains one array as Array{Json(Array{...})}, because compilers disagree on
  /// Array{Array{...}}.
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json();  ///< null
  /// Defined in json.cc, because inlining these functions in every file that uses Json is slow to compile.
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();
  Json(bool value) : value_(value) {}
  template <std::integral T>
  Json(T value) : value_(static_cast<std::int64_t>(value)) {
    if (std::unsigned_integral<T> && std::get<std::int64_t>(value_) < 0) value_ = static_cast<std::uint64_t>(value);
  }
  Json(double value) : value_(value) {}
  Json(float value);  ///< uses the shortest decimal that parses to this float: 0.1f is printed as 0.1
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array items) : value_(std::move(items)) {}
  Json(Object members) : value_(std::move(members)) {}
  template <typename T>
  Json(const std::vector<T>& items) : value_(Array(items.begin(), items.end())) {}

  /// Returns the value if it has type T, otherwise nullptr. An integer is an int64_t if it fits, otherwise a uint64_t.
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&value_);
  }
  bool is_null() const { return As<std::monostate>() != nullptr; }

  /// Returns the member with this name. Returns nullptr if there is none or this is not an object. Takes time linear in
  /// the number of members.
  const Json* Find(std::string_view name) const;
  /// Adds the member, or replaces it at its position. Only for objects.
  void Set(std::string_view name, Json value);

  std::string Text() const;  ///< indented by 2, with a final newline
  std::string Line() const;  ///< without spaces and newlines

  bool operator==(const Json& other) const;  ///< ignores the order of members

 private:
  // This alternative is never used. Without it, libstdc++ 12 treats the variant as never valueless. If copying throws,
  // the variant then destroys values that do not exist.
  struct Unused {
    Unused(const Unused&) {}
    Unused& operator=(const Unused&) = default;
    bool operator==(const Unused&) const = default;
  };
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object, Unused> value_;
};

/// Limits of the text that ParseJson and ReadJson accept.
struct JsonLimits {
  std::uint64_t bytes = std::uint64_t{64} << 20;  ///< maximum size of a file
  std::int64_t values = std::int64_t{1} << 22;    ///< maximum number of values; Gemma's tokenizer.json has 1.8 million
  /// Members with these names are skipped at any depth. They must be valid JSON, but are neither counted nor stored.
  std::vector<std::string_view> without = {};
};

/// Parses untrusted text: strict UTF-8 JSON, at most 64 levels deep, without duplicate keys, NaN and Infinity. Errors
/// begin with `source`, which is the file's path, and the line and column. For text of a single line, errors give the
/// byte offset instead of line and column.
HEADLIGHT_API Json ParseJson(std::string_view text, std::string_view source, const JsonLimits& limits = {});

/// Parses a literal, as in R"({"type": "NFKC"})"_json.
HEADLIGHT_API Json operator""_json(const char* text, std::size_t size);

/// Formats an untrusted string for error messages: in single quotes, on one line, with escaped control characters,
/// truncated after 100 bytes.
HEADLIGHT_API std::string Quoted(std::string_view text);

/// A value in a JSON file, with its location for error messages. A missing member and a null member both count as
/// absent. Views are cheap to copy. Views of one file must not be used concurrently from several threads.
///   const JsonView config = ReadJson("model/config.json");
///   const std::int64_t layers = config["encoder_layers"].Integer(1);             // required, at least 1
///   const double dropout = config.Get("dropout", 0.1).Number(0, 1);              // 0.1 if absent
///   config.RefuseUnread({"architectures", "transformers_version"});
class HEADLIGHT_API JsonView {
 public:
  JsonView(Json root, std::string source);  ///< `source`: the file's path, for errors

  /// Returns the member with this name, which may be absent. Throws Error if this is not an object.
  JsonView operator[](std::string_view name) const;
  /// Returns the member with this name, or `fallback` if the member is absent.
  JsonView Get(std::string_view name, Json fallback) const;

  bool present() const { return !value_->is_null(); }
  const Json& value() const { return *value_; }
  /// Returns the location of this value as it appears in error messages: "model/config.json: key 'id2label.0'".
  std::string location() const;

  /// Return the content. Throw Error with the expected and the actual value if the type is wrong or the value is out of
  /// bounds. Bounds are inclusive.
  bool Bool() const;
  std::int64_t Integer(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  std::uint64_t Unsigned() const;
  double Number(double least = std::numeric_limits<double>::lowest(),
                double most = std::numeric_limits<double>::max()) const;
  /// Returns one of `allowed`, or any string if `allowed` is empty.
  std::string String(std::initializer_list<std::string_view> allowed = {}) const;
  /// Return the plain values, for large arrays and objects. The references are valid while a view of the values exists.
  const Json::Array& Array() const&;
  const Json::Object& Object() const&;
  void Array() && = delete;
  void Object() && = delete;
  std::vector<JsonView> Items() const;                            ///< items of an array
  std::vector<std::string> Strings() const;                       ///< items of an array of strings
  std::vector<std::pair<std::string, JsonView>> Members() const;  ///< members of an object

  /// Returns the names of members that are not null and were not read by name.
  std::vector<std::string> Unread() const;
  /// Throws Error with a list of members that were not read by name and are neither null nor in `harmless`. Such
  /// members could change the meaning of the file.
  void RefuseUnread(std::span<const std::string_view> harmless) const;
  void RefuseUnread(std::initializer_list<std::string_view> harmless) const {
    RefuseUnread(std::span(harmless.begin(), harmless.size()));
  }

 private:
  struct File;
  JsonView(std::shared_ptr<File> file, std::shared_ptr<const Json> value, std::string key);
  JsonView Child(std::string_view name, std::shared_ptr<const Json> value) const;
  [[noreturn]] void Refuse(std::string_view expected) const;

  std::shared_ptr<File> file_;
  std::shared_ptr<const Json> value_;
  std::string key_;  // names and indices from the root, such as "layers[2].name"
};

/// Reads an untrusted JSON file with ParseJson.
HEADLIGHT_API JsonView ReadJson(const std::string& path, const JsonLimits& limits = {});

}  // namespace headlight
