// Compares encoder pipelines with Transformers' pipelines. tools/make_encoder_goldens.py describes the folders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/mask_filler.h"
#include "headlight/pipelines/question_answerer.h"
#include "headlight/pipelines/text_classifier.h"
#include "headlight/pipelines/token_classifier.h"

namespace headlight::encoder_tasks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFolders = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/";

JsonView Golden(const std::string& name) { return ReadJson(kFolders + name + "/golden.json"); }

std::vector<std::string> Strings(const JsonView& items) {
  std::vector<std::string> strings;
  for (const JsonView& item : items.Items()) strings.push_back(item.String());
  return strings;
}

TEST(MaskFiller, EqualsTransformersPipeline) {
  const MaskFiller filler = MaskFiller::Load(kFolders + "fill_mask");
  EXPECT_EQ(filler.mask(), "<mask>");
  const JsonView golden = Golden("fill_mask");
  const std::vector<std::string> texts = Strings(golden["texts"]);
  for (const std::int64_t batch_tokens : {4096, 1}) {
    const auto filled = filler.Fill(texts, {.top_k = 3, .batch_tokens = batch_tokens});
    const std::vector<JsonView> expected = golden["expected"].Items();
    ASSERT_EQ(filled.size(), expected.size());
    for (std::size_t text = 0; text < filled.size(); ++text) {
      const std::vector<JsonView> masks = expected[text].Items();
      ASSERT_EQ(filled[text].size(), masks.size());
      for (std::size_t mask = 0; mask < masks.size(); ++mask)
        for (std::size_t index = 0; index < 3; ++index) {
          const std::vector<JsonView> word = masks[mask].Items()[index].Items();
          EXPECT_EQ(filled[text][mask][index].id, word[0].Integer());
          EXPECT_EQ(filled[text][mask][index].text, word[1].String());
          EXPECT_NEAR(filled[text][mask][index].score, word[2].Number(), 1e-5);
        }
    }
  }
  const std::vector<std::string> none = {texts[0], "dog"}, long_one = {"<mask>" + std::string(60, '!')};
  EXPECT_THAT(ErrorOf([&] { filler.Fill(none); }), HasSubstr("text 2: there is no <mask>"));
  EXPECT_THAT(ErrorOf([&] { filler.Fill(texts, {.top_k = 0}); }), HasSubstr("`top_k` must be"));
  EXPECT_EQ(filler.Fill(texts[0])[0][0].id, filler.Fill(texts)[0][0][0].id);
  EXPECT_THAT(ErrorOf([&] { filler.Fill(long_one); }), HasSubstr("reads at most 22"));
  EXPECT_THAT(ErrorOf([] { MaskFiller::Load(kFolders + "tag"); }), HasSubstr("no head for masked words"));
}

