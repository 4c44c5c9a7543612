// A tiny, untrained text-to-image model for tests.
#pragma once

#include <filesystem>
#include <string>

#include "headlight/models/dalle.h"
#include "headlight/models/discrete_vae.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// Saves a DALL-E with its tokenizer and discrete VAE into `folder`, which must exist. Images have 8 x 8 pixels and 4 x
// 4 codes from a codebook of 6. Texts have at most 12 tokens.
inline void SaveTinyDalle(const std::string& folder) {
  std::filesystem::copy_file(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_gpt2.json",
                             folder + "/tokenizer.json");
  const auto initialize = [](Model& model) {
    for (Parameter& parameter : model.parameters().all())
      if (parameter.shape.rank() == 2) parameter.initialization = Initialization::Normal(0.5);
    model.parameters().Initialize(/*seed=*/3);
  };
  DalleConfig config;
  config.text_vocabulary = PipelineTokenizer::Load(folder).size();
  config.text_positions = 12;
  config.codes = 6;
  config.side = 4;
  config.model = 16;
  config.layers = 4;
  config.heads = 2;
  config.head_dim = 8;
  config.ffn = 24;
  config.kinds = {GridAttentionKind::full, GridAttentionKind::row, GridAttentionKind::column,
                  GridAttentionKind::convolution};
  Dalle model(config);
  initialize(model);
  model.Save(folder);
  DiscreteVae coder({.image = 8, .codes = 6, .code_width = 4, .layers = 1, .blocks = 1, .hidden = 8});
  initialize(coder);
  std::filesystem::create_directory(folder + "/vae");
  coder.Save(folder + "/vae");
}

}  // namespace headlight
