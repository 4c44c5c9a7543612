// headlight train language-model.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/text_training.h"
#include "headlight/models/family.h"
#include "headlight/train/tasks/language_model.h"

namespace headlight::train_language_model {
namespace {

struct Options : TextTrainingOptions {
  std::string family = "gpt2";  // of a model from scratch
  std::int32_t key_heads = 0;
  TeacherForcingOptions teacher_forcing{.batches = {}, .label_smoothing = 0};  // whose batches are `batches`
};

std::vector<std::string> FamilyNames() {
  std::vector<std::string> names;
  for (const NewLanguageModel& one : NewLanguageModels()) names.emplace_back(one.name);
  return names;
}

NewLanguageModel FamilyOf(const Options& options) {
  const std::vector<NewLanguageModel> all = NewLanguageModels();
  const NewLanguageModel& family = *std::ranges::find(all, options.family, &NewLanguageModel::name);
  const ModelSizes& sizes = options.sizes;
  Check(family.grouped_keys || !options.given("--key-heads"), "--key-heads: a {} has as many as --heads", family.name);
  Check(options.key_heads == 0 || sizes.heads % options.key_heads == 0, "--key-heads {} does not divide --heads {}",
        options.key_heads, sizes.heads);
  Check(family.dropout || !options.given("--dropout"),
        "--dropout: a {} has none but that of attention weights, --attention-dropout", family.name);
  return family;
}

std::unique_ptr<LanguageModel> FromScratch(const Options& options, const NewLanguageModel& family,
                                           const PipelineTokenizer& tokenizer) {
  const std::int32_t end_id = TokenOf(tokenizer, options.tokenizer, "token that ends a text",
                                      {"<|endoftext|>", "</s>", "<|end_of_text|>", "[SEP]"});
  // The token that the tokenizer puts before every text, if it is exactly one.
  const std::vector<std::int32_t> before = tokenizer.Encode("").ids;
  std::unique_ptr<LanguageModel> model = family.make({.model = options.sizes.model,
                                                      .ffn = options.sizes.inner(),
                                                      .heads = options.sizes.heads,
                                                      .key_heads = options.key_heads,
                                                      .layers = options.sizes.layers,
                                                      .positions = options.positions,
                                                      .vocabulary = tokenizer.size(),
                                                      .begin_id = before.size() == 1 ? before.front() : end_id,
                                                      .end_id = end_id,
                                                      .dropout = options.new_dropout(),
                                                      .attention_dropout = options.new_attention_dropout()});
  model->parameters().Initialise(options.training.seed);
  return model;
}

void Run(Options& options) {
  const NewLanguageModel family = FamilyOf(options);
  if (!family.dropout) options.usual_dropout = 0;
  if (options.sizes.ffn == 0) options.sizes.ffn = family.Ffn(options.sizes.model);
  const TrainingFolder folder = BeginTextTraining(options);
  if (!options.from_scratch()) CheckKind<LanguageModel>(options.from);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.folder());
  std::unique_ptr<LanguageModel> model;
  if (!options.from_scratch()) model = LoadModel<LanguageModel>(options.from, {.dropout = options.chosen_dropout()});
  // The end token stands before a text.
  const std::int64_t longest = (model ? model->limits().positions : options.positions) - 1;
  Check(longest >= 1, "--positions {}: after the token that begins a text there is no room for more", longest + 1);
  TrainingProgress progress(Quiet());
  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share) {
    TextExamples found = ReadTexts(paths, tokenizer, longest, /*for_encoder=*/false, share);
    NoteTexts(progress, paths, share, found);
    return found;
  };
  TextSets texts;
  texts.train = read(options.train, options.learned()).texts;
  TextExamples valid = read(options.validation(), options.validated());
  texts.valid = std::move(valid.texts);
  if (!model) model = FromScratch(options, family, tokenizer);
  options.teacher_forcing.batches = options.batches;
  const TrainingTask task = LanguageModelTask(*model, texts, valid.bytes, options.teacher_forcing);
  Json of = Json::Object{{"label_smoothing", options.teacher_forcing.label_smoothing}};
  SetRDrop(options.teacher_forcing, of);
  if (options.family != "gpt2") of.Set("family", options.family);  // which older states do not have
  if (options.key_heads > 0) of.Set("key_heads", options.key_heads);
  RunTextTraining(task, options, "language-model", "headlight generate", HashOfTexts(texts.train), std::move(of),
                  progress);
}

}  // namespace

void Add(Command& train) {
  Command& command = train.AddCommand("language-model", "Train a language model");
  const auto options = std::make_shared<Options>();
  AddTextTrainingOptions(command, *options, "a text a line, or JSON lines of {\"text\"}");
  const std::vector<std::string> families = FamilyNames();
  const auto usual = static_cast<std::size_t>(std::ranges::find(families, options->family) - families.begin());
  Option& from = command.Get("--from");
  command
      .AddChoice(
          "--family", families, usual, [options, families](std::size_t index) { options->family = families[index]; },
          "Kind of a model from scratch")
      .Excludes(from)
      .Group(kModelGroup);
  command.Add("--key-heads", options->key_heads, Between(1, 1 << 15), "Heads of keys and values [as many as --heads]")
      .Excludes(from)
      .Group(kModelGroup);
  std::string usual_ffn;
  for (const NewLanguageModel& family : NewLanguageModels())
    usual_ffn += fmt::format("{}{} {:.3g} times", usual_ffn.empty() ? "" : ", ", family.name, family.ffn_of_model);
  Describe(command, "--ffn-dim", fmt::format("Inner size of the feed-forward network [{} the model's]", usual_ffn));
  AddLabelSmoothing(command, options->teacher_forcing.label_smoothing);
  AddRDrop(command, options->teacher_forcing);
  command.footer =
      "\nA text longer than the model reads is cut into pieces. Files whose names end in .jsonl or .jsonl.gz are "
      "JSON\n"
      "lines.\n\n"
      "Examples:\n"
      "  headlight train language-model --train train.en --valid val.en --tokenizer gpt2 --out model --layers 6\n"
      "  headlight train language-model --train train.en --valid val.en --tokenizer llama3 --family llama --out model"
      "\n"
      "  headlight train language-model --train news.jsonl.gz --valid val.jsonl --from model --out further";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_language_model
