// Compares captioning models with Hugging Face Transformers. tools/make_caption_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/decode.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/blip.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/models/vision_encoder_decoder.h"
#include "tests/encoder_parity_testing.h"
#include "tests/padded_testing.h"
#include "tests/parity_testing.h"

namespace headlight::caption_parity_test {
namespace {

using testing::HasSubstr;

constexpr std::array kFolders = {"vit_gpt2",     "deit_gpt2",     "blip",        "blip_larger",
                                 "blip_answers", "blip_matching", "blip_vectors"};

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/captions/" + name; }

struct Golden {
  explicit Golden(const std::string& name)
      : file(FolderOf(name) + "/golden.safetensors"),
        images(ImagesOf(file)),
        read(file, "input_ids", "attention_mask"),
        written(file, "decoder_input_ids", "decoder_attention_mask") {}

  Numbers Read(const std::string& name) const { return ToDouble(file.Read(name, DType::float64)); }
  // Returns the rows [texts, longest, columns] of a tensor without padding rows.
  Numbers Rows(const std::string& name, const UnpaddedTexts& of) const {
    return of.Rows(file.Read(name, DType::float64));
  }
  // Returns the attention weights of one sequence, [heads, query, key], without the padding on the right.
  Numbers Attention(const std::string& name, const LayerAttention& seen) const {
    const Tensor all = file.Read(name + "." + std::to_string(seen.layer), DType::float64);
    const std::int64_t heads = all.shape()[1], queries = seen.weights.shape()[2], keys = seen.weights.shape()[3];
    Numbers weights;
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t query = 0; query < queries; ++query) {
        const double* row = all.matrix<double>().row((seen.sequence * heads + head) * all.shape()[2] + query);
        weights.insert(weights.end(), row, row + keys);
      }
    return weights;
  }

  Safetensors file;
  std::vector<Tensor> images;
  UnpaddedTexts read, written;
};

void CompareWithGolden(CaptionModel& model, const Golden& golden, double tolerance) {
  model.parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  std::size_t attentions = 0;
  // Compares attention weights. `names` are the golden's names for the three kinds of attention. Kinds with an empty
  // name are skipped.
  const auto watch = [&](std::array<std::string, 3> names) {
    context.hooks.attention = [&, names = std::move(names)](const LayerAttention& seen) {
      const std::string& name = names[static_cast<std::size_t>(seen.kind)];
      if (name.empty()) return;
      EXPECT_LT(Deviation(ToDouble(seen.weights), golden.Attention(name, seen)), tolerance) << name << seen.layer;
      ++attentions;
    };
  };
  Tensor loss;
  double terms = 0;  // sum of the absolute values of the loss's terms
  const auto compare = [&](const char* name, const Tensor& actual, const Numbers& expected) {
    EXPECT_LT(Deviation(ToDouble(actual), expected), tolerance) << name;
    loss = loss.empty() ? WeightedTotal(actual) : ops::Add(loss, WeightedTotal(actual));
    for (std::size_t i = 0; i < expected.size(); ++i)
      terms += std::abs(expected[i] * std::sin(static_cast<double>(i + 1)));
  };

  watch({"image_attentions"});
  const EncodedImages encoded = model.EncodeImages(context, golden.images);
  compare("image_hidden", encoded.hidden, golden.Read("image_hidden"));
  Memory memory = model.MemoryOf(context, encoded);
  const Sequences& texts = golden.read.texts;
  if (!texts.empty()) {
    watch({"read_attentions", "", "read_cross_attentions"});
    const Tensor beside = model.ReadTexts(context, golden.read.ids, texts, &memory);
    compare("read_hidden", beside, golden.Rows("read_hidden", golden.read));
    watch({});
    const Tensor alone = model.ReadTexts(context, golden.read.ids, texts, nullptr);
    compare("alone_hidden", alone, golden.Rows("alone_hidden", golden.read));
    if (model.uses().matches)
      compare("match_logits", model.MatchLogits(context, beside, texts), golden.Read("match_logits"));
    if (model.uses().vectors) {
      compare("image_vectors", model.ImageVectors(context, encoded), golden.Read("image_vectors"));
      compare("text_vectors", model.TextVectors(context, alone, texts), golden.Read("text_vectors"));
    }
    if (model.uses().answers) memory = {beside, texts};
  }
  if (model.uses().captions || model.uses().answers) {
    watch({"", "decoder_attentions", "cross_attentions"});
    const Tensor hidden = model.Decode(context, golden.written.ids, golden.written.texts, memory);
    compare("logits", model.Logits(context, hidden), golden.Rows("logits", golden.written));
  }
  std::size_t stored = 0;
  for (const auto& [name, tensor] : golden.file.tensors()) stored += name.find("attentions.") != std::string::npos;
  EXPECT_EQ(attentions, stored * golden.images.size());
  // The tolerance is relative to this sum, because the terms may cancel.
  EXPECT_LT(std::abs(ToDouble(loss)[0] - golden.Read("loss")[0]) / terms, tolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model.parameters(), &Parameter::gradient), GradientsOf(golden.file)), tolerance);
}

