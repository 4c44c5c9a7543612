// headlight demo: trains a translation model on sentences of a grammar and a classifier on synthetic shapes. Shows the
// attention of both models. Takes a few minutes and needs no download.
#include <filesystem>
#include <string>
#include <unordered_set>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/commands/demo_shapes.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/train/training_command.h"
#include "headlight/inspect/attention_page.h"
#include "headlight/inspect/drawing/attention_drawing.h"
#include "headlight/pipelines/translator.h"
#include "headlight/recipes/train_translation.h"
#include "headlight/recipes/training_folder.h"
#include "headlight/synthetic/grammar.h"

namespace headlight::demo {
namespace {

constexpr std::size_t kTrainingPairs = 120000, kValidationPairs = 200, kTestPairs = 1000;

struct Options {
  std::string out = "headlight-demo";
  std::int64_t steps = 2600;
  std::uint64_t seed = 1;
};

std::vector<SentencePair> Sample(Random& random, Portion portion, std::size_t count) {
  std::unordered_set<std::string> seen;
  std::vector<SentencePair> pairs;
  while (pairs.size() < count) {
    SentencePair pair = SampleSentence(random, portion);
    if (seen.insert(pair.german).second) pairs.push_back(std::move(pair));
  }
  return pairs;
}

void WritePairs(const std::vector<SentencePair>& pairs, const std::string& german, const std::string& english) {
  std::string left, right;
  for (const SentencePair& pair : pairs) {
    left += pair.german + '\n';
    right += pair.english + '\n';
  }
  WriteFile(german, left);
  WriteFile(english, right);
}

TranslationTraining SettingsOf(const Options& options, const std::string& data) {
  TranslationTraining settings;
  settings.train = {data + "/train.de", data + "/train.en"};
  settings.valid = {data + "/valid.de", data + "/valid.en"};
  settings.out = options.out + "/model";
  settings.vocabulary.size = 2000;
  settings.vocabulary.most_lines = 40000;
  settings.model_dim = 128;
  settings.layers = 2;
  settings.heads = 4;
  settings.ffn_dim = 512;
  settings.dropout = 0;  // not needed, because no sentence is repeated
  settings.positions = 128;
  settings.steps = options.steps;
  settings.schedule = ScheduleKind::linear;
  settings.warmup = options.steps / 10;
  settings.learning_rate = 2e-3;
  settings.clip_norm = 1;
  settings.compute = ComputeChoice::float32;
  // Larger batches would mean fewer steps on the same 1.3 million tokens, and a much worse model.
  settings.batch = 512;
  settings.validate_every = options.steps;  // the BLEU score of 200 sentences is too noisy to choose a checkpoint
  settings.log_every = 100;
  settings.seed = options.seed;
  return settings;
}

// Returns a correctly translated sentence whose verb moves from the end to the middle.
const SentencePair* WithMovedVerb(const std::vector<SentencePair>& pairs,
                                  const std::vector<std::string>& translations) {
  for (const std::string_view sign : {", dass ", ", weil ", ", wenn "})
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (pairs[i].german.find(sign) != std::string::npos && pairs[i].english == translations[i]) return &pairs[i];
  return &pairs.front();
}

void Run(const Options& options) {
  namespace fs = std::filesystem;
  Check(!fs::exists(options.out) || fs::is_empty(options.out) || fs::exists(options.out + "/model/training.json"),
        "--out {}: the folder has other files; name an empty or a new one", options.out);
  for (const char* folder : {"/model", "/shapes/model"}) CheckNotTraining(options.out + folder);
  for (const char* folder : {"/model", "/shapes"}) fs::remove_all(options.out + folder);
  const std::string data = options.out + "/data";
  fs::create_directories(data);
  Random random(options.seed);
  WritePairs(Sample(random, Portion::training, kTrainingPairs), data + "/train.de", data + "/train.en");
  const std::vector<SentencePair> valid = Sample(random, Portion::held_out, kValidationPairs);
  const std::vector<SentencePair> test = Sample(random, Portion::held_out, kTestPairs);
  WritePairs(valid, data + "/valid.de", data + "/valid.en");
  WritePairs(test, data + "/test.de", data + "/test.en");
  Note("{} sentence pairs are generated for training, and others for the test", kTrainingPairs);

  TranslationTraining settings = SettingsOf(options, data);
  RunTrainingCommand(settings, "headlight translate",
                     [&](const TrainingObserver& observer) { return TrainTranslation(settings, observer); });

  const Translator translator = Translator::Load(settings.out);
  std::vector<std::string> sources, translations;
  for (const SentencePair& pair : test) sources.push_back(pair.german);
  std::size_t right = 0;
  for (const auto& candidates : translator.TranslateBatch(sources, {.beam_size = 1})) {
    translations.push_back(candidates.front().text);
    if (translations.back() == test[translations.size() - 1].english) ++right;
  }
  for (std::size_t i = 0; i < 8; ++i)
    WriteResult(fmt::format("{}\n  {}{}\n", test[i].german, translations[i],
                            translations[i] == test[i].english ? "" : "   (right: " + test[i].english + ")"));
  WriteResult(fmt::format("{} of {} held-out sentences are translated exactly right: {:.1f}%\n", right, test.size(),
                          100.0 * static_cast<double>(right) / static_cast<double>(test.size())));

  const SentencePair& moved = *WithMovedVerb(test, translations);
  AttentionRecord record = translator.Attention(moved.german);
  record.title = moved.german;
  const std::string page = options.out + "/attention.html", image = options.out + "/attention.png";
  WriteFile(page, AttentionPage(record));
  DrawAttention(record, options.out + "/attention.pdf");
  DrawAttention(record, image);
  WriteResult(fmt::format("The attention of all heads for \"{}\" is in {} (open it in a browser) and {}\n",
                          moved.german, page, image));
  WriteResult(
      fmt::format("The model is in {}; `headlight translate {}` translates lines\n", settings.out, settings.out));
  LearnShapes(options.out + "/shapes", options.steps, options.seed);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "demo", "Train two toy models, German-English translation and shape classification", Run);
  command.Add("--out", options.out, "Folder for the data, the model and the images")
      .Check(NotEmpty())
      .ShowDefault()
      .Type("DIR");
  command.Add("--steps", options.steps, "Training steps of each model").Check(AtLeast(200)).ShowDefault().Type("N");
  command.Add("--seed", options.seed, "Random seed").Check(Seed()).ShowDefault().Type("N");
  command.footer =
      "\nTakes some minutes. Writes data, a translator, its attention page and shapes/ to --out, and replaces those of "
      "an earlier run.\n\nExample:\n  headlight demo --out my-demo";
}

}  // namespace headlight::demo
