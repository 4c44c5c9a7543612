#include "headlight/data/similar_texts.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"

namespace headlight {
namespace {

constexpr std::initializer_list<const char*> kText = {"anchor", "query", "text"}, kMatch = {"positive", "match"};

void ReadTabbed(const std::string& path, std::vector<SimilarTexts>& pairs) {
  LineReader lines(path);
  while (const auto line = lines.Next()) {
    if (line->empty()) continue;
    std::vector<std::string> texts = ColumnsOf(*line);
    std::string location = fmt::format("{}:{}", path, lines.line_number());
    Check(texts.size() >= 2, "{}: expected a text, a tab and its match", location);
    pairs.push_back({std::move(texts[0]), std::move(texts[1]), {texts.begin() + 2, texts.end()}, std::move(location)});
  }
}

void ReadRecords(Records records, std::vector<SimilarTexts>& pairs) {
  while (const auto record = records.Next()) {
    SimilarTexts pair{TextOf(OneOf(*record, kText)), TextOf(OneOf(*record, kMatch)), {}, record->location()};
    for (const char* name : {"negative", "negatives"}) {
      const JsonView given = (*record)[name];
      if (!given.present()) continue;
      if (given.value().As<Json::Array>() == nullptr)
        pair.negatives.push_back(TextOf(given));
      else
        for (std::string& text : TextsOf(given)) pair.negatives.push_back(std::move(text));
    }
    pairs.push_back(std::move(pair));
  }
}

}  // namespace

std::vector<SimilarTexts> ReadSimilarTexts(const std::vector<std::string>& paths, const TextShare& share) {
  std::vector<SimilarTexts> pairs;
  const auto is_header = [](const std::vector<std::string>& line) {
    return HasAny(line, kText) && HasAny(line, kMatch);
  };
  for (const std::string& path : paths) {
    if (std::optional<Records> records = RecordsOf(path, is_header))
      ReadRecords(*std::move(records), pairs);
    else
      ReadTabbed(path, pairs);
  }
  for (const SimilarTexts& pair : pairs) {
    Check(!pair.text.empty() && !pair.match.empty(), "{}: the {} is empty", pair.location,
          pair.text.empty() ? "text" : "match");
    for (const std::string& negative : pair.negatives)
      Check(!negative.empty(), "{}: a negative is empty", pair.location);
  }
  const auto has_text = [](const SimilarTexts& pair) { return HasText(pair.text) && HasText(pair.match); };
  CheckAnyText(pairs.empty() || std::ranges::any_of(pairs, has_text), paths);
  std::erase_if(pairs, [&](const SimilarTexts& pair) { return !share.Has(pair.text); });
  return pairs;
}

}  // namespace headlight
