// Compares DALL-E's models with the original programs. tools/make_dalle_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/models/dalle.h"
#include "headlight/models/family.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/softmax.h"
#include "headlight/ops/uniform_divergence.h"
#include "headlight/train/objectives/text_to_image.h"
#include "tests/parity_testing.h"

namespace headlight::dalle_parity_test {
namespace {

using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

constexpr double kTolerance = 2e-5;

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/dalle/" + name; }

struct GoldenFile {
  explicit GoldenFile(const std::string& name) : file(FolderOf(name) + "/golden.safetensors") {}
  Numbers Read(const std::string& name) const { return ToDouble(file.Read(name, DType::float64)); }
  Ids Integers(const std::string& name) const { return file.Read(name, DType::int32).ToVector<std::int32_t>(); }

  Safetensors file;
};

class ImageCoderParity : public testing::TestWithParam<const char*> {
 protected:
  const std::string name_ = GetParam();
  const GoldenFile golden_{name_};
};
INSTANTIATE_TEST_SUITE_P(, ImageCoderParity,
                         testing::Values("openai_vae", "openai_vae_short", "discrete_vae", "discrete_vae_blocks"),
                         [](const auto& which) { return std::string(which.param); });

TEST_P(ImageCoderParity, EqualsTheOriginal) {
  const std::unique_ptr<ImageCoder> model = LoadModel<ImageCoder>(FolderOf(name_));
  model->parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  const FeatureMaps pixels = MapsOf(ImagesOf(golden_.file), 3, DType::float32);
  const FeatureMaps scores = model->Encode(context, pixels);
  EXPECT_LT(Deviation(ToDouble(scores.rows), golden_.Read("logits")), kTolerance);
  EXPECT_EQ(LikeliestCodes(*model, scores.rows), golden_.Integers("codes"));
  // The golden has the relaxed codes, softmax((scores + noise) / 0.7), from which the noise is computed.
  const Tensor weights = golden_.file.Read("weights", DType::float32);
  Tensor noise = Tensor::Empty(weights.shape(), DType::float32);
  for (std::size_t i = 0; i < noise.span<float>().size(); ++i)
    noise.span<float>()[i] = 0.7f * std::log(weights.span<float>()[i]) - scores.rows.Detached().span<float>()[i];
  const FeatureMaps relaxed = {ops::Softmax(ops::Scale(ops::Add(scores.rows, noise), 1 / 0.7)), scores.grids};
  const FeatureMaps decoded = model->Decode(context, relaxed);
  EXPECT_EQ(decoded.grids, pixels.grids);
  EXPECT_LT(Deviation(ToDouble(decoded.rows), golden_.Read("decoded")), kTolerance);
  const Tensor reconstruction =
      ReconstructionLoss(*model, decoded.rows, pixels.rows, 1 / static_cast<double>(pixels.rows.elements()));
  const Tensor divergence = ops::UniformDivergence(scores.rows, 1);
  EXPECT_LT(Deviation(ToDouble(reconstruction), golden_.Read("reconstruction")), kTolerance);
  EXPECT_LT(Deviation(ToDouble(divergence), golden_.Read("divergence")), kTolerance);
  const Tensor loss = ops::Add(reconstruction, ops::Scale(divergence, 0.01));
  EXPECT_LT(Deviation(ToDouble(loss), golden_.Read("loss")), kTolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model->parameters(), &Parameter::gradient), GradientsOf(golden_.file)), 1e-4);
}

TEST_P(ImageCoderParity, DecodesCodes) {
  for (const LoadFor purpose : {LoadFor::everything, LoadFor::computing}) {
    const auto model = LoadModel<ImageCoder>(FolderOf(name_), {.purpose = purpose});
    Context context;
    const FeatureMaps scores = model->Encode(context, MapsOf(ImagesOf(golden_.file), 3, DType::float32));
    const FeatureMaps weights = WeightsOf(*model, golden_.Integers("codes"), scores.grids);
    EXPECT_LT(Deviation(ToDouble(PixelsOf(*model, model->Decode(context, weights).rows)), golden_.Read("pixels")),
              kTolerance);
  }
}

TEST_P(ImageCoderParity, SavesAndLoads) {
  const std::unique_ptr<ImageCoder> model = LoadModel<ImageCoder>(FolderOf(name_));
  for (const Compute compute : {Compute::float32, Compute::int8, Compute::int4}) {
    const TemporaryFolder folder;
    model->Save(folder.path(), compute);
    const std::unique_ptr<ImageCoder> again = LoadModel<ImageCoder>(folder.path());
    EXPECT_EQ(again->Description(), model->Description());
    if (compute == Compute::float32) {
      EXPECT_EQ(ByName(again->parameters(), &Parameter::value), ByName(model->parameters(), &Parameter::value));
    }
  }
}