TEST(TextClassifier, EqualsTransformersPipeline) {
  const JsonView golden = Golden("classify");
  std::vector<TextOrPair> texts;
  for (const JsonView& item : golden["texts"].Items()) {
    const std::vector<std::string> parts = Strings(item);
    texts.push_back({parts[0]});
    if (parts.size() == 2) texts.back().second = parts[1];
  }
  for (const char* problem : {"single_label_classification", "multi_label_classification", "regression"}) {
    const TemporaryFolder folder;
    std::filesystem::copy(kFolders + "classify", folder.path());
    std::string config = ReadFile(folder.File("config.json"));
    WriteFile(folder.File("config.json"), config.insert(1, "\"problem_type\": \"" + std::string(problem) + "\","));
    const TextClassifier classifier = TextClassifier::Load(folder.path());
    EXPECT_THAT(classifier.labels(), ElementsAre("no", "maybe", "yes"));
    const Tensor scores = classifier.Scores(texts);
    EXPECT_EQ(classifier.Classify(texts), LabelScores(scores, classifier.labels(), classifier.problem()));
    const std::vector<JsonView> expected = golden[problem].Items();
    for (std::size_t text = 0; text < texts.size(); ++text)
      for (std::int64_t label = 0; label < 3; ++label)
        EXPECT_NEAR(scores.matrix<float>().row(static_cast<std::int64_t>(text))[label],
                    expected[text].Items()[static_cast<std::size_t>(label)].Number(), 1e-5);
  }
  const TextClassifier classifier = TextClassifier::Load(kFolders + "classify");
  EXPECT_EQ(classifier.problem(), Problem::one_label);
  std::string text;
  for (int i = 0; i < 30; ++i) text += "dog ";
  const std::vector<TextOrPair> both = {{"dog"}, {text, "Two men."}};
  EXPECT_THAT(ErrorOf([&] { classifier.Classify(both); }), HasSubstr("text 2: 37 tokens"));
  std::vector<std::size_t> cut;
  classifier.Classify(both, {.truncate = true, .on_truncated = [&](std::size_t i) { cut.push_back(i); }});
  EXPECT_THAT(cut, ElementsAre(1));
  const std::vector<LabelScore> one = classifier.Classify("dog", {.top_k = 2});
  ASSERT_EQ(one.size(), 2U);
  EXPECT_GE(one[0].score, one[1].score);
  EXPECT_EQ(classifier.Classify({{"dog"}}, {.top_k = 2}), std::vector<std::vector<LabelScore>>{one});
  EXPECT_THAT(ErrorOf([&] { classifier.Classify("dog", {.top_k = 0}); }), HasSubstr("`top_k`"));
  EXPECT_THAT(ErrorOf([] { TextClassifier::Load(kFolders + "tag"); }), HasSubstr("head for classes of texts"));
}

TEST(TextClassifier, NamesAMissingPooler) {
  const TemporaryFolder folder;
  std::filesystem::copy(kFolders + "classify", folder.path());
  const Safetensors weights(kFolders + "classify/model.safetensors");
  std::vector<StoredTensor> tensors;
  for (const auto& [name, tensor] : weights.tensors())
    if (!name.ends_with("pooler.dense.weight")) tensors.push_back(tensor);
  ASSERT_EQ(tensors.size() + 1, weights.tensors().size());
  WriteSafetensors(folder.File("model.safetensors"), tensors);
  EXPECT_THAT(ErrorOf([&] { TextClassifier::Load(folder.path()); }),
              HasSubstr("model.safetensors: there is no 'bert.pooler.dense.weight'"));
}

// Checks that a second text also has type 0 if model_input_names lacks token_type_ids. If a folder does not list its
// inputs, the tokenizer's class in Transformers 5.24 determines the types.
TEST(TextClassifier, OmitsTokenTypesThatTheTokenizerDoesNotGive) {
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  std::filesystem::copy(kFolders + "classify", path, std::filesystem::copy_options::recursive);
  const std::vector<TextOrPair> pair = {{"A dog runs.", "Two dogs."}};
  const auto scores = [&](const char* names) {
    WriteFile(path + "/tokenizer_config.json", fmt::format(R"({{"model_input_names": [{}]}})", names));
    return TextClassifier::Load(path).Scores(pair).ToVector<float>();
  };
  const std::vector<float> with = scores(R"("input_ids", "token_type_ids", "attention_mask")");
  const std::vector<float> without = scores(R"("input_ids", "attention_mask")");
  EXPECT_NE(without, with);
  // If the folder does not list its inputs, the tokenizer's class decides.
  const auto scores_of_class = [&](const char* name) {
    WriteFile(path + "/tokenizer_config.json", fmt::format(R"({{"tokenizer_class": "{}"}})", name));
    return TextClassifier::Load(path).Scores(pair).ToVector<float>();
  };
  for (const char* name : {"BertTokenizer", "BertTokenizerFast", "ElectraTokenizerFast", "ConvBertTokenizer",
                           "LxmertTokenizer", "MobileBertTokenizerFast", "SqueezeBertTokenizer", "LayoutLMTokenizer"})
    EXPECT_EQ(scores_of_class(name), with) << name;
  for (const char* name :
       {"DistilBertTokenizer", "DistilBertTokenizerFast", "TokenizersBackend", "PreTrainedTokenizerFast",
        "PreTrainedTokenizer", "PythonBackend", "RobertaTokenizerFast", "MPNetTokenizerFast", "FunnelTokenizerFast",
        "SplinterTokenizer", "RetriBertTokenizer", "RealmTokenizer", "DPRReaderTokenizer"})
    EXPECT_EQ(scores_of_class(name), without) << name;
  // The tokenizer class in config.json is used if tokenizer_config.json has none. Without either, the model type
  // decides.
  std::filesystem::remove(path + "/tokenizer_config.json");
  const auto loaded = [&] { return TextClassifier::Load(path).Scores(pair).ToVector<float>(); };
  EXPECT_EQ(loaded(), with);
  Json config = ReadJson(path + "/config.json").value();
  config.Set("tokenizer_class", "PreTrainedTokenizerFast");
  WriteFile(path + "/config.json", config.Text());
  EXPECT_EQ(loaded(), without);
  EXPECT_EQ(scores_of_class("BertTokenizer"), with);
}

