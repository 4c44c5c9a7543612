#include "headlight/models/transformer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/parallel.h"
#include "headlight/generate/decode.h"
#include "headlight/io/config_table.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/projection_cross_entropy.h"

namespace headlight::transformer_test {
namespace {

TransformerConfig Tiny(NormPosition norm = NormPosition::post) {
  TransformerConfig config;
  config.model = 8;
  config.encoder_layers = config.decoder_layers = 2;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_ffn = config.decoder_ffn = 12;
  config.norm = norm;
  config.source_vocabulary = config.target_vocabulary = 11;
  config.positions = 20;
  config.start_id = config.pad_id = 10;
  return config;
}

struct Pairs {
  std::vector<std::int32_t> source = {3, 4, 0, 5, 6, 7, 8, 0}, inputs = {10, 1, 2, 10, 9}, labels = {1, 2, 0, 9, 0};
  Sequences sources = {{0, 3}, {3, 5}}, targets = {{0, 3}, {3, 2}};
};

Tensor Loss(const EncoderDecoder& model, Context& context, const Pairs& pairs) {
  const Memory memory{model.Encode(context, pairs.source, pairs.sources), pairs.sources};
  const Tensor hidden = model.Decode(context, pairs.inputs, pairs.targets, memory);
  return ops::ProjectionCrossEntropy(hidden, model.OutputWeight(context), model.OutputBias(context), pairs.labels, 0.1,
                                     0.2);
}

// Checks the minimum length with a model that predicts the end token first.
TEST(Decode, DoesNotEndBeforeItsMinimumLength) {
  Transformer model(Tiny());
  model.parameters().Initialize(5);
  for (const Parameter& parameter : model.parameters().all())
    if (parameter.names.front() == "final_logits_bias") parameter.value.data<float>()[model.limits().end_id] = 100;
  const Pairs pairs;
  for (const std::int32_t beam_size : {1, 3})
    for (const std::int32_t min_length : {0, 1, 4})
      for (const auto& hypotheses :
           Decode(model, pairs.source, pairs.sources,
                  {.search = {.beam_size = beam_size}, .max_length = 9, .min_length = min_length}))
        EXPECT_EQ(hypotheses.front().ids.size(), static_cast<std::size_t>(min_length)) << beam_size;
}

TEST(Decode, EndsIfNoTokenIsAllowed) {
  Transformer model(Tiny());
  model.parameters().Initialize(5);
  for (const Parameter& parameter : model.parameters().all())
    if (parameter.names.front() == "final_logits_bias")
      for (std::int32_t word = 0; word < model.limits().target_vocabulary; ++word)
        if (word != model.limits().pad_id)
          parameter.value.data<float>()[word] = -std::numeric_limits<float>::infinity();
  const Pairs pairs;
  for (const std::int32_t beam_size : {1, 3})
    for (const auto& hypotheses : Decode(model, pairs.source, pairs.sources, {.search = {.beam_size = beam_size}})) {
      ASSERT_EQ(hypotheses.size(), 1U);
      EXPECT_TRUE(hypotheses.front().ids.empty());
      EXPECT_FALSE(hypotheses.front().ended);
    }
}

// Checks that results keep their order and equal the results of single sentences, with enough sentences to be divided
// among threads.
TEST(Decode, DividesSentencesAmongThreads) {
  Transformer model(Tiny());
  model.parameters().Initialize(5);
  constexpr std::int32_t count = 75;
  std::vector<std::int32_t> source, lengths;
  for (std::int32_t i = 0; i < count; ++i) {
    lengths.push_back(1 + i % 7);
    for (std::int32_t token = 0; token < lengths.back(); ++token) source.push_back((i + token * token) % 10);
  }
  const Sequences sources = PackedSequences(lengths);
  const int before = Threads();
  for (const int threads : {2, 3}) {
    SetThreads(threads);
    DecodingOptions options{.search = {.beam_size = 3}, .max_length = 9};
    const auto together = Decode(model, source, sources, options);
    ASSERT_EQ(together.size(), sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto alone = std::span(source).subspan(static_cast<std::size_t>(sources[i].begin),
                                                   static_cast<std::size_t>(sources[i].length));
      const auto expected = Decode(model, alone, {{0, sources[i].length}}, options);
      EXPECT_EQ(together[i].front().ids, expected[0].front().ids);
      EXPECT_EQ(together[i].front().score, expected[0].front().score);
    }
    int asked = 0;
    options.cancelled = [&] { return ++asked > 4; };
    EXPECT_THROW(Decode(model, source, sources, options), Cancelled);
  }
  SetThreads(before);
}

// Checks that scores in any batch are the model's log-probabilities, normalized over the sentence's shortlist.
TEST(Decode, ChoosesFromTheShortlist) {
  Transformer model(Tiny());
  model.parameters().Initialize(5);
  const Pairs pairs;
  const Shortlist shortlist{{1}, {0, 0, 0, 0, 2, 4, 6, 7, 9, 9, 9, 9}, {2, 3, 4, 5, 6, 2, 8, 3, 9}};
  for (const Compute compute : {Compute::float32, Compute::int8}) {
    model.parameters().SetCompute(compute);
    for (const std::int32_t beam_size : {1, 3}) {
      const DecodingOptions options{.search = {.beam_size = beam_size}, .max_length = 9, .shortlist = &shortlist};
      const auto together = Decode(model, pairs.source, pairs.sources, options);
      for (std::size_t sentence = 0; sentence < pairs.sources.size(); ++sentence) {
        const Sequence place = pairs.sources[sentence];
        const auto source = std::span(pairs.source)
                                .subspan(static_cast<std::size_t>(place.begin), static_cast<std::size_t>(place.length));
        const Sequences alone = {{0, place.length}};
        const Hypothesis best = together[sentence].front();
        EXPECT_EQ(best.ids, Decode(model, source, alone, options)[0].front().ids);

        std::vector<std::int32_t> list = shortlist.For(source);
        list.insert(list.begin(), model.limits().end_id);
        std::vector<std::int32_t> inputs = {model.limits().start_id}, outputs = best.ids;
        inputs.insert(inputs.end(), best.ids.begin(), best.ids.end());
        outputs.push_back(model.limits().end_id);
        Context context;
        const Tensor hidden = model.Decode(context, inputs, {{0, static_cast<std::int32_t>(inputs.size())}},
                                           {model.Encode(context, source, alone), alone});
        const Tensor logits = model.Logits(context, hidden);
        double log_probability = 0;
        for (std::size_t i = 0; i < (best.ended ? outputs.size() : best.ids.size()); ++i) {
          EXPECT_TRUE(std::ranges::find(list, outputs[i]) != list.end()) << outputs[i];
          const float* row = logits.matrix<float>().row(static_cast<std::int64_t>(i));
          double sum = 0;
          for (const std::int32_t word : list) sum += std::exp(row[word]);
          log_probability += row[outputs[i]] - std::log(sum);
        }
        EXPECT_NEAR(best.log_probability, log_probability, 1e-4) << beam_size;
      }
    }
  }
}

// Compares the gradient of every parameter of the whole model with finite differences, in double precision.
void CheckWholeModel(const TransformerConfig& config) {
  Transformer model(config, DType::float64);
  model.parameters().Initialize(5);
  model.parameters().PrepareTraining();
  const Pairs pairs;
  const auto loss = [&](Tape* tape) {
    Context context;
    context.training = {.seed = 3};
    context.tape = tape;
    const Tensor value = Loss(model, context, pairs);
    if (tape != nullptr) tape->Backward(value);
    return value.data<double>()[0];
  };
  Tape tape;
  loss(&tape);
  double worst = 0;
  for (const Parameter& parameter : model.parameters().all()) {
    if (!parameter.role.trained) continue;
    for (std::int64_t i = 0; i < parameter.shape.elements(); ++i) {
      double& value = parameter.value.span<double>()[static_cast<std::size_t>(i)];
      const double original = value, step = 1e-5;
      value = original + step;
      const double above = loss(nullptr);
      value = original - step;
      const double below = loss(nullptr);
      value = original;
      const double numeric = (above - below) / (2 * step);
      const double analytic = parameter.gradient.span<double>()[static_cast<std::size_t>(i)];
      worst = std::max(worst, std::abs(numeric - analytic));
      ASSERT_NEAR(analytic, numeric, 1e-7) << parameter.names.front() << " " << i;
    }
  }
  EXPECT_GT(worst, 0);
}

TEST(Transformer, CheckGradientsOfThePostNormModel) { CheckWholeModel(Tiny()); }

TEST(Transformer, CheckGradientsOfThePreNormModel) { CheckWholeModel(Tiny(NormPosition::pre)); }

TEST(Transformer, CheckGradientsOfTheModelWithoutTies) {
  TransformerConfig config = Tiny();
  config.tie_source_target = config.tie_output = false;
  config.source_vocabulary = 9;
  config.activation = Activation::gelu;
  CheckWholeModel(config);
}

TEST(Transformer, DecodesTheSameWithACache) {
  for (const NormPosition norm : {NormPosition::post, NormPosition::pre}) {
    Transformer model(Tiny(norm));
    model.parameters().Initialize(7);
    const Pairs pairs;
    Context whole_context;
    const Memory memory{model.Encode(whole_context, pairs.source, pairs.sources), pairs.sources};
    const Tensor whole = model.Decode(whole_context, pairs.inputs, pairs.targets, memory);

    DecoderCache cache;
    Context context;
    context.cache = &cache;
    const auto expect = [&](const std::vector<std::int32_t>& ids, const std::vector<std::int64_t>& rows) {
      const std::vector<std::int32_t> ones(ids.size(), 1);
      const Tensor step = model.Decode(context, ids, PackedSequences(ones), memory);
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::int64_t j = 0; j < 8; ++j)
          EXPECT_NEAR(step.matrix<float>().row(static_cast<std::int64_t>(i))[j], whole.matrix<float>().row(rows[i])[j],
                      1e-5);
    };
    expect({10, 10}, {0, 3});
    expect({1, 9}, {1, 4});
    cache.Activate({cache.active()[0]});
    expect({2}, {2});
  }
}

TEST(Transformer, DecodingIsBatchInvariant) {
  Transformer model(Tiny());
  model.parameters().Initialize(9);
  const Pairs pairs;
  for (const std::int32_t beam_size : {1, 3}) {
    const DecodingOptions options{.search = {.beam_size = beam_size, .n_best = beam_size}, .max_length = 12};
    const auto together = Decode(model, pairs.source, pairs.sources, options);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto [begin, length, step] = pairs.sources[i];
      const auto alone = Decode(model, std::span(pairs.source).subspan(begin, length), {{0, length}}, options);
      ASSERT_EQ(alone[0].size(), together[i].size());
      for (std::size_t n = 0; n < alone[0].size(); ++n) {
        EXPECT_EQ(alone[0][n].ids, together[i][n].ids);
        EXPECT_EQ(alone[0][n].score, together[i][n].score);
      }
    }
  }
}

