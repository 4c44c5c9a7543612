// A part of a `tokenizer.json`, read with every check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "headlight/text/tokenizers/json_files-inl.h"
#include "headlight/text/tokenizers/tokenizer_state.h"

namespace headlight {

// An object of the file, whose members are asked for by name. What could change the result and is not known here is
// refused: once it has been read, with CheckAllRead.
class JsonPart {
 public:
  JsonPart(const nlohmann::json& json, std::string place) : json_(json), place_(std::move(place)) {
    Check(json.is_object(), "{}: it must be an object", place_);
  }

  bool Has(const char* key) {
    read_.insert(key);
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
  }
  const nlohmann::json& At(const char* key) {
    Check(Has(key), "{}: \"{}\" is missing", place_, key);
    return json_[key];
  }
  template <typename T>
  T Get(const char* key) {
    try {
      return At(key).get<T>();
    } catch (const nlohmann::json::exception& error) {
      Fail("{}: \"{}\": {}", place_, key, error.what());
    }
  }
  template <typename T>
  T Get(const char* key, T fallback) {
    return Has(key) ? Get<T>(key) : fallback;
  }
  std::int64_t Integer(const char* key, std::int64_t least, std::int64_t most) {
    Check(At(key).is_number_integer(), "{}: \"{}\" must be a whole number", place_, key);
    const auto value = At(key).get<std::int64_t>();
    Check(value >= least && value <= most, "{}: \"{}\" is {}, it must be from {} to {}", place_, key, value, least,
          most);
    return value;
  }
  JsonPart Object(const char* key) { return JsonPart(At(key), Place(key)); }
  // The objects of an array.
  std::vector<JsonPart> Objects(const char* key) {
    Check(At(key).is_array(), "{}: \"{}\" must be an array", place_, key);
    std::vector<JsonPart> objects;
    for (const nlohmann::json& item : At(key))
      objects.emplace_back(item, fmt::format("{}[{}]", Place(key), objects.size()));
    return objects;
  }
  void CheckAllRead() const {
    for (const auto& [key, value] : json_.items())
      Check(value.is_null() || read_.contains(key), "{}: \"{}\" is not supported", place_, key);
  }

  std::string Place(const char* key) const { return place_ + ": " + key; }
  const std::string& place() const { return place_; }
  const nlohmann::json& json() const { return json_; }

 private:
  const nlohmann::json& json_;
  std::string place_;
  std::unordered_set<std::string> read_;
};

[[noreturn]] inline void RefuseType(const JsonPart& part, const std::string& type, std::string_view known) {
  Fail("{}: type {} is not supported; {} are", part.place(), type, known);
}

// The parts that a content of `tokenizer.json` describes; `name` is for errors. Its scores are what it says, or were
// read from text, as the tokenizers library reads it.
enum class ScoresAre { exact, text };
TokenizerState MakeTokenizerState(const nlohmann::json& json, const std::string& name, ScoresAre scores_are);

// Sets the pieces, their ids and the model.
void SetModel(JsonPart part, ScoresAre scores_are, TokenizerState& state);

}  // namespace headlight
