#include "headlight/synthetic/grammar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <vector>

#include "headlight/synthetic/grammar_tree.h"

namespace headlight::grammar_test {
namespace {

constexpr int draws = 30000;

const std::vector<SentencePair>& Sample() {
  static const std::vector<SentencePair> sample = [] {
    std::vector<SentencePair> pairs;
    Random random(20);
    for (int i = 0; i < draws; ++i) pairs.push_back(SampleSentence(random));
    return pairs;
  }();
  return sample;
}

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    if (letter == ' ') words.emplace_back();
    if (letter != ' ' && letter != ',' && letter != '.' && letter != '?') words.back() += letter;
  }
  return words;
}

bool ValidUtf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) continue;
    // In UTF-8, all non-ASCII letters of German start with the byte C3.
    if (byte != 0xC3 || i + 1 == text.size() || (static_cast<unsigned char>(text[++i]) & 0xC0) != 0x80) return false;
  }
  return true;
}

TEST(Grammar, IsDeterministic) {
  Random a(3), b(3), c(4);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const SentencePair first = SampleSentence(a), again = SampleSentence(b);
    EXPECT_EQ(first.german, again.german);
    EXPECT_EQ(first.english, again.english);
    differs |= first.german != SampleSentence(c).german;
  }
  EXPECT_TRUE(differs);
}

TEST(Grammar, EveryGermanSentenceHasOneTranslation) {
  std::map<std::string, std::string> english;
  for (const SentencePair& pair : Sample())
    EXPECT_EQ(english.emplace(pair.german, pair.english).first->second, pair.english) << pair.german;
  EXPECT_GT(english.size(), draws * 9 / 10);
}

TEST(Grammar, SentencesAreCleanText) {
  for (const auto& [german, english] : Sample()) {
    ASSERT_TRUE(ValidUtf8(german)) << german;
    ASSERT_TRUE(std::ranges::all_of(english, [](char letter) { return letter > 0; })) << english;
    for (const std::string& text : {german, english}) {
      for (const char* mistake : {"  ", " ,", ",,", ",.", ",?", " .", " ?"})
        ASSERT_EQ(text.find(mistake), std::string::npos) << text;
      ASSERT_TRUE(text.ends_with('.') || text.ends_with('?')) << text;
      ASSERT_EQ(std::ranges::count(text, '.') + std::ranges::count(text, '?'), 1) << text;
      ASSERT_FALSE(text[0] >= 'a' && text[0] <= 'z') << text;
      const std::size_t words = Words(text).size();
      ASSERT_GE(words, 2u) << text;
      ASSERT_LE(words, 30u) << text;
    }
    ASSERT_EQ(german.back(), english.back()) << german;
  }
}

// Checks agreement without the declension tables. For each gender there is a list of determiners that must not precede
// a noun.
TEST(Grammar, ArticlesAgreeWithNouns) {
  const std::set<std::string> not_feminine = {"das",    "dem",  "den",    "des",  "ein",    "einen",
                                              "einem",  "kein", "keinen", "mein", "meinen", "dieses",
                                              "diesem", "im",   "zum",    "jeder"};
  const std::set<std::string> not_neuter = {"der",   "die",    "den",    "eine",   "einen",
                                            "einer", "meinen", "keinen", "diesen", "zur"};
  const std::set<std::string> not_masculine = {"das", "eine", "einer", "jedes", "jede", "dieses", "ins", "zur"};
  std::map<std::string, const std::set<std::string>*> forbidden;
  for (const Noun& noun : Nouns()) {
    if (noun.plural == noun.german && noun.gender == Gender::neuter) continue;  // "die Mädchen" is a valid plural
    forbidden[std::string(noun.german)] = noun.gender == Gender::feminine ? &not_feminine
                                          : noun.gender == Gender::neuter ? &not_neuter
                                                                          : &not_masculine;
  }
  int checked = 0;
  for (const SentencePair& pair : Sample()) {
    std::vector<std::string> words = Words(pair.german);
    words[0][0] = static_cast<char>(std::tolower(words[0][0]));
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto found = forbidden.find(words[i]);
      // A relative pronoun can precede any noun, as in "..., die Brot backt".
      if (found == forbidden.end() || pair.german.find(", " + words[i - 1] + " " + words[i]) != std::string::npos)
        continue;
      ++checked;
      EXPECT_FALSE(found->second->contains(words[i - 1])) << pair.german;
    }
  }
  EXPECT_GT(checked, draws);
}

