// The goldens of models with a decoder alone, as tools/make_gpt_goldens.py and tools/make_decoder_goldens.py describe
// them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "headlight/io/safetensors.h"
#include "headlight/kinds/language_model.h"
#include "headlight/models/family.h"
#include "tests/padded_testing.h"
#include "tests/parity_testing.h"

namespace headlight {

// Of either kind of model: one that has a tokenizer, and one of pictures.
inline std::unique_ptr<LanguageModel> LoadDecoder(const std::string& folder, const LoadModelOptions& options = {}) {
  std::unique_ptr<Model> model = LoadModel(folder, options);
  EXPECT_NE(dynamic_cast<LanguageModel*>(model.get()), nullptr);
  return std::unique_ptr<LanguageModel>(static_cast<LanguageModel*>(model.release()));
}

// The texts of the golden file, without padding.
struct DecoderGolden : UnpaddedTexts {
  explicit DecoderGolden(const std::string& folder) : DecoderGolden(Safetensors(folder + "/golden.safetensors")) {}
  explicit DecoderGolden(Safetensors golden)
      : UnpaddedTexts(golden, "input_ids", "attention_mask"), file(std::move(golden)) {}

  Numbers Read(const std::string& name) const { return ToDouble(file.Read(name, DType::float64)); }
  // [texts, longest, columns] without the rows of padding.
  Numbers Rows(const std::string& name) const { return UnpaddedTexts::Rows(file.Read(name, DType::float64)); }
  // One text's [heads, query, key] without padding.
  Numbers Attention(int layer, std::int32_t text) const {
    const Tensor all = file.Read("attentions." + std::to_string(layer), DType::float64);
    const std::int64_t heads = all.shape()[1], longest = all.shape()[2];
    const auto index = static_cast<std::size_t>(text);
    Numbers result;
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t query = first[index]; query < first[index] + texts[index].length; ++query) {
        const double* row = all.matrix<double>().row((text * heads + head) * longest + query) + first[index];
        result.insert(result.end(), row, row + texts[index].length);
      }
    return result;
  }

  Safetensors file;
};

inline constexpr double kDecoderTolerance = 2e-5;  // of the scale

}  // namespace headlight
