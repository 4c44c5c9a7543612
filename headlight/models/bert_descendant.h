// Shared code of BERT variants: loading, saving and replacing heads.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "headlight/io/config_table.h"
#include "headlight/models/bert.h"
#include "headlight/models/files/model_files.h"

namespace headlight {

/// The base class of a family's model class M. The family's file must declare these functions for its Config, in
/// addition to Describe (io/config_table.h):
///   BertConfig& BertOf(Config& config);  // returns the settings shared with BERT
///   TextHeadsLayout HeadsOf(const Config& config);
///   OtherTensors OthersOf(const Config& config);
template <typename M, typename Config>
class BertDescendant : public TextEncoder {
 public:
  explicit BertDescendant(const Config& config) : TextEncoder(DType::float32), config_(Checked(config)) {}

  void Save(const std::string& folder, Compute compute) const override {
    Json json = WriteConfig(config_);
    WriteTextHeads(json, heads(), HeadsOf(config_));
    SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
  }

  std::unique_ptr<TextEncoder> WithHeads(const TextHeadsConfig& wanted) const override {
    Config config = config_, initial;
    BertOf(config).on_top = wanted;
    BertOf(config).scope = BertOf(initial).scope;
    return std::make_unique<M>(config);
  }

 protected:
  Json::Object LayerSizes() const override {
    Config config = config_;
    return SizesOfBert(BertOf(config));
  }

  Config config_;
};

/// Loads a model from a folder. `config` must contain the settings that are not in config.json.
template <typename M, typename Config>
std::unique_ptr<M> LoadBertDescendant(const ModelFolder& files, const LoadModelOptions& options, Config config) {
  BertConfig& bert = BertOf(config);
  bert.scope = ScopeIn(files.weights, bert.scope);
  bert.on_top = ReadTextHeads(files.config, files.weights, HeadsOf(config));
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<M>(config);
  LoadBertWeights(files, options, model->parameters(), OthersOf(config));
  return model;
}

}  // namespace headlight