TEST(Grammar, EnglishArticlesMatchTheNextSound) {
  for (const SentencePair& pair : Sample()) {
    const std::vector<std::string> words = Words(pair.english);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const bool vowel = std::string_view("aeiou").find(words[i][0]) != std::string_view::npos;
      EXPECT_FALSE(vowel && (words[i - 1] == "a" || words[i - 1] == "A")) << pair.english;
      EXPECT_FALSE(!vowel && (words[i - 1] == "an" || words[i - 1] == "An")) << pair.english;
    }
  }
}

TEST(Grammar, CoversAllConstructions) {
  std::string all;
  for (const SentencePair& pair : Sample()) all += pair.german + "|" + pair.english + "\n";
  for (const char* part :
       {", weil ", "Wenn ",     ", dass ",      ", ob ",    ", obwohl ",      ", die ",       ", den ",
        ", dem ",  ", in dem ", ", mit denen ", " um ",     " gern ",         " noch nicht ", " schon ",
        "Warum ",  "Wem ",      "Wen ",         "Mit wem ", "Welchen ",       "Wohin ",       " zum ",
        " ins ",   "aufzu",     " als ",        "|Does ",   "|Did ",          " any ",        "cannot",
        " will ",  " whom ",    " which ",      "'s ",      " is allowed to "})
    EXPECT_NE(all.find(part), std::string::npos) << part;
}

TEST(Grammar, HeldOutSentencesAreNotInTraining) {
  std::set<std::string> training;
  Random random(5);
  for (int i = 0; i < 20000; ++i) training.insert(SampleSentence(random, Portion::training).german);
  for (int i = 0; i < 200; ++i) {
    const std::string german = SampleSentence(random, Portion::held_out).german;
    EXPECT_FALSE(training.contains(german)) << german;
    EXPECT_EQ(PortionOf(german), Portion::held_out);
  }
  const auto held_out =
      std::ranges::count_if(Sample(), [](const auto& pair) { return PortionOf(pair.german) == Portion::held_out; });
  EXPECT_NEAR(static_cast<double>(held_out) / draws, 1.0 / 50, 0.002);
}

// Counts the sentences of one pattern, such as "Der kleine Hund frisst den süßen Apfel.", which are all different. This
// count is a lower bound on the sentences of the grammar.
TEST(Grammar, HasMoreThanAMillionSentences) {
  const auto phrases = [](Kinds kinds) {
    std::vector<NounPhrase> all;
    for (const Noun& noun : Nouns()) {
      if ((noun.kinds & kinds) == 0) continue;
      NounPhrase phrase{.head = NounPhrase::Head::noun, .noun = &noun, .determiner = Determiner::definite};
      all.push_back(phrase);
      for (const Adjective& word : Adjectives()) {
        phrase.adjective = &word;
        if ((word.kinds & noun.kinds) != 0) all.push_back(phrase);
      }
    }
    return all;
  };
  std::size_t count = 0;
  for (const Verb& verb : Verbs())
    if (verb.frame == Frame::accusative) count += phrases(verb.subject).size() * phrases(verb.object).size();
  EXPECT_GE(count, 1000000U);

  const Verb& verb = FindVerb("fressen");
  std::set<std::string> german;
  const auto subjects = phrases(verb.subject), objects = phrases(verb.object);
  for (const NounPhrase& subject : subjects)
    for (const NounPhrase& object : objects)
      german.insert(ToGerman({.main = {.subject = subject, .verb = &verb, .object = object}}));
  EXPECT_EQ(german.size(), subjects.size() * objects.size());
}

}  // namespace
}  // namespace headlight::grammar_test
