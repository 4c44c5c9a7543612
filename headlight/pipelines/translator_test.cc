#include "headlight/pipelines/translator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/decode.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/pipelines/testing.h"

namespace headlight::translator_test {
namespace {

using testing::HasSubstr;

struct TranslatorTest : testing::Test {
  TranslatorTest() {
    SaveTinyModel(folder.path());
    translator.emplace(Translator::Load(folder.path()));
  }

  // Returns the beginning of the folder's generation_config.json, which tests extend.
  std::string EndsAndPadding() const {
    const auto limits = translator->model().limits();
    return fmt::format(R"("forced_eos_token_id": {}, "bad_words_ids": [[{}]])", limits.end_id, limits.pad_id);
  }

  TemporaryFolder folder;
  std::optional<Translator> translator;
  const std::vector<std::string> texts = {"Ein Hund läuft.",
                                          "",
                                          "Zwei Kinder spielen, sie lachen.",
                                          " \t ",
                                          "Hund",
                                          "Gestern hat der Mann ein Buch gelesen!"};
};

TEST_F(TranslatorTest, IsBatchInvariant) {
  const auto together = translator->TranslateBatch(texts);
  ASSERT_EQ(together.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_EQ(together[i].size(), 1U);
    EXPECT_EQ(translator->Translate(texts[i]), together[i].front().text);
    EXPECT_EQ(together[i].front().parts, 1);
  }
  EXPECT_NE(together[0].front().text, "");
  EXPECT_EQ(together[1].front().text, "");
  EXPECT_EQ(together[3].front().text, "");
  EXPECT_EQ(translator->TranslateBatch(texts, {.batch_tokens = 1})[5].front().text, together[5].front().text);
}

TEST_F(TranslatorTest, ServesFourThreadsAtOnce) {
  const auto expected = translator->TranslateBatch(texts);
  std::atomic<int> equal{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, copy = *translator] {
      for (int round = 0; round < 3; ++round)
        for (std::size_t i = 0; i < texts.size(); ++i) equal += copy.Translate(texts[i]) == expected[i].front().text;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(equal, static_cast<int>(4 * 3 * texts.size()));
}

TEST_F(TranslatorTest, SortsHypothesesByScore) {
  const auto results = translator->TranslateBatch(texts, {.beam_size = 5, .n_best = 3});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (CountWords(texts[i]) == 0) {
      EXPECT_EQ(results[i].size(), 1U);
      continue;
    }
    ASSERT_EQ(results[i].size(), 3U);
    EXPECT_GE(results[i][0].score, results[i][1].score);
    EXPECT_GE(results[i][1].score, results[i][2].score);
    EXPECT_LT(results[i][0].score, 0);
  }
}

TEST_F(TranslatorTest, UsesTheFoldersBeamsAndPenalty) {
  const std::string path = folder.File("generation_config.json");
  WriteFile(path, fmt::format(R"({{"num_beams": 2, "length_penalty": 0.25, {}}})", EndsAndPadding()));
  const Translator other = Translator::Load(folder.path());
  EXPECT_EQ(other.TranslateBatch(texts)[0][0].score,
            translator->TranslateBatch(texts, {.beam_size = 2, .length_penalty = 0.25})[0][0].score);
  WriteFile(path, R"({"num_beams": 0})");
  EXPECT_THAT(ErrorOf([&] { Translator::Load(folder.path()); }), HasSubstr("num_beams"));
}

TEST_F(TranslatorTest, SplitsATextThatIsTooLong) {
  const std::string sentence = "Zwei Kinder spielen, sie lachen.";
  const std::string text = sentence + " " + sentence + " " + sentence + " " + sentence;
  const Translation translation = translator->TranslateBatch({{text}}, {.alignment = true, .attention = true})[0][0];
  EXPECT_GT(translation.tokens, 40);
  ASSERT_EQ(translation.parts, 4);
  const std::string part = translator->Translate(sentence);
  EXPECT_EQ(translation.text, part + " " + part + " " + part + " " + part);
  EXPECT_FALSE(translation.attention);
  // The words of each part must be aligned to words of the translation of that part.
  const std::int32_t words = CountWords(part);
  for (const WordPair& pair : translation.alignment) EXPECT_EQ(pair.source / 5, pair.target / words);
  EXPECT_EQ(translation.alignment.back().source / 5, 3);
}

TEST_F(TranslatorTest, AlignsEveryTargetWord) {
  const Translation translation = translator->TranslateBatch({{texts[2]}}, {.alignment = true})[0][0];
  std::vector<bool> aligned(static_cast<std::size_t>(CountWords(translation.text)));
  for (const WordPair& pair : translation.alignment) {
    EXPECT_GE(pair.source, 0);
    EXPECT_LT(pair.source, 5);
    aligned.at(static_cast<std::size_t>(pair.target)) = true;
  }
  EXPECT_THAT(aligned, testing::Each(true));
}

// Checks that decoding computes the same cross-attention rows as one pass over the whole translation.
TEST_F(TranslatorTest, KeepsTheLastLayersCrossAttentionWhileDecoding) {
  const EncoderDecoder& model = translator->model();
  const Translator drafting = Translator::Load(folder.path(), {.draft = true});
  std::vector<std::int32_t> source = translator->tokenizer().Encode(texts[2]);
  source.push_back(model.limits().end_id);
  const Sequences sources = {{0, static_cast<std::int32_t>(source.size())}};
  for (const std::int32_t beams : {1, 4}) {
    const DecodingOptions options{.search = {.beam_size = beams, .n_best = beams, .attention = true}, .min_length = 6};
    for (const EncoderDecoder* decoder : {&model, &drafting.model()}) {
      const auto decoded = Decode(*decoder, source, sources, options);
      for (const Hypothesis& hypothesis : decoded[0]) {
        std::vector<std::int32_t> inputs = {model.limits().start_id};
        inputs.insert(inputs.end(), hypothesis.ids.begin(), hypothesis.ids.end());
        inputs.resize(std::min(inputs.size(), static_cast<std::size_t>(model.limits().positions)));
        Context context;
        Tensor last;
        context.hooks.attention = [&](const LayerAttention& seen) {
          if (seen.kind == AttentionKind::cross) last = seen.weights;
        };
        const Sequences targets = {{0, static_cast<std::int32_t>(inputs.size())}};
        model.Decode(context, inputs, targets, {model.Encode(context, source, sources), sources});
        ASSERT_GE(hypothesis.attention.size(), hypothesis.ids.size());
        for (std::size_t token = 0; token < hypothesis.ids.size(); ++token)
          for (std::size_t key = 0; key < source.size(); ++key) {
            float sum = 0;
            for (std::int64_t head = 0; head < last.shape()[1]; ++head)
              sum += last.matrix<float>().row(head * std::ssize(inputs) + static_cast<std::int64_t>(token))[key];
            ASSERT_NEAR((*hypothesis.attention[token])[key], sum, 1e-5) << beams << " " << token << " " << key;
          }
      }
    }
  }
}

TEST_F(TranslatorTest, RecordsTheAttentionOfEveryHead) {
  const AttentionRecord record = translator->Attention("Ein Hund läuft.", "A dog runs.");
  CheckAttention(record);
  EXPECT_EQ(record.maps.size(), 2U + 3 + 3);
  EXPECT_EQ(record.source_tokens.back(), "</s>");
  EXPECT_EQ(record.target_tokens.front(), "<s>");
  EXPECT_THAT(record.target_tokens[1], testing::StartsWith("▁"));
  EXPECT_EQ(record.maps.front().kind, AttentionKind::encoder_self);
  EXPECT_EQ(record.maps.back().kind, AttentionKind::cross);
  EXPECT_EQ(record.maps.back().layer, 2);

  const auto best = translator->TranslateBatch({{texts[0]}}, {.attention = true})[0][0];
  const AttentionRecord own = translator->Attention(texts[0]);
  EXPECT_EQ(own.target_tokens, best.attention.value().target_tokens);
  EXPECT_EQ(own.maps.back().weights, best.attention.value().maps.back().weights);
}

TEST_F(TranslatorTest, TakesOneTextOrAList) {
  const TranslateOptions two{.beam_size = 2};
  EXPECT_EQ(translator->Translate("Hund", two), translator->TranslateBatch(texts, two)[4][0].text);
  const auto batch = translator->TranslateBatch({"Hund", "Ein Hund läuft."}, two);
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_EQ(batch[0][0].text, translator->Translate("Hund", two));
  EXPECT_TRUE(translator->TranslateBatch({}).empty());
}

TEST_F(TranslatorTest, BeginsWithTheTargetPrefix) {
  const auto all = translator->TranslateBatch(texts, {.target_prefix = {"A dog"}});
  for (std::size_t i : {0, 2, 4, 5}) EXPECT_THAT(all[i][0].text, testing::StartsWith("A dog")) << i;
  EXPECT_EQ(all[1][0].text, "");
  const auto each =
      translator->TranslateBatch({"Hund", "Hund", "Ein Hund läuft."}, {.target_prefix = {"A dog", "", "Two"}});
  EXPECT_EQ(each[0][0].text, all[4][0].text);
  EXPECT_EQ(each[1][0].text, translator->Translate("Hund"));
  EXPECT_THAT(each[2][0].text, testing::StartsWith("Two"));
  // The prefix occurs once in the translation of a text that is split.
  const std::string sentence = "Zwei Kinder spielen, sie lachen.", twice = sentence + " " + sentence;
  const TranslateOptions dog{.target_prefix = {"A dog"}};
  EXPECT_EQ(translator->Translate(twice, dog),
            translator->Translate(sentence, dog) + " " + translator->Translate(sentence));
  EXPECT_EQ(translator->Attention("Hund", {}, dog).target_tokens[1], "▁");
}

TEST_F(TranslatorTest, SamplesTheSameInAnyBatch) {
  TranslateOptions options{.n_best = 3, .temperature = 2, .seed = 5};
  const auto together = translator->TranslateBatch(texts, options);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    options.first_stream = i;
    const auto alone = translator->TranslateBatch({texts[i]}, options)[0];
    ASSERT_EQ(alone.size(), together[i].size());
    for (std::size_t n = 0; n < alone.size(); ++n) EXPECT_EQ(alone[n].text, together[i][n].text);
  }
  ASSERT_EQ(together[2].size(), 3U);
  EXPECT_NE(together[2][0].text, together[2][1].text);
  options = {.temperature = 2, .seed = 5};
  EXPECT_EQ(translator->TranslateBatch(texts, options)[2][0].text, together[2][0].text);
  options.seed = 6;
  EXPECT_NE(translator->TranslateBatch(texts, options)[2][0].text, together[2][0].text);
}

TEST_F(TranslatorTest, ScoresEveryTokenOfATranslation) {
  TranslateOptions options{.target_prefix = {"A dog"}, .token_scores = true};
  const std::string sentence = "Zwei Kinder spielen, sie lachen.";
  for (const std::string& text : {sentence, sentence + " " + sentence}) {
    const Translation one = translator->TranslateBatch({text}, options)[0][0];
    ASSERT_FALSE(one.token_scores.empty());
    EXPECT_FALSE(one.token_scores[0].log_probability);
    EXPECT_EQ(one.token_scores[0].word, 0);
    EXPECT_EQ(one.token_scores[0].piece, "▁");
    std::int32_t last = 0;
    for (const TranslatedToken& token : one.token_scores) {
      if (token.word < 0) continue;
      EXPECT_TRUE(token.word == last || token.word == last + 1);
      last = token.word;
      if (token.log_probability) {
        EXPECT_LT(*token.log_probability, 0);
      }
    }
    EXPECT_EQ(last + 1, CountWords(one.text));
  }
  const Translation plain = translator->TranslateBatch({sentence}, {.length_penalty = 0, .token_scores = true})[0][0];
  double sum = 0;
  for (const TranslatedToken& token : plain.token_scores) sum += token.log_probability.value();
  EXPECT_NEAR(plain.score, sum, 1e-4);
  EXPECT_EQ(plain.token_scores.back().piece, "</s>");  // forced at max_length
}

TEST_F(TranslatorTest, ReadsSamplingAndPenaltyFromTheFolder) {
  const std::string path = folder.File("generation_config.json");
  WriteFile(path, fmt::format(R"({{"num_beams": 4, "do_sample": true, "temperature": 2.0, "top_k": 9,
                      "repetition_penalty": 1.5, {}}})",
                              EndsAndPadding()));
  const Translator other = Translator::Load(folder.path());
  const TranslateOptions same{.repetition_penalty = 1.5, .temperature = 2, .top_k = 9};
  EXPECT_EQ(other.Translate(texts[2]), translator->Translate(texts[2], same));
  EXPECT_EQ(other.Translate(texts[2], {.beam_size = 3}),
            translator->Translate(texts[2], {.beam_size = 3, .repetition_penalty = 1.5}));
  WriteFile(path, R"({"repetition_penalty": 0})");
  EXPECT_THAT(ErrorOf([&] { Translator::Load(folder.path()).Translate("a"); }),
              HasSubstr(path + ": `repetition_penalty` must be"));
}

