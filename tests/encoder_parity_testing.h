// Compares text encoders with goldens of Transformers.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "headlight/io/safetensors.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/view.h"
#include "tests/padded_testing.h"
#include "tests/parity_testing.h"

namespace headlight {

// The texts of the golden file, without padding.
struct EncoderGolden : UnpaddedTexts {
  explicit EncoderGolden(const std::string& folder) : EncoderGolden(Safetensors(folder + "/golden.safetensors")) {}
  explicit EncoderGolden(Safetensors golden)
      : UnpaddedTexts(golden, "input_ids", "attention_mask"), file(std::move(golden)) {
    const std::vector<std::int32_t> all = file.Read("token_type_ids", DType::int32).ToVector<std::int32_t>();
    for (const std::int64_t row : kept) types.push_back(all[static_cast<std::size_t>(row)]);
  }

  Numbers Read(const std::string& name) const { return ToDouble(file.Read(name, DType::float64)); }
  // Reads a tensor [texts, longest, columns] and returns its rows without the padding rows.
  Numbers Rows(const std::string& name) const { return UnpaddedTexts::Rows(file.Read(name, DType::float64)); }

  Safetensors file;
  std::vector<std::int32_t> types;
};

// Compares states, attention weights, outputs of the heads, the loss and every gradient.
inline void CompareWithGolden(TextEncoder& model, const std::string& folder, double tolerance) {
  const EncoderGolden golden(folder);
  model.parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  int attentions = 0, layers = 0;
  while (golden.file.contains("attentions." + std::to_string(layers))) ++layers;
  context.hooks.attention = [&](const LayerAttention& seen) {
    const Tensor all = golden.file.Read("attentions." + std::to_string(seen.layer), DType::float64);
    const std::int64_t heads = all.shape()[1], longest = all.shape()[2], length = seen.weights.shape()[2];
    const auto begin = golden.first[static_cast<std::size_t>(seen.sequence)];
    Numbers expected;
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t query = begin; query < begin + length; ++query) {
        const double* row = all.matrix<double>().row((seen.sequence * heads + head) * longest + query) + begin;
        expected.insert(expected.end(), row, row + length);
      }
    EXPECT_LT(Deviation(ToDouble(seen.weights), expected), tolerance);
    ++attentions;
  };
  const bool from_column = model.limits().padding_has_positions;
  const Tensor hidden = model.Encode(context, golden.ids, golden.types, golden.texts,
                                     from_column ? golden.first : std::vector<std::int32_t>());
  EXPECT_EQ(attentions, layers * static_cast<int>(golden.texts.size()));
  EXPECT_LT(Deviation(ToDouble(hidden), golden.Rows("last_hidden_state")), tolerance);
  Tensor loss = WeightedTotal(hidden);
  const auto add = [&](const Tensor& result, const Numbers& expected) {
    EXPECT_LT(Deviation(ToDouble(result), expected), tolerance);
    loss = ops::Add(loss, WeightedTotal(result));
  };
  const TextHeadsConfig& heads = model.heads();
  if (heads.masked_words) add(model.MaskedTokenLogits(context, hidden), golden.Rows("logits"));
  if (heads.token_classes) add(model.TokenClassLogits(context, hidden), golden.Rows("logits"));
  if (heads.sequence_classes) add(model.SequenceClassLogits(context, hidden, golden.texts), golden.Read("logits"));
  if (heads.question_spans) {
    const Tensor spans = model.SpanLogits(context, hidden);
    for (const auto& [name, column] : {std::pair("start_logits", 0), std::pair("end_logits", 1)}) {
      const Numbers padded = golden.Read(name);
      Numbers expected;
      for (const std::int64_t row : golden.kept) expected.push_back(padded[static_cast<std::size_t>(row)]);
      add(ops::Columns(spans, column, 1), expected);
    }
  }
  if (heads.pooler) {
    const Tensor pooled = model.Pool(context, hidden, golden.texts);
    if (golden.file.contains("pooler_output")) add(pooled, golden.Read("pooler_output"));
    if (heads.next_sentence) add(model.NextSentenceLogits(context, pooled), golden.Read("seq_relationship_logits"));
  }
  EXPECT_LT(Deviation(ToDouble(loss), golden.Read("loss")), tolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model.parameters(), &Parameter::gradient), GradientsOf(golden.file)), tolerance);
}

}  // namespace headlight