std::unique_ptr<CaptionModel> NewInDouble(const CaptionModel& model) {
  if (const auto* blip = dynamic_cast<const Blip*>(&model))
    return std::make_unique<Blip>(blip->config(), DType::float64);
  return std::make_unique<VisionEncoderDecoder>(dynamic_cast<const VisionEncoderDecoder&>(model).config(),
                                                DType::float64);
}

class CaptionParity : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, CaptionParity, testing::ValuesIn(kFolders),
                         [](const auto& which) { return std::string(which.param); });

TEST_P(CaptionParity, EqualsTransformers) {
  const Golden golden(GetParam());
  const std::unique_ptr<CaptionModel> model = LoadModel<CaptionModel>(FolderOf(GetParam()));
  CompareWithGolden(*model, golden, 5e-5);
  const std::unique_ptr<CaptionModel> in_double = NewInDouble(*model);
  LoadParameters(in_double->parameters(), Safetensors(FolderOf(GetParam()) + "/model.safetensors"),
                 [](auto) { return true; });
  CompareWithGolden(*in_double, golden, 1e-6);
}

TEST_P(CaptionParity, SavesAndLoads) {
  const std::unique_ptr<CaptionModel> model = LoadModel<CaptionModel>(FolderOf(GetParam()));
  const TemporaryFolder folder;
  const auto again = SaveAndReload(*model, folder.path());
  EXPECT_EQ(again->limits().start_id, model->limits().start_id);
  EXPECT_EQ(again->limits().end_id, model->limits().end_id);
}

// Returns the decoder's memory for the golden's images, or for the questions about them.
Memory MemoryFor(const CaptionModel& model, std::span<const Tensor> images, const UnpaddedTexts& questions) {
  Context context;
  const Memory memory = model.MemoryOf(context, model.EncodeImages(context, images));
  if (!model.uses().answers) return memory;
  return {model.ReadTexts(context, questions.ids, questions.texts, &memory), questions.texts};
}

// Returns the settings of generate(), whose lengths include the start token.
DecodingOptions SettingsOf(const CaptionModel& model, const JsonView& expected) {
  const auto integer = [&](const char* key) { return static_cast<std::int32_t>(expected.Get(key, 0).Integer()); };
  DecodingOptions options{
      .search = {.beam_size = integer("num_beams"),
                 .n_best = integer("num_beams"),
                 .length_penalty = expected.Get("length_penalty", 1.0).Number(),
                 .sample = expected.Get("do_sample", false).Bool(),
                 .sampling = {.top_k = integer("top_k")},
                 .processors = {.repetition_penalty = expected.Get("repetition_penalty", 1.0).Number(),
                                .no_repeat_ngram_size = integer("no_repeat_ngram_size")}},
      .max_length = 11,
      .min_length = std::min(11, std::max(0, integer("min_length") - 1)),
      .prefix = {model.limits().start_id}};
  if (expected["forced_eos_token_id"].present()) options.search.last_token = model.limits().end_id;
  if (expected["forced_bos_token_id"].present()) options.search.first_token = integer("forced_bos_token_id");
  if (const JsonView early = expected["early_stopping"]; early.present())
    options.search.stopping = early.value() == Json("never") ? Stopping::never : Stopping::at_once;
  if (expected["prompt"].present())
    for (const JsonView& id : expected["prompt"].Items())
      options.prefix.push_back(static_cast<std::int32_t>(id.Integer()));
  return options;
}

