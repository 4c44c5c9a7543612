#include "headlight/text/metrics/entities.h"

#include <algorithm>
#include <optional>

#include "headlight/base/error.h"

namespace headlight {
namespace {

double Share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

TagMeaning MeaningOfTag(std::string_view tag) {
  const bool prefixed = tag.starts_with("B-") || tag.starts_with("I-");
  return {tag.starts_with("B-"), prefixed ? tag.substr(2) : tag};
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
  std::optional<std::string_view> before;  // the name of the word before
  std::int32_t word = 0;
  for (const std::string_view tag : tags) {
    const auto [begins, name] = MeaningOfTag(tag);
    const bool none = tag == "O";
    if (!none && !begins && before == name)
      entities.back().end = word + 1;
    else if (!none)
      entities.push_back({name, word, word + 1});
    before = none ? std::nullopt : std::optional(name);
    ++word;
  }
  return entities;
}

void EntityScore::Add(std::span<const std::string_view> right, std::span<const std::string_view> found) {
  Ensure(right.size() == found.size(), "{} tags of {} words", found.size(), right.size());
  const std::vector<Entity> expected = EntitiesOf(right), guessed = EntitiesOf(found);
  right_ += std::ssize(expected);
  found_ += std::ssize(guessed);
  both_ += std::ranges::count_if(
      guessed, [&](const Entity& entity) { return std::ranges::find(expected, entity) != expected.end(); });
}

double EntityScore::precision() const { return Share(both_, found_); }
double EntityScore::recall() const { return Share(both_, right_); }
double EntityScore::f1() const { return Share(2 * both_, right_ + found_); }

}  // namespace headlight
