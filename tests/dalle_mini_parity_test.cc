// Compares DALL-E mini and its VQGAN with min-dalle. tools/make_dalle_mini_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/dalle_mini.h"
#include "headlight/models/family.h"
#include "headlight/models/vqgan.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/embedding.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "tests/parity_testing.h"

namespace headlight::dalle_mini_parity_test {
namespace {

using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

constexpr double kTolerance = 2e-5;
const std::string kFolder = HEADLIGHT_SOURCE_DIR "/tests/testdata/dalle/dalle_mini";

struct DalleMiniParity : testing::Test {
  Numbers Read(const std::string& name) const { return ToDouble(golden.Read(name, DType::float64)); }

  // Returns the prompt of a text and all its codes except the last.
  Ids IdsOf(const DalleMini& model, std::size_t text) const {
    const Tensor texts = golden.Read("text", DType::int32), codes = golden.Read("codes", DType::int32);
    const auto row = static_cast<std::int64_t>(text);
    Ids ids = model.Prompt(texts.ViewRows(row, 1).span<std::int32_t>());
    const std::span<const std::int32_t> drawn = codes.ViewRows(row, 1).span<std::int32_t>();
    ids.insert(ids.end(), drawn.begin(), drawn.end() - 1);
    return ids;
  }

  // All texts of the golden, and the rows that predict codes.
  struct Batch {
    Ids ids, code_rows;
    Sequences texts;
  };
  Batch AllOf(const DalleMini& model) const {
    Batch batch;
    for (std::size_t text = 0; text < kTexts; ++text) {
      const Ids own = IdsOf(model, text);
      batch.texts.push_back({static_cast<std::int32_t>(batch.ids.size()), static_cast<std::int32_t>(own.size())});
      for (std::int32_t i = model.drawing().prompt - 1; i < std::ssize(own); ++i)
        batch.code_rows.push_back(batch.texts.back().row(i));
      batch.ids.insert(batch.ids.end(), own.begin(), own.end());
    }
    return batch;
  }

  static constexpr std::size_t kTexts = 4;
  const Safetensors golden{kFolder + "/golden.safetensors"};
};

TEST_F(DalleMiniParity, EqualsTheOriginal) {
  const auto model = LoadModel<DalleMini>(kFolder);
  const Batch batch = AllOf(*model);
  Context context;
  int attentions = 0;
  context.hooks.attention = [&](const LayerAttention& seen) {
    static constexpr const char* kNames[] = {"encoder", "decoder", "cross"};
    const Tensor all =
        golden.Read(fmt::format("{}_attentions.{}", kNames[static_cast<int>(seen.kind)], seen.layer), DType::float64);
    // In the original, padding keys have no weight, and padding queries are ignored.
    const Shape &wanted = all.shape(), &given = seen.weights.shape();
    Numbers actual, expected;
    for (std::int64_t head = 0; head < given[1]; ++head)
      for (std::int64_t query = 0; query < given[2]; ++query)
        for (std::int64_t key = 0; key < wanted[3]; ++key) {
          expected.push_back(
              all.data<double>()[((seen.sequence * wanted[1] + head) * wanted[2] + query) * wanted[3] + key]);
          actual.push_back(key < given[3] ? seen.weights.data<float>()[(head * given[2] + query) * given[3] + key] : 0);
        }
    EXPECT_LT(Deviation(actual, expected), kTolerance) << kNames[static_cast<int>(seen.kind)] << seen.layer;
    ++attentions;
  };
  const Tensor hidden = model->Decode(context, batch.ids, batch.texts);
  EXPECT_EQ(attentions, kTexts * (2 + 3 + 3));
  EXPECT_LT(Deviation(ToDouble(model->Logits(context, ops::Embedding(hidden, batch.code_rows))), Read("logits")),
            kTolerance);
  const Tensor states = golden.Read("states", DType::float64);
  const std::int32_t prompt = model->drawing().prompt;
  Numbers actual, expected;
  for (std::size_t text = 0; text < kTexts; ++text) {
    const auto pad = model->TextId(model->config().text_pad_id);
    for (std::int32_t i = 0; i + 1 < prompt; ++i) {
      const auto row = static_cast<std::int64_t>(batch.texts[text].row(i));
      if (batch.ids[static_cast<std::size_t>(row)] == pad) continue;
      const float* const own = hidden.matrix<float>().row(row);
      actual.insert(actual.end(), own, own + hidden.columns());
      const double* const its =
          states.data<double>() + (static_cast<std::int64_t>(text) * prompt + i) * hidden.columns();
      expected.insert(expected.end(), its, its + hidden.columns());
    }
  }
  EXPECT_LT(Deviation(actual, expected), kTolerance);
}

TEST_F(DalleMiniParity, TrainsLikeTheOriginal) {
  const auto model = LoadModel<DalleMini>(kFolder);
  model->parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  const Batch batch = AllOf(*model);
  const Tensor logits =
      model->Logits(context, ops::Embedding(model->Decode(context, batch.ids, batch.texts), batch.code_rows));
  const Ids codes = golden.Read("codes", DType::int32).ToVector<std::int32_t>();
  const Tensor loss = ops::CrossEntropy(logits, codes, 1 / static_cast<double>(codes.size()));
  EXPECT_LT(Deviation(ToDouble(loss), Read("loss")), kTolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model->parameters(), &Parameter::gradient), GradientsOf(golden)), 1e-4);
}

