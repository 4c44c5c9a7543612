// A tiny, untrained translation model for tests, with a tokenizer trained on a few sentences.
#pragma once

#include <array>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/image/colors.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/gpt.h"
#include "headlight/models/imagegpt.h"
#include "headlight/models/transformer.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/vocabulary.h"

namespace headlight {

inline constexpr std::array<std::string_view, 6> kSentences = {
    "Ein Hund läuft über die Wiese.", "A dog runs across the meadow.",          "Zwei Kinder spielen, sie lachen.",
    "Two children play, they laugh.", "Gestern hat der Mann ein Buch gelesen!", "Yesterday the man read a book!"};

// Saves a tiny translation model into `folder`, which must exist. The model accepts at most `positions` - 1 tokens.
inline void SaveTinyModel(const std::string& folder, std::int64_t positions = 40, std::uint64_t seed = 4,
                          std::int64_t ffn = 24) {
  auto sentence = kSentences.begin();
  const MarianTokenizer tokenizer = TrainVocabulary(
      [&](std::string_view& line) {
        if (sentence == kSentences.end()) return false;
        line = *sentence++;
        return true;
      },
      {.size = 60});
  tokenizer.Save(folder, positions);

  TransformerConfig config;
  config.model = 16;
  config.encoder_layers = 2;
  config.decoder_layers = 3;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_ffn = config.decoder_ffn = ffn;
  config.source_vocabulary = config.target_vocabulary = tokenizer.size();
  config.positions = positions;
  config.start_id = config.pad_id = tokenizer.pad();
  config.end_id = tokenizer.eos();
  Transformer model(config);
  model.parameters().Initialize(seed);
  model.Save(folder);
}

// Saves a tiny, untrained GPT-2 into `folder`, which must exist, with the tokenizer in
// text/tokenizers/testdata/family_NAME.json.
inline void SaveTinyGpt(const std::string& folder, std::int64_t positions = 40, const std::string& tokenizer = "gpt2") {
  std::filesystem::copy_file(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_" + tokenizer + ".json",
                             folder + "/tokenizer.json");
  GptConfig config;
  config.model = 16;
  config.layers = config.heads = 2;
  config.ffn = 24;
  config.vocabulary = PipelineTokenizer::Load(folder).size();
  config.positions = positions;
  config.end_id = 0;
  Gpt model(config);
  for (Parameter& parameter : model.parameters().all())  // larger weights, so that the model does not repeat one token
    if (parameter.shape.rank() == 2) parameter.initialization = Initialization::Normal(0.5);
  model.parameters().Initialize(/*seed=*/3);
  model.Save(folder);
}

// Saves a tiny, untrained ImageGPT into `folder`, which must exist, for images of 6 x 4 pixels in three colors: black,
// red and white.
inline void SaveTinyImageGpt(const std::string& folder, bool tie_output = false) {
  ImageGptConfig config;
  config.model = 16;
  config.layers = config.heads = 2;
  config.ffn = 24;
  config.vocabulary = 4;
  config.positions = 24;
  config.tie_output = tie_output;
  ImageGpt model(config);
  for (Parameter& parameter : model.parameters().all())
    if (parameter.shape.rank() == 2) parameter.initialization = Initialization::Normal(0.5);
  model.parameters().Initialize(/*seed=*/3);
  model.Save(folder);
  WriteFile(folder + "/preprocessor_config.json",
            ColorProcessorConfig({.height = 4, .width = 6}, {{-1, -1, -1}, {1, -1, -1}, {1, 1, 1}}).Text());
}

// Sets one value of every stored float32 tensor to NaN, as after training that diverged.
inline void DamageWeights(const std::string& folder) {
  const std::string path = folder + "/model.safetensors";
  std::vector<Tensor> values;
  std::vector<StoredTensor> stored;
  {
    const Safetensors file(path);
    for (const auto& [name, tensor] : file.tensors()) {
      const Tensor& value = values.emplace_back(file.Read(name));
      value.data<float>()[value.elements() / 2] = std::numeric_limits<float>::quiet_NaN();
      stored.push_back(Stored(name, value));
    }
  }
  WriteSafetensors(path, stored);
}

}  // namespace headlight