TEST(EncoderTasks, TakeListsAndRefuseUnsupportedInput) {
  EXPECT_EQ(TextClassifier::Load(kFolders + "classify").Classify({{"dog"}, {"A dog.", "Two men."}}).size(), 2U);
  EXPECT_EQ(TokenClassifier::Load(kFolders + "tag").Tag({"A dog.", "Two men."}).size(), 2U);
  EXPECT_EQ(MaskFiller::Load(kFolders + "fill_mask").Fill({"A <mask>."}, {.top_k = 2})[0][0].size(), 2U);
  EXPECT_EQ(QuestionAnswerer::Load(kFolders + "answer").Answer({{"Who?", "A dog."}}).size(), 1U);
  const TokenClassifier tagger = TokenClassifier::Load(kFolders + "tag");
  EXPECT_THAT(ErrorOf([&] { tagger.Tag({"A dog.", "A\xFF"}); }), HasSubstr("text 2: byte 1"));
  const TextClassifier classifier = TextClassifier::Load(kFolders + "classify");
  EXPECT_THAT(ErrorOf([&] { classifier.Classify({{"A", "\xFF"}}); }), HasSubstr("text 1: byte 0"));
  EXPECT_THAT(ErrorOf([] { TokenClassifier::Load(kFolders + "tag", {.shortlist = true}); }),
              HasSubstr("shortlist is for a Translator"));
  EXPECT_THAT(ErrorOf([] { QuestionAnswerer::Load(kFolders + "answer", {.draft = true}); }),
              HasSubstr("draft is for a Translator"));
}

void ExpectSpans(const std::vector<NamedSpan>& spans, const JsonView& golden) {
  const std::vector<JsonView> expected = golden.Items();
  ASSERT_EQ(spans.size(), expected.size()) << golden.location();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::vector<JsonView> span = expected[i].Items();
    EXPECT_EQ(spans[i].label, span[0].String()) << golden.location();
    EXPECT_EQ(spans[i].start, span[1].Integer()) << golden.location();
    EXPECT_EQ(spans[i].end, span[2].Integer()) << golden.location();
    EXPECT_NEAR(spans[i].score, span[3].Number(), 1e-5) << golden.location();
  }
}

