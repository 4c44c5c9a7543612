// Files of JSON objects, one a line, from users.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/data/lines.h"

namespace headlight {

// True for names that end in .jsonl or .jsonl.gz.
bool IsJsonLines(std::string_view path);

// The objects of a file, plain or gzip; empty lines are skipped. Their places are "train.jsonl:7: key 'answers.text'".
class JsonLines {
 public:
  explicit JsonLines(std::string path) : lines_(std::move(path)) {}

  // The next object; nothing after the last. Throws Error as LineReader and ParseJson do, and for any other value.
  std::optional<JsonView> Next();

 private:
  LineReader lines_;
};

// A string, or an array of strings, without NUL, which LineReader refuses in plain text too.
std::string TextOf(const JsonView& json);
std::vector<std::string> TextsOf(const JsonView& json);

}  // namespace headlight