// Checks that the padding token may be generated, as in Transformers. The tokenizer does not decode it.
TEST_F(TranslatorTest, WritesThePaddingUnlessTheFolderForbidsIt) {
  const std::string path = folder.File("generation_config.json");
  const std::int32_t pad = translator->model().limits().pad_id;
  const auto padded = [&](const std::string& others) {
    WriteFile(path,
              fmt::format(R"({{"num_beams": 1, "max_new_tokens": 6, "sequence_bias": [[[{}], 100]]{}}})", pad, others));
    const Translation translation =
        Translator::Load(folder.path()).TranslateBatch({&texts[2], 1}, {.token_scores = true})[0][0];
    return std::ranges::count(translation.token_scores, "<pad>", &TranslatedToken::piece);
  };
  EXPECT_EQ(padded(""), 6);
  EXPECT_EQ(padded(fmt::format(R"(, "bad_words_ids": [[{}]])", pad)), 0);
}

TEST_F(TranslatorTest, UsesTheFoldersStopStrings) {
  const std::string path = folder.File("generation_config.json");
  for (const int beams : {1, 4}) {
    WriteFile(path, fmt::format(R"({{"num_beams": {}, {}}})", beams, EndsAndPadding()));
    const std::string whole = Translator::Load(folder.path()).Translate(texts[2]);
    ASSERT_GT(whole.size(), 8U);
    const std::string stop = whole.substr(whole.size() / 2, 2);
    WriteFile(path, fmt::format(R"({{"num_beams": {}, "stop_strings": ["never", {}], {}}})", beams, Json(stop).Line(),
                                EndsAndPadding()));
    const auto stopped = Translator::Load(folder.path()).TranslateBatch({&texts[2], 1})[0][0];
    const std::size_t at = stopped.text.find(stop);
    ASSERT_NE(at, std::string::npos) << whole << "\n" << stopped.text;
    EXPECT_TRUE(stopped.complete);
    if (beams == 1) {
      EXPECT_THAT(whole, testing::StartsWith(stopped.text));
      EXPECT_LT(stopped.text.size(), whole.size());
    }
  }
}