// Checks decoding with a cache: prompts with zero or more codes, followed by single codes, in a varying order of texts,
// must give the original's results.
TEST_F(DalleMiniParity, DecodesTheSameWithACache) {
  const auto model = LoadModel<DalleMini>(kFolder, {.purpose = LoadFor::computing});
  const auto prompt = static_cast<std::size_t>(model->drawing().prompt);
  const Tensor wanted = golden.Read("logits", DType::float64);
  const auto cells = model->config().cells();
  for (const std::size_t begun : {0, 1, 5}) {
    DecoderCache cache;
    Context context;
    context.cache = &cache;
    std::vector<std::size_t> order = {0, 1, 2, 3};
    std::size_t begin = 0, end = prompt + begun;
    while (begin < IdsOf(*model, 0).size()) {
      Ids ids;
      Sequences parts;
      for (const std::size_t text : order) {
        const Ids own = IdsOf(*model, text);
        parts.push_back({static_cast<std::int32_t>(ids.size()), static_cast<std::int32_t>(end - begin)});
        ids.insert(ids.end(), own.begin() + static_cast<std::ptrdiff_t>(begin),
                   own.begin() + static_cast<std::ptrdiff_t>(end));
      }
      const Tensor logits = model->Logits(context, model->Decode(context, ids, parts));
      for (std::size_t i = 0; i < order.size(); ++i) {
        const auto cell = static_cast<std::int64_t>(end - prompt);
        EXPECT_LT(Deviation(ToDouble(logits.ViewRows(parts[i].end() - 1, 1)),
                            ToDouble(wanted.ViewRows(static_cast<std::int64_t>(order[i]) * cells + cell, 1))),
                  10 * kTolerance)
            << "text " << order[i] << ", cell " << cell;
      }
      begin = end++;
      if (begin == prompt + 7) {
        cache.Activate({cache.active()[2], cache.active()[3], cache.active()[1]});
        order = {order[2], order[3], order[1]};
      }
    }
  }
}

TEST_F(DalleMiniParity, SavesAndLoads) {
  const TemporaryFolder folder;
  SaveAndReload(*LoadModel<DalleMini>(kFolder), folder.path());
}

TEST_F(DalleMiniParity, TokenizesLikeTheOriginal) {
  const auto model = LoadModel<DalleMini>(kFolder);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(kFolder);
  for (const JsonView& one : ReadJson(kFolder + "/texts.json").Items()) {
    Ids expected;
    for (const JsonView& id : one["ids"].Items()) expected.push_back(static_cast<std::int32_t>(id.Integer()));
    ASSERT_GE(expected.size(), 2U);
    EXPECT_EQ(tokenizer.Encode(one["text"].String(), {.add_special = false, .read_special = false}).ids,
              Ids(expected.begin() + 1, expected.end() - 1))
        << one["text"].String();
  }
  // The vocabulary has 13 codes, followed by the ids of texts.
  EXPECT_EQ(model->Prompt(Ids{4, 7}), (Ids{13, 17, 20, 15, 14, 14, 14, 14, 14}));
  EXPECT_EQ(model->Prompt(Ids{4, 7, 1, 1}), model->Prompt(Ids{4, 7}));
  EXPECT_EQ(model->Prompt({}), (Ids{13, 15, 14, 14, 14, 14, 14, 14, 14}));
}