TEST(ImageCoder, RefusesInvalidImagesAndCodes) {
  const auto model = LoadModel<ImageCoder>(FolderOf("discrete_vae_blocks"));
  Context context;
  const FeatureMaps odd = {Tensor::Zeros({4 * 6, 3}), {{4, 6}}};
  EXPECT_THAT(ErrorOf([&] { model->Encode(context, odd); }), HasSubstr("6 x 4 pixels"));
  EXPECT_THAT(ErrorOf([&] { WeightsOf(*model, Ids{10}, {{1, 1}}); }), HasSubstr("code 10 of cell 0"));
  EXPECT_THAT(ErrorOf([] { LoadModel<ImageCoder>(FolderOf("dalle")); }), HasSubstr("a discrete VAE is needed"));
}

// Returns the golden's texts and images as Dalle's ids.
TextToImageBatch BatchOf(const Dalle& model, const GoldenFile& golden) {
  const Ids texts = golden.Integers("text"), codes = golden.Integers("codes");
  const std::int64_t positions = model.config().text_positions, cells = model.config().cells();
  TextToImageBatch batch;
  for (std::int64_t i = 0; i < std::ssize(texts) / positions; ++i)
    AppendTextAndCodes(
        model, std::span(texts).subspan(static_cast<std::size_t>(i * positions), static_cast<std::size_t>(positions)),
        std::span(codes).subspan(static_cast<std::size_t>(i * cells), static_cast<std::size_t>(cells)), batch);
  return batch;
}

Sequences SequencesOf(const Dalle& model, const TextToImageBatch& batch) {
  const auto length = static_cast<std::int32_t>(model.limits().positions);
  return PackedSequences(std::vector<std::int32_t>(batch.ids.size() / static_cast<std::size_t>(length), length));
}

class DalleParity : public testing::TestWithParam<const char*> {
 protected:
  const std::string name_ = GetParam();
  const GoldenFile golden_{name_};
};
INSTANTIATE_TEST_SUITE_P(, DalleParity, testing::Values("dalle", "dalle_wide"),
                         [](const auto& which) { return std::string(which.param); });

TEST_P(DalleParity, EqualsTheOriginal) {
  const auto model = LoadModel<Dalle>(FolderOf(name_));
  const TextToImageBatch batch = BatchOf(*model, golden_);
  const Sequences texts = SequencesOf(*model, batch);
  Context context;
  int attentions = 0;
  context.hooks.attention = [&](const LayerAttention& seen) {
    const Numbers all = golden_.Read("attentions." + std::to_string(seen.layer));
    const auto size = static_cast<std::ptrdiff_t>(seen.weights.elements());
    const auto begin = all.begin() + seen.sequence * size;
    EXPECT_LT(Deviation(ToDouble(seen.weights), {begin, begin + size}), kTolerance) << "layer " << seen.layer;
    ++attentions;
  };
  const Tensor hidden = model->Decode(context, batch.ids, texts);
  EXPECT_EQ(attentions, 2 * model->config().layers);
  const Tensor text_logits = ops::Linear(hidden, model->TextWeight(context), model->TextBias(context));
  const Tensor code_logits = model->Logits(context, hidden);
  Numbers of_texts, of_codes;
  for (const Sequence& text : texts)
    for (std::int32_t i = 0; i < text.length; ++i) {
      const bool is_text = i < model->config().text_positions;
      const Tensor& from = is_text ? text_logits : code_logits;
      const float* const row = from.matrix<float>().row(text.row(i));
      Numbers& to = is_text ? of_texts : of_codes;
      to.insert(to.end(), row, row + from.columns());
    }
  EXPECT_LT(Deviation(of_texts, golden_.Read("logits.text")), kTolerance);
  EXPECT_LT(Deviation(of_codes, golden_.Read("logits.codes")), kTolerance);
}

TEST_P(DalleParity, TrainsLikeTheOriginal) {
  const auto model = LoadModel<Dalle>(FolderOf(name_));
  model->parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  const TextToImageBatch batch = BatchOf(*model, golden_);
  const Tensor loss =
      TextToImageLoss(*model, context, batch, 1 / static_cast<double>(SequencesOf(*model, batch).size()));
  EXPECT_LT(Deviation(ToDouble(loss), golden_.Read("loss")), kTolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model->parameters(), &Parameter::gradient), GradientsOf(golden_.file)), 1e-4);
}

