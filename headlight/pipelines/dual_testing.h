// Tiny, untrained dual encoders for tests, with the tokenizers in text/tokenizers/testdata.
#pragma once

#include <filesystem>
#include <string>

#include "headlight/base/file.h"
#include "headlight/models/clip.h"
#include "headlight/models/siglip.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// Returns a configuration whose two towers have different sizes.
template <typename Config>
Config TinyDualConfig(std::int64_t vocabulary, std::int64_t positions) {
  Config config;
  config.text->model = 12;
  config.text->layers = 1;
  config.text->heads = 2;
  config.text->ffn = 20;
  config.text->vocabulary = vocabulary;
  config.text->positions = positions;
  config.image->model = 16;
  config.image->layers = 2;
  config.image->heads = 2;
  config.image->ffn = 24;
  config.image->image = {8, 8};
  config.image->patch = {4, 4};
  return config;
}

// Saves a CLIP into `folder`, which must exist. The inputs of the model are center-cropped images of 8 x 8 pixels and
// texts of at most `positions` tokens.
inline void SaveTinyClip(const std::string& folder, std::int64_t positions = 20, std::uint64_t seed = 3) {
  std::filesystem::copy_file(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_clip.json",
                             folder + "/tokenizer.json", std::filesystem::copy_options::overwrite_existing);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
  ClipConfig config = TinyDualConfig<ClipConfig>(tokenizer.size(), positions);
  config.text->end_id = *tokenizer.Find("<|endoftext|>");
  config.vector = 10;
  Clip model(config);
  model.parameters().Initialize(seed);
  model.Save(folder);
  WriteFile(folder + "/preprocessor_config.json",
            R"({"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 8}, )"
            R"("crop_size": {"height": 8, "width": 8}})");
}

// Saves a SigLIP, which pads its texts, into `folder`, which must exist.
inline void SaveTinySiglip(const std::string& folder, std::int64_t positions = 20, std::uint64_t seed = 3) {
  std::filesystem::copy_file(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/spm_t5.model",
                             folder + "/spiece.model", std::filesystem::copy_options::overwrite_existing);
  WriteFile(folder + "/tokenizer_config.json", R"({"tokenizer_class": "SiglipTokenizer", "pad_token": "</s>"})");
  SiglipConfig config = TinyDualConfig<SiglipConfig>(PipelineTokenizer::Load(folder).size(), positions);
  config.text->vector = 16;
  Siglip model(config);
  model.parameters().Initialize(seed);
  model.Save(folder);
  WriteFile(folder + "/preprocessor_config.json",
            R"({"image_processor_type": "SiglipImageProcessor", "size": {"height": 8, "width": 8}})");
}

}  // namespace headlight
