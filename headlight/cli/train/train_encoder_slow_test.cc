// Trains encoders from scratch with the program's commands. Takes a few minutes. On unseen sentences, the encoders must
// exceed baselines that use only neighboring words.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "headlight/cli/program/testing.h"
#include "headlight/data/records.h"
#include "headlight/data/small_languages_testing.h"
#include "headlight/text/metrics/answer_score.h"
#include "headlight/text/metrics/entities.h"
#include "headlight/train/metrics.h"

namespace headlight::train_encoder_slow_test {
namespace {

using testing::HasSubstr;

std::vector<std::string> WordsOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// A baseline that predicts the most frequent value of each key in the training set.
template <typename Key>
class MostFrequent {
 public:
  void Learn(const Key& key, const std::string& value) { ++counts_[key][value]; }
  std::string Guess(const Key& key) const {
    const auto found = counts_.find(key);
    if (found == counts_.end()) return "";
    return std::ranges::max_element(found->second, {}, [](const auto& entry) { return entry.second; })->first;
  }

 private:
  std::map<Key, std::map<std::string, int>> counts_;
};

// Returns the lines of a file that are not in the other file.
std::string LinesWithout(const std::string& file, const std::string& other) {
  const std::vector<std::string> taken = Lines(other);
  const std::set<std::string> not_these(taken.begin(), taken.end());
  std::string kept;
  for (const std::string& line : Lines(file))
    if (!not_these.contains(line)) kept += line + "\n";
  return kept;
}

struct Training {
  Training(const std::string& extension, const std::string& train, const std::string& valid)
      : train_file(folder.File("train" + extension)), valid_file(folder.File("valid" + extension)) {
    WriteFile(train_file, train);
    WriteFile(valid_file, valid);
  }

