// Checks that files are loaded if tied tables have other names or if buffers are missing, as in Transformers.
#include "headlight/models/files/model_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/models/family.h"

namespace headlight::model_files_test {
namespace {

const std::string kFolders = HEADLIGHT_SOURCE_DIR "/tests/testdata/";

// Returns the parameters of a folder after the tensor `from` is renamed to `to`, or removed if `to` is empty.
std::vector<float> ParametersWith(const std::string& folder, const std::string& from, const std::string& to) {
  const TemporaryFolder copy;
  const std::string path = copy.File("model");
  std::filesystem::copy(kFolders + folder, path);
  const Safetensors file(kFolders + folder + "/model.safetensors");
  std::vector<StoredTensor> tensors;
  for (const auto& [name, tensor] : file.tensors()) {
    if (name == from && to.empty()) continue;
    tensors.push_back(tensor);
    if (name == from) tensors.back().name = to;
  }
  WriteSafetensors(path + "/model.safetensors", tensors);
  return LoadModel(path)->parameters().state().ToVector<float>();
}

std::vector<float> ParametersOf(const std::string& folder) {
  return LoadModel(kFolders + folder)->parameters().state().ToVector<float>();
}

TEST(ModelFiles, ReadsTiedTablesUnderAnyName) {
  struct Case {
    const char *folder, *stored;
    std::vector<const char*> names;
  };
  const Case cases[] = {
      {"gpt/gpt2", "transformer.wte.weight", {"lm_head.weight"}},
      {"gpt/gpt3", "transformer.wte.weight", {"lm_head.weight"}},
      {"encoder_decoders/bart_text",
       "model.shared.weight",
       {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"}},
      {"encoder_decoders/t5_text",
       "shared.weight",
       {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"}},
      {"bert/masked_words", "bert.embeddings.word_embeddings.weight", {"cls.predictions.decoder.weight"}},
      {"bert/masked_words", "cls.predictions.bias", {"cls.predictions.decoder.bias"}},
      {"encoders/fill_mask", "lm_head.bias", {"lm_head.decoder.bias"}}};
  for (const auto& [folder, stored, names] : cases)
    for (const char* name : names) EXPECT_EQ(ParametersWith(folder, stored, name), ParametersOf(folder)) << name;
}

TEST(ModelFiles, LoadsWithoutFinalLogitsBias) {
  for (const char* folder : {"encoder_decoders/bart_text", "encoder_decoders/mbart_text"})
    EXPECT_EQ(ParametersWith(folder, "final_logits_bias", ""), ParametersOf(folder)) << folder;
}

TEST(ModelFiles, NamesOnlyMissingTensors) {
  const auto error = [](const std::string& folder, const std::string& without) {
    return ErrorOf([&] { ParametersWith(folder, without, ""); });
  };
  EXPECT_THAT(error("gpt/gpt2", "transformer.wte.weight"), testing::EndsWith("missing: transformer.wte.weight"));
  EXPECT_THAT(error("bert/masked_words", "bert.embeddings.word_embeddings.weight"),
              testing::EndsWith("missing: bert.embeddings.word_embeddings.weight"));
  EXPECT_THAT(error("encoder_decoders/bart_text", "model.shared.weight"),
              testing::EndsWith("missing: model.shared.weight"));
}

}  // namespace
}  // namespace headlight::model_files_test
