// Checks that models trained on text reach the best possible scores, which a baseline without attention does not reach.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/base/test_support.h"
#include "headlight/models/bert.h"
#include "headlight/models/gpt.h"
#include "headlight/train/objectives/classification.h"
#include "headlight/train/objectives/language_model.h"
#include "headlight/train/objectives/mask_baselines.h"
#include "headlight/train/objectives/masked_language_model.h"
#include "headlight/train/objectives/question_answering.h"
#include "headlight/train/objectives/tagging.h"
#include "headlight/train/trainer.h"
#include "tests/training_testing.h"

namespace headlight::text_training_test {
namespace {

using testing::HasSubstr;

constexpr std::int32_t kRing = 8, kMask = 8, kEnd = 9, kVocabulary = 10;

// Returns texts that count modulo kRing, from 0 or 4, in steps of one or three. Two tokens determine the next one, but
// a single token does not. The class of a text is its step.
std::vector<TextExample> Rings(int count, std::uint64_t seed) {
  Random random(seed);
  std::vector<TextExample> texts;
  for (int i = 0; i < count; ++i) {
    TextExample text;
    const auto first = static_cast<std::int32_t>(4 * random.Below(2)), length = 6;
    const auto step = static_cast<std::int32_t>(random.Below(2));
    text.labels = {step};
    for (std::int32_t k = 0; k < length; ++k) {
      text.ids.push_back((first + k * (1 + 2 * step)) % kRing);
      text.words.push_back(k);
    }
    texts.push_back(text);
  }
  return texts;
}

TextSets Sets() { return {.train = Rings(256, 1), .valid = Rings(64, 2)}; }

constexpr std::int64_t kValidBytes = 64 * 7;
const BatchOptions kBatches{.batch_size = 128};

TrainingOptions Options(std::int64_t epochs) {
  TrainingOptions options;
  options.schedule = {.kind = ScheduleKind::cosine, .warmup = 40, .peak = 6e-3, .total = epochs * 14};
  options.epochs = epochs;
  return options;
}

std::unique_ptr<Gpt> SmallGpt2() {
  GptConfig config;
  config.model = 32;
  config.layers = 2;
  config.heads = 2;
  config.ffn = 64;
  config.dropout = config.embedding_dropout = config.attention_dropout = 0;
  config.vocabulary = kVocabulary;
  config.positions = 16;
  config.end_id = kEnd;
  auto model = std::make_unique<Gpt>(config);
  model->parameters().Initialize(5);
  return model;
}

std::unique_ptr<Bert> SmallBert(const TextHeadsConfig& heads) {
  BertConfig config;
  config.model = 32;
  config.layers = 2;
  config.heads = 2;
  config.ffn = 64;
  config.dropout = config.attention_dropout = 0;
  config.vocabulary = kVocabulary;
  config.positions = 16;
  config.on_top = heads;
  auto model = std::make_unique<Bert>(config);
  model->parameters().Initialize(5);
  return model;
}

TEST(TextTraining, ALanguageModelReachesTheEntropyOfTheTexts) {
  const TemporaryFolder folder;
  const TextSets texts = Sets();
  const TrainingOptions options = Options(20);
  const auto model = SmallGpt2();
  const ValidationReport report =
      LastReport(LanguageModelTask(*model, texts, kValidBytes, {kBatches, 0}), options, folder.File("c"));
  // There are two choices for the first and for the second token. These two tokens determine the other tokens and the
  // end.
  const double floor = (std::log(2.0) + std::log(2.0)) / 7;
  EXPECT_GE(report.loss, floor - 0.03);
  EXPECT_LT(report.loss, floor + 0.1);
  ASSERT_EQ(report.more_scores.size(), 1U);
  EXPECT_EQ(report.more_scores[0].name, "bits_per_byte");
  EXPECT_NEAR(report.more_scores[0].value, report.loss / std::log(2.0), 1e-9);  // seven bytes and seven tokens per text
  EXPECT_EQ(report.score_name, "");
}

TEST(TextTraining, FitsMaskedTokensAndClasses) {
  const TemporaryFolder folder;
  const TextSets texts = Sets();
  const TrainingOptions options = Options(24);
  TextSets by_one = texts;
  for (std::vector<TextExample>* set : {&by_one.train, &by_one.valid})
    std::erase_if(*set, [](const TextExample& text) { return text.labels[0] != 0; });
  const auto masked = SmallBert({.pooler = false, .masked_words = true});
  const MaskingOptions masking{.share = 0.3, .mask_id = kMask, .special_ids = {kMask, kEnd}};
  const ValidationReport words =
      LastReport(MaskedLanguageModelTask(*masked, by_one, masking, kBatches), options, folder.File("words"));
  EXPECT_GT(words.score, 90);  // includes kept and replaced tokens, which are determined by their positions
  const auto classes = SmallBert({.pooler = true, .sequence_classes = true, .labels = {"one", "three"}});
  const ValidationReport guessed =
      LastReport(ClassificationTask(*classes, texts, kBatches), options, folder.File("classes"));
  EXPECT_EQ(guessed.score, 100);
}

// Checks that bits_per_mask is the mean over the masks and not over all predicted tokens. For uniform logits, the
// result does not depend on the replacements.
TEST(TextTraining, BitsPerMaskCountOnlyMasks) {
  const auto model = SmallBert({.pooler = false, .masked_words = true});
  for (Parameter& parameter : model->parameters().all()) parameter.value.Fill(0);
  const ValidationReport report =
      ValidateMaskedWords(*model, Rings(64, 3), {.share = 0.3, .mask_id = kMask, .special_ids = {kMask, kEnd}});
  ASSERT_EQ(report.more_scores.size(), 1U);
  EXPECT_EQ(report.more_scores[0].name, "bits_per_mask");
  EXPECT_NEAR(report.more_scores[0].value, std::log2(kVocabulary), 1e-5);
  EXPECT_NEAR(report.loss, std::log(kVocabulary), 1e-5);
}

// Checks the count baselines. In these texts the left neighbor determines the next token. Masked tokens can therefore
// be predicted from unmasked neighbors, but not from frequencies.
TEST(TextTraining, CountsPredictMasks) {
  const std::vector<TextExample> train = Rings(400, 1), valid = Rings(200, 2);
  const MaskingOptions masking{
      .share = 0.01, .mask_id = kMask, .special_ids = {kMask, kEnd}};  // masks one token per text
  const MaskBaselines bits = ScoreMaskBaselines(train, valid, masking, kVocabulary);
  EXPECT_GT(bits.by_frequency, 2);
  EXPECT_LT(bits.by_neighbors, 0.5 * bits.by_frequency);
  // In shuffled texts with the same token frequencies, neighbors predict less.
  std::vector<TextExample> sorted = train;
  for (TextExample& text : sorted) std::ranges::sort(text.ids);
  const MaskBaselines others = ScoreMaskBaselines(sorted, valid, masking, kVocabulary);
  EXPECT_NEAR(others.by_frequency, bits.by_frequency, 0.1);
  EXPECT_GT(others.by_neighbors, bits.by_neighbors + 0.3);
}

// Checks tags and answers. The tags of a text are B, I, I, O, B, I, with the step as the name. The answer is the
// position of 0.
TEST(TextTraining, FitsTagsAndAnswers) {
  const TemporaryFolder folder;
  const TextSets rings = Sets();
  const TrainingOptions options = Options(24);
  TaggedSets tagged;
  QuestionSets asked;
  const auto fill = [](const std::vector<TextExample>& texts, TaggedTexts& tags, QuestionTexts& questions) {
    for (const TextExample& text : texts) {
      TextExample with_tags = text, with_answer = text;
      const std::int32_t begins = 1 + 2 * text.labels[0];
      with_tags.labels = {begins, begins + 1, begins + 1, 0, begins, begins + 1};
      with_tags.words = {0, 1, 2, 3, 4, 5};
      tags.sentence_of.push_back(static_cast<std::int32_t>(tags.tags.size()));
      tags.tags.push_back(with_tags.labels);
      tags.texts.texts.push_back(with_tags);
      // The input is the end token, followed by the passage. If the passage has no 0, the answer is position 0.
      with_answer.ids.insert(with_answer.ids.begin(), kEnd);
      const auto zero = std::ranges::find(with_answer.ids, 0) - with_answer.ids.begin();
      const auto place = static_cast<std::int32_t>(zero < std::ssize(with_answer.ids) ? zero : 0);
      with_answer.labels = {place, place};
      questions.texts.texts.push_back(with_answer);
      AskedQuestion& question = questions.questions.emplace_back(AskedQuestion{"abcdef", {}, {}});
      if (place > 0) question.answers = {std::string(1, static_cast<char>('a' + place - 1))};
      Encoding& encoding = question.cut.encoding;
      encoding = {with_answer.ids,
                  {},
                  {-1, 1, 1, 1, 1, 1, 1},
                  {{}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}},
                  {-1, 0, 1, 2, 3, 4, 5}};
      question.cut.windows = {{encoding, 1, 1, 6}};
    }
  };
  fill(rings.train, tagged.train, asked.train);
  fill(rings.valid, tagged.valid, asked.valid);
  const auto tagger = SmallBert({.token_classes = true, .labels = {"O", "B-one", "I-one", "B-three", "I-three"}});
  const ValidationReport tags = LastReport(TaggingTask(*tagger, tagged, kBatches), options, folder.File("tags"));
  EXPECT_EQ(tags.score_name, "f1");
  EXPECT_EQ(tags.score, 100);
  const auto answerer = SmallBert({.question_spans = true});
  const ValidationReport answers =
      LastReport(QuestionTask(*answerer, asked, kBatches), options, folder.File("answers"));
  EXPECT_EQ(answers.score, 100);
  ASSERT_EQ(answers.more_scores.size(), 1U);
  EXPECT_EQ(answers.more_scores[0].value, 100);
  // If the labels are not span tags, the score is the accuracy per token.
  const auto plain = SmallBert({.token_classes = true, .labels = {"O", "a", "b", "c", "d"}});
  EXPECT_EQ(TaggingTask(*plain, tagged, kBatches).validate({}).score_name, "accuracy");
}

TEST(TextTraining, MasksWholeWordsAndAtLeastOne) {
  TextSets texts{.train = {}, .valid = {}};
  texts.train.push_back(
      {.ids = {kEnd, 1, 2, 3, 4, 5, kEnd}, .types = {}, .words = {-1, 0, 0, 1, 1, 1, -1}, .labels = {}});
  texts.valid = texts.train;
  const auto model = SmallBert({.pooler = false, .masked_words = true});
  const TrainingTask task = MaskedLanguageModelTask(
      *model, texts, {.share = 0.15, .whole_words = true, .mask_id = kMask, .special_ids = {kMask, kEnd}}, kBatches);
  const auto next = task.batches({});
  std::set<std::vector<std::int32_t>> seen;
  for (int epoch = 0; epoch < 40; ++epoch) seen.insert(next().parts.at(0).As<TokenBatch>().labels);
  EXPECT_THAT(seen, testing::UnorderedElementsAre(std::vector<std::int32_t>{-1, 1, 2, -1, -1, -1, -1},
                                                  std::vector<std::int32_t>{-1, -1, -1, 3, 4, 5, -1}));
}

TEST(TextTraining, EightInTenAreMaskedOneIsReplacedOneStays) {
  TextSets texts;
  texts.train.push_back({.ids = {1, 2, 3, 4}, .types = {}, .words = {0, 1, 2, 3}, .labels = {}});
  texts.valid = texts.train;
  const auto model = SmallBert({.pooler = false, .masked_words = true});
  const TrainingTask task =
      MaskedLanguageModelTask(*model, texts, {.share = 0.25, .mask_id = kMask, .special_ids = {kMask, kEnd}}, kBatches);
  const auto next = task.batches({});
  int hidden = 0, same = 0, other = 0;
  constexpr int draws = 4000;
  for (int epoch = 0; epoch < draws; ++epoch) {
    const auto batch = next().parts.at(0).As<TokenBatch>();
    ASSERT_EQ(LabelCount(batch), 1);
    const auto place = static_cast<std::size_t>(
        std::ranges::find_if(batch.labels, [](std::int32_t label) { return label >= 0; }) - batch.labels.begin());
    EXPECT_EQ(batch.labels[place], texts.train[0].ids[place]);
    const std::int32_t id = batch.source_ids[place];
    EXPECT_NE(id, kEnd);  // special tokens are not used as replacements
    ++(id == kMask ? hidden : id == batch.labels[place] ? same : other);
  }
  // A random replacement is the original token in 1 of 8 cases, since 8 tokens are not special.
  EXPECT_NEAR(hidden, 0.8 * draws, 110);
  EXPECT_NEAR(same, (0.1 + 0.1 / 8) * draws, 90);
  EXPECT_NEAR(other, (0.1 - 0.1 / 8) * draws, 90);
}

TEST(TextTraining, RefusesInvalidExamples) {
  const auto bert = SmallBert({.pooler = false, .masked_words = true});
  const auto gpt2 = SmallGpt2();
  TextSets texts = Sets();
  EXPECT_THAT(ErrorOf([&] { ClassificationTask(*bert, texts, kBatches); }), HasSubstr("no head for classes"));
  EXPECT_THAT(ErrorOf([&] { TaggingTask(*bert, {}, kBatches); }), HasSubstr("head for classes of tokens"));
  EXPECT_THAT(ErrorOf([&] { QuestionTask(*bert, {}, kBatches); }), HasSubstr("no head for answers"));
  texts.valid.clear();
  EXPECT_THAT(ErrorOf([&] {
                LanguageModelTask(*gpt2, texts, kValidBytes, {kBatches, 0});
              }),
              HasSubstr("no text to validate on"));
  texts = Sets();
  texts.train[3].ids.resize(16);
  EXPECT_THAT(ErrorOf([&] {
                LanguageModelTask(*gpt2, texts, kValidBytes, {kBatches, 0});
              }),
              HasSubstr("text 4 to train on"));
}

}  // namespace
}  // namespace headlight::text_training_test
