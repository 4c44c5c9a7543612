// Compares the encoder families and their heads with Hugging Face Transformers. tools/make_encoder_goldens.py describes
// the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/models/esm.h"
#include "headlight/models/family.h"
#include "headlight/nn/disentangled_attention.h"
#include "tests/encoder_parity_testing.h"

namespace headlight::encoder_parity_test {
namespace {

using testing::HasSubstr;

const std::string kFolders = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/";

class EncoderParity : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, EncoderParity,
                         testing::Values("bert_classes_left", "bert_tags", "bert_answers_left", "roberta",
                                         "roberta_masked_left", "roberta_classes", "roberta_answers", "xlm_tags_left",
                                         "deberta", "deberta_masked_left", "deberta_classes", "deberta_absolute",
                                         "deberta_v2", "deberta_v2_left", "deberta_v3_masked", "deberta_v3_classes",
                                         "deberta_v3_tags", "deberta_v3_answers", "esm", "esm_masked_left",
                                         "esm_1b_masked", "esm_classes_left", "esm_tags"),
                         [](const auto& which) { return which.param; });

TEST_P(EncoderParity, EqualsTransformers) {
  const std::unique_ptr<TextEncoder> model = LoadModel<TextEncoder>(kFolders + GetParam());
  CompareWithGolden(*model, kFolders + GetParam(), 2e-5);
}

TEST_P(EncoderParity, SavesAndLoads) {
  const std::unique_ptr<TextEncoder> model = LoadModel<TextEncoder>(kFolders + GetParam());
  const TemporaryFolder folder;
  model->Save(folder.path());
  const std::unique_ptr<TextEncoder> again = LoadModel<TextEncoder>(folder.path());
  EXPECT_EQ(again->heads().labels, model->heads().labels);
  EXPECT_EQ(again->heads().problem, model->heads().problem);
  ASSERT_EQ(again->parameters().all().size(), model->parameters().all().size());
  for (std::size_t i = 0; i < model->parameters().all().size(); ++i) {
    EXPECT_EQ(again->parameters().all()[i].names, model->parameters().all()[i].names);
    EXPECT_EQ(again->parameters().all()[i].value.ToVector<float>(),
              model->parameters().all()[i].value.ToVector<float>());
  }
  const EncoderGolden golden(kFolders + GetParam());
  Context context;
  EXPECT_EQ(again->Encode(context, golden.ids, golden.types, golden.texts).ToVector<float>(),
            model->Encode(context, golden.ids, golden.types, golden.texts).ToVector<float>());
}

// Checks that a new head depends only on the seed, and does not change the encoder's states. The saved folder can be
// loaded.
TEST_P(EncoderParity, AcceptsOtherHeads) {
  const std::unique_ptr<TextEncoder> model = LoadModel<TextEncoder>(kFolders + GetParam());
  const EncoderGolden golden(kFolders + GetParam());
  const std::vector<std::string> labels = {"a", "b", "c", "d", "e"};
  for (const TextHeadsConfig& heads :
       {TextHeadsConfig{.sequence_classes = true, .labels = labels},
        TextHeadsConfig{.token_classes = true, .labels = labels}, TextHeadsConfig{.question_spans = true},
        TextHeadsConfig{.masked_words = true}}) {
    const std::unique_ptr<TextEncoder> given = AddHeads(*model, heads, 3), other = AddHeads(*model, heads, 4);
    EXPECT_EQ(given->heads().labels, heads.labels);
    Context context;
    const Tensor before = model->Encode(context, golden.ids, golden.types, golden.texts);
    const Tensor hidden = given->Encode(context, golden.ids, golden.types, golden.texts);
    EXPECT_EQ(hidden.ToVector<float>(), before.ToVector<float>());
    EXPECT_EQ(given->parameters().count(), other->parameters().count());
    bool same = true;
    for (std::size_t i = 0; i < given->parameters().all().size(); ++i) {
      const Parameter &a = given->parameters().all()[i], &b = other->parameters().all()[i];
      same = same && a.value.ToVector<float>() == b.value.ToVector<float>();
    }
    const bool had =
        (heads.question_spans && model->heads().question_spans) || (heads.masked_words && model->heads().masked_words);
    EXPECT_EQ(same, had);
    const TemporaryFolder folder;
    given->Save(folder.path());
    const std::unique_ptr<TextEncoder> again = LoadModel<TextEncoder>(folder.path());
    EXPECT_EQ(again->Encode(context, golden.ids, golden.types, golden.texts).ToVector<float>(),
              before.ToVector<float>());
    EXPECT_EQ(again->heads().sequence_classes, heads.sequence_classes);
    EXPECT_EQ(again->heads().token_classes, heads.token_classes);
    EXPECT_EQ(again->heads().question_spans, heads.question_spans);
    EXPECT_EQ(again->heads().masked_words, heads.masked_words);
    EXPECT_EQ(again->heads().labels, heads.labels);
  }
}

// Checks that a text's states are bit-identical in any batch.
TEST_P(EncoderParity, IsBatchInvariant) {
  const std::unique_ptr<TextEncoder> model = LoadModel<TextEncoder>(kFolders + GetParam());
  const EncoderGolden golden(kFolders + GetParam());
  Context context;
  const Tensor together = model->Encode(context, golden.ids, golden.types, golden.texts);
  for (const auto& [begin, length, step] : golden.texts) {
    const auto own = [&, first = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(length)](
                         const std::vector<std::int32_t>& all) { return std::span(all).subspan(first, count); };
    EXPECT_EQ(model->Encode(context, own(golden.ids), own(golden.types), {{0, length}}).ToVector<float>(),
              together.ViewRows(begin, length).ToVector<float>());
  }
}

// Checks GPT-2 with a classification head. Other heads and left padding are not supported.
TEST(Gpt2Classifier, EqualsTransformers) {
  const std::string from = kFolders + "gpt2_classes";
  const std::unique_ptr<TextEncoder> model = LoadModel<TextEncoder>(from);
  CompareWithGolden(*model, from, 2e-5);
  const TemporaryFolder folder;
  model->Save(folder.path());
  const std::unique_ptr<TextEncoder> again = LoadModel<TextEncoder>(folder.path());
  EXPECT_EQ(again->heads().labels, (std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"}));
  CompareWithGolden(*again, from, 2e-5);
  EXPECT_THAT(ErrorOf([&] {
                AddHeads(*model, {.token_classes = true, .labels = {"a", "b"}}, 3);
              }),
              HasSubstr("only has a head for sequence"));
  EXPECT_EQ(AddHeads(*model, {.sequence_classes = true, .labels = {"a", "b"}}, 3)->heads().labels.size(), 2U);
}

TEST(Gpt2Classifier, ReadsTheLastTokenBeforePadding) {
  const std::unique_ptr<TextEncoder> model = LoadModel<TextEncoder>(kFolders + "gpt2_classes");
  const auto logits = [&](const std::vector<std::int32_t>& ids, const Sequences& texts) {
    Context context;
    return model->SequenceClassLogits(context, model->Encode(context, ids, {}, texts), texts).ToVector<float>();
  };
  const std::vector<float> plain = logits({3, 1, 7, 5, 6}, {{0, 3}, {3, 2}});
  EXPECT_THAT(logits({3, 1, 7, 1, 1, 5, 6, 1}, {{0, 5}, {5, 3}}), testing::Pointwise(testing::FloatNear(1e-5F), plain));
  EXPECT_GT(std::abs(logits({3, 1, 5, 6}, {{0, 2}, {2, 2}})[0] - plain[0]), 0.1F);
  EXPECT_EQ(logits({1, 1}, {{0, 2}}), logits({1}, {{0, 1}}));
}

TEST(Encoders, ComputeInEveryPrecision) {
  for (const char* name : {"roberta_masked_left", "deberta_masked_left", "deberta_v2"}) {
    const EncoderGolden golden(kFolders + name);
    for (const auto& [compute, tolerance] :
         {std::pair(Compute::float32, 2e-5), std::pair(Compute::bfloat16, 0.08), std::pair(Compute::int8, 0.15)}) {
      if (!kernels::CpuHas(compute)) continue;
      const auto model = LoadModel<TextEncoder>(kFolders + name, {.compute = compute, .purpose = LoadFor::computing});
      Context context;
      const bool from_column = model->limits().padding_has_positions;
      const Tensor hidden = model->Encode(context, golden.ids, golden.types, golden.texts,
                                          from_column ? golden.first : std::vector<std::int32_t>());
      EXPECT_LT(Deviation(ToDouble(model->MaskedTokenLogits(context, hidden)), golden.Rows("logits")), tolerance)
          << name << " " << Name(compute);
    }
  }
}

// Returns the error of loading a folder with `from` replaced by `to` in config.json.
std::string ErrorWith(const std::string& name, const std::string& from, const std::string& to) {
  const TemporaryFolder folder;
  std::filesystem::copy(kFolders + name, folder.path(), std::filesystem::copy_options::recursive);
  std::string config = ReadFile(folder.File("config.json"));
  const std::size_t at = config.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  WriteFile(folder.File("config.json"), config.replace(at, from.size(), to));
  return ErrorOf([&] { LoadModel<TextEncoder>(folder.path()); });
}

// Checks that tie_word_embeddings is ignored in a model without an output projection, as in Transformers. DeBERTa's
// head for masked words, which uses the embedding table, also ignores it.
TEST(Encoders, NeedNoTiedTableWithoutMaskedWords) {
  for (const std::string name :
       {"bert_tags", "bert_answers_left", "roberta", "roberta_classes", "deberta", "deberta_v2_left", "distilbert",
        "distilbert_tags", "esm", "esm_tags", "bert_classes_left", "roberta_masked_left", "deberta_masked_left",
        "deberta_v3_masked", "distilbert_masked_left", "esm_masked_left"}) {
    const TemporaryFolder folder;
    std::filesystem::copy(kFolders + name, folder.path(), std::filesystem::copy_options::recursive);
    Json config = ReadJson(folder.File("config.json")).value();
    config.Set("tie_word_embeddings", false);
    WriteFile(folder.File("config.json"), config.Text());
    std::unique_ptr<TextEncoder> model;
    const std::string error = ErrorOf([&] { model = LoadModel<TextEncoder>(folder.path()); });
    if (name.find("masked") != std::string::npos && name != "deberta_v3_masked") {
      EXPECT_THAT(error, HasSubstr("config.json: key 'tie_word_embeddings'")) << name;
      continue;
    }
    ASSERT_EQ(error, "") << name;
    const std::unique_ptr<TextEncoder> same = LoadModel<TextEncoder>(kFolders + name);
    EXPECT_EQ(model->parameters().values().ToVector<float>(), same->parameters().values().ToVector<float>()) << name;
    if (name == "deberta_v3_masked") continue;
    // The output projection of a head for masked words is tied to the embeddings.
    const std::unique_ptr<TextEncoder> masked = model->WithHeads({.masked_words = true});
    masked->parameters().Initialize(1);
    const std::string saved = folder.File("saved");
    std::filesystem::create_directory(saved);
    masked->Save(saved);
    EXPECT_EQ(*ReadJson(saved + "/config.json").value().Find("tie_word_embeddings"), Json(true)) << name;
  }
}

// Checks that missing parameters of a head are errors. Transformers initializes them randomly.
TEST(Encoders, RefuseIncompleteHeads) {
  for (const auto& [name, left_out] : {std::pair("bert_tags", "classifier.bias"),
                                       {"roberta_masked_left", "lm_head.dense.weight"},
                                       {"deberta_masked_left", "cls.predictions.transform.LayerNorm.weight"},
                                       {"distilbert_masked_left", "vocab_projector.bias"},
                                       {"distilbert_classes", "pre_classifier.bias"},
                                       {"esm_tags", "classifier.weight"},
                                       {"roberta_answers", "qa_outputs.bias"}}) {
    const TemporaryFolder folder;
    std::filesystem::copy(kFolders + std::string(name), folder.path(), std::filesystem::copy_options::recursive);
    const Safetensors weights(kFolders + std::string(name) + "/model.safetensors");
    std::vector<StoredTensor> tensors;
    for (const auto& [tensor, stored] : weights.tensors())
      if (tensor != left_out) tensors.push_back(stored);
    ASSERT_EQ(tensors.size() + 1, weights.tensors().size()) << left_out;
    WriteSafetensors(folder.File("model.safetensors"), tensors);
    const std::string error = ErrorOf([&] { LoadModel<TextEncoder>(folder.path()); });
    EXPECT_THAT(error, HasSubstr(folder.File("model.safetensors") + ": ")) << left_out;
    // The error names the missing tensor. If that tensor determines the kind of head, the error names the remaining
    // tensors.
    const std::string stem(left_out, std::string_view(left_out).rfind('.'));
    EXPECT_THAT(error, testing::AnyOf(HasSubstr(stem), HasSubstr("vocab_"))) << left_out;
  }
}

TEST(Esm, ContactsEqualTransformers) {
  for (const char* name : {"esm", "esm_masked_left", "esm_1b_masked", "esm_classes_left", "esm_tags"}) {
    const std::unique_ptr<Esm> model = LoadModel<Esm>(kFolders + name);
    const EncoderGolden golden(kFolders + name);
    int compared = 0;
    for (std::size_t i = 0; i < golden.texts.size(); ++i) {
      const auto& [begin, length, step] = golden.texts[i];
      const auto ids = std::span(golden.ids).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length));
      if (length < 3) {
        EXPECT_THAT(ErrorOf([&] { model->Contacts(ids); }), HasSubstr("a sequence of 1 tokens"));
        continue;
      }
      EXPECT_LT(Deviation(ToDouble(model->Contacts(ids)), golden.Read("contacts." + std::to_string(i))), 2e-5) << name;
      ++compared;
    }
    EXPECT_EQ(compared, 2);
  }
}

TEST(Esm, RefusesUnsupportedInput) {
  const std::unique_ptr<TextEncoder> model = LoadModel<TextEncoder>(kFolders + "esm");
  Context context;
  const std::vector<std::int32_t> masks = {7, 7}, padding = {3, 1, 4};
  EXPECT_THAT(ErrorOf([&] { model->Encode(context, masks, {}, {{0, 2}}); }), HasSubstr("2 masks and nothing else"));
  EXPECT_THAT(ErrorOf([&] { model->Encode(context, padding, {}, {{0, 3}}); }), HasSubstr("padding"));
  EXPECT_THAT(ErrorWith("esm", "\"is_folding_model\": false", "\"is_folding_model\": true"),
              HasSubstr("a structure prediction model"));
  EXPECT_THAT(ErrorWith("esm", "\"rotary\"", "\"relative_key\""), HasSubstr("position_embedding_type"));
  EXPECT_THAT(ErrorWith("esm", "\"num_attention_heads\": 2", "\"num_attention_heads\": 4"), HasSubstr("odd"));
}

TEST(DebertaV2, MapsDistancesToBuckets) {
  for (const auto& [name, rows] : ReadJson(kFolders + "buckets.json").Members()) {
    const std::int64_t buckets = std::stoll(name), farthest = std::stoll(name.substr(name.find(',') + 1));
    std::int64_t distance = 0;
    for (const JsonView& row : rows.Items()) {
      const std::int64_t bucket = std::min(row.Integer(), buckets - 1);
      EXPECT_EQ(RelativeRow(distance, buckets, farthest), buckets + bucket) << name << ": " << distance;
      EXPECT_EQ(RelativeRow(-distance, buckets, farthest), buckets - row.Integer()) << name << ": " << -distance;
      ++distance;
    }
    EXPECT_EQ(RelativeRow(1 << 20, buckets, farthest), 2 * buckets - 1);
    EXPECT_EQ(RelativeRow(-(1 << 20), buckets, farthest), 0);
  }
}

TEST(EncoderHeads, RefuseInvalidSettings) {
  EXPECT_EQ(ErrorWith("bert_tags", "\"O\",", "\"None\","), "");
  EXPECT_THAT(ErrorWith("bert_tags", "\"0\": \"O\"", "\"00\": \"O\""), HasSubstr("3 classes are numbered"));
  EXPECT_THAT(ErrorWith("bert_tags", "\"1\": \"B-PER\"", "\"3\": \"B-PER\""), HasSubstr("key 'id2label.3'"));
  EXPECT_THAT(ErrorWith("bert_tags", "\"0\": \"O\",", ""), HasSubstr("numbered 0 to 1"));
  EXPECT_THAT(ErrorWith("bert_tags", "\"2\": \"I-PER\"", "\"2\": \"I-PER\", \"3\": \"O2\""), HasSubstr("other shapes"));
  EXPECT_THAT(ErrorWith("bert_tags", "\"2\": \"I-PER\"", "\"2\": \"B-PER\""), HasSubstr("the same label"));
  EXPECT_THAT(ErrorWith("bert_tags", "ForTokenClassification", "ForMultipleChoice"),
              HasSubstr("'BertForMultipleChoice' must end in ForSequenceClassification"));
  EXPECT_THAT(ErrorWith("bert_tags", "\"model_type\"", "\"num_labels\": 4, \"model_type\""),
              HasSubstr("there are 3 labels"));
  EXPECT_THAT(ErrorWith("roberta_classes", "multi_label_classification", "ranking"), HasSubstr("problem_type"));
  EXPECT_THAT(ErrorWith("bert_tags", "ForTokenClassification", "ForSequenceClassification"), HasSubstr("pooler"));
  EXPECT_THAT(ErrorWith("roberta", "\"pad_token_id\": 1", "\"pad_token_id\": 15"),
              HasSubstr("positions must be above 16"));
  EXPECT_THAT(ErrorWith("roberta", "\"is_decoder\": false", "\"is_decoder\": true"), HasSubstr("is_decoder"));

  EXPECT_THAT(ErrorWith("deberta", "\"c2p\"", "\"p2p\""), HasSubstr("'p2p' is not supported"));
  EXPECT_THAT(ErrorWith("deberta", "\"model_type\"", "\"talking_head\": true, \"model_type\""),
              HasSubstr("talking_head"));
  EXPECT_THAT(ErrorWith("deberta", "\"model_type\"", "\"conv_kernel_size\": 3, \"model_type\""),
              HasSubstr("conv_kernel_size"));
  EXPECT_THAT(ErrorWith("deberta", "\"model_type\"", "\"embedding_size\": 3, \"model_type\""),
              HasSubstr("embedding_size"));
  EXPECT_THAT(ErrorWith("deberta_v2", "\"model_type\"", "\"conv_groups\": 2, \"model_type\""),
              HasSubstr("conv_groups"));
  EXPECT_THAT(ErrorWith("deberta_v2", "\"conv_kernel_size\": 3", "\"conv_kernel_size\": 4"), HasSubstr("must be odd"));
  EXPECT_THAT(ErrorWith("deberta_v2", "\"model_type\"", "\"attention_head_size\": 5, \"model_type\""),
              HasSubstr("attention_head_size"));
  EXPECT_THAT(ErrorWith("deberta_v2", "\"position_buckets\": 4", "\"position_buckets\": 40"),
              HasSubstr("position buckets"));
  EXPECT_THAT(ErrorWith("deberta_v2", "\"layer_norm\"", "\"batch_norm\""), HasSubstr("norm_rel_ebd"));

  const std::unique_ptr<TextEncoder> roberta = LoadModel<TextEncoder>(kFolders + "roberta");
  EXPECT_EQ(roberta->limits().positions, 14);
  Context context;
  const std::vector<std::int32_t> long_text(15, 3), padding = {3, 1, 4};
  EXPECT_THAT(ErrorOf([&] { roberta->Encode(context, long_text, {}, {{0, 15}}); }), HasSubstr("14 positions"));
  EXPECT_THAT(ErrorOf([&] { roberta->Encode(context, padding, {}, {{0, 3}}); }), HasSubstr("padding"));
  const Tensor hidden = roberta->Encode(context, long_text, {}, {{0, 14}, {14, 1}});
  EXPECT_THAT(ErrorOf([&] { roberta->MaskedTokenLogits(context, hidden); }), HasSubstr("masked words"));
  EXPECT_THAT(ErrorOf([&] { roberta->TokenClassLogits(context, hidden); }), HasSubstr("classes of tokens"));
  EXPECT_THAT(ErrorOf([&] { roberta->SpanLogits(context, hidden); }), HasSubstr("answers"));
  EXPECT_THAT(ErrorOf([&] { roberta->NextSentenceLogits(context, hidden); }), HasSubstr("next sentence"));
  EXPECT_THAT(ErrorOf([&] {
                roberta->SequenceClassLogits(context, hidden, {{0, 15}});
              }),
              HasSubstr("classes of texts"));
}

}  // namespace
}  // namespace headlight::encoder_parity_test
