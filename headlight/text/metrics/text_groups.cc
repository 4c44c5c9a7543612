#include "headlight/text/metrics/text_groups.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/text/characters.h"
#include "headlight/text/metrics/tokenize_13a.h"

namespace headlight {
namespace {

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words = Tokenize13a(LowerCase(text));
  std::erase_if(words, [](const std::string& word) {
    bool spoken = false;
    ForEachCharacter(word, [&](char32_t character, std::size_t, std::size_t) {
      const CharacterClass kind = ClassOf(character);
      spoken |= kind == CharacterClass::letter || kind == CharacterClass::number;
    });
    return !spoken;
  });
  return words;
}

struct Occurrence {
  std::uint32_t text = 0, count = 0;
};

// An inverted index of texts.
class KnownTexts {
 public:
  explicit KnownTexts(std::span<const std::string> texts) : lengths_(texts.size()) {
    Check(!texts.empty(), "there is no text to compare with");
    for (std::size_t i = 0; i < texts.size(); ++i)
      for (const std::string& word : WordsOf(texts[i])) {
        std::vector<Occurrence>& all = index_[word];
        if (all.empty() || all.back().text != i) all.push_back({static_cast<std::uint32_t>(i), 0});
        ++all.back().count;
      }
    for (const auto& [word, all] : index_) {
      const double weight = Weight(std::ssize(all));
      for (const Occurrence& one : all) lengths_[one.text] += std::pow(one.count * weight, 2);
    }
    for (double& length : lengths_) length = std::sqrt(length);
  }

  // Returns the count of the rarest of these words.
  std::int64_t RarestOf(std::span<const std::string> words) const {
    std::int64_t rarest = std::numeric_limits<std::int64_t>::max();
    for (const std::string& word : words) {
      std::int64_t count = 0;
      if (const auto found = index_.find(word); found != index_.end())
        for (const Occurrence& one : found->second) count += one.count;
      rarest = std::min(rarest, count);
    }
    return rarest;
  }

  // Returns the maximum cosine similarity to any of the texts.
  double SimilarityOf(std::span<const std::string> words) const {
    std::map<std::string_view, double> counts;
    for (const std::string& word : words) ++counts[word];
    std::unordered_map<std::uint32_t, double> products;
    double length = 0;
    for (const auto& [word, count] : counts) {
      const auto found = index_.find(std::string(word));
      const double weight = Weight(found == index_.end() ? 0 : std::ssize(found->second));
      length += std::pow(count * weight, 2);
      if (found == index_.end() || weight == 0) continue;
      for (const Occurrence& one : found->second) products[one.text] += count * weight * one.count * weight;
    }
    double largest = 0;
    for (const auto& [text, product] : products)
      largest = std::max(largest, product / (std::sqrt(length) * lengths_[text]));
    return largest;
  }

 private:
  // Returns the weight of a word that occurs in `having` texts. If `having` is 0, it is treated as 1.
  double Weight(std::int64_t having) const {
    const auto all = static_cast<double>(lengths_.size()),
               some = static_cast<double>(std::max<std::int64_t>(having, 1));
    return 10 * some > all ? 0 : std::log(all / some);
  }

  std::map<std::string, std::vector<Occurrence>> index_;
  std::vector<double> lengths_;  // norms of the texts' vectors
};

// Appends one group of texts for each interval between bounds that contains any of the values.
void AddGroups(const std::string& by, std::span<const double> values, std::span<const double> bounds,
               const std::function<std::string(double least, double most)>& name, std::vector<TextGroup>& groups) {
  std::vector<std::vector<std::size_t>> members(bounds.size() + 1);
  for (std::size_t i = 0; i < values.size(); ++i)
    members[static_cast<std::size_t>(std::ranges::lower_bound(bounds, values[i]) - bounds.begin())].push_back(i);
  for (std::vector<std::size_t>& group : members) {
    if (group.empty()) continue;
    const auto [least, most] = std::ranges::minmax_element(group, {}, [&](std::size_t i) { return values[i]; });
    groups.push_back({by, name(values[*least], values[*most]), std::move(group)});
  }
}

std::vector<double> ThirdsOf(std::vector<double> values) {
  std::ranges::sort(values);
  std::vector<double> bounds;
  for (const std::size_t third : {1U, 2U}) bounds.push_back(values[(values.size() * third + 2) / 3 - 1]);
  return bounds;
}

}  // namespace

std::vector<TextGroup> GroupTexts(std::span<const std::string> texts, std::span<const std::string> known) {
  std::vector<TextGroup> groups;
  const KnownTexts training(known);
  if (texts.empty()) return groups;
  std::vector<double> lengths(texts.size()), rarest(texts.size()), likeness(texts.size());
  ParallelFor(std::ssize(texts), [&](std::int64_t i) {
    const auto text = static_cast<std::size_t>(i);
    const std::vector<std::string> words = WordsOf(texts[text]);
    lengths[text] = static_cast<double>(words.size());
    rarest[text] = static_cast<double>(training.RarestOf(words));
    likeness[text] = training.SimilarityOf(words);
  });
  AddGroups(
      "words", lengths, ThirdsOf(lengths),
      [](double least, double most) { return fmt::format("{} to {}", least, most); }, groups);
  const double seldom[] = {0, 9};
  AddGroups(
      "rarest word", rarest, seldom,
      [](double least, double) { return least == 0   ? "new"
                                        : least < 10 ? "1 to 9 times"
                                                     : "10 times or more"; },
      groups);
  AddGroups(
      "likeness", likeness, ThirdsOf(likeness),
      [](double least, double most) { return fmt::format("{:.2f} to {:.2f}", least, most); }, groups);
  return groups;
}

}  // namespace headlight
