#include <gmock/gmock.h>

#include "headlight/cli/program/testing.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/family.h"
#include "headlight/models/transformer.h"

namespace headlight::forward_test {
namespace {

using testing::HasSubstr;

using Ids = std::vector<std::int64_t>;

struct ForwardTest : ProgramTest {
  // Saves the inputs as tensors of shape [rows, ids / rows], and runs the model with them.
  Outcome Forward(const std::map<std::string, Ids>& inputs, std::int64_t rows = 2) const {
    std::vector<StoredTensor> stored;
    for (const auto& [name, values] : inputs)
      stored.push_back({name,
                        StoredType::i64,
                        {rows, static_cast<std::int64_t>(values.size()) / rows},
                        std::as_bytes(std::span(values))});
    WriteSafetensors(in, stored);
    return RunProgram({"forward", model, in, "--out", out});
  }
  std::string RefusalOfForward(const std::map<std::string, Ids>& inputs, std::int64_t rows = 2) const {
    const Outcome outcome = Forward(inputs, rows);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(out));
    return outcome.err;
  }

  const std::string in = folder.File("in.safetensors"), out = folder.File("out.safetensors");
  const Ids ids = {5, 6, 7, 0, 9, 9, 8, 0, 9, 9}, mask = {1, 1, 1, 1, 0, 0, 1, 1, 0, 0};
  const Ids target = {59, 4, 5, 59, 9, 9}, target_mask = {1, 1, 1, 1, 0, 0};
};

TEST_F(ForwardTest, ReadsStandardInput) {
  ASSERT_EQ(Forward({{"input_ids", ids}, {"attention_mask", mask}}).exit_code, 0);
  const std::string expected = ReadFile(out), other = folder.File("other.safetensors");
  const Outcome outcome = RunProgram({"forward", model, "-", "--out", other}, ReadFile(in));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(ReadFile(other) == expected);
  EXPECT_THAT(RefusalOf({"forward", model, "-", "--out", other}, "short"), HasSubstr("standard input: 5 bytes are"));
}

TEST_F(ForwardTest, EqualsTheLibraryWithPadding) {
  Ids padded = ids, shown = mask;
  padded.insert(padded.begin() + 5, {9, 8, 0, 9, 9});  // the second row, with one padding token before its two tokens
  padded.resize(10);
  shown.resize(5);
  shown.insert(shown.end(), {0, 1, 1, 0, 0});
  const Outcome outcome = Forward({{"input_ids", padded},
                                   {"attention_mask", shown},
                                   {"decoder_input_ids", target},
                                   {"decoder_attention_mask", target_mask}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Safetensors file(out);

  const auto transformer = LoadModel<Transformer>(model);
  std::map<std::string, std::vector<float>> expected;  // attention weights of the second sentence
  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) {
    if (seen.sequence == 1)
      expected[fmt::format("{}.{}", static_cast<int>(seen.kind), seen.layer)] = seen.weights.ToVector<float>();
  };
  const std::vector<std::int32_t> sources = {5, 6, 7, 0, 8, 0}, targets = {59, 4, 5, 59};
  const Memory memory{transformer->Encode(context, sources, {{0, 4}, {4, 2}}), {{0, 4}, {4, 2}}};
  const Tensor hidden = transformer->Decode(context, targets, {{0, 3}, {3, 1}}, memory);
  const Tensor logits = transformer->Logits(context, hidden);

  const Tensor got = file.Read("logits");
  ASSERT_EQ(got.shape(), (Shape{2, 3, 60}));
  const auto row = [](const Tensor& tensor, std::int64_t index) {
    const float* begin = tensor.matrix<float>().row(index);
    return std::vector<float>(begin, begin + tensor.columns());
  };
  for (const auto& [padded_row, packed_row] : std::map<int, int>{{0, 0}, {1, 1}, {2, 2}, {3, 3}})
    EXPECT_EQ(row(got, padded_row), row(logits, packed_row));
  EXPECT_EQ(row(got, 4), std::vector<float>(60));
  const Tensor states = file.Read("encoder_last_hidden_state");
  ASSERT_EQ(states.shape(), (Shape{2, 5, 16}));
  EXPECT_EQ(row(states, 5), std::vector<float>(16));
  EXPECT_EQ(row(states, 6), row(memory.rows, 4));
  EXPECT_EQ(row(file.Read("decoder_last_hidden_state"), 3), row(hidden, 3));

  // Compare the block [heads 2, query 1, key 2] within [batch 2, heads 2, query 3, key 5].
  const Tensor cross = file.Read("cross_attentions.2");
  ASSERT_EQ(cross.shape(), (Shape{2, 2, 3, 5}));
  const std::vector<float>& weights = expected.at("2.2");
  ASSERT_EQ(weights.size(), 4U);
  EXPECT_EQ(row(cross, 6), (std::vector<float>{0, weights[0], weights[1], 0, 0}));
  EXPECT_EQ(row(cross, 9), (std::vector<float>{0, weights[2], weights[3], 0, 0}));
  EXPECT_EQ(row(cross, 7), std::vector<float>(5));
  EXPECT_EQ(file.At("encoder_attentions.1").shape, (Shape{2, 2, 5, 5}));
  EXPECT_EQ(file.At("decoder_attentions.0").shape, (Shape{2, 2, 3, 3}));
}

TEST_F(ForwardTest, EncodesWithoutDecoderInputs) {
  ASSERT_EQ(Forward({{"input_ids", ids}}).exit_code, 0);
  const Safetensors file(out);
  EXPECT_FALSE(file.contains("logits"));
  EXPECT_TRUE(file.contains("encoder_attentions.1"));
  EXPECT_EQ(file.At("encoder_last_hidden_state").shape, (Shape{2, 5, 16}));
}

TEST_F(ForwardTest, RefusesInputsThatAreNotABatch) {
  EXPECT_THAT(RefusalOfForward({{"attention_mask", mask}}), HasSubstr("input_ids"));
  EXPECT_THAT(RefusalOfForward({{"input_ids", ids}, {"labels", ids}}), HasSubstr("'labels' is not an input"));
  EXPECT_THAT(RefusalOfForward({{"input_ids", {1, 2, 60, 4}}}), HasSubstr("row 1, column 0: 60"));
  EXPECT_THAT(RefusalOfForward({{"input_ids", {-1, 2}}}), HasSubstr("-1 is outside"));
  EXPECT_THAT(RefusalOfForward({{"input_ids", {std::int64_t{1} << 40, 2}}}), HasSubstr("input_ids"));
  EXPECT_THAT(RefusalOfForward({{"input_ids", Ids(82, 1)}}), HasSubstr("41 tokens, and the model"));
  EXPECT_THAT(RefusalOfForward({{"input_ids", {}}}), HasSubstr("neither of them 0"));
  EXPECT_THAT(RefusalOfForward({{"input_ids", ids}, {"attention_mask", {1, 1}}}), HasSubstr("must be equal"));
  EXPECT_THAT(RefusalOfForward({{"input_ids", {1, 2, 3, 4}}, {"attention_mask", {1, 1, 0, 0}}}), HasSubstr("row 1"));
  EXPECT_THAT(RefusalOfForward({{"input_ids", {1, 2, 3}}, {"attention_mask", {1, 0, 1}}}, 1), HasSubstr("one run"));
  EXPECT_THAT(RefusalOfForward({{"input_ids", {1, 2, 3}}, {"attention_mask", {1, 2, 1}}}, 1),
              HasSubstr("must be 0 or 1"));

  const Ids one = {1, 2};
  const std::vector<float> floats = {1, 2};
  WriteSafetensors(in, {{"input_ids", StoredType::i64, {1, 2}, std::as_bytes(std::span(one))},
                        {"decoder_input_ids", StoredType::i64, {2, 1}, std::as_bytes(std::span(one))}});
  EXPECT_THAT(RefusalOf({"forward", model, in, "--out", out}), HasSubstr("1 rows and decoder_input_ids 2"));
  WriteSafetensors(in, {{"input_ids", StoredType::f32, {1, 2}, std::as_bytes(std::span(floats))}});
  EXPECT_THAT(RefusalOf({"forward", model, in, "--out", out}), HasSubstr("input_ids is F32"));
  WriteSafetensors(in, {{"input_ids", StoredType::i64, {2}, std::as_bytes(std::span(one))}});
  EXPECT_THAT(RefusalOf({"forward", model, in, "--out", out}), HasSubstr("[batch, length]"));
  EXPECT_THAT(RefusalOf({"forward", model, Write("text", "no tensors here"), "--out", out}), HasSubstr("text"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

// Checks that the error messages of layers name the input file.
TEST_F(ForwardTest, NamesTheInputs) {
  const Tensor padding = Tensor::From<std::int32_t>({0, 1, 2}, {1, 3});
  WriteSafetensors(in, {Stored("input_ids", padding)});
  const std::string error =
      RefusalOf({"forward", HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/esm", in, "--out", out});
  EXPECT_THAT(error, HasSubstr(in + ": a text has the token 1, which is padding"));
}

// Compares the outputs with Transformers for padded inputs, for the folders of tools/make_bert_goldens.py and
// make_encoder_goldens.py.
TEST_F(ForwardTest, GivesAnEncodersOutputs) {
  for (const std::string name : {"bert/gelu", "bert/pretraining_left", "encoders/bert_answers_left",
                                 "encoders/roberta_masked_left", "encoders/deberta_v3_tags"}) {
    const std::string bert = HEADLIGHT_SOURCE_DIR "/tests/testdata/" + name;
    const Safetensors golden(bert + "/golden.safetensors");
    std::vector<StoredTensor> inputs;
    for (const char* input : {"input_ids", "attention_mask", "token_type_ids"}) inputs.push_back(golden.At(input));
    WriteSafetensors(in, inputs);
    const Outcome outcome = RunProgram({"forward", bert, in, "--out", out});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Safetensors given(out);
    const Tensor real = golden.Read("attention_mask", DType::int32);
    int compared = 0;
    for (const auto& [output, tensor] : given.tensors()) {
      if (!golden.contains(output)) continue;
      const Tensor expected = golden.Read(output), actual = given.Read(output);
      ASSERT_EQ(actual.shape(), expected.shape()) << output;
      ++compared;
      const bool of_tokens = actual.shape().rank() == 3;
      if (output.ends_with("_logits") && output != "seq_relationship_logits") {  // one value per token
        for (std::int64_t i = 0; i < actual.elements(); ++i)
          ASSERT_NEAR(actual.data<float>()[i], real.data<std::int32_t>()[i] == 0 ? 0 : expected.data<float>()[i], 1e-4)
              << output;
        continue;
      }
      for (std::int64_t row = 0; row < actual.rows(); ++row) {
        if (output.starts_with("attentions")) break;  // Transformers computes attention weights for padded rows
        for (std::int64_t i = 0; i < actual.columns(); ++i) {
          const float wanted = of_tokens && real.span<std::int32_t>()[static_cast<std::size_t>(row)] == 0
                                   ? 0
                                   : expected.matrix<float>().row(row)[i];
          ASSERT_NEAR(actual.matrix<float>().row(row)[i], wanted, 1e-4) << output;
        }
      }
    }
    EXPECT_GE(compared, 3);  // hidden states, attention weights of one or two layers, and outputs of heads
  }
  WriteSafetensors(in, {});
  const std::string bert = HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/gelu";
  EXPECT_EQ(RunProgram({"forward", bert, in, "--out", out}).exit_code, 2);
}

}  // namespace
}  // namespace headlight::forward_test
