#include "headlight/text/metrics/porter_stemmer.h"

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace headlight {
namespace {

constexpr std::pair<std::string_view, std::string_view> kIrregular[] = {
    {"skies", "sky"},      {"sky", "sky"},         {"dying", "die"},        {"lying", "lie"},
    {"tying", "tie"},      {"news", "news"},       {"innings", "inning"},   {"inning", "inning"},
    {"outings", "outing"}, {"outing", "outing"},   {"cannings", "canning"}, {"canning", "canning"},
    {"howe", "howe"},      {"proceed", "proceed"}, {"exceed", "exceed"},    {"succeed", "succeed"}};

// Returns true for each letter that is a consonant. The letter y is a consonant at the beginning of a word and after a
// vowel.
std::vector<bool> Consonants(std::string_view word) {
  std::vector<bool> consonants;
  for (const char letter : word) {
    const bool vowel = std::string_view("aeiou").find(letter) != std::string_view::npos;
    consonants.push_back(!vowel && (letter != 'y' || consonants.empty() || !consonants.back()));
  }
  return consonants;
}

// Returns m in [C](VC)^m[V], which is the number of consonants that follow a vowel.
int Measure(std::string_view stem) {
  const std::vector<bool> consonants = Consonants(stem);
  int measure = 0;
  for (std::size_t i = 1; i < consonants.size(); ++i)
    if (consonants[i] && !consonants[i - 1]) ++measure;
  return measure;
}

bool HasVowel(std::string_view stem) {
  for (const bool consonant : Consonants(stem))
    if (!consonant) return true;
  return false;
}

bool EndsWithDoubleConsonant(std::string_view stem) {
  return stem.size() >= 2 && stem.back() == stem[stem.size() - 2] && Consonants(stem).back();
}

// Checks Porter's condition *o: the stem ends with a consonant, a vowel, and a consonant other than w, x and y. In
// NLTK, a stem of one vowel and one consonant also meets the condition.
bool EndsShort(std::string_view stem) {
  const std::vector<bool> consonants = Consonants(stem);
  const std::size_t size = stem.size();
  if (size == 2) return !consonants[0] && consonants[1];
  return size > 2 && consonants[size - 3] && !consonants[size - 2] && consonants[size - 1] &&
         std::string_view("wxy").find(stem.back()) == std::string_view::npos;
}

struct Suffix {
  std::string_view from, to;
};

// Replaces the first matching suffix if the measure of the stem before it is greater than `above`. Returns true if the
// word has any of the suffixes.
bool Replace(std::string& word, std::initializer_list<Suffix> suffixes, int above) {
  for (const Suffix& suffix : suffixes) {
    if (!word.ends_with(suffix.from)) continue;
    const std::string_view stem = std::string_view(word).substr(0, word.size() - suffix.from.size());
    if (Measure(stem) > above) word = std::string(stem).append(suffix.to);
    return true;
  }
  return false;
}

void Cut(std::string& word, std::size_t letters) { word.resize(word.size() - letters); }

void Plurals(std::string& word) {  // step 1a
  if (word.ends_with("sses"))
    Cut(word, 2);
  else if (word.ends_with("ies"))
    Cut(word, word.size() == 4 ? 1 : 2);  // NLTK: ties becomes tie
  else if (word.ends_with('s') && !word.ends_with("ss"))
    Cut(word, 1);
}

void PastAndProgressive(std::string& word) {                              // step 1b
  if (word.ends_with("ied")) return Cut(word, word.size() == 4 ? 1 : 2);  // only in NLTK
  if (word.ends_with("eed")) {
    if (Measure(std::string_view(word).substr(0, word.size() - 3)) > 0) Cut(word, 1);
    return;
  }
  std::string stem;
  for (const std::string_view suffix : {"ed", "ing"})
    if (word.ends_with(suffix)) stem = word.substr(0, word.size() - suffix.size());
  if (!HasVowel(stem)) return;
  word = stem;
  if (word.ends_with("at") || word.ends_with("bl") || word.ends_with("iz"))
    word += 'e';
  else if (EndsWithDoubleConsonant(word)) {
    if (std::string_view("lsz").find(word.back()) == std::string_view::npos) Cut(word, 1);
  } else if (Measure(word) == 1 && EndsShort(word)) {
    word += 'e';
  }
}

void FinalY(std::string& word) {  // step 1c; NLTK: only after a consonant that is not the word's first letter
  if (!word.ends_with('y') || word.size() < 3) return;
  if (Consonants(std::string_view(word).substr(0, word.size() - 1)).back()) word.back() = 'i';
}

void DoubleSuffixes(std::string& word) {  // step 2
  // NLTK: after -alli becomes -al, the step is applied again.
  if (word.ends_with("alli") && Measure(std::string_view(word).substr(0, word.size() - 4)) > 0) Cut(word, 2);
  if (Replace(word, {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
                     {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},     {"ousli", "ous"},
                     {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
                     {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"},
                     {"fulli", "ful"}},  // NLTK has bli instead of abli, and adds fulli
              0))
    return;
  // NLTK: the l of -logi belongs to the stem.
  if (word.ends_with("logi") && Measure(std::string_view(word).substr(0, word.size() - 3)) > 0) Cut(word, 1);
}

void Ion(std::string& word) {  // step 4 for -ion after s or t
  const std::string_view stem = std::string_view(word).substr(0, word.size() - 3);
  if (Measure(stem) > 1 && (stem.back() == 's' || stem.back() == 't')) Cut(word, 3);
}

void FinalE(std::string& word) {  // step 5a
  if (!word.ends_with('e')) return;
  const std::string_view stem = std::string_view(word).substr(0, word.size() - 1);
  const int measure = Measure(stem);
  if (measure > 1 || (measure == 1 && !EndsShort(stem))) Cut(word, 1);
}

}  // namespace

std::string PorterStem(std::string word) {
  for (const auto& [irregular, stem] : kIrregular)
    if (word == irregular) return std::string(stem);
  if (word.size() <= 2) return word;
  Plurals(word);
  PastAndProgressive(word);
  FinalY(word);
  DoubleSuffixes(word);
  Replace(word,  // step 3
          {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}},
          0);
  if (const bool found = Replace(word,  // step 4
                                 {{"al", ""},
                                  {"ance", ""},
                                  {"ence", ""},
                                  {"er", ""},
                                  {"ic", ""},
                                  {"able", ""},
                                  {"ible", ""},
                                  {"ant", ""},
                                  {"ement", ""},
                                  {"ment", ""},
                                  {"ent", ""},
                                  {"ou", ""},
                                  {"ism", ""},
                                  {"ate", ""},
                                  {"iti", ""},
                                  {"ous", ""},
                                  {"ive", ""},
                                  {"ize", ""}},
                                 1);
      !found && word.ends_with("ion"))
    Ion(word);
  FinalE(word);
  if (word.ends_with("ll") && Measure(std::string_view(word).substr(0, word.size() - 1)) > 1) Cut(word, 1);  // step 5b
  return word;
}

}  // namespace headlight