TEST(CaptionDecoding, EqualsGenerate) {
  for (const std::string name : {"vit_gpt2", "blip", "blip_answers"}) {
    const Golden golden(name);
    for (const LoadFor purpose : {LoadFor::everything, LoadFor::computing}) {
      const auto model = LoadModel<CaptionModel>(FolderOf(name + "/taught"), {.purpose = purpose});
      const Memory memory = MemoryFor(*model, golden.images, golden.read);
      for (const JsonView& expected : ReadJson(FolderOf(name + "/taught/decoded.json")).Items()) {
        SCOPED_TRACE(name + " " + expected.value().Line());
        const auto found = Decode(*model, memory, SettingsOf(*model, expected));
        const std::vector<JsonView> images = expected["texts"].Items();
        ASSERT_EQ(found.size(), images.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          const std::vector<JsonView> texts = images[i].Items();
          ASSERT_EQ(found[i].size(), texts.size()) << i;
          for (std::size_t n = 0; n < texts.size(); ++n) {
            std::vector<std::int32_t> ids = found[i][n].ids, expected_ids;
            if (found[i][n].end >= 0) ids.push_back(found[i][n].end);
            for (const JsonView& id : texts[n].Items()[0].Items())
              expected_ids.push_back(static_cast<std::int32_t>(id.Integer()));
            EXPECT_EQ(ids, expected_ids) << i << " " << n;
            if (texts[n].Items().size() > 1) {
              EXPECT_NEAR(found[i][n].score, texts[n].Items()[1].Number(), 1e-4);
            }
          }
        }
      }
    }
  }
}

// Checks that images of several sizes in one batch, without padding, give bit-identical results to single images.
TEST(CaptionDecoding, IsBatchInvariant) {
  std::vector<Tensor> images;
  for (const auto& [height, width] : {std::pair(8, 8), std::pair(12, 20), std::pair(8, 8), std::pair(5, 7)}) {
    std::vector<float> pixels;
    for (int i = 0; i < height * width * 3; ++i) pixels.push_back(static_cast<float>(i * (height + i) % 29) / 10 - 1);
    images.push_back(Tensor::From(std::span<const float>(pixels), {height, width, 3}));
  }
  UnpaddedTexts questions;
  questions.ids = {4, 9, 13, 4, 7, 4, 12, 2, 18, 6, 4};
  questions.texts = PackedSequences(std::vector<std::int32_t>{3, 2, 5, 1});
  for (const std::string name : {"vit_gpt2", "blip", "blip_answers"})
    for (const bool sample : {false, true}) {
      const auto model = LoadModel<CaptionModel>(FolderOf(name + "/taught"), {.purpose = LoadFor::computing});
      DecodingOptions options{.search = {.beam_size = sample ? 1 : 3, .sample = sample}, .max_length = 11, .seed = 3};
      const auto together = Decode(*model, MemoryFor(*model, images, questions), options);
      for (std::size_t i = 0; i < images.size(); ++i) {
        const Sequence& question = questions.texts[i];
        UnpaddedTexts its;
        its.ids.assign(questions.ids.begin() + question.begin, questions.ids.begin() + question.end());
        its.texts = {{0, question.length}};
        const std::size_t which[] = {i};
        const auto alone = Decode(*model, MemoryFor(*model, {&images[i], 1}, its), options, which);
        EXPECT_EQ(together[i].front().ids, alone[0].front().ids) << name << i;
        EXPECT_EQ(together[i].front().log_probability, alone[0].front().log_probability) << name << i;
      }
    }
}

// Returns the error of loading a folder with a changed value in config.json, or in one of its sections.
std::string ErrorWith(const char* name, const char* part, const char* key, Json value) {
  const TemporaryFolder folder;
  std::filesystem::copy(FolderOf(name), folder.path(), std::filesystem::copy_options::recursive);
  Json config = ReadJson(folder.File("config.json")).value();
  if (*part == '\0') {
    config.Set(key, std::move(value));
  } else {
    Json nested = *config.Find(part);
    nested.Set(key, std::move(value));
    config.Set(part, std::move(nested));
  }
  WriteFile(folder.File("config.json"), config.Text());
  return ErrorOf([&] { LoadModel<CaptionModel>(folder.path()); });
}