// Checks decoding with a cache: a text with some codes in one pass, followed by single codes, must give the original's
// results. In every compute type the result equals a single pass over all tokens.
TEST_P(DalleParity, DecodesTheSameWithACache) {
  for (const auto& [compute, tolerance] : {std::pair(Compute::float32, kTolerance), std::pair(Compute::bfloat16, 0.01),
                                           std::pair(Compute::int8, 0.01), std::pair(Compute::int4, 0.01)}) {
    if (!kernels::CpuHas(compute)) continue;
    const auto model = LoadModel<Dalle>(FolderOf(name_), {.compute = compute, .purpose = LoadFor::computing});
    const TextToImageBatch batch = BatchOf(*model, golden_);
    const std::int32_t words = model->config().text_positions;
    Numbers expected = golden_.Read("logits.codes");
    if (compute != Compute::float32) {
      expected.clear();
      Context context;
      const Tensor whole = model->Logits(context, model->Decode(context, batch.ids, SequencesOf(*model, batch)));
      for (const Sequence& text : SequencesOf(*model, batch))
        for (std::int32_t row = words; row < text.length; ++row) {
          const float* const from = whole.matrix<float>().row(text.row(row));
          expected.insert(expected.end(), from, from + whole.columns());
        }
    }
    for (const std::int32_t begun : {0, 3, model->config().side + 1}) {
      DecoderCache cache;
      Context context;
      context.cache = &cache;
      Sequences texts = SequencesOf(*model, batch);
      Numbers logits[2];
      for (std::int32_t begin = 0, length; begin < model->limits().positions; begin += length) {
        length = begin == 0 ? words + 1 + begun : 1;
        Ids ids;
        Sequences parts;
        for (const Sequence& text : texts) {
          parts.push_back({static_cast<std::int32_t>(ids.size()), length});
          ids.insert(ids.end(), batch.ids.begin() + text.begin + begin,
                     batch.ids.begin() + text.begin + begin + length);
        }
        const Tensor some = model->Logits(context, model->Decode(context, ids, parts));
        for (std::size_t i = 0; i < parts.size(); ++i)
          for (std::int32_t row = begin == 0 ? words : 0; row < length; ++row) {
            const float* const from = some.matrix<float>().row(parts[i].row(row));
            logits[i].insert(logits[i].end(), from, from + some.columns());
          }
      }
      logits[0].insert(logits[0].end(), logits[1].begin(), logits[1].end());
      EXPECT_LT(Deviation(logits[0], expected), tolerance) << Name(compute) << ", " << begun << " codes begun";
    }
  }
}

// Checks that several tokens in one pass give the same results as one token per pass.
TEST_P(DalleParity, ContinuesACacheInChunks) {
  const auto model = LoadModel<Dalle>(FolderOf(name_));
  const TextToImageBatch batch = BatchOf(*model, golden_);
  const auto length = static_cast<std::int32_t>(model->limits().positions);
  Context whole;
  const Tensor expected =
      model->Decode(whole, std::span(batch.ids).first(static_cast<std::size_t>(length)), {{0, length}});
  DecoderCache cache;
  Context context;
  context.cache = &cache;
  const std::int32_t ends[] = {3, model->config().text_positions + 4, length - 2, length};
  Numbers actual;
  std::int32_t begin = 0;
  for (const std::int32_t end : ends) {
    const Numbers part = ToDouble(model->Decode(
        context, std::span(batch.ids).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
        {{0, end - begin}}));
    actual.insert(actual.end(), part.begin(), part.end());
    begin = end;
  }
  EXPECT_LT(Deviation(actual, ToDouble(expected)), kTolerance);
}

