#include "headlight/data/text_pairs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"

namespace headlight {
namespace {

void ReadTabbed(const std::string& path, std::vector<TextPair>& pairs) {
  LineReader lines(path);
  while (const auto line = lines.Next()) {
    if (line->empty()) continue;
    std::string place = fmt::format("{}:{}", path, lines.line_number());
    const std::size_t tab = line->find('\t');
    Check(tab != std::string_view::npos && tab == line->rfind('\t'), "{}: expected a source, a tab and its target",
          place);
    pairs.push_back({std::string(line->substr(0, tab)), std::string(line->substr(tab + 1)), std::move(place)});
  }
}

void ReadRecords(const std::string& path, std::vector<TextPair>& pairs) {
  Records records(path);
  while (const auto record = records.Next())
    pairs.push_back({TextOf((*record)["source"]), TextOf((*record)["target"]), record->place()});
}

}  // namespace

std::vector<TextPair> ReadTextPairs(const std::vector<std::string>& paths, const TextShare& share) {
  std::vector<TextPair> pairs;
  for (const std::string& path : paths) HasRecords(path) ? ReadRecords(path, pairs) : ReadTabbed(path, pairs);
  for (const TextPair& pair : pairs)
    Check(!pair.source.empty() && !pair.target.empty(), "{}: the {} is empty", pair.place,
          pair.source.empty() ? "source" : "target");
  const auto has_text = [](const TextPair& pair) { return HasText(pair.source) && HasText(pair.target); };
  CheckAnyText(pairs.empty() || std::ranges::any_of(pairs, has_text), paths);
  std::erase_if(pairs, [&](const TextPair& pair) { return !share.Has(pair.source); });
  return pairs;
}

}  // namespace headlight