TEST(Transformer, RecordsEveryHeadOfEveryLayer) {
  Transformer model(Tiny());
  model.parameters().Initialize(9);
  const Pairs pairs;
  Context context;
  std::vector<LayerAttention> seen;
  context.hooks.attention = [&](const LayerAttention& attention) { seen.push_back(attention); };
  const Memory memory{model.Encode(context, pairs.source, pairs.sources), pairs.sources};
  model.Decode(context, pairs.inputs, pairs.targets, memory);
  ASSERT_EQ(seen.size(), 2U * 3 * 2);  // layers, attentions, sentences
  for (const LayerAttention& attention : seen) {
    const Shape& shape = attention.weights.shape();
    EXPECT_EQ(shape[1], 2);
    const std::vector<float> weights = attention.weights.ToVector<float>();
    for (std::int64_t row = 0; row < shape[1] * shape[2]; ++row) {
      float sum = 0;
      for (std::int64_t key = 0; key < shape[3]; ++key) {
        const float weight = weights[static_cast<std::size_t>(row * shape[3] + key)];
        sum += weight;
        if (attention.kind == AttentionKind::decoder_self && key > row % shape[2]) {
          EXPECT_EQ(weight, 0);
        }
      }
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
}

TEST(Transformer, NamesImpossibleHyperparameters) {
  const auto message = [](auto change) {
    TransformerConfig config = Tiny();
    change(config);
    try {
      CheckConfig(config);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([](auto& config) { config.encoder_heads = 3; }),
            "the number of encoder heads must divide the model dimension: 3 does not divide 8");
  EXPECT_NE(message([](auto& config) { config.model = 7; }), "");
  EXPECT_NE(message([](auto& config) { config.model = 0; }), "");
  EXPECT_NE(message([](auto& config) { config.decoder_layers = -1; }), "");
  EXPECT_NE(message([](auto& config) { config.decoder_ffn = 0; }), "");
  EXPECT_NE(message([](auto& config) { config.dropout = 1; }), "");
  EXPECT_NE(message([](auto& config) { config.dropout = std::nan(""); }), "");
  EXPECT_NE(message([](auto& config) { config.target_vocabulary = 12; }), "");
  EXPECT_NE(message([](auto& config) { config.start_id = 11; }), "");
}

}  // namespace
}  // namespace headlight::transformer_test