TEST(VisionEncoderDecoderFolder, RefusesUnsupportedInput) {
  EXPECT_EQ(ErrorWith("vit_gpt2", "", "tie_word_embeddings", false), "");
  EXPECT_THAT(ErrorWith("vit_gpt2", "", "alibi", 3), HasSubstr("alibi"));
  EXPECT_THAT(ErrorWith("vit_gpt2", "encoder", "alibi", 3), HasSubstr("alibi"));
  EXPECT_THAT(ErrorWith("vit_gpt2", "decoder", "alibi", 3), HasSubstr("alibi"));
  EXPECT_THAT(ErrorWith("vit_gpt2", "encoder", "model_type", "swin"), HasSubstr("swin"));
  EXPECT_THAT(ErrorWith("vit_gpt2", "decoder", "model_type", "bert"), HasSubstr("bert"));
  EXPECT_THAT(ErrorWith("vit_gpt2", "decoder", "add_cross_attention", false), HasSubstr("add_cross_attention"));
  EXPECT_THAT(ErrorWith("vit_gpt2", "decoder", "cross_attention_hidden_size", 9), HasSubstr("another width"));
  EXPECT_THAT(ErrorWith("vit_gpt2", "decoder", "n_layer", 3), HasSubstr("decoder.transformer.h.2."));
  EXPECT_THAT(ErrorWith("vit_gpt2", "", "eos_token_id", 26), HasSubstr("26 is outside the vocabulary"));
  EXPECT_THAT(ErrorWith("deit_gpt2", "encoder", "hidden_size", 12), HasSubstr("does not have: enc_to_dec_proj"));
}

TEST(BlipFolder, RefusesUnsupportedInput) {
  EXPECT_EQ(ErrorWith("blip", "", "projection_dim", 9), "");
  EXPECT_THAT(ErrorWith("blip", "", "alibi", 3), HasSubstr("alibi"));
  EXPECT_THAT(ErrorWith("blip", "text_config", "alibi", 3), HasSubstr("alibi"));
  EXPECT_THAT(ErrorWith("blip", "vision_config", "alibi", 3), HasSubstr("alibi"));
  EXPECT_THAT(ErrorWith("blip", "text_config", "is_decoder", false), HasSubstr("cross-attention"));
  EXPECT_THAT(ErrorWith("blip", "text_config", "sep_token_id", 26), HasSubstr("26 is outside the vocabulary"));
  EXPECT_THAT(ErrorWith("blip", "vision_config", "num_channels", 1), HasSubstr("3 channels"));
  EXPECT_THAT(ErrorWith("blip", "vision_config", "num_attention_heads", 3), HasSubstr("3 does not divide 10"));
  EXPECT_THAT(ErrorWith("blip", "", "tie_word_embeddings", false), HasSubstr("tie_word_embeddings"));
  EXPECT_THAT(ErrorWith("blip_answers", "text_config", "hidden_size", 14), HasSubstr("a width of 14"));
}

TEST(CaptionModel, RefusesUnsupportedInput) {
  const auto captions = LoadModel<CaptionModel>(FolderOf("blip")),
             matching = LoadModel<CaptionModel>(FolderOf("blip_matching"));
  Context context;
  const std::vector<std::int32_t> ids = {4, 5};
  const Sequences texts = {{0, 2}};
  EXPECT_THAT(ErrorOf([&] { captions->ReadTexts(context, ids, texts, nullptr); }), HasSubstr("reads no texts"));
  const Tensor states = matching->ReadTexts(context, ids, texts, nullptr);
  EXPECT_THAT(ErrorOf([&] { captions->MatchLogits(context, states, texts); }), HasSubstr("no head that matches"));
  EXPECT_THAT(ErrorOf([&] { captions->TextVectors(context, states, texts); }), HasSubstr("no vectors"));
  EXPECT_THAT(ErrorOf([&] { captions->ImageVectors(context, {}); }), HasSubstr("no vectors"));
  EXPECT_THAT(ErrorOf([&] { matching->Decode(context, ids, texts, {states, texts}); }), HasSubstr("writes no text"));
  const Tensor gray = Tensor::Zeros({8, 8, 1});
  EXPECT_THAT(ErrorOf([&] { captions->EncodeImages(context, {&gray, 1}); }), HasSubstr("[height, width, 3]"));
}

}  // namespace
}  // namespace headlight::caption_parity_test
