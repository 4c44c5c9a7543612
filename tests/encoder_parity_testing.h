// Compares encoders of texts with goldens that the scripts in tools/ made with Transformers.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headlight/io/safetensors.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/view.h"
#include "tests/parity_testing.h"

namespace headlight {

// The texts of the golden file, without padding.
struct EncoderGolden {
  explicit EncoderGolden(const std::string& folder) : file(folder + "/golden.safetensors") {
    const Tensor all = file.Read("input_ids", DType::int32), mask = file.Read("attention_mask", DType::int32);
    const Tensor all_types = file.Read("token_type_ids", DType::int32);
    for (std::int64_t b = 0; b < all.rows(); ++b) {
      const auto begin = static_cast<std::int32_t>(ids.size());
      for (std::int64_t i = 0; i < all.columns(); ++i) {
        if (mask.matrix<std::int32_t>().row(b)[i] == 0) continue;
        if (static_cast<std::size_t>(b) == first.size()) first.push_back(static_cast<std::int32_t>(i));
        kept.push_back(b * all.columns() + i);
        ids.push_back(all.matrix<std::int32_t>().row(b)[i]);
        types.push_back(all_types.matrix<std::int32_t>().row(b)[i]);
      }
      texts.push_back({begin, static_cast<std::int32_t>(ids.size()) - begin});
    }
  }

  Numbers Read(const std::string& name) const { return ToDouble(file.Read(name, DType::float64)); }
  // [texts, longest, columns] without the rows of padding.
  Numbers Rows(const std::string& name) const {
    const Tensor padded = file.Read(name, DType::float64);
    Numbers result;
    for (const std::int64_t row : kept) {
      const double* values = padded.matrix<double>().row(row);
      result.insert(result.end(), values, values + padded.columns());
    }
    return result;
  }

  Safetensors file;
  std::vector<std::int32_t> ids, types, first;
  std::vector<std::int64_t> kept;
  Sequences texts;
};

// States, attentions, outputs of the heads, the loss and every gradient.
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
    const auto begin = golden.first[static_cast<std::size_t>(seen.sentence)];
    Numbers expected;
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t query = begin; query < begin + length; ++query) {
        const double* row = all.matrix<double>().row((seen.sentence * heads + head) * longest + query) + begin;
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
  Tensor loss = Weighed(hidden);
  const auto add = [&](const Tensor& result, const Numbers& expected) {
    EXPECT_LT(Deviation(ToDouble(result), expected), tolerance);
    loss = ops::Add(loss, Weighed(result));
  };
  const TextHeadsConfig& heads = model.heads();
  if (heads.masked_words) add(model.MaskedWordLogits(context, hidden), golden.Rows("logits"));
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
