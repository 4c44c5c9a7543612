#include "headlight/text/metrics/entities.h"

#include <algorithm>
#include <optional>

#include "headlight/base/error.h"

namespace headlight {
TagMeaning MeaningOfTag(std::string_view tag) {
  constexpr std::string_view all = "BIESLU", begin = "BSU", end = "ESLU";
  const auto in = [&](std::string_view prefixes) { return prefixes.find(tag[0]) != std::string_view::npos; };
  if (tag.size() < 2 || tag[1] != '-' || !in(all)) return {false, false, tag};
  return {in(begin), in(end), tag.substr(2)};
}

bool AreSpanTags(std::span<const std::string> tags) {
  const auto is_span = [](const std::string& tag) {
    const std::string_view name = MeaningOfTag(tag).name;
    return !name.empty() && name.size() < tag.size();
  };
  return std::ranges::any_of(tags, is_span) &&
         std::ranges::all_of(tags, [&](const std::string& tag) { return tag == "O" || is_span(tag); });
}

std::vector<Entity> EntitiesOf(std::span<const std::string_view> tags) {
  std::vector<Entity> entities;
  std::optional<std::string_view> before;  // the previous word's entity name
  std::int32_t word = 0;
  for (const std::string_view tag : tags) {
    const auto [begins, ends, name] = MeaningOfTag(tag);
    const bool none = tag == "O";
    if (!none && !begins && before == name)
      entities.back().end = word + 1;
    else if (!none)
      entities.push_back({name, word, word + 1});
    before = none || ends ? std::nullopt : std::optional(name);
    ++word;
  }
  return entities;
}

void EntityScore::Add(std::span<const std::string_view> reference, std::span<const std::string_view> predicted) {
  Ensure(reference.size() == predicted.size(), "there are {} tags for {} words", predicted.size(), reference.size());
  const std::vector<Entity> expected = EntitiesOf(reference), guessed = EntitiesOf(predicted);
  for (const Entity& entity : expected) ++by_name_[std::string(entity.name)].labeled;
  for (const Entity& entity : guessed) {
    ClassCounts& counts = by_name_[std::string(entity.name)];
    ++counts.predicted;
    if (std::ranges::find(expected, entity) != expected.end()) ++counts.true_positives;
  }
}

ClassCounts EntityScore::all() const {
  ClassCounts sum;
  for (const auto& [name, counts] : by_name_) {
    sum.labeled += counts.labeled;
    sum.predicted += counts.predicted;
    sum.true_positives += counts.true_positives;
  }
  return sum;
}

double EntityScore::precision() const { return all().precision(); }
double EntityScore::recall() const { return all().recall(); }
double EntityScore::f1() const { return all().f1(); }

}  // namespace headlight
