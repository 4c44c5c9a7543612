#include "headlight/recipes/train_language_model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/models/family.h"
#include "headlight/train/objectives/language_model.h"

namespace headlight {
namespace {

std::vector<std::string> FamilyNames() {
  std::vector<std::string> names;
  for (const NewLanguageModel& one : NewLanguageModels()) names.emplace_back(one.name);
  return names;
}

NewLanguageModel FamilyOf(const LanguageModelTraining& options, const TrainingPlan& plan) {
  const std::vector<NewLanguageModel> all = NewLanguageModels();
  const auto found = std::ranges::find(all, options.family, &NewLanguageModel::name);
  Check(found != all.end(), "`family` must be {}, not {}", Alternatives(FamilyNames()), Quoted(options.family));
  const NewLanguageModel& family = *found;
  const ModelSizes& sizes = plan.sizes;
  Check(family.grouped_keys || !options.key_heads, "`key_heads`: a {} has as many as `heads`", family.name);
  Check(!options.key_heads || sizes.heads % *options.key_heads == 0, "`key_heads` {} does not divide `heads` {}",
        options.key_heads.value_or(0), sizes.heads);
  Check(family.experts || !(options.experts || options.experts_per_token), "`{}`: a {} has no experts",
        options.experts ? "experts" : "experts_per_token", family.name);
  const LanguageModelSizes usual;
  const std::int32_t experts = options.experts.value_or(usual.experts);
  const std::int32_t per_token = options.experts_per_token.value_or(usual.experts_per_token);
  Check(!family.experts || per_token <= experts, "`experts_per_token` {} is more than `experts` {}", per_token,
        experts);
  Check(family.dropout || !options.dropout,
        "`dropout`: a {} only has dropout of attention weights, `attention_dropout`", family.name);
  return family;
}

std::unique_ptr<LanguageModel> FromScratch(const LanguageModelTraining& options, const TrainingPlan& plan,
                                           const NewLanguageModel& family, const PipelineTokenizer& tokenizer) {
  const std::int32_t end_id = TokenOf(tokenizer, options.tokenizer, "token that ends a text",
                                      {"<|endoftext|>", "</s>", "<|end_of_text|>", "[SEP]"});
  // If the tokenizer adds exactly one token before every text, that token is the start token.
  const std::vector<std::int32_t> before = tokenizer.Encode("").ids;
  const LanguageModelSizes usual;
  std::unique_ptr<LanguageModel> model =
      family.make({.model = plan.sizes.model,
                   .ffn = plan.sizes.inner(),
                   .heads = plan.sizes.heads,
                   .key_heads = options.key_heads.value_or(0),
                   .layers = plan.sizes.layers,
                   .positions = options.longest(),
                   .vocabulary = tokenizer.size(),
                   .begin_id = before.size() == 1 ? before.front() : end_id,
                   .end_id = end_id,
                   .experts = options.experts.value_or(usual.experts),
                   .experts_per_token = options.experts_per_token.value_or(usual.experts_per_token),
                   .dropout = plan.dropout,
                   .attention_dropout = plan.attention_dropout});
  model->parameters().Initialize(options.seed);
  return model;
}

}  // namespace

void Describe(OptionTable& table, LanguageModelTraining& options) {
  Describe(table, options, kTextDefaults, "one text per line or as records (`format`)");
  Describe(table, options.source);
  Option& from = table.Get("--from");
  const std::vector<std::string> families = FamilyNames();
  const auto usual = static_cast<std::size_t>(std::ranges::find(families, options.family) - families.begin());
  table
      .AddChoice(
          "--family", families, usual, [&options, families](std::size_t index) { options.family = families[index]; },
          "Kind of a model from scratch")
      .Excludes(from)
      .Group(kModelGroup);
  table.Add("--key-heads", options.key_heads, Between(1, 1 << 15), "Heads of keys and values")
      .Excludes(from)
      .Group(kModelGroup)
      .Default("as many as `heads`");
  const auto add_experts = [&](const char* flag, std::optional<std::int32_t>& value, std::int32_t usual_count,
                               const std::string& help) {
    table.Add(flag, value, Between(1, 1024), help)
        .Excludes(from)
        .Group(kModelGroup)
        .Default(std::to_string(usual_count));
  };
  std::vector<std::string_view> with_experts;
  for (const NewLanguageModel& family : NewLanguageModels())
    if (family.experts) with_experts.push_back(family.name);
  add_experts("--experts", options.experts, LanguageModelSizes().experts,
              fmt::format("Experts of each layer: {}", fmt::join(with_experts, ", ")));
  add_experts("--experts-per-token", options.experts_per_token, LanguageModelSizes().experts_per_token,
              "Experts per token");
  std::string usual_ffn;
  for (const NewLanguageModel& family : NewLanguageModels())
    usual_ffn += fmt::format("{}{} {:.3g} times", usual_ffn.empty() ? "" : ", ", family.name, family.ffn_of_model);
  table.Get("--ffn-dim").Default(usual_ffn + " the model's");
  AddLabelSmoothing(table, options.teacher_forcing.label_smoothing);
  AddRDrop(table, options.teacher_forcing);
}

TrainingResult TrainLanguageModel(LanguageModelTraining options, const TrainingObserver& observer) {
  TrainingPlan plan = CompleteTraining(options, kTextDefaults);
  const NewLanguageModel family = FamilyOf(options, plan);
  if (!family.dropout) plan.dropout = 0;
  if (!options.attention_dropout) plan.attention_dropout = plan.dropout;
  if (plan.sizes.ffn == 0) plan.sizes.ffn = family.Ffn(plan.sizes.model);
  const TrainingFolder folder = BeginTextTraining(options);
  if (!options.from_scratch()) CheckKind<LanguageModel>(options.from);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.tokenizer_folder());
  std::unique_ptr<LanguageModel> model;
  if (!options.from_scratch()) model = LoadModel<LanguageModel>(options.from, {.dropout = options.chosen_dropout()});
  // The start token takes one position.
  const std::int64_t longest = (model ? model->limits().positions : options.longest()) - 1;
  Check(longest >= 1, "`positions` {}: after the token that begins a text there is no space for others", longest + 1);
  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share) {
    TextExamples found = ReadTexts(paths, tokenizer, longest, /*for_encoder=*/false, share, options.source);
    NoteTexts(observer, paths, share, found);
    return found;
  };
  NoteCheckOfTexts(observer, options.train, options.source);
  TextSets texts;
  texts.train = read(options.train, options.learned()).texts;
  TextExamples valid = read(options.validation(), options.validated());
  texts.valid = std::move(valid.texts);
  if (!model) model = FromScratch(options, plan, family, tokenizer);
  options.teacher_forcing.batches = plan.batches;
  const TrainingTask task = LanguageModelTask(*model, texts, valid.bytes, options.teacher_forcing);
  Json of = Json::Object{{"label_smoothing", options.teacher_forcing.label_smoothing}};
  SetRDrop(options.teacher_forcing, of);
  if (options.family != "gpt2") of.Set("family", options.family);  // states of older versions do not have this setting
  if (options.key_heads) of.Set("key_heads", *options.key_heads);
  if (options.experts) of.Set("experts", *options.experts);
  if (options.experts_per_token) of.Set("experts_per_token", *options.experts_per_token);
  return RunTextTraining(task, options, plan, "language-model", "target tokens", HashOfTexts(texts.train),
                         std::move(of), observer);
}

}  // namespace headlight
