// Reads the goldens of decoder-only models, which tools/make_gpt_goldens.py and tools/make_decoder_goldens.py describe.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/generate.h"
#include "headlight/io/safetensors.h"
#include "headlight/kinds/language_model.h"
#include "headlight/models/family.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/routing.h"
#include "tests/padded_testing.h"
#include "tests/parity_testing.h"

namespace headlight {

// Loads a text or image generation model.
inline std::unique_ptr<LanguageModel> LoadDecoder(const std::string& folder, const LoadModelOptions& options = {}) {
  std::unique_ptr<Model> model = LoadModel(folder, options);
  EXPECT_NE(dynamic_cast<LanguageModel*>(model.get()), nullptr);
  return std::unique_ptr<LanguageModel>(static_cast<LanguageModel*>(model.release()));
}

inline std::string DecoderFolder(const std::string& name) {
  return HEADLIGHT_SOURCE_DIR "/tests/testdata/decoders/" + name;
}

// A copy of a folder of testdata/decoders with a changed configuration.
class ChangedDecoder {
 public:
  ChangedDecoder(const std::string& name, const std::string& from, const std::string& to) {
    std::filesystem::copy(DecoderFolder(name), folder_.path(), std::filesystem::copy_options::recursive);
    Change(from, to);
  }
  void Change(const std::string& from, const std::string& to) {
    std::string config = ReadFile(folder_.File("config.json"));
    const std::size_t at = config.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    WriteFile(folder_.File("config.json"), config.replace(at, from.size(), to));
  }
  const std::string& path() const { return folder_.path(); }
  // Returns the error of loading the folder.
  std::string Error() const {
    return ErrorOf([&] { LoadDecoder(folder_.path()); });
  }

 private:
  TemporaryFolder folder_;
};

// The texts of the golden file, without padding.
struct DecoderGolden : UnpaddedTexts {
  explicit DecoderGolden(const std::string& folder) : DecoderGolden(Safetensors(folder + "/golden.safetensors")) {}
  explicit DecoderGolden(Safetensors golden)
      : UnpaddedTexts(golden, "input_ids", "attention_mask"), file(std::move(golden)) {}

  Numbers Read(const std::string& name) const { return ToDouble(file.Read(name, DType::float64)); }
  // Returns the rows [texts, longest, columns] of a tensor without padding rows.
  Numbers Rows(const std::string& name) const { return UnpaddedTexts::Rows(file.Read(name, DType::float64)); }
  // Returns the attention weights of one text, [heads, query, key], without padding.
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

inline constexpr double kDecoderTolerance = 2e-5;  // relative to the largest value

// The deviations of a model from the golden file, relative to the largest value of each result.
struct DecoderDeviations {
  std::map<std::string, double> of;
  int attention_maps = 0;
};

inline DecoderDeviations DeviationsOf(const std::string& folder) {
  const DecoderGolden golden(folder);
  const std::unique_ptr<LanguageModel> model = LoadDecoder(folder);
  model->parameters().PrepareTraining();
  DecoderDeviations worst;
  const auto compare = [&](const char* what, const auto& ours, const auto& theirs) {
    double& of_what = worst.of[what];
    if (const double deviation = Deviation(ours, theirs); !(deviation <= of_what)) of_what = deviation;
  };
  Tape tape;
  Context context;
  context.tape = &tape;
  context.hooks.attention = [&](const LayerAttention& seen) {
    EXPECT_EQ(seen.kind, AttentionKind::decoder_self);
    compare("attentions", ToDouble(seen.weights), golden.Attention(seen.layer, seen.sequence));
    ++worst.attention_maps;
  };
  std::vector<ops::Routing> experts;
  context.hooks.routing = [&](const ops::Routing& layer) { experts.push_back(layer); };
  const Tensor state = model->Decode(context, golden.ids, golden.texts), logits = model->Logits(context, state);
  const Tensor hidden = ops::Scale(state, model->state_divisor());
  compare("last_hidden_state", ToDouble(hidden), golden.Rows("last_hidden_state"));
  compare("logits", ToDouble(logits), golden.Rows("logits"));
  Tensor loss = ops::Add(WeightedTotal(hidden), WeightedTotal(logits));
  if (!experts.empty()) loss = ops::Add(loss, ops::LoadBalancingLoss(experts));
  compare("loss", ToDouble(loss), golden.Read("loss"));
  tape.Backward(loss);
  compare("gradients", ByName(model->parameters(), &Parameter::gradient), GradientsOf(golden.file));
  return worst;
}

// Compares generated tokens and the scores of beams with generation.json.
inline void ExpectGeneratedTokens(const std::string& folder) {
  const std::unique_ptr<LanguageModel> model = LoadDecoder(folder);
  const auto integers = [](const JsonView& json) {
    std::vector<std::int32_t> ids;
    for (const JsonView& id : json.Items()) ids.push_back(static_cast<std::int32_t>(id.Integer()));
    return ids;
  };
  for (const JsonView& run : ReadJson(folder + "/generation.json").Items()) {
    const JsonView said = run["options"];
    GenerationOptions options{.max_new_tokens = 8};
    if (model->limits().end_id >= 0) options.search.end_ids = {model->limits().end_id};
    options.search.beam_size = static_cast<std::int32_t>(said["num_beams"].Integer());
    options.search.n_best = std::min(2, options.search.beam_size);
    options.search.length_penalty = said.Get("length_penalty", 1.0).Number();
    options.search.processors.repetition_penalty = said.Get("repetition_penalty", 1.0).Number();
    options.search.processors.no_repeat_ngram_size =
        static_cast<std::int32_t>(said.Get("no_repeat_ngram_size", 0).Integer());
    if (const Json early = said.Get("early_stopping", false).value(); early != Json(false))
      options.search.stopping = early == Json("never") ? Stopping::never : Stopping::at_once;
    options.min_new_tokens = static_cast<std::int32_t>(said.Get("min_new_tokens", 0).Integer());
    std::vector<std::vector<std::int32_t>> prompts;
    for (const JsonView& prompt : run["prompts"].Items()) prompts.push_back(integers(prompt));
    const std::vector<std::vector<Hypothesis>> ours = Generate(*model, prompts, options);
    const std::vector<JsonView> theirs = run["texts"].Items(), scores = run["scores"].Items();
    for (std::size_t i = 0; i < prompts.size(); ++i)
      for (std::size_t n = 0; n < ours[i].size(); ++n) {
        std::vector<std::int32_t> ids = ours[i][n].ids;
        if (ours[i][n].ended) ids.push_back(model->limits().end_id);
        EXPECT_EQ(ids, integers(theirs[i].Items()[n])) << said.value().Line() << " text " << i;
        if (scores.empty()) continue;
        EXPECT_NEAR(ours[i][n].score, scores[i].Items()[n].Number(), 1e-4);
      }
  }
}

}  // namespace headlight
