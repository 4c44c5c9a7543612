// headlight train language-model.
#include <memory>
#include <string>

#include "headlight/base/error.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/text_training.h"
#include "headlight/models/family.h"
#include "headlight/models/gpt.h"
#include "headlight/train/tasks/language_model.h"

namespace headlight::train_language_model {
namespace {

struct Options : TextTrainingOptions {
  TeacherForcingOptions teacher_forcing{.batches = {}, .label_smoothing = 0};  // whose batches are `batches`
};

GptConfig Gpt2Of(const TextTrainingOptions& options, const PipelineTokenizer& tokenizer) {
  const ModelSizes& sizes = options.sizes;
  GptConfig config;
  config.model = sizes.model;
  config.layers = sizes.layers;
  config.heads = sizes.heads;
  config.ffn = sizes.inner();
  config.dropout = config.embedding_dropout = options.new_dropout();
  config.attention_dropout = options.new_attention_dropout();
  config.positions = options.positions;
  config.vocabulary = tokenizer.size();
  config.end_id = TokenOf(tokenizer, options.tokenizer, "token that ends a text", {"<|endoftext|>", "</s>", "[SEP]"});
  return config;
}

void Run(Options& options) {
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
  if (!model) {
    model = std::make_unique<Gpt>(Gpt2Of(options, tokenizer));
    model->parameters().Initialise(options.training.seed);
  }
  options.teacher_forcing.batches = options.batches;
  const TrainingTask task = LanguageModelTask(*model, texts, valid.bytes, options.teacher_forcing);
  Json of = Json::Object{{"label_smoothing", options.teacher_forcing.label_smoothing}};
  SetRDrop(options.teacher_forcing, of);
  RunTextTraining(task, options, "language-model", "headlight generate", HashOfTexts(texts.train), std::move(of),
                  progress);
}

}  // namespace

void Add(Command& train) {
  Command& command = train.AddCommand("language-model", "Train a language model (from scratch a GPT-2)");
  const auto options = std::make_shared<Options>();
  AddTextTrainingOptions(command, *options, "a text a line, or JSON lines of {\"text\"}");
  AddLabelSmoothing(command, options->teacher_forcing.label_smoothing);
  AddRDrop(command, options->teacher_forcing);
  command.footer =
      "\nA text longer than the model reads is cut into pieces. Files whose names end in .jsonl or .jsonl.gz are "
      "JSON\n"
      "lines.\n\n"
      "Examples:\n"
      "  headlight train language-model --train train.en --valid val.en --tokenizer gpt2 --out model --layers 6\n"
      "  headlight train language-model --train news.jsonl.gz --valid val.jsonl --from model --out further";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_language_model