// Checks that a cached key excluded by the mask is not read: a NaN in it has no effect.
TEST(Dalle, IgnoresMaskedKeysOfItsCache) {
  const auto model = LoadModel<Dalle>(FolderOf("dalle_wide"));
  const GoldenFile golden("dalle_wide");
  const TextToImageBatch batch = BatchOf(*model, golden);
  const std::int32_t text = model->config().text_positions + 1, side = model->config().side;
  const std::int32_t heads = model->config().heads;
  DecoderCache cache;
  Context context;
  context.cache = &cache;
  const std::int32_t known = text + 6 * side + 3;  // the next code is the fourth in the seventh row
  model->Decode(context, std::span(batch.ids).first(static_cast<std::size_t>(known)), {{0, known}});
  ASSERT_EQ(model->config().kinds[0], GridAttentionKind::row);
  ASSERT_EQ(model->config().kinds[1], GridAttentionKind::column);
  ASSERT_EQ(model->config().kinds[2], GridAttentionKind::convolution);
  const auto spoil_row = [&](std::size_t layer, std::int32_t position) {
    const ops::CachedKeys cached = cache.SelfKeys(layer);
    const std::int32_t row = cached.rows[static_cast<std::size_t>(position)];
    for (const auto* blocks : {cached.keys, cached.values})
      for (std::int32_t head = 0; head < heads; ++head)
        std::fill_n(reinterpret_cast<float*>(blocks->entry(row, head)), blocks->columns() / heads, NAN);
  };
  const auto spoil = [&](std::size_t layer, auto hidden) {
    for (std::int32_t cell = 0; cell < 6 * side; ++cell)
      if (hidden(cell / side, cell % side)) spoil_row(layer, text + cell);
  };
  spoil(0, [](int, int) { return true; });
  spoil(1, [](int, int column) { return column != 3; });
  spoil(2, [](int row, int column) { return row < 2 || column > 3; });
  const auto next = std::span(batch.ids).subspan(static_cast<std::size_t>(known), 1);
  const std::vector<float> hidden = model->Decode(context, next, {{0, 1}}).ToVector<float>();
  EXPECT_TRUE(std::ranges::all_of(hidden, [](float value) { return std::isfinite(value); }));
  // A NaN in a visible key has an effect.
  cache.Shorten(cache.active()[0], known);
  spoil_row(1, text + 3);
  EXPECT_TRUE(std::isnan(model->Decode(context, next, {{0, 1}}).ToVector<float>()[0]));
}

TEST_P(DalleParity, SavesAndLoads) {
  const auto model = LoadModel<Dalle>(FolderOf(name_));
  const TemporaryFolder folder;
  const auto again = SaveAndReload(*model, folder.path());
  EXPECT_EQ(again->config().kinds, model->config().kinds);
}

TEST(Dalle, RefusesInvalidInput) {
  const auto model = LoadModel<Dalle>(FolderOf("dalle"));
  EXPECT_THAT(ErrorOf([&] { model->Prompt(Ids(6, 1)); }), HasSubstr("reads at most 5"));
  EXPECT_THAT(ErrorOf([&] { model->Prompt(Ids{11}); }), HasSubstr("id 11 at position 0"));
  // The vocabulary has 13 codes, followed by 11 + 5 ids of texts.
  EXPECT_EQ(model->Prompt(Ids{4, 0, 2}), (Ids{13, 17, 13 + 12, 15, 13 + 14, 13 + 15}));
  Context context;
  const auto decode = [&](const Ids& ids) {
    return ErrorOf([&] { model->Decode(context, ids, {{0, static_cast<std::int32_t>(ids.size())}}); });
  };
  EXPECT_THAT(decode({13, 3}), HasSubstr("id 3 at position 1"));
  EXPECT_THAT(decode({13, 14, 14, 14, 14, 14, 14}), HasSubstr("id 14 at position 6"));
  EXPECT_THAT(decode({29}), HasSubstr("id 29 at position 0"));
  Ids too_long(6, 14);
  too_long.resize(6 + 16, 1);
  EXPECT_THAT(decode(too_long), HasSubstr("more than 21 tokens"));
  const auto with = [](const std::string& from, const std::string& to) {
    const TemporaryFolder folder;
    std::filesystem::copy(FolderOf("dalle"), folder.path(), std::filesystem::copy_options::recursive);
    std::string config = ReadFile(folder.File("config.json"));
    const std::size_t at = config.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    WriteFile(folder.File("config.json"), config.replace(at, from.size(), to));
    return ErrorOf([&] { LoadModel<Dalle>(folder.path()); });
  };
  EXPECT_THAT(with("\"column\"", "\"diagonal\""), HasSubstr("attention_types"));
  EXPECT_THAT(with("    \"full\",\n", ""), HasSubstr("attention_types has 3 layers"));
  EXPECT_THAT(with("\"num_codes\": 13", "\"num_codes\": 1"), HasSubstr("num_codes"));
  EXPECT_THAT(with("\"head_dim\": 5", "\"head_dim\": 5, \"rotary_emb\": true"), HasSubstr("rotary_emb"));
}

}  // namespace
}  // namespace headlight::dalle_parity_test
