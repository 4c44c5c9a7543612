// Provides models and requests for the tests of running batches.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/decoding_batch.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/kinds/language_model.h"
#include "headlight/models/family.h"
#include "headlight/models/gpt.h"
#include "headlight/models/transformer.h"

namespace headlight::decoding_batch_testing {

using Ids = std::vector<std::int32_t>;

// A model and the requests that random schedules choose from.
struct Subject {
  const LanguageModel* language = nullptr;
  const ConditionalDecoder* decoder = nullptr;
  std::vector<DecodingRequest> requests = {};
  const Shortlist* shortlist = nullptr;

  DecodingBatch Batch(const DecodingBatchOptions& options = {}) const {
    return language != nullptr ? DecodingBatch(*language, options) : DecodingBatch(*decoder, options, shortlist);
  }
};

inline Ids RandomIds(Random& random, std::size_t count, std::int64_t vocabulary) {
  Ids ids;
  while (ids.size() < count)
    ids.push_back(static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(vocabulary))));
  return ids;
}

inline std::vector<std::shared_ptr<const SearchOptions>> SomeOptions(std::int32_t end, bool attends) {
  std::vector<SearchOptions> all(6);
  all[1].beam_size = all[1].n_best = 3;
  all[2].sample = true;
  all[2].sampling.top_k = 5;
  all[3].processors.no_repeat_ngram_size = 2;
  all[3].beam_size = all[3].n_best = 2;
  all[3].length_penalty = 0.5;
  all[4].processors.repetition_penalty = 1.3;
  all[4].token_scores = true;
  all[4].stops =
      std::make_shared<const StopCondition>([](std::span<const std::int32_t> ids) { return ids.back() % 13 == 5; });
  all[5].first_token = 7;
  all[5].last_token = end;
  all.push_back({.guidance = 2});
  all.push_back({.beam_size = 2, .n_best = 2, .guidance = 0.5});
  std::vector<std::shared_ptr<const SearchOptions>> shared;
  for (SearchOptions& options : all) {
    options.end_ids = {end};
    options.attention = attends && options.beam_size != 2;
    shared.push_back(std::make_shared<const SearchOptions>(options));
  }
  return shared;
}

// Returns requests for prompts, some of which have a common prefix.
inline Subject OfTexts(const LanguageModel& model, std::int64_t longest, const std::vector<Ids>& prompts) {
  Subject subject{.language = &model};
  Random random(5);
  const auto options = SomeOptions(model.limits().end_id >= 0 ? model.limits().end_id : 0, /*attends=*/false);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    DecodingRequest request{.prompt = prompts[i], .options = options[i % options.size()], .seed = i};
    if (request.options->guidance != 1 && i % 2 == 0) request.unguided = prompts[(i + 1) % prompts.size()];
    request.max_new_tokens = 1 + static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(longest)));
    request.min_new_tokens = static_cast<std::int32_t>(random.Below(4));
    subject.requests.push_back(std::move(request));
  }
  return subject;
}

// Returns two requests for each memory.
inline Subject OfMemories(const ConditionalDecoder& model, std::int64_t longest, const std::vector<Tensor>& memories,
                          const std::vector<Ids>& sources) {
  Subject subject{.decoder = &model};
  Random random(6);
  const auto options = SomeOptions(model.limits().end_id, /*attends=*/true);
  for (std::size_t i = 0; i < 2 * memories.size(); ++i) {
    DecodingRequest request{.prompt = {model.limits().start_id}, .options = options[i % options.size()], .seed = i};
    if (i % 3 == 0)
      for (const std::int32_t id : RandomIds(random, 5, model.limits().target_vocabulary)) request.prompt.push_back(id);
    request.memory = memories[i / 2];
    if (!sources.empty()) request.source = sources[i / 2];
    request.max_new_tokens = 1 + static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(longest)));
    request.min_new_tokens = request.max_new_tokens / 2;
    subject.requests.push_back(std::move(request));
  }
  return subject;
}

