// Compares vision-language encoders with padded goldens of other programs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "headlight/ops/embedding.h"
#include "tests/encoder_parity_testing.h"
#include "tests/parity_testing.h"

namespace headlight {

// The rows of an output: for texts, for regions, for texts followed by regions, or one row per pair.
enum class RowsOf { texts, regions, both, pairs };

struct PairOutput {
  std::string name;
  Tensor value;
  RowsOf rows = RowsOf::pairs;
};

struct PairGolden : EncoderGolden {
  explicit PairGolden(const std::string& folder) : EncoderGolden(folder) {
    for (const Sequence& text : texts) text_lengths.push_back(text.length);
    text_length = file.At("input_ids").shape[1];
  }
  // Reads a golden. `features`, `boxes` and `mask_name` are names of tensors. `boxes` is null for a model without
  // boxes.
  PairGolden(const std::string& folder, DType dtype, const char* features, const char* boxes, const char* mask_name)
      : PairGolden(folder) {
    inputs.insert({features, mask_name, boxes != nullptr ? boxes : features});
    const Tensor mask = file.Read(mask_name, DType::int32);
    region_length = mask.columns();
    const std::vector<std::int32_t> seen = mask.ToVector<std::int32_t>();
    std::vector<std::int32_t> rows;
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (seen[i] != 0) rows.push_back(static_cast<std::int32_t>(i));
    for (auto row = seen.begin(); row != seen.end(); row += region_length)
      region_lengths.push_back(static_cast<std::int32_t>(std::count(row, row + region_length, 1)));
    const auto packed = [&](const char* name) {
      const Tensor all = file.Read(name, dtype);
      return ops::Embedding(all.ViewAs({all.rows(), all.columns()}), rows);
    };
    regions = {packed(features), boxes != nullptr ? packed(boxes) : Tensor::Empty({std::ssize(rows), 0}, dtype),
               PackedSequences(region_lengths)};
    if (const char* const name = "visual_token_type_ids"; file.contains(name)) {
      inputs.insert(name);
      const std::vector<std::int32_t> all = file.Read(name, DType::int32).ToVector<std::int32_t>();
      for (const std::int32_t row : rows) regions.types.push_back(all[static_cast<std::size_t>(row)]);
    }
  }

  // Returns the indices of a pair's rows among the padded rows.
  std::vector<std::int64_t> Places(std::size_t pair, RowsOf rows) const {
    std::vector<std::int64_t> places(rows == RowsOf::regions ? 0 : static_cast<std::size_t>(text_lengths[pair]));
    std::iota(places.begin(), places.end(), 0);
    if (rows != RowsOf::texts)
      for (std::int32_t i = 0; i < region_lengths[pair]; ++i)
        places.push_back((rows == RowsOf::both ? text_length : 0) + i);
    return places;
  }
  std::int64_t Length(RowsOf rows) const {
    return (rows == RowsOf::regions ? 0 : text_length) + (rows == RowsOf::texts ? 0 : region_length);
  }

  // Returns the golden of an output, without padding.
  Numbers Expected(const std::string& name, RowsOf rows) const {
    if (rows == RowsOf::pairs) return Read(name);
    const Tensor all = file.Read(name, DType::float64);
    Numbers numbers;
    for (std::size_t pair = 0; pair < texts.size(); ++pair)
      for (const std::int64_t index : Places(pair, rows)) {
        const double* const row = all.matrix<double>().row(static_cast<std::int64_t>(pair) * Length(rows) + index);
        numbers.insert(numbers.end(), row, row + all.columns());
      }
    return numbers;
  }

  // Returns the golden of one pair's attention.
  Numbers ExpectedAttention(const std::string& name, std::int32_t pair, RowsOf queries, RowsOf keys) const {
    const Tensor all = file.Read(name, DType::float64);
    const std::int64_t heads = all.shape()[1];
    Numbers numbers;
    for (std::int64_t head = 0; head < heads; ++head)
      for (const std::int64_t query : Places(static_cast<std::size_t>(pair), queries))
        for (const std::int64_t key : Places(static_cast<std::size_t>(pair), keys))
          numbers.push_back(all.matrix<double>().row((pair * heads + head) * Length(queries) + query)[key]);
    return numbers;
  }

