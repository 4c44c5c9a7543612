#include "headlight/text/metrics/rouge.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/text/metrics/ngrams.h"
#include "headlight/text/metrics/porter_stemmer.h"
#include "headlight/text/metrics/tokenize_13a.h"

namespace headlight {
namespace {

// Assigns an id to each distinct word or stem.
class RougeWords {
 public:
  explicit RougeWords(bool stem) : stem_(stem) {}

  std::u32string Of(std::string_view text) {
    std::u32string numbers;
    std::string word;
    const auto end_word = [&] {
      if (word.empty()) return;
      if (stem_ && word.size() > 3) word = PorterStem(std::move(word));
      numbers.push_back(numbers_.try_emplace(std::move(word), static_cast<char32_t>(numbers_.size())).first->second);
      word.clear();
    };
    for (const char c : LowerCase(text)) {
      if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
        word += c;
      else
        end_word();
    }
    end_word();
    return numbers;
  }

  // Returns the words of each non-empty line.
  std::vector<std::u32string> OfSentences(std::string_view text) {
    std::vector<std::u32string> sentences;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (end > 0) sentences.push_back(Of(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return sentences;
  }

 private:
  bool stem_;
  std::unordered_map<std::string, char32_t> numbers_;
};

RougeScore Score(std::int64_t both, std::size_t in_text, std::size_t in_reference) {
  RougeScore score;
  score.precision = static_cast<double>(both) / static_cast<double>(std::max<std::size_t>(1, in_text));
  score.recall = static_cast<double>(both) / static_cast<double>(std::max<std::size_t>(1, in_reference));
  const double sum = score.precision + score.recall;
  score.f1 = sum > 0 ? 2 * score.precision * score.recall / sum : 0;
  return score;
}

RougeScore OfNgrams(std::u32string_view text, std::u32string_view reference, std::size_t n) {
  const auto count = [n](std::u32string_view words) { return words.size() < n ? 0 : words.size() - n + 1; };
  return Score(CountMatches(CountNgrams(text, n), CountNgrams(reference, n)), count(text), count(reference));
}

// The lengths of the longest common subsequences of all pairs of prefixes: [reference + 1, text + 1].
class CommonLengths {
 public:
  CommonLengths(std::u32string_view text, std::u32string_view reference)
      : columns_(text.size() + 1), lengths_((reference.size() + 1) * columns_) {
    for (std::size_t i = 1; i <= reference.size(); ++i)
      for (std::size_t j = 1; j <= text.size(); ++j)
        lengths_[i * columns_ + j] =
            reference[i - 1] == text[j - 1] ? at(i - 1, j - 1) + 1 : std::max(at(i - 1, j), at(i, j - 1));
  }
  std::int32_t at(std::size_t i, std::size_t j) const { return lengths_[i * columns_ + j]; }

 private:
  std::size_t columns_;
  std::vector<std::int32_t> lengths_;
};

// Marks the positions of the reference that are in the longest common subsequence of text and reference. If there are
// several such subsequences, makes the same choice as rouge-score.
void MarkCommon(std::u32string_view text, std::u32string_view reference, std::vector<bool>& common) {
  const CommonLengths lengths(text, reference);
  for (std::size_t i = reference.size(), j = text.size(); i > 0 && j > 0;) {
    if (reference[i - 1] == text[j - 1]) {
      common[--i] = true;
      --j;
    } else if (lengths.at(i, j - 1) > lengths.at(i - 1, j)) {
      --j;
    } else {
      --i;
    }
  }
}

RougeScore OfSummary(const std::vector<std::u32string>& text, const std::vector<std::u32string>& reference) {
  const auto counts_of = [](const std::vector<std::u32string>& sentences, std::size_t& words) {
    std::map<char32_t, std::int64_t> counts;
    for (const std::u32string& sentence : sentences) {
      for (const char32_t word : sentence) ++counts[word];
      words += sentence.size();
    }
    return counts;
  };
  std::size_t in_text = 0, in_reference = 0;
  std::map<char32_t, std::int64_t> left_in_text = counts_of(text, in_text),
                                   left_in_reference = counts_of(reference, in_reference);
  std::int64_t both = 0;
  for (const std::u32string& sentence : reference) {
    std::vector<bool> common(sentence.size());
    for (const std::u32string& other : text) MarkCommon(other, sentence, common);
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      if (!common[i] || left_in_text[sentence[i]] <= 0 || left_in_reference[sentence[i]] <= 0) continue;
      ++both;
      --left_in_text[sentence[i]];
      --left_in_reference[sentence[i]];
    }
  }
  return Score(both, in_text, in_reference);
}

}  // namespace

Rouge RougeOf(std::string_view text, std::string_view reference, bool stem) {
  RougeWords words(stem);
  const std::u32string found = words.Of(text), right = words.Of(reference);
  return {.rouge1 = OfNgrams(found, right, 1),
          .rouge2 = OfNgrams(found, right, 2),
          .rouge_l = Score(CommonLengths(found, right).at(right.size(), found.size()), found.size(), right.size()),
          .rouge_lsum = OfSummary(words.OfSentences(text), words.OfSentences(reference))};
}

Rouge MeanRouge(std::span<const std::string> texts, std::span<const std::string> references, bool stem) {
  Check(!texts.empty() && texts.size() == references.size(), "{} texts cannot be compared with {} references",
        texts.size(), references.size());
  Rouge mean;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Rouge one = RougeOf(texts[i], references[i], stem);
    for (RougeScore Rouge::*kind : {&Rouge::rouge1, &Rouge::rouge2, &Rouge::rouge_l, &Rouge::rouge_lsum})
      for (double RougeScore::*number : {&RougeScore::precision, &RougeScore::recall, &RougeScore::f1})
        mean.*kind.*number += one.*kind.*number / static_cast<double>(texts.size());
  }
  return mean;
}

}  // namespace headlight