// Compares all aggregation strategies, also with BIOES labels.
TEST(TokenClassifier, EqualsTransformersPipeline) {
  const JsonView golden = Golden("tag");
  const std::vector<std::string> texts = Strings(golden["texts"]);
  const TemporaryFolder temporary;
  const std::string path = temporary.File("other_labels");
  std::filesystem::copy(kFolders + "tag", path);
  Json config = ReadJson(path + "/config.json").value();
  Json names = Json::Object{};
  for (const std::string& label : Strings(golden["labels"]))
    names.Set(std::to_string(names.As<Json::Object>()->size()), label);
  config.Set("id2label", std::move(names));
  WriteFile(path + "/config.json", config.Text());
  const std::pair<const char*, TagAggregation> strategies[] = {{"simple", TagAggregation::simple},
                                                               {"first", TagAggregation::first},
                                                               {"average", TagAggregation::average},
                                                               {"max", TagAggregation::max}};
  for (const auto& [folder, key] : {std::pair(kFolders + "tag", "expected"), {path, "other_labels"}}) {
    const TokenClassifier tagger = TokenClassifier::Load(folder);
    for (const auto& [strategy, aggregation] : strategies) {
      const auto tagged = tagger.Tag(texts, {.aggregation = aggregation});
      const std::vector<JsonView> expected = golden[key][strategy].Items();
      for (std::size_t text = 0; text < texts.size(); ++text) ExpectSpans(tagged[text], expected[text]);
    }
    const auto usual = tagger.Tag(texts);
    const std::vector<JsonView> expected = golden[key][folder == path ? "simple" : "first"].Items();
    for (std::size_t text = 0; text < texts.size(); ++text) ExpectSpans(usual[text], expected[text]);
  }
  EXPECT_EQ(TokenClassifier::Load(kFolders + "tag").Tag(texts, {.aggregation = TagAggregation::simple})[2][8].text,
            "dögs");
  EXPECT_THAT(ErrorOf([] { TokenClassifier::Load(kFolders + "answer"); }), HasSubstr("head for classes of tokens"));
}

// Compares the labels of single tokens, and of long texts that are split into windows (tools/make_pipeline_goldens.py).
TEST(TokenClassifier, EqualsTransformersPipelineInTokensAndWindows) {
  const TokenClassifier tagger = TokenClassifier::Load(kFolders + "tag");
  const JsonView golden = ReadJson(kFolders + "tag/pipelines.json");
  const std::vector<std::string> texts = Strings(golden["texts"]);
  const std::vector<JsonView> alone = golden["none"].Items();
  for (std::size_t text = 0; text < alone.size(); ++text)
    ExpectSpans(tagger.Tag(texts[text], {.aggregation = TagAggregation::none}), alone[text]);
  const std::map<std::string, TagAggregation> strategies = {{"simple", TagAggregation::simple},
                                                            {"first", TagAggregation::first},
                                                            {"average", TagAggregation::average},
                                                            {"max", TagAggregation::max}};
  for (const JsonView& windows : golden["windows"].Items()) {
    const auto tagged = tagger.Tag(
        texts, {.stride = windows["stride"].Integer(), .aggregation = strategies.at(windows["aggregation"].String())});
    const std::vector<JsonView> expected = windows["expected"].Items();
    for (std::size_t text = 0; text < texts.size(); ++text) ExpectSpans(tagged[text], expected[text]);
  }
}