  // Trains a tokenizer on `texts` and then a model for the task. Returns the model's best value of `score`.
  double Score(const std::string& task, const std::string& score, const std::string& texts,
               const std::vector<std::string>& more, const std::string& vocabulary = "300") const {
    WriteFile(folder.File("texts"), texts);
    const Outcome tokenizer = RunProgram({"train", "tokenizer", "--subword-type", "wordpiece", "--vocabulary-size",
                                          vocabulary, "--out", folder.File("tokenizer"), folder.File("texts")});
    EXPECT_EQ(tokenizer.exit_code, 0) << tokenizer.err;
    std::vector<std::string> arguments = {"train",       task,
                                          "--train",     train_file,
                                          "--valid",     valid_file,
                                          "--out",       model(),
                                          "--tokenizer", folder.File("tokenizer"),
                                          "--layers",    "2",
                                          "--model-dim", "64",
                                          "--dropout",   "0",
                                          "--threads",   "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome trained = RunProgram(arguments);
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    return std::ranges::max(ReadMetric(model(), score).values);
  }
  std::string model() const { return folder.File("model"); }

  TemporaryFolder folder;
  std::string train_file, valid_file;
};

TEST(TrainedEncoder, PredictsMaskedWordsFromDistantOnes) {
  const std::string valid = AnimalTexts(300, 2), train = LinesWithout(AnimalTexts(4000, 1), valid);
  const Training training("", train, valid);
  // Baseline: predicts the word that is most frequent between the same neighbors.
  MostFrequent<std::pair<std::string, std::string>> neighbors;
  int words = 0, right = 0;
  for (const bool learn : {true, false})
    for (const std::string& line : Lines(learn ? train : valid)) {
      std::vector<std::string> text = WordsOf("^ " + line + " $");
      for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        if (learn) {
          neighbors.Learn({text[i - 1], text[i + 1]}, text[i]);
        } else {
          ++words;
          if (neighbors.Guess({text[i - 1], text[i + 1]}) == text[i]) ++right;
        }
      }
    }
  const double baseline = 100.0 * right / words;
  const double score =
      training.Score("masked-language-model", "accuracy", train, {"--epochs", "20", "--learning-rate", "2e-3"});
  std::cout << "hidden words: " << score << ", neighbors " << baseline << '\n';
  EXPECT_LT(baseline, 70);
  EXPECT_GT(score, 90);
}

TEST(TrainedEncoder, FindsNamesThatTheirSentenceExplains) {
  const std::string train = NameSentences(4000, 1), valid = NameSentences(300, 2);
  const Training training(".conll", train, valid);
  // Baseline: predicts the most frequent tag of a word with these neighbors. For unseen neighbors, it predicts the most
  // frequent tag of the word.
  MostFrequent<std::tuple<std::string, std::string, std::string>> near;
  MostFrequent<std::string> alone;
  EntityScore unigrams, trigrams;
  for (const bool learn : {true, false}) {
    std::vector<std::string> words = {"^"}, tags = {""};
    for (const std::string& line : Lines(learn ? train : valid)) {
      const std::vector<std::string> columns = WordsOf(line);
      if (!columns.empty()) {
        words.push_back(columns[0]);
        tags.push_back(columns[1]);
        continue;
      }
      words.emplace_back("$");
      std::vector<std::string> by_word, by_neighbors;
      for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        const std::tuple around(words[i - 1], words[i], words[i + 1]);
        if (learn) {
          near.Learn(around, tags[i]);
          alone.Learn(words[i], tags[i]);
          continue;
        }
        by_word.push_back(alone.Guess(words[i]));
        by_neighbors.push_back(near.Guess(around).empty() ? by_word.back() : near.Guess(around));
      }
      if (!learn) {
        tags.erase(tags.begin());
        const auto views = [](const std::vector<std::string>& of) {
          return std::vector<std::string_view>(of.begin(), of.end());
        };
        unigrams.Add(views(tags), views(by_word));
        trigrams.Add(views(tags), views(by_neighbors));
      }
      words = {"^"};
      tags = {""};
    }
  }
  // The vocabulary is small, so names have several tokens.
  std::string texts = train;
  for (const char* tag : {" B-PER", " I-PER", " B-LOC", " I-LOC", " B-ORG", " I-ORG", " O"})
    for (std::size_t at = 0; (at = texts.find(tag, at)) != std::string::npos;) texts.erase(at, std::strlen(tag));
  const double score = training.Score("tagging", "f1", texts, {"--epochs", "10", "--learning-rate", "2e-3"}, "110");
  std::cout << "names: " << score << ", words alone " << 100 * unigrams.f1() << ", with their neighbors "
            << 100 * trigrams.f1() << '\n';
  EXPECT_LT(100 * unigrams.f1(), 70);
  EXPECT_LT(100 * trigrams.f1(), 70);
  EXPECT_GT(score, 95);
  const Outcome tagged =
      RunProgram({"tag", training.model()}, "In spring Vela Miria , as Dorum knows well , floods .\n");
  EXPECT_THAT(tagged.out, HasSubstr("1\t10\t20\tLOC\t"));
  EXPECT_THAT(tagged.out, HasSubstr("\tVela Miria\n1\t26\t31\tPER\t"));
}

TEST(TrainedEncoder, TellsPraiseFromBlameThroughNegations) {
  const std::string valid = Reviews(500, 2), train = LinesWithout(Reviews(6000, 1), valid);
  const Training training(".tsv", train, valid);
  // Baseline: naive Bayes on words.
  std::map<std::string, std::array<double, 2>> counts;
  int texts = 0, right = 0;
  for (const bool learn : {true, false})
    for (const std::string& line : Lines(learn ? train : valid)) {
      const std::size_t tab = line.find('\t');
      const std::size_t positive = line.substr(tab + 1) == "positive" ? 1 : 0;
      double odds = 0;
      for (const std::string& word : WordsOf(line.substr(0, tab))) {
        if (learn)
          ++counts[word][positive];
        else
          odds += std::log((counts[word][1] + 1) / (counts[word][0] + 1));
      }
      if (learn) continue;
      ++texts;
      if ((odds > 0) == (positive == 1)) ++right;
    }
  const double baseline = 100.0 * right / texts;
  const double score =
      training.Score("classification", "accuracy", train, {"--epochs", "12", "--learning-rate", "1e-3"});
  std::cout << "reviews: " << score << ", words alone " << baseline << '\n';
  EXPECT_LT(baseline, 60);
  EXPECT_GT(score, 97);
}

TEST(TrainedEncoder, AnswersWhereSomebodyIs) {
  const std::string valid = Stories(500, 2), train = LinesWithout(Stories(8000, 1), valid);
  const Training training(".jsonl", train, valid);
  std::string texts;
  double last = 0, none = 0, questions = 0;
  Records lines(training.valid_file);
  while (const auto line = lines.Next()) {
    const std::string story = TextOf((*line)["context"]);
    std::vector<std::string> right;
    for (const JsonView& answer : (*line)["answers"].Items()) right.push_back(TextOf(answer["text"]));
    const std::vector<std::string> words = WordsOf(story);
    last += ScoreAnswer(words[words.size() - 2], right).f1;
    none += ScoreAnswer("", right).f1;
    ++questions;
  }
  for (const std::string& line : Lines(train)) {
    const JsonView story(ParseJson(line, "story"), "story");
    texts += story["question"].String() + "\n" + story["context"].String() + "\n";
  }
  const double score = training.Score("question-answering", "f1", texts,
                                      {"--epochs", "30", "--learning-rate", "1e-3", "--batch-tokens", "1024"});
  std::cout << "stories: " << score << ", the last place " << 100 * last / questions << ", no answer "
            << 100 * none / questions << '\n';
  EXPECT_LT(100 * last / questions, 60);
  EXPECT_LT(100 * none / questions, 60);
  EXPECT_GT(score, 95);
  const Outcome answered = RunProgram({"answer", training.model()},
                                      "Where is Tom ?\tTom ran to the park . Lea went to the school . Tom walked to "
                                      "the cellar . Ben went to the park .\n"
                                      "Where is Mia ?\tTom ran to the park . Lea went to the school .\n");
  EXPECT_THAT(answered.out, HasSubstr("\t65\t71\tcellar\n"));
  EXPECT_THAT(answered.out, HasSubstr("\t0\t0\t\n"));
}

}  // namespace
}  // namespace headlight::train_encoder_slow_test
