// The small tokenizers and goldens for tests of the pipeline tokenizer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::pipeline_tokenizer_testing {

inline std::string TestData(const std::string& name) {
  return HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/" + name;
}
inline std::string FileOf(const std::string& family) { return ReadFile(TestData("family_" + family + ".json")); }
inline PipelineTokenizer Small(const std::string& family) { return PipelineTokenizer::Parse(FileOf(family), family); }
inline Json JsonOf(const std::string& family) { return ParseJson(FileOf(family), family); }
inline const JsonView& Goldens() {
  static const JsonView goldens = ReadJson(HEADLIGHT_SOURCE_DIR "/tests/testdata/tokenizers.json");
  return goldens;
}

// Returns a copy of the JSON with another value at a path such as "/model/merges/0".
inline Json With(const Json& json, std::string_view place, const Json& value) {
  if (place.empty()) return value;
  const std::size_t end = std::min(place.find('/', 1), place.size());
  const std::string name(place.substr(1, end - 1));
  if (const auto* array = json.As<Json::Array>()) {
    Json::Array items = *array;
    Json& item = items.at(std::stoul(name));
    item = With(item, place.substr(end), value);
    return items;
  }
  Json object = json;
  const Json* const member = json.Find(name);
  object.Set(name, With(member != nullptr ? *member : Json(Json::Object{}), place.substr(end), value));
  return object;
}

inline std::vector<std::int32_t> IdsOf(const JsonView& given) {
  std::vector<std::int32_t> ids;
  for (const JsonView& id : given.Items()) ids.push_back(static_cast<std::int32_t>(id.Integer()));
  return ids;
}

inline std::vector<TextSpan> Spans(const JsonView& given) {
  const std::vector<std::int32_t> ends = IdsOf(given);
  std::vector<TextSpan> spans;
  for (std::size_t i = 0; i + 1 < ends.size(); i += 2) spans.push_back({ends[i], ends[i + 1]});
  return spans;
}

// Returns the spans in characters, as in the goldens. The spans of added tokens are empty.
inline std::vector<TextSpan> CharactersOf(const Encoding& encoding, const std::string& first,
                                          const std::string& second = "") {
  std::vector<TextSpan> spans;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i)
    spans.push_back(CharacterSpans(encoding.texts[i] == 1 ? second : first, {&encoding.spans[i], 1})[0]);
  return spans;
}

// Checks that the ids, spans and decoded text match the golden.
inline void ExpectGolden(const PipelineTokenizer& tokenizer, const std::string& text, const JsonView& golden) {
  const Encoding encoding = tokenizer.Encode(text);
  EXPECT_EQ(encoding.ids, IdsOf(golden["ids"])) << golden.location() << Quoted(text);
  EXPECT_EQ(CharactersOf(encoding, text), Spans(golden["spans"])) << golden.location() << Quoted(text);
  EXPECT_EQ(tokenizer.Decode(encoding.ids), golden["decoded"].String()) << golden.location() << Quoted(text);
}

}  // namespace headlight::pipeline_tokenizer_testing