TEST(TokenClassifier, ReturnsTopKLabelsPerToken) {
  const TokenClassifier tagger = TokenClassifier::Load(kFolders + "tag");
  const std::string text = "Two men, two dögs.";
  const std::vector<NamedSpan> best = tagger.Tag(text, {.top_k = 1, .aggregation = TagAggregation::none});
  const std::vector<NamedSpan> all = tagger.Tag(text, {.top_k = 9, .aggregation = TagAggregation::none});
  ASSERT_EQ(all.size(), 5 * best.size());
  for (std::size_t token = 0; token < best.size(); ++token) {
    EXPECT_EQ(all[5 * token].label, best[token].label);
    float sum = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      const NamedSpan& one = all[5 * token + i];
      EXPECT_EQ(one.start, best[token].start);
      EXPECT_EQ(one.text, best[token].text);
      EXPECT_LE(one.score, best[token].score);
      sum += one.score;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  const auto refused = [&](const TagOptions& options) { return ErrorOf([&] { tagger.Tag(text, options); }); };
  EXPECT_THAT(refused({.top_k = 2}), HasSubstr("`top_k` is for tokens without"));
  EXPECT_THAT(refused({.top_k = 0, .aggregation = TagAggregation::none}), HasSubstr("`top_k` must be"));
  EXPECT_THAT(refused({.max_input_length = 25}), HasSubstr("`max_input_length` is 25"));
  EXPECT_THAT(refused({.max_input_length = 2}), HasSubstr("2 tokens at once"));
  EXPECT_THAT(refused({.max_input_length = 8, .stride = 8}), HasSubstr("`stride` is 8"));
  EXPECT_THAT(refused({.max_input_length = 8, .stride = 6}), HasSubstr("`stride` is 6"));
  EXPECT_THAT(refused({.stride = 1, .aggregation = TagAggregation::none}), HasSubstr("`stride` is for aggregated"));
}

// The model accepts 24 tokens, including [CLS] and [SEP]. A text of 22 tokens fits. The long text repeats this text.
TEST(TokenClassifier, ReadsLongTextsInWindows) {
  const TokenClassifier tagger = TokenClassifier::Load(kFolders + "tag");
  std::string first, text;
  for (int i = 0; i < 22; ++i) first += i % 3 == 0 ? "dog " : i % 3 == 1 ? "men " : ". ";
  for (int i = 0; i < 7; ++i) text += first;
  const std::vector<std::string> texts = {first, text, ""};
  const auto tagged = tagger.Tag(texts);
  EXPECT_TRUE(tagged[2].empty());
  EXPECT_EQ(tagger.Tag(first).size(), tagged[0].size());
  ASSERT_GT(tagged[1].size(), tagged[0].size());
  for (std::size_t i = 0; i < tagged[0].size() && tagged[0][i].end < 40; ++i) {
    EXPECT_EQ(tagged[1][i].label, tagged[0][i].label);
    EXPECT_EQ(tagged[1][i].start, tagged[0][i].start);
  }
  std::int32_t before = 0;
  for (const NamedSpan& span : tagged[1]) {
    EXPECT_GE(span.start, before);
    EXPECT_EQ(span.text,
              text.substr(static_cast<std::size_t>(span.start), static_cast<std::size_t>(span.end - span.start)));
    before = span.end;
  }
  EXPECT_GT(before, static_cast<std::int32_t>(text.size()) - 40);
}

TEST(QuestionAnswerer, EqualsTransformersPipeline) {
  const QuestionAnswerer answerer = QuestionAnswerer::Load(kFolders + "answer");
  const JsonView golden = Golden("answer");
  std::vector<Question> questions;
  for (const JsonView& item : golden["questions"].Items()) {
    const std::vector<std::string> parts = Strings(item);
    questions.push_back({parts[0], parts[1]});
  }
  for (const bool may_decline : {true, false}) {
    std::vector<AnswerSpan> answers;
    for (const auto& best : answerer.Answer(questions, {.longest_answer = 5, .may_decline = may_decline})) {
      EXPECT_EQ(best.size(), 1U);
      answers.push_back(best.front());
    }
    const std::vector<JsonView> expected = golden[may_decline ? "expected" : "always"].Items();
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const std::vector<JsonView> span = expected[i].Items();
      EXPECT_NEAR(answers[i].score, span[0].Number(), 1e-5) << i;
      EXPECT_EQ(answers[i].start, span[1].Integer()) << i;
      EXPECT_EQ(answers[i].end, span[2].Integer()) << i;
      EXPECT_EQ(answers[i].found, answers[i].end > 0);
      EXPECT_EQ(answers[i].answer,
                questions[i].context.substr(static_cast<std::size_t>(answers[i].start),
                                            static_cast<std::size_t>(answers[i].end - answers[i].start)));
    }
  }
  const AnswerSpan one = answerer.Answer(questions[0].question, questions[0].context, {.longest_answer = 5})[0];
  EXPECT_EQ(one.answer, answerer.Answer({questions[0]}, {.longest_answer = 5})[0][0].answer);
  const std::vector<Question> empty = {{"dogs?", " "}}, long_one = {{std::string(30, '.'), "dog"}};
  EXPECT_THAT(ErrorOf([&] { answerer.Answer(empty); }), HasSubstr("text 1: the passage"));
  EXPECT_THAT(ErrorOf([&] { answerer.Answer(long_one); }), HasSubstr("the question has 33 tokens"));
  EXPECT_THAT(ErrorOf([] { QuestionAnswerer::Load(kFolders + "tag"); }), HasSubstr("no head for answers"));
}

