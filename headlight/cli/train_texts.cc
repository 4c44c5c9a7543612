// headlight train language-model, masked-language-model, classification: models of text alone.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/training_options.h"
#include "headlight/cli/training_run.h"
#include "headlight/data/text_examples.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/bert.h"
#include "headlight/models/family.h"
#include "headlight/models/gpt2.h"
#include "headlight/text/tokenizer_pipeline.h"
#include "headlight/train/checkpoint.h"
#include "headlight/train/text_tasks.h"

namespace headlight {
namespace {

enum class Task { language_model, masked_language_model, classification };

struct Options {
  Task task = Task::language_model;
  std::vector<std::string> train, valid;
  std::string out, from, tokenizer;
  // Of a model from nothing.
  std::int64_t model = 256, positions = 512, ffn = 0;
  std::int32_t heads = 4;
  int layers = 4;
  double dropout = 0.1;
  MaskingOptions masking;
  TrainingOptions training;
  ComputeChoice compute = ComputeChoice::automatic;
  bool profile = false, resume = false;
};

// The tokens that the models need, under the names that the published tokenizers give them.
std::int32_t TokenOf(const TokenizerPipeline& tokenizer, const std::string& folder, const char* what,
                     std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const std::optional<std::int32_t> id = tokenizer.Find(name)) return *id;
  Fail("{}: the tokenizer has no {}: none of {}", folder, what, fmt::join(names, ", "));
}

Gpt2Config Gpt2Of(const Options& options, const TokenizerPipeline& tokenizer) {
  Gpt2Config config;
  config.model = options.model;
  config.layers = options.layers;
  config.heads = options.heads;
  config.ffn = options.ffn > 0 ? options.ffn : 4 * options.model;
  config.dropout = config.embedding_dropout = config.attention_dropout = options.dropout;
  config.positions = options.positions;
  config.vocabulary = tokenizer.size();
  config.end_id = TokenOf(tokenizer, options.tokenizer, "token that ends a text", {"<|endoftext|>", "</s>", "[SEP]"});
  return config;
}

BertConfig BertOf(const Options& options, const TokenizerPipeline& tokenizer, const std::vector<std::string>& labels) {
  BertConfig config;
  config.model = options.model;
  config.layers = options.layers;
  config.heads = options.heads;
  config.ffn = options.ffn > 0 ? options.ffn : 4 * options.model;
  config.dropout = config.attention_dropout = options.dropout;
  config.positions = options.positions;
  config.vocabulary = tokenizer.size();
  config.pad_id = TokenOf(tokenizer, options.tokenizer, "token of padding", {"[PAD]", "<pad>"});
  config.on_top.pooler = options.task == Task::classification;
  config.on_top.masked_words = options.task == Task::masked_language_model;
  config.on_top.sequence_classes = options.task == Task::classification;
  config.on_top.labels = labels;
  return config;
}

const char* Name(Task task) {
  return task == Task::language_model          ? "language-model"
         : task == Task::masked_language_model ? "masked-language-model"
                                               : "classification";
}

void Run(Options& options) {
  CompleteTrainingOptions(options.training);
  Check(options.from.empty() != options.tokenizer.empty(),
        "either --from DIR, to go on from a model, or --tokenizer DIR, for one from nothing");
  CheckTrainingFolder(options.out, options.resume);
  options.training.batches.seed = options.training.seed;
  options.training.schedule.model = options.model;
  const std::string& folder = options.from.empty() ? options.tokenizer : options.from;
  const TokenizerPipeline tokenizer = TokenizerPipeline::Load(folder);

  std::unique_ptr<LanguageModel> language_model;
  std::unique_ptr<TextEncoder> encoder;
  if (!options.from.empty()) {
    if (options.task == Task::language_model)
      language_model = LoadLanguageModel(options.from);
    else
      encoder = LoadTextEncoder(options.from);
  }
  std::vector<std::string> labels;
  std::int64_t longest = options.positions;
  if (language_model) longest = language_model->limits().positions;
  if (encoder) {
    longest = encoder->limits().positions;
    labels = encoder->heads().labels;
  }
  if (options.task == Task::language_model) --longest;  // the end token stands before a text

  TextSets texts;
  TrainingProgress progress(Quiet());
  const auto read = [&](const std::vector<std::string>& paths, bool may_grow) {
    TextExamples found = options.task == Task::classification
                             ? ReadClassifiedTexts(paths, tokenizer, longest, labels, may_grow)
                             : ReadTexts(paths, tokenizer, longest, options.task != Task::language_model);
    Check(!found.texts.empty(), "{}: there is no text in it", fmt::join(paths, ", "));
    progress.Note(
        fmt::format("{}: {} texts, {} tokens{}", fmt::join(paths, ", "), found.texts.size(), found.tokens,
                    found.cut > 0 ? fmt::format("; {} longer than the model are cut into pieces", found.cut) : ""));
    return found;
  };
  texts.train = read(options.train, options.from.empty()).texts;
  TextExamples valid = read(options.valid, false);
  texts.valid = std::move(valid.texts);
  if (options.task == Task::language_model) texts.valid_bytes = valid.bytes;

  if (options.from.empty()) {
    if (options.task == Task::language_model)
      language_model = std::make_unique<Gpt2>(Gpt2Of(options, tokenizer));
    else
      encoder = std::make_unique<Bert>(BertOf(options, tokenizer, labels));
  }
  Model& model = language_model ? static_cast<Model&>(*language_model) : *encoder;
  if (options.from.empty()) model.parameters().Initialise(options.training.seed);
  if (options.task == Task::masked_language_model) {
    options.masking.mask_id = TokenOf(tokenizer, folder, "mask", {"[MASK]", "<mask>"});
    for (std::int32_t id = 0; id < tokenizer.size(); ++id)
      if (tokenizer.IsSpecial(id)) options.masking.special_ids.push_back(id);
  }
  const TrainingTask task = options.task == Task::language_model
                                ? LanguageModelTask(*language_model, texts, options.training)
                            : options.task == Task::masked_language_model
                                ? MaskedLanguageModelTask(*encoder, texts, options.masking, options.training)
                                : ClassificationTask(*encoder, texts, options.training);
  CatchInterrupts();
  RunTraining(task, options.training,
              {.out = options.out,
               .of = Json::Object{{"task", Name(options.task)},
                                  {"corpus_hash", fmt::format("{:016x}", HashOfTexts(texts.train))},
                                  {"parameters", model.parameters().count()},
                                  {"dropout", options.dropout},
                                  {"mask_share", options.masking.share},
                                  {"whole_words", options.masking.whole_words}},
               .save =
                   [&](const std::string& to) {
                     model.Save(to);
                     CopyBesideModel(folder, to);
                   },
               .compute = Chosen(options.compute),
               .resume = options.resume,
               .profile = options.profile},
              progress);
}

void AddTask(CLI::App& train, Task task, const char* description, const char* texts, const char* examples) {
  CLI::App& command = *train.add_subcommand(Name(task), description);
  auto options = std::make_shared<Options>();
  options->task = task;
  options->training.label_smoothing = 0;
  options->training.schedule = {.kind = ScheduleKind::cosine, .warmup = 200, .peak = 1e-3};
  options->training.adam.clip_norm = 1;
  command.add_option("--train", options->train, std::string("what to learn from: ") + texts)
      ->required()
      ->type_name("FILE ...");
  command.add_option("--valid", options->valid, "what to validate on, likewise")->required()->type_name("FILE ...");
  command.add_option("--out", options->out, "the model's folder")->required()->type_name("DIR");
  command.add_option("--from", options->from, "a model to go on from, with its tokenizer")->type_name("DIR");
  command.add_option("--tokenizer", options->tokenizer, "a folder with the tokenizer of a model from nothing")
      ->type_name("DIR");
  command.add_option("--layers", options->layers, "layers")->capture_default_str()->group("A model from nothing");
  command.add_option("--model-dim", options->model, "size of embeddings and layers")
      ->capture_default_str()
      ->group("A model from nothing");
  command.add_option("--heads", options->heads, "attention heads")
      ->capture_default_str()
      ->group("A model from nothing");
  command
      .add_option("--ffn-dim", options->ffn, "inner size of the feed-forward network; 4 times the model's unless given")
      ->group("A model from nothing");
  command.add_option("--positions", options->positions, "tokens of the longest text")
      ->capture_default_str()
      ->group("A model from nothing");
  command.add_option("--dropout", options->dropout, "of embeddings, sublayers and attention")
      ->capture_default_str()
      ->group("A model from nothing");
  if (task == Task::masked_language_model) {
    command.add_option("--mask-share", options->masking.share, "share of the tokens that are hidden")
        ->capture_default_str()
        ->group("Training");
    command.add_flag("--whole-words", options->masking.whole_words, "hide all tokens of a word or none")
        ->group("Training");
  }
  AddTrainingOptions(command, options->training, options->compute, options->profile, options->resume);
  AddCommonOptions(command);
  command.footer(examples);
  command.callback([options] { Run(*options); });
}

}  // namespace

void AddTrainTexts(CLI::App& train) {
  AddTask(train, Task::language_model, "Learn to continue texts (from nothing a GPT-2)", "a text a line",
          "\nA text longer than the model is learned from in pieces.\n\n"
          "Example:\n"
          "  headlight train language-model --train train.en --valid val.en --tokenizer gpt2 --out model --layers 6");
  AddTask(train, Task::masked_language_model, "Learn to guess hidden words (from nothing a BERT)", "a text a line",
          "\nOther tokens are hidden in each epoch. A text longer than the model is learned from in pieces.\n\n"
          "Example:\n"
          "  headlight train masked-language-model --train train.en --valid val.en --tokenizer bert --out model");
  AddTask(train, Task::classification, "Learn the class of a text or of two (from nothing a BERT)",
          "text, tab, class, or two texts and their class",
          "\nExample:\n"
          "  headlight train classification --train train.tsv --valid val.tsv --from model --out classifier");
}

}  // namespace headlight
