#include "headlight/recipes/contrastive_training.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/data/similar_texts.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/bert.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/sentence_modules.h"
#include "headlight/recipes/text_training.h"
#include "headlight/recipes/training_folder.h"
#include "headlight/text/tokenizers/fast_tokenizer_config.h"
#include "headlight/train/objectives/sentence_vectors.h"

namespace headlight {
namespace {

std::unique_ptr<TextEncoder> ModelOf(const ContrastiveTraining& options, const TrainingPlan& plan,
                                     const PipelineTokenizer& tokenizer) {
  if (!options.from_scratch()) {
    const auto model = LoadModel<TextEncoder>(options.from, {.dropout = options.chosen_dropout()});
    return AddHeads(*model, {}, options.seed);
  }
  BertConfig config;
  SetSizes(plan, config);
  config.positions = options.positions;
  config.vocabulary = tokenizer.size();
  config.pad_id = TokenOf(tokenizer, options.tokenizer, "token of padding", {"[PAD]", "<pad>"});
  auto model = std::make_unique<Bert>(config);
  model->parameters().Initialize(options.seed);
  return model;
}

// Writes the modules of sentence-transformers: the encoder, mean pooling, and normalization.
void WriteModules(const std::string& folder, const TextEncoder& model) {
  const auto module = [](int index, const char* path, const char* type) {
    return Json(Json::Object{{"idx", index},
                             {"name", std::to_string(index)},
                             {"path", path},
                             {"type", std::string("sentence_transformers.models.") + type}});
  };
  WriteFile(folder + "/modules.json", Json(Json::Array{module(0, "", "Transformer"), module(1, "1_Pooling", "Pooling"),
                                                       module(2, "2_Normalize", "Normalize")})
                                          .Text());
  for (const char* path : {"/1_Pooling", "/2_Normalize"}) std::filesystem::create_directories(folder + path);
  WriteFile(folder + "/1_Pooling/config.json", Json(Json::Object{{"word_embedding_dimension", model.limits().model},
                                                                 {"pooling_mode_cls_token", false},
                                                                 {"pooling_mode_mean_tokens", true},
                                                                 {"pooling_mode_max_tokens", false},
                                                                 {"pooling_mode_mean_sqrt_len_tokens", false}})
                                                   .Text());
  WriteFile(folder + "/sentence_bert_config.json",
            Json(Json::Object{{"max_seq_length", model.limits().positions}, {"do_lower_case", false}}).Text());
}

// Throws Error for pooling or modules that cannot be trained.
void CheckTrainable(const SentenceModules& modules, const std::string& folder) {
  Check(modules.poolings == std::vector{Pooling::mean} || modules.poolings == std::vector{Pooling::first},
        "{}: the pooling is {}; only mean and cls can be trained", folder, Names(modules.poolings));
  for (const VectorModule& module : modules.modules)
    Check(module.kind == VectorModule::Kind::normalize, "{}: training a {} module after the pooling is not supported",
          folder, module.kind == VectorModule::Kind::dense ? "Dense" : "LayerNorm");
  Check(modules.pools_prompt || modules.PromptOf(EmbedAs::text).empty(),
        "{}: training with prompts that are not pooled (include_prompt false) is not supported", folder);
}

// Returns the number of texts with more tokens than the model accepts. Throws Error for such a text unless `truncate`
// is true.
std::int64_t CountLongTexts(const PipelineTokenizer& tokenizer, const std::vector<SimilarTexts>& pairs,
                            const SentenceVectorOptions& how, bool truncate) {
  std::atomic<std::int64_t> count = 0;
  ParallelFor(std::ssize(pairs), [&](std::int64_t index) {
    const SimilarTexts& pair = pairs[static_cast<std::size_t>(index)];
    const auto add = [&](const std::string& text) {
      const auto tokens = std::ssize(tokenizer.Encode(how.prompt + text, {.read_special = false}).ids);
      if (tokens <= how.longest) return;
      Check(truncate, "{}: {} tokens, and the model reads at most {}; `truncate` leaves out its end", pair.location,
            tokens, how.longest);
      ++count;
    };
    add(pair.text);
    add(pair.match);
    for (const std::string& negative : pair.negatives) add(negative);
  });
  return count;
}

}  // namespace

TrainingResult TrainOnSimilarTexts(ContrastiveTraining& options, const TrainingObserver& observer) {
  const TrainingPlan plan = CompleteTraining(options, kContrastiveDefaults);
  const TrainingFolder folder(options.out, options.resume, options.ranks);
  const std::string& tokens = options.tokenizer_folder();
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(TransformerFolder(tokens));
  const std::unique_ptr<TextEncoder> model = ModelOf(options, plan, tokenizer);
  Check(tokenizer.size() <= model->limits().vocabulary, "{}: the tokenizer has {} tokens, and the model {}", tokens,
        tokenizer.size(), model->limits().vocabulary);
  const SentenceModules modules =
      options.from_scratch() ? SentenceModules() : ReadSentenceModules(options.from, model->limits().model);
  CheckTrainable(modules, options.from);

  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share, const char* purpose) {
    std::vector<SimilarTexts> pairs = ReadSimilarTexts(paths, share);
    CheckNotEmpty(pairs.size(), "pairs", paths, share);
    std::size_t negatives = 0;
    for (const SimilarTexts& pair : pairs) negatives += pair.negatives.size();
    Note(observer, fmt::format("{}: {} with {} to {}", fmt::join(paths, ", "), Counted(pairs.size(), "pair"),
                               Counted(negatives, "hard negative"), purpose));
    return pairs;
  };
  const std::vector<SimilarTexts> train = read(options.train, options.learned(), "train on"),
                                  valid = read(options.validation(), options.validated(), "validate on");
  const std::int64_t positions = model->limits().positions;
  const SentenceVectorOptions how = {.batches = plan.batches,
                                     .part = options.micro_batch_size,
                                     .scale = options.scale.value_or(SentenceVectorOptions().scale),
                                     .first_token = modules.poolings.front() == Pooling::first,
                                     .longest = std::min(positions, modules.longest.value_or(positions)),
                                     .prompt = modules.PromptOf(EmbedAs::text)};
  const std::int64_t cut =
      CountLongTexts(tokenizer, train, how, options.truncate) + CountLongTexts(tokenizer, valid, how, options.truncate);
  if (cut > 0) Note(observer, TruncatedNote(cut));
  const TrainingTask task = SentenceVectorTask(*model, tokenizer, train, valid, how);
  Hash64 hash;
  for (const SimilarTexts& pair : train)
    for (const std::string& text : {pair.text, pair.match, fmt::format("{}", fmt::join(pair.negatives, "\n"))})
      hash.Update(text + "\n");
  Json of = Json::Object{{"batch_size", plan.batches.batch_size}, {"part_size", how.part}, {"scale", how.scale}};
  if (options.from_scratch()) of.Set("positions", options.positions);
  const auto save = [&](const std::string& to) {
    model->Save(to);
    if (options.from_scratch())
      CopyTokenizer(options.tokenizer, to);
    else
      CopyBesideModel(options.from, to);
    WriteFastTokenizerConfig(to, TokenizerOfModel{.longest = positions, .reads_types = model->reads_types()});
    if (!modules.given) WriteModules(to, *model);
  };
  return RunModelTraining(task, options, plan, "contrastive", "pairs", hash.value(), std::move(of), save, observer);
}

}  // namespace headlight
