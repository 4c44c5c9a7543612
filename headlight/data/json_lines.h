// Files of JSON objects, one a line: checked as nobody vouches for them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/lines.h"

namespace headlight {

// A file is one of JSON lines where its name ends in .jsonl or .jsonl.gz.
HEADLIGHT_API bool IsJsonLines(std::string_view path);

// An object whose members are asked for by name; those that nobody asks for are not looked at, and one that is null is
// not there. What is missing or of another type is an Error, "train.jsonl:7: key 'answers.text': expected ...".
// Cheap to copy.
class HEADLIGHT_API JsonObject {
 public:
  // A line's; `place` is for errors. Throws Error for what is no object of strict JSON, for one that nests deeper than
  // 16 levels, and for a key that stands twice in one object.
  static JsonObject Parse(std::string_view line, std::string place);

  bool Has(std::string_view key) const;
  bool IsArray(std::string_view key) const;
  std::string String(std::string_view key) const;
  std::string StringOrInteger(std::string_view key) const;  // as text
  std::int64_t Integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  std::vector<std::string> Strings(std::string_view key) const;  // of an array of them, likewise those below
  std::vector<std::int64_t> Integers(std::string_view key, std::int64_t least, std::int64_t most) const;
  JsonObject Object(std::string_view key) const;
  std::vector<JsonObject> Objects(std::string_view key) const;

  // Where a member stands, to begin an error with.
  std::string Place(std::string_view key) const;
  const std::string& place() const { return place_; }  // of the line

 private:
  JsonObject(std::shared_ptr<const void> value, std::string place, std::string prefix);

  std::shared_ptr<const void> value_;  // the JSON library's, which no header shows
  std::string place_, prefix_;         // prefix_: the keys from the line's object to this one, "answers[0]."
};

// The objects of a file, plain or gzip; empty lines are none.
class HEADLIGHT_API JsonLines {
 public:
  explicit JsonLines(std::string path) : lines_(std::move(path)) {}

  // The next one; nothing after the last. Throws Error as LineReader and JsonObject::Parse do.
  std::optional<JsonObject> Next();

 private:
  LineReader lines_;
};

}  // namespace headlight
