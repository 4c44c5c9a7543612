// Checked reading of a stranger's JSON: what is read is of the right type and range, or an Error names file and key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"

namespace headlight {

// A value of a JSON file, which knows its place in it. A missing member and one that is null are the same: absent.
// Views are cheap to copy. Views of one file must not be used from several threads at once.
//   const JsonView config = ReadJson("model/config.json");
//   const std::int64_t layers = config["encoder_layers"].Integer(1);             // required, at least 1
//   const double dropout = config.Get("dropout", 0.1).Number(0, 1);              // 0.1 where absent
//   config.RefuseUnread({"architectures", "transformers_version"});
class HEADLIGHT_API JsonView {
 public:
  JsonView(Json root, std::string source);  // `source`: the file's path, for errors

  // The member of that name, which may be absent; an Error where this is not an object.
  JsonView operator[](std::string_view name) const;
  // The same, with a value to use where it is absent.
  JsonView Get(std::string_view name, Json fallback) const;

  bool present() const { return !value_->is_null(); }
  const Json& value() const { return *value_; }
  // Where this value stands, to begin an error with: "model/config.json: key 'id2label.0'".
  std::string place() const;

  // The content, or an Error that says what was expected and what stands there. Bounds are inclusive.
  bool Bool() const;
  std::int64_t Integer(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  std::uint64_t Unsigned() const;
  double Number(double least = std::numeric_limits<double>::lowest(),
                double most = std::numeric_limits<double>::max()) const;
  // One of `allowed`, or any string where it is empty.
  std::string String(std::initializer_list<std::string_view> allowed = {}) const;
  std::vector<JsonView> Items() const;                            // of an array
  std::vector<std::pair<std::string, JsonView>> Members() const;  // of an object

  // Members of this object that nobody asked for by name, that are neither null nor harmless, could change what the
  // file means: an Error lists them.
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
  std::string key_;  // names and indices from the root to here: "layers[2].name"
};

// Reads a JSON file of at most 64 MiB, distrusting it as ParseJson does.
HEADLIGHT_API JsonView ReadJson(const std::string& path);

}  // namespace headlight