TEST_F(DalleMiniParity, RefusesInvalidInput) {
  const auto model = LoadModel<DalleMini>(kFolder);
  EXPECT_THAT(ErrorOf([&] { model->Prompt(Ids(8, 5)); }), HasSubstr("reads at most 7"));
  EXPECT_THAT(ErrorOf([&] { model->Prompt(Ids{130}); }), HasSubstr("id 130 at position 0"));
  EXPECT_THAT(ErrorOf([&] { model->Prompt(Ids{5, 1, 5}); }), HasSubstr("id 1, a text's padding"));
  Context context;
  const auto decode = [&](const Ids& ids) {
    return ErrorOf([&] { model->Decode(context, ids, {{0, static_cast<std::int32_t>(ids.size())}}); });
  };
  Ids ids = model->Prompt(Ids{5});
  EXPECT_THAT(decode({13, 17, 15}), HasSubstr("a prompt of 3 ids"));
  ids[1] = 3;
  EXPECT_THAT(decode(ids), HasSubstr("id 3 in a prompt"));
  ids = model->Prompt(Ids{5});
  ids[0] = 14;  // the prompt is only padding
  EXPECT_THAT(decode(ids), HasSubstr("a prompt has no text"));
  ids = model->Prompt(Ids{5});
  ids.push_back(13);
  EXPECT_THAT(decode(ids), HasSubstr("13"));
  ids.back() = 1;
  ids.resize(9 + 16, 1);
  EXPECT_THAT(decode(ids), HasSubstr("16"));
  EXPECT_THAT(ErrorOf([&] { model->TextWeight(context); }), HasSubstr("does not predict them"));
  const auto with = [](const std::string& name, const Json& value) {
    const TemporaryFolder folder;
    std::filesystem::copy(kFolder, folder.path(), std::filesystem::copy_options::recursive);
    Json config = ReadJson(folder.File("config.json")).value();
    config.Set(name, value);
    WriteFile(folder.File("config.json"), config.Text());
    return ErrorOf([&] { LoadModel<DalleMini>(folder.path()); });
  };
  EXPECT_THAT(with("decoder_start_token_id", 13), HasSubstr("decoder_start_token_id"));
  EXPECT_THAT(with("text_pad_token_id", 0), HasSubstr("a text's padding, 0"));
  EXPECT_THAT(with("text_eos_token_id", 1), HasSubstr("a text's padding, 1"));
  EXPECT_THAT(with("text_positions", 2), HasSubstr("text_positions"));
  EXPECT_THAT(with("use_bias", false), HasSubstr("use_bias"));
}

struct VqganParity : testing::Test {
  Numbers Read(const std::string& name) const { return ToDouble(golden.Read(name, DType::float64)); }

  const std::string folder = kFolder + "/vae";
  const Safetensors golden{folder + "/golden.safetensors"};
};

TEST_F(VqganParity, EqualsTheOriginal) {
  const auto model = LoadModel<Vqgan>(folder);
  model->parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  int attentions = 0;
  context.hooks.attention = [&](const LayerAttention& seen) {
    EXPECT_EQ(seen.kind, AttentionKind::image_self);
    EXPECT_LT(Deviation(ToDouble(seen.weights), Read(fmt::format("attentions.{}", seen.layer))), kTolerance);
    ++attentions;
  };
  const FeatureMaps decoded =
      model->Decode(context, {golden.Read("weights", DType::float32), {model->limits().grid()}});
  EXPECT_EQ(attentions, 4);
  EXPECT_EQ(decoded.grids, (std::vector<Grid>{{64, 64}}));
  EXPECT_LT(Deviation(ToDouble(decoded.rows), Read("decoded")), kTolerance);
  const Tensor loss = ops::Sum(ops::Multiply(decoded.rows, decoded.rows));
  EXPECT_LT(Deviation(ToDouble(loss), Read("loss")), kTolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model->parameters(), &Parameter::gradient), GradientsOf(golden)), 1e-4);
}

TEST_F(VqganParity, DecodesCodes) {
  const auto model = LoadModel<ImageCoder>(folder, {.purpose = LoadFor::computing});
  Context context;
  const Ids codes = golden.Read("codes", DType::int32).ToVector<std::int32_t>();
  const FeatureMaps weights = WeightsOf(*model, codes, {model->limits().grid()});
  EXPECT_LT(Deviation(ToDouble(PixelsOf(*model, model->Decode(context, weights).rows)), Read("pixels")), kTolerance);
  EXPECT_THAT(ErrorOf([&] {
                CodesOf(*model, std::vector{Tensor::Zeros({64, 64, 3})});
              }),
              HasSubstr("vae/model.safetensors: this model has no encoder"));
}

TEST_F(VqganParity, SavesAndLoads) {
  const TemporaryFolder again;
  SaveAndReload(*LoadModel<Vqgan>(folder), again.path());
}

TEST(Vqgan, HasAttentionInConfiguredStages) {
  const auto parameters = [](std::vector<std::int64_t> attentions) {
    Ids places;
    const Vqgan model({.image = 16,
                       .codes = 5,
                       .code_width = 3,
                       .inputs = 3,
                       .channels = 4,
                       .factors = {1, 2},
                       .blocks = 1,
                       .attentions = std::move(attentions),
                       .groups = 2});
    for (const Parameter& parameter : model.parameters().all())
      for (const int stage : {0, 1})
        if (parameter.names[0] == fmt::format("decoder.up.{}.attn.1.norm.weight", stage)) places.push_back(stage);
    return places;
  };
  EXPECT_EQ(parameters({16}), Ids{0});
  EXPECT_EQ(parameters({8}), Ids{1});
  EXPECT_EQ(parameters({8, 16}), (Ids{1, 0}));
  const auto refusal = [](const VqganConfig& config) { return ErrorOf([&] { const Vqgan model(config); }); };
  EXPECT_THAT(refusal({.channels = 4}), HasSubstr("32 groups of a norm"));
  EXPECT_THAT(refusal({.image = 72}), HasSubstr("size of images, 72"));
  EXPECT_THAT(refusal({.factors = {}}), HasSubstr("ch_mult"));
}

}  // namespace
}  // namespace headlight::dalle_mini_parity_test