inline Subject OfSources(const EncoderDecoder& model, std::int64_t longest) {
  Random random(7);
  std::vector<Tensor> memories;
  std::vector<Ids> sources;
  for (const std::size_t length : {1, 3, 7, 12, 19}) {
    sources.push_back(RandomIds(random, length, model.limits().source_vocabulary));
    Context context;
    memories.push_back(model.Encode(context, sources.back(), {{0, static_cast<std::int32_t>(length)}}));
  }
  return OfMemories(model, longest, memories, sources);
}

inline GptConfig SmallGpt() {
  return {.model = 24, .layers = 2, .heads = 2, .ffn = 32, .vocabulary = 61, .positions = 160, .end_id = 60};
}

inline std::vector<Ids> SomePrompts(std::int64_t vocabulary) {
  Random random(8);
  std::vector<Ids> prompts;
  const Ids beginning = RandomIds(random, 70, vocabulary);
  for (const std::size_t length : {1, 2, 5, 17, 30, 64, 65, 70, 3, 40, 33, 70}) {
    prompts.emplace_back(beginning.begin(), beginning.begin() + static_cast<std::ptrdiff_t>(length));
    if (prompts.size() % 3 == 0) prompts.back().back() = static_cast<std::int32_t>(prompts.size());
  }
  return prompts;
}

inline Subject OfMarian() {
  static const std::unique_ptr<Transformer> model = [] {
    TransformerConfig config;
    config.model = 16;
    config.encoder_layers = config.decoder_layers = 2;
    config.encoder_heads = config.decoder_heads = 2;
    config.encoder_ffn = config.decoder_ffn = 20;
    config.source_vocabulary = config.target_vocabulary = 41;
    config.positions = 90;
    config.start_id = config.pad_id = 40;
    auto made = std::make_unique<Transformer>(config);
    made->parameters().Initialize(2);
    return made;
  }();
  return OfSources(*model, 80);
}

inline Subject OfGpt() {
  static const std::unique_ptr<Gpt> model = [] {
    auto made = std::make_unique<Gpt>(SmallGpt());
    made->parameters().Initialize(1);
    return made;
  }();
  return OfTexts(*model, 70, SomePrompts(60));
}

// Returns a model with a draft. A single greedy text uses speculative decoding.
inline Subject OfDrafts() {
  static const std::unique_ptr<LanguageModel> model = [] {
    const TemporaryFolder folder;
    OfGpt().language->Save(folder.path());
    return LoadModel<LanguageModel>(folder.path(), {.purpose = LoadFor::computing_with_draft});
  }();
  return OfTexts(*model, 70, SomePrompts(60));
}

inline Subject OfShortlists() {
  static const Shortlist shortlist = [] {
    Shortlist made{{0, 3, 5, 17}, {0}, {}};
    Random random(3);
    for (int source = 0; source < 41; ++source) {
      for (const std::int32_t id : RandomIds(random, 6, 40)) made.words.push_back(id);
      made.begins.push_back(static_cast<std::int32_t>(made.words.size()));
    }
    return made;
  }();
  Subject subject = OfMarian();
  subject.shortlist = &shortlist;
  return subject;
}

// Runs the batch until all texts have ended, and returns the results.
inline std::vector<Decoded> Finish(DecodingBatch& batch) {
  std::vector<Decoded> all;
  for (int steps = 0; !batch.empty(); ++steps) {
    Ensure(steps < 100'000, "the batch does not end");
    for (Decoded& text : batch.Step()) all.push_back(std::move(text));
  }
  return all;
}

inline bool Same(const std::vector<Hypothesis>& one, const std::vector<Hypothesis>& other) {
  const auto same_rows = [](const AttentionRow& a, const AttentionRow& b) { return *a == *b; };
  return std::ranges::equal(one, other, [&](const Hypothesis& a, const Hypothesis& b) {
    return a.ids == b.ids && a.log_probability == b.log_probability && a.score == b.score && a.ended == b.ended &&
           a.end == b.end && a.token_scores == b.token_scores &&
           std::ranges::equal(a.attention, b.attention, same_rows);
  });
}

}  // namespace headlight::decoding_batch_testing
