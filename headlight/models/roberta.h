// RoBERTa (Liu et al., "RoBERTa: A Robustly Optimized BERT Pretraining Approach", 2019): BERT's encoder, trained longer
// on more text and without next-sentence prediction; and XLM-R (Conneau et al., "Unsupervised Cross-lingual
// Representation Learning at Scale", 2020), the same in a hundred languages.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "headlight/base/export.h"
#include "headlight/models/bert.h"

namespace headlight {

// The defaults are the paper's RoBERTa-base.
struct RobertaConfig {
  // `positions` counts the rows of its table. A text's first token has the row after pad_id's, so that a text has at
  // most positions - pad_id - 1 tokens.
  BertConfig encoder = {.vocabulary = 50265, .positions = 514, .types = 1, .pad_id = 1, .scope = "roberta"};
  bool xlm = false;  // published as XLM-R
};

HEADLIGHT_API void Describe(ConfigTable& table, RobertaConfig& config);

class HEADLIGHT_API Roberta : public TextEncoder {
 public:
  explicit Roberta(const RobertaConfig& config, DType dtype = DType::float32);

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                const Sequences& texts, std::span<const std::int32_t> first_positions = {}) const override;

  const RobertaConfig& config() const { return config_; }
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;
  std::unique_ptr<TextEncoder> WithHeads(const TextHeadsConfig& heads) const override;

 private:
  RobertaConfig config_;
  BertEncoder encoder_;
};

}  // namespace headlight
