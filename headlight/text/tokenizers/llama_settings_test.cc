// Compares the tokenizers of folders that declare LlamaTokenizer with Transformers
// (tools/make_llama_tokenizer_goldens.py).
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::llama_settings_test {
namespace {

std::string FileOf(const std::string& name) {
  return HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/" + name;
}

TEST(LlamaTokenizer, BuildsItsPartsFromItsSettings) {
  const JsonView goldens = ReadJson(FileOf("llama_settings.json"));
  const std::vector<std::string> texts = goldens["texts"].Strings();
  for (const JsonView& golden : goldens["cases"].Items()) {
    SCOPED_TRACE(golden["config"].value().Line() + golden["parts"].value().Line());
    const TemporaryFolder folder;
    Json file = ReadJson(FileOf("family_byte_fallback.json")).value();
    for (const auto& [part, value] : golden["parts"].Members()) file.Set(part, value.value());
    WriteFile(folder.File("tokenizer.json"), file.Line());
    WriteFile(folder.File("tokenizer_config.json"), golden["config"].value().Line());
    WriteFile(folder.File("config.json"), R"({"model_type": "llama"})");
    const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder.path());
    const std::vector<JsonView> ids = golden["ids"].Items(), decoded = golden["decoded"].Items();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::vector<std::int32_t> expected;
      for (const JsonView& id : ids[i].Items()) expected.push_back(static_cast<std::int32_t>(id.Integer()));
      EXPECT_EQ(tokenizer.Encode(texts[i]).ids, expected) << texts[i];
      EXPECT_EQ(tokenizer.Decode(expected, /*skip_special=*/false), decoded[i].String()) << texts[i];
    }
  }
}

}  // namespace
}  // namespace headlight::llama_settings_test
