// GPT-2 as a text classifier, as in Transformers' GPT2ForSequenceClassification. A linear layer computes class logits
// from the state of a text's last token, because only this token attends to the whole text.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/io/config_table.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/family.h"
#include "headlight/models/files/gpt2_stack.h"
#include "headlight/models/gpt.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

struct Gpt2ClassifierConfig {
  GptConfig stack;
  TextHeadsConfig on_top;
  std::int32_t pad_id = -1;  // -1 if there is none
};

const TextHeadsLayout kLayout = {.family = "GPT2",
                                 .sequence_classes = "score",
                                 .token_classes = "",
                                 .question_spans = "",
                                 .classes_of_last_token = true};

void Describe(ConfigTable& table, Gpt2ClassifierConfig& config) {
  Describe(table, config.stack);
  if (table.reads()) {
    config.pad_id = -1;
    if (const JsonView pad = table.json()["pad_token_id"]; pad.present())
      config.pad_id = static_cast<std::int32_t>(pad.Integer(-1, kLargestSize));
  }
  if (table.writes() && config.pad_id >= 0) table.Note("pad_token_id", config.pad_id);
  table.Rule(!config.stack.cross_attention, "a classifier has no cross-attention: add_cross_attention must be false");
}

// Returns the configuration without an output projection.
GptConfig WithoutOutput(GptConfig config) {
  config.tie_output = false;
  return config;
}

class Gpt2Classifier : public TextEncoder {
 public:
  explicit Gpt2Classifier(const Gpt2ClassifierConfig& config)
      : TextEncoder(DType::float32),
        config_(Checked(config)),
        stack_(Scope(parameters_) / config.stack.scope, WithoutOutput(config.stack)) {
    const GptConfig& gpt = config.stack;
    limits_ = {.vocabulary = gpt.vocabulary,
               .positions = gpt.positions,
               .types = 0,
               .pad_id = std::max(config.pad_id, 0),
               .model = gpt.model};
    const TextHeadsConfig& heads = config.on_top;
    Check(!heads.pooler && !heads.masked_words && !heads.next_sentence && !heads.token_classes && !heads.question_spans,
          "a GPT-2 text encoder only has a head for sequence classification");
    DeclareHeads(parameters_, heads, kLayout, stack_.tokens());
    InitializeAsGpt(parameters_, 2 * gpt.layers, kGptOutputs);
  }

  // Padding tokens at the end of a text get the state of the last token before the padding. Transformers classifies
  // from this token.
  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> /*types*/,
                const Sequences& texts, std::span<const std::int32_t> first_positions) const override {
    for (const std::int32_t first : first_positions)
      Check(first == 0, "a GPT-2 classifier reads texts from position 0, not from {}", first);
    const Tensor hidden = stack_(context, ids, texts);
    std::vector<std::int32_t> rows(ids.size());
    std::iota(rows.begin(), rows.end(), 0);
    bool padded = false;
    for (const Sequence& text : texts) {
      std::int32_t last = text.begin + text.length - 1;
      while (last > text.begin && ids[static_cast<std::size_t>(last)] == config_.pad_id) --last;
      for (std::int32_t row = last + 1; row < text.begin + text.length; ++row) {
        rows[static_cast<std::size_t>(row)] = last;
        padded = true;
      }
    }
    return padded ? ops::Embedding(hidden, rows) : hidden;
  }

  void Save(const std::string& folder, Compute compute) const override {
    Json json = WriteConfig(config_);
    WriteTextHeads(json, heads(), kLayout);
    SaveConfigAndWeights(folder, std::move(json), parameters_, compute);
  }

  std::unique_ptr<TextEncoder> WithHeads(const TextHeadsConfig& wanted) const override {
    Gpt2ClassifierConfig config = config_;
    config.on_top = wanted;
    return std::make_unique<Gpt2Classifier>(config);
  }

 protected:
  Json::Object LayerSizes() const override { return SizesOfStack(config_.stack); }

 private:
  Gpt2ClassifierConfig config_;
  GptStack stack_;
};

std::unique_ptr<Gpt2Classifier> LoadGpt2Classifier(const ModelFolder& files, const LoadModelOptions& options) {
  Gpt2ClassifierConfig config;
  config.on_top = ReadTextHeads(files.config, files.weights, kLayout);
  Check(config.on_top.sequence_classes, "{}: there is no tensor score.weight of a head for classes of texts",
        files.weights.path());
  config.stack.scope = ScopeIn(files.weights, config.stack.scope);
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<Gpt2Classifier>(config);
  const std::string scope = Prefix(config.stack.scope);
  LoadWeights(files, options, model->parameters(),
              {.tied = {{"lm_head.weight", scope + "wte.weight"}}, .unused = GptMasks(config.stack, scope)});
  return model;
}

// Returns true if the configuration is a GPT-2 with a classification head. Such a folder belongs to this family and is
// not a language model.
bool Classifies(const JsonView& config) {
  const JsonView names = config["architectures"];
  if (!names.present()) return false;
  return std::ranges::count(names.Strings(), "GPT2ForSequenceClassification") > 0;
}

}  // namespace

namespace families {
extern const Family gpt2_classifier =
    MakeFamily<Gpt2Classifier, LoadGpt2Classifier>({"gpt2-classifier"}, {}, {"gpt2", Classifies});
}  // namespace families

}  // namespace headlight