TEST_F(TranslatorTest, RefusesImpossibleRequests) {
  const auto refused = [&](const std::string& text, const TranslateOptions& options) {
    return ErrorOf([&] { translator->TranslateBatch({{text}}, options); });
  };
  EXPECT_EQ(refused("ab\xff", {}), "text 1: byte 2 is not UTF-8");
  EXPECT_THAT(refused("", {.beam_size = 0}), HasSubstr("`beam_size` must be"));
  EXPECT_THAT(refused("", {.beam_size = 2, .n_best = 3}), HasSubstr("from 1 to `beam_size`, 2"));
  EXPECT_THAT(refused("", {.max_length = 41}), HasSubstr("40"));
  EXPECT_THAT(refused("", {.batch_tokens = 0}), HasSubstr("batch"));
  EXPECT_THAT(refused("", {.max_length = 5, .min_length = 6}), HasSubstr("`min_length` must be from 0"));
  EXPECT_THAT(refused("", {.beam_size = 2, .top_k = 4}), HasSubstr("sampling is for a `beam_size`"));
  EXPECT_THAT(refused("", {.seed = 4}), HasSubstr("`seed` is for sampling"));
  EXPECT_THAT(refused("", {.sample = false, .temperature = 1}), HasSubstr("which is off"));
  EXPECT_THAT(refused("", {.target_prefix = {"a", "b"}}), HasSubstr("2 of target_prefix"));
  EXPECT_THAT(refused("", {.target_prefix = {"\xff"}}), HasSubstr("target prefix 1: byte 0"));
  EXPECT_THAT(refused("", {.target_prefix = {std::string(200, 'a')}}), HasSubstr("leaves no space"));
  const Translator drafting = Translator::Load(folder.path(), {.draft = true});
  EXPECT_THAT(ErrorOf([&] { drafting.Translate(""); }), HasSubstr("`draft` is for greedy"));
  EXPECT_THAT(ErrorOf([&] { drafting.Translate("", {.top_k = 4}); }), HasSubstr("`draft` is for greedy choice"));
  EXPECT_THAT(ErrorOf([&] { translator->Attention(" "); }), HasSubstr("no words"));
  EXPECT_THAT(ErrorOf([&] { translator->Attention(std::string(200, 'a')); }), HasSubstr("at most 39"));
  EXPECT_THAT(ErrorOf([&] { translator->Attention("a", "\xc3"); }), HasSubstr("the target: byte 0"));
}

TEST_F(TranslatorTest, CanBeCancelled) {
  int asked = 0;
  TranslateOptions options;
  options.cancelled = [&] { return ++asked > 2; };
  EXPECT_THROW(translator->TranslateBatch(texts, options), Cancelled);
}

TEST_F(TranslatorTest, RefusesATokenizerOfAnotherModel) {
  const TemporaryFolder other;
  SaveTinyModel(other.path());
  const std::vector<std::string> lines = {"some other text, of which there is little", "another one"};
  std::size_t next = 0;
  TrainVocabulary(
      [&](std::string_view& line) {
        if (next == lines.size()) return false;
        line = lines[next++];
        return true;
      },
      {.size = 30})
      .Save(other.path());
  EXPECT_THAT(ErrorOf([&] { Translator::Load(other.path()); }), HasSubstr("30 for the tokenizer"));
}

}  // namespace
}  // namespace headlight::translator_test
