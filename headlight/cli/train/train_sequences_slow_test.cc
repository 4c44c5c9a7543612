// Trains sequence-to-sequence models from scratch with the program's commands, and scores them on unseen texts. Takes a
// few minutes and prints all scores.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "headlight/cli/program/testing.h"
#include "headlight/data/small_languages_testing.h"
#include "headlight/generate/batched.h"
#include "headlight/models/family.h"
#include "headlight/text/tokenizers/tokenizer.h"
#include "headlight/train/objectives/denoising.h"
#include "headlight/train/objectives/span_corruption.h"

namespace headlight::train_sequences_slow_test {
namespace {

using Ids = std::vector<std::int32_t>;

std::string Percent(std::size_t part, std::size_t all) {
  return fmt::format("{} of {} ({:.1f}%)", part, all, 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

// A training set and 500 unseen lines.
struct Language {
  TemporaryFolder folder;
  std::string train = folder.File("train.tsv"), model = folder.File("model");
  std::vector<std::string> test;

  Language(std::string (*draw)(int lines, std::uint64_t seed), int lines, const std::vector<std::string>& of_tokenizer)
      : test(Lines(draw(500, 2))) {
    const std::set<std::string> not_these(test.begin(), test.end());
    std::string learned;
    for (const std::string& line : Lines(draw(lines, 1)))
      if (!not_these.contains(line)) learned += line + "\n";
    WriteFile(train, learned);
    WriteFile(folder.File("valid.tsv"), draw(200, 3));
    std::vector<std::string> tokenizer = {"train", "tokenizer", "--byte-level",        "--vocabulary-size",
                                          "400",   "--out",     folder.File("tokens"), "--format",
                                          "text",  train};
    tokenizer.insert(tokenizer.end(), of_tokenizer.begin(), of_tokenizer.end());
    MustRun(tokenizer);
  }

  void Learn(const std::string& task, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"train",          task,
                                          "--train",        train,
                                          "--valid",        folder.File("valid.tsv"),
                                          "--tokenizer",    folder.File("tokens"),
                                          "--out",          model,
                                          "--layers",       "2",
                                          "--heads",        "4",
                                          "--positions",    "192",
                                          "--dropout",      "0",
                                          "--batch-tokens", "2048"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    MustRun(arguments);
  }
};

// A bigram baseline that predicts the most frequent successor of each token.
class Bigrams {
 public:
  void Learn(const Ids& ids) {
    for (std::size_t i = 1; i < ids.size(); ++i) ++counts_[ids[i - 1]][ids[i]];
  }
  bool Guesses(std::int32_t before, std::int32_t id) const {
    const auto found = counts_.find(before);
    return found != counts_.end() &&
           std::ranges::max_element(found->second, {}, [](const auto& entry) { return entry.second; })->first == id;
  }

 private:
  std::map<std::int32_t, std::map<std::int32_t, int>> counts_;
};

TEST(TrainedSequences, SummarizesUnseenEvents) {
  const Language days(DaysWithSummaries, 150'000, {"--special", "<pad>", "--special", "</s>"});
  days.Learn("seq2seq", {"--model-dim", "128", "--epochs", "1", "--learning-rate", "0.0015", "--warmup", "400"});
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(days.model);
  Bigrams bigrams;
  const auto summary = [](const std::string& line) { return line.substr(line.find('\t') + 1); };
  const auto encode = [&](const std::string& text) { return tokenizer.Encode(text, {.add_special = false}).ids; };
  for (const std::string& line : Lines(ReadFile(days.train))) bigrams.Learn(encode(summary(line)));
  std::string texts;
  std::size_t tokens = 0, guessed = 0;
  for (const std::string& line : days.test) {
    texts += line.substr(0, line.find('\t')) + "\n";
    const Ids ids = encode(summary(line));
    for (std::size_t i = 1; i < ids.size(); ++i, ++tokens) guessed += bigrams.Guesses(ids[i - 1], ids[i]);
  }
  const Outcome outcome = RunProgram({"summarize", days.model, "--beam-size", "1"}, texts);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> written = Lines(outcome.out);
  ASSERT_EQ(written.size(), days.test.size());
  std::size_t right = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    right += written[i] == summary(days.test[i]);
    if (written[i] != summary(days.test[i])) fmt::print("wrong: {}\n  model: {}\n", days.test[i], written[i]);
  }
  fmt::print("summaries word for word: {}\ntokens of summaries that the one before tells: {}\n",
             Percent(right, written.size()), Percent(guessed, tokens));
  EXPECT_GE(right, written.size() * 95 / 100);
}

// Returns the tokens between the sentinels of a target.
std::vector<Ids> SpansOf(const Ids& target, const Ids& sentinels) {
  std::vector<Ids> spans;
  for (const std::int32_t id : target)
    if (std::ranges::find(sentinels, id) != sentinels.end())
      spans.emplace_back();
    else if (!spans.empty())
      spans.back().push_back(id);
  return spans;
}

TEST(TrainedSequences, FillsSpansOfUnseenTexts) {
  const Language stories(AnimalStories, 20'000, {"--special", "<pad>", "--special", "</s>", "--sentinels", "20"});
  stories.Learn("span-corruption", {"--format", "text", "--model-dim", "64", "--epochs", "10", "--learning-rate",
                                    "0.003", "--warmup", "200"});
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(stories.model);
  const auto encode = [&](const std::string& text) { return tokenizer.Encode(text, {.add_special = false}).ids; };
  Bigrams bigrams;
  for (const std::string& line : Lines(ReadFile(stories.train))) bigrams.Learn(encode(line));
  SpanOptions options;
  for (int i = 0; i < 20; ++i) options.sentinels.push_back(*tokenizer.Find(fmt::format("<extra_id_{}>", i)));
  const std::unique_ptr<EncoderDecoder> model = LoadModel<EncoderDecoder>(stories.model);
  std::vector<Ids> sources, targets;
  for (const std::string& line : stories.test) {
    Random random(9, sources.size());
    SequenceExample pair = HideSpans(encode(line), options, random);
    pair.source.push_back(model->limits().end_id);
    sources.push_back(pair.source);
    targets.push_back(pair.target);
  }
  const auto written = DecodeInBatches(*model, sources, {.search = {.beam_size = 1}, .max_length = 100});
  std::size_t spans = 0, right = 0, guessed = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::vector<Ids> wanted = SpansOf(targets[i], options.sentinels);
    std::vector<Ids> found = SpansOf(written[i].front().ids, options.sentinels);
    found.resize(std::max(found.size(), wanted.size()));
    for (std::size_t span = 0; span + 1 < wanted.size(); ++span, ++spans) {  // no span follows the last sentinel
      right += found[span] == wanted[span];
      const auto at = std::ranges::find(sources[i], options.sentinels[span]);
      std::int32_t before = at == sources[i].begin() ? -1 : *(at - 1);
      bool all = true;
      for (const std::int32_t id : wanted[span]) {
        all = all && bigrams.Guesses(before, id);
        before = id;
      }
      guessed += all;
    }
  }
  fmt::print("spans restored: {}\nspans that the tokens before tell: {}\n", Percent(right, spans),
             Percent(guessed, spans));
  EXPECT_GE(right, spans * 90 / 100);
}

std::vector<std::string> SentencesOf(const std::string& text) {
  std::vector<std::string> sentences;
  std::istringstream stream(text);
  for (std::string sentence; std::getline(stream, sentence, '.');) {
    sentence.erase(0, sentence.find_first_not_of(' '));
    if (!sentence.empty()) sentences.push_back(sentence);
  }
  return sentences;
}

TEST(TrainedSequences, DenoisesUnseenTexts) {
  const Language stories(AnimalStories, 20'000,
                         {"--special", "<s>", "--special", "<pad>", "--special", "</s>", "--special", "<mask>"});
  stories.Learn("denoising", {"--format", "text", "--model-dim", "64", "--epochs", "6", "--learning-rate", "0.003",
                              "--warmup", "200"});
  const PipelineTokenizer pieces = PipelineTokenizer::Load(stories.model);
  const std::unique_ptr<EncoderDecoder> model = LoadModel<EncoderDecoder>(stories.model);
  NoiseOptions noise{.mask_id = *pieces.Find("<mask>")};
  for (std::int32_t id = 0; id < pieces.size(); ++id)
    if (pieces.Decode({&id, 1}).ends_with('.')) noise.sentence_ends.push_back(id);
  const auto around = [&](Ids ids) {
    ids.insert(ids.begin(), pieces.before().begin(), pieces.before().end());
    ids.insert(ids.end(), pieces.after().begin(), pieces.after().end());
    return ids;
  };
  std::vector<Ids> broken, sources;
  for (const std::string& line : stories.test) {
    Random random(9, sources.size());
    broken.push_back(AddNoise(pieces.Encode(line, Side::source, nullptr), noise, random));
    sources.push_back(around(broken.back()));
  }
  const auto written = DecodeInBatches(*model, sources, {.search = {.beam_size = 1}, .max_length = 180});
  std::size_t texts = 0, sentences = 0, mended = 0, unbroken = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::vector<std::string> wanted = SentencesOf(stories.test[i]);
    const std::vector<std::string> found = SentencesOf(pieces.Decode(written[i].front().ids));
    const std::vector<std::string> left = SentencesOf(pieces.Decode(broken[i]));
    texts += found == wanted;
    for (std::size_t k = 0; k < wanted.size(); ++k, ++sentences) {
      mended += k < found.size() && found[k] == wanted[k];
      unbroken += k < left.size() && left[k] == wanted[k];
    }
  }
  fmt::print("texts mended word for word: {}\nsentences in their places: {}\nif nothing is mended: {}\n",
             Percent(texts, sources.size()), Percent(mended, sentences), Percent(unbroken, sentences));
  EXPECT_GE(mended, sentences * 85 / 100);
}

}  // namespace
}  // namespace headlight::train_sequences_slow_test
