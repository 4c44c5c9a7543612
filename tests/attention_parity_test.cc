// Compares attention with PyTorch. tools/make_attention_goldens.py describes the goldens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/sequences.h"
#include "headlight/io/safetensors.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/attention.h"
#include "tests/parity_testing.h"

namespace headlight::attention_parity_test {
namespace {

constexpr std::int32_t kHeight = 3, kWidth = 4, kTokens = kHeight * kWidth;

class AttentionParity : public testing::Test {
 protected:
  // Returns the largest deviation of the output and gradients of a case. The loss is sum(output * d_output).
  double Worst(const std::string& name, const Sequences& sequences, ops::AttentionOptions options, DType dtype) const {
    options.heads = name == "groups" ? 4 : 2;
    options.scale = 1 / std::sqrt(3.0);
    Tape tape;
    std::vector<Tensor> inputs;
    for (const char* const input : {".query", ".key", ".value"})
      inputs.push_back(tape.Watch(file_.Read(name + input, dtype)));
    if (file_.contains(name + ".bias")) {
      Tensor bias = file_.Read(name + ".bias", dtype);
      if (options.bias.heads_first) bias = HeadsFirst(bias);
      inputs.push_back(options.bias.values = tape.Watch(bias));
    }
    const Tensor y = ops::Attention(inputs[0], inputs[1], inputs[2], sequences, sequences, options);
    tape.Backward(ops::Sum(ops::Multiply(y, file_.Read(name + ".d_output", dtype))));
    double worst = Deviation(ToDouble(y), ToDouble(file_.Read(name + ".output", DType::float64)));
    const char* const gradients[] = {".d_query", ".d_key", ".d_value", ".d_bias"};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Tensor expected = file_.Read(name + gradients[i], DType::float64);
      if (i == 3 && options.bias.heads_first) expected = HeadsFirst(expected);
      worst = std::max(worst, Deviation(ToDouble(tape.GradientOf(inputs[i])), ToDouble(expected)));
    }
    return worst;
  }

  void Expect(const std::string& name, const Sequences& sequences, const ops::AttentionOptions& options) const {
    EXPECT_LT(Worst(name, sequences, options, DType::float64), 1e-13) << name;
    EXPECT_LT(Worst(name, sequences, options, DType::float32), 2e-6) << name;
  }

  std::shared_ptr<const std::vector<std::int32_t>> Index(const std::string& name) const {
    return std::make_shared<const std::vector<std::int32_t>>(
        file_.Read(name + ".index", DType::int32).ToVector<std::int32_t>());
  }

  const Sequences whole_ = {{0, kTokens}};

 private:
  // Transposes [..., heads] to [heads, ...].
  static Tensor HeadsFirst(const Tensor& x) {
    Tensor result;
    Dispatch(x.dtype(), [&]<typename T>(T) {
      result = Tensor::Empty({x.columns(), x.rows()}, x.dtype());
      for (std::int64_t head = 0; head < x.columns(); ++head)
        for (std::int64_t position = 0; position < x.rows(); ++position)
          result.matrix<T>().row(head)[position] = x.matrix<T>().row(position)[head];
    });
    return result;
  }

  Safetensors file_{HEADLIGHT_SOURCE_DIR "/tests/testdata/attention.safetensors"};
};

TEST_F(AttentionParity, OverColumnsAndRowsOfAGrid) {
  Expect("columns", GridColumns(1, kHeight, kWidth), {});
  Expect("columns", whole_, {.mask = {.stride = kWidth}});
  Expect("rows", PackedSequences(std::vector<std::int32_t>(kHeight, kWidth)), {});
  Expect("rows", whole_, {.mask = {.block = kWidth}});
}

TEST_F(AttentionParity, WithGroupedQueries) { Expect("groups", whole_, {.key_heads = 2, .mask = {.causal = true}}); }

TEST_F(AttentionParity, WithABandMask) {
  Expect("band", whole_, {.mask = {.left = 2, .right = 1}});
  // Planted defect: with a wrong mask the comparison must fail.
  EXPECT_GT(Worst("band", whole_, {.mask = {.left = 2, .right = 2}}, DType::float64), 1e-3);
}

TEST_F(AttentionParity, WithBiases) {
  using kernels::BiasIndexing;
  const Sequences halves = {{0, kTokens / 2}, {kTokens / 2, kTokens / 2}};
  for (const bool heads_first : {false, true}) {
    for (const BiasIndexing by : {BiasIndexing::distances, BiasIndexing::table}) {
      const char* const name = by == BiasIndexing::table ? "table" : "distances";
      Expect(name, whole_, {.bias = {.heads_first = heads_first, .by = by, .index = Index(name)}});
    }
    Expect("pairs", halves, {.bias = {.heads_first = heads_first}});
  }
}

}  // namespace
}  // namespace headlight::attention_parity_test