  std::set<std::string> inputs = {"input_ids", "attention_mask", "token_type_ids"};
  Regions regions;
  std::vector<std::int32_t> tasks;
  std::vector<std::int32_t> text_lengths, region_lengths;  // lengths of the states, including rows that the model adds
  std::int64_t text_length = 0, region_length = 0;         // padded lengths
};

// A kind of attention in the golden.
struct PairAttention {
  const char* name;
  RowsOf queries, keys;
};

// Compares states, attention weights, outputs of the heads, the loss and every gradient. `outputs_of` returns the
// model's outputs for encoded pairs. `attention_of` returns the golden's name for a kind of attention.
template <typename Model, typename OutputsOf, typename AttentionOf>
void ComparePairs(Model& model, const PairGolden& golden, double tolerance, const OutputsOf& outputs_of,
                  const AttentionOf& attention_of) {
  model.parameters().PrepareTraining();
  Tape tape;
  Context context;
  context.tape = &tape;
  std::map<std::string, std::size_t> attentions;
  context.hooks.attention = [&](const LayerAttention& seen) {
    const PairAttention one = attention_of(seen.kind);
    const std::string name = fmt::format("{}.{}", one.name, seen.layer);
    ++attentions[name];
    EXPECT_LT(Deviation(ToDouble(seen.weights), golden.ExpectedAttention(name, seen.sequence, one.queries, one.keys)),
              tolerance)
        << name;
  };
  const EncodedPairs encoded =
      model.Encode(context, golden.ids, golden.types, golden.texts, golden.regions, golden.tasks);
  context.hooks.attention = nullptr;
  Tensor loss = Tensor::Zeros({1}, model.parameters().dtype());
  std::set<std::string> outputs;
  for (const PairOutput& output : outputs_of(context, encoded)) {
    EXPECT_LT(Deviation(ToDouble(output.value), golden.Expected(output.name, output.rows)), tolerance) << output.name;
    loss = ops::Add(loss, WeightedTotal(output.value));
    outputs.insert(output.name);
  }
  for (const auto& [name, tensor] : golden.file.tensors()) {
    if (golden.inputs.contains(name) || name == "loss" || name.starts_with("gradient.")) continue;
    const bool attention = name.find("attentions") != name.npos;
    EXPECT_EQ(attention ? attentions[name] : outputs.count(name), attention ? golden.texts.size() : 1) << name;
  }
  EXPECT_LT(Deviation(ToDouble(loss), golden.Read("loss")), tolerance);
  tape.Backward(loss);
  EXPECT_LT(Deviation(ByName(model.parameters(), &Parameter::gradient), GradientsOf(golden.file)), tolerance);
}

// Compares the model of a folder with its golden in single and in double precision.
template <typename Model, typename Compare>
void CompareInBothTypes(const std::string& folder, DType dtype, const Compare& compare) {
  const std::unique_ptr<Model> model = LoadModel<Model>(folder);
  if (dtype == DType::float32) return compare(*model, 5e-5);
  Model in_double(model->config(), dtype);
  LoadParameters(in_double.parameters(), Safetensors(folder + "/model.safetensors"), [](auto) { return true; });
  compare(in_double, 1e-6);
}

// Checks that a pair has the same pooled state, to the last bit, in a batch and without other pairs.
inline void ExpectBatchInvariant(const RegionTextEncoder& model, const PairGolden& golden) {
  Context context;
  const std::vector<float> together =
      model.Pool(context, model.Encode(context, golden.ids, golden.types, golden.texts, golden.regions))
          .ToVector<float>();
  std::vector<float> apart;
  for (std::size_t i = 0; i < golden.texts.size(); ++i) {
    const Sequence text = golden.texts[i], image = golden.regions.images[i];
    const auto of_text = [&](const std::vector<std::int32_t>& all) {
      return std::span(all).subspan(static_cast<std::size_t>(text.begin), static_cast<std::size_t>(text.length));
    };
    Regions regions = {golden.regions.features.ViewRows(image.begin, image.length).Clone(),
                       golden.regions.boxes.ViewRows(image.begin, image.length).Clone(),
                       {{0, image.length}}};
    const auto types = golden.regions.types.begin();
    if (!golden.regions.types.empty()) regions.types.assign(types + image.begin, types + image.begin + image.length);
    const EncodedPairs alone =
        model.Encode(context, of_text(golden.ids), of_text(golden.types), {{0, text.length}}, regions);
    const std::vector<float> pooled = model.Pool(context, alone).ToVector<float>();
    apart.insert(apart.end(), pooled.begin(), pooled.end());
  }
  EXPECT_EQ(together, apart);
}

// Checks that a model does not change when it is saved and loaded.
inline void ExpectRoundTrip(const std::string& folder) {
  const TemporaryFolder copy;
  SaveAndReload(*LoadModel<RegionTextEncoder>(folder), copy.path());
  EXPECT_EQ(ReadJson(copy.File("config.json"))["architectures"].value(),
            ReadJson(folder + "/config.json")["architectures"].value());
}

// Returns the error of loading the folder with `from` replaced by `to` in its config.json, or "" if there is none.
template <typename Kind>
std::string ErrorWith(const std::string& folder, const std::string& from, const std::string& to) {
  const TemporaryFolder copy;
  std::string config = ReadFile(folder + "/config.json");
  WriteFile(copy.File("config.json"), config.replace(config.find(from), from.size(), to));
  WriteFile(copy.File("model.safetensors"), ReadFile(folder + "/model.safetensors"));
  return ErrorOf([&] { LoadModel<Kind>(copy.path()); });
}

}  // namespace headlight