// Compares several answers, windows of other sizes, and spans of partial words (tools/make_pipeline_goldens.py).
TEST(QuestionAnswerer, EqualsTransformersPipelineInSeveralAnswers) {
  const QuestionAnswerer answerer = QuestionAnswerer::Load(kFolders + "answer");
  const JsonView golden = ReadJson(kFolders + "answer/pipelines.json");
  std::vector<Question> questions;
  for (const JsonView& item : golden["questions"].Items()) {
    const std::vector<std::string> parts = Strings(item);
    questions.push_back({parts[0], parts[1]});
  }
  for (const JsonView& one : golden["cases"].Items()) {
    const auto answers = answerer.Answer(questions, {.top_k = one["top_k"].Integer(),
                                                     .longest_answer = 5,
                                                     .align_words = one["align_words"].Bool(),
                                                     .max_input_length = one["max_input_length"].Integer(),
                                                     .stride = one["stride"].Integer()});
    const std::vector<JsonView> expected = one["expected"].Items();
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const std::vector<JsonView> spans = expected[i].Items();
      ASSERT_EQ(answers[i].size(), spans.size()) << expected[i].location();
      for (std::size_t index = 0; index < spans.size(); ++index) {
        const std::vector<JsonView> span = spans[index].Items();
        EXPECT_NEAR(answers[i][index].score, span[0].Number(), 1e-5) << spans[index].location();
        EXPECT_EQ(answers[i][index].start, span[1].Integer()) << spans[index].location();
        EXPECT_EQ(answers[i][index].end, span[2].Integer()) << spans[index].location();
      }
    }
  }
  const auto refused = [&](const AnswerOptions& options) {
    return ErrorOf([&] { answerer.Answer(questions, options); });
  };
  EXPECT_THAT(refused({.top_k = 101}), HasSubstr("`top_k` must be 1"));
  EXPECT_THAT(refused({.max_input_length = 25}), HasSubstr("`max_input_length` is 25"));
  EXPECT_THAT(refused({.stride = 24}), HasSubstr("`stride` is 24"));
  EXPECT_THAT(refused({.max_input_length = 12, .stride = 11}), HasSubstr("`stride` is 11"));
}

TEST(EncoderFolder, SplitsAndTruncatesTexts) {
  const auto part = [](const Encoding& encoding) { return encoding.ids; };
  Encoding encoding{
      {101, 1, 102, 2, 3, 4, 5, 6, 103}, {0, 0, 0, 1, 1, 1, 1, 1, 1}, {-1, 0, -1, 1, 1, 1, 1, 1, -1}, {}, {}};
  encoding.spans.resize(9);
  encoding.words.resize(9);
  const std::vector<Window> windows = SlidingWindows(encoding, 1, 7, 1);
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_THAT(part(windows[0].encoding), ElementsAre(101, 1, 102, 2, 3, 4, 103));
  EXPECT_THAT(part(windows[1].encoding), ElementsAre(101, 1, 102, 4, 5, 6, 103));
  EXPECT_THAT(windows[1].encoding.type_ids, ElementsAre(0, 0, 0, 1, 1, 1, 1));
  EXPECT_EQ(windows[1].begin, 5);
  EXPECT_EQ(windows[1].first, 3);
  EXPECT_EQ(windows[1].count, 3);
  EXPECT_EQ(SlidingWindows(encoding, 1, 9, 1).size(), 1U);
  EXPECT_EQ(SlidingWindows(encoding, 1, 5, 99).size(), 5U);  // space for one token of the context
  EXPECT_THAT(ErrorOf([&] { SlidingWindows(encoding, 1, 4, 0); }), HasSubstr("the model reads 4 tokens"));

  EXPECT_FALSE(Truncate(encoding, 9));
  EXPECT_TRUE(Truncate(encoding, 6));
  EXPECT_THAT(part(encoding), ElementsAre(101, 1, 102, 2, 3, 103));
  EXPECT_TRUE(Truncate(encoding, 4));
  EXPECT_THAT(part(encoding), ElementsAre(101, 102, 2, 103));
  EXPECT_THAT(ErrorOf([&] { Truncate(encoding, 2); }), HasSubstr("special"));
}

}  // namespace
}  // namespace headlight::encoder_tasks_test
