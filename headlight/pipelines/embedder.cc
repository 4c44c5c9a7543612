#include "headlight/pipelines/embedder.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/models/esm.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/sentence_modules.h"

namespace headlight {

struct Embedder::State {
  EncoderFolder loaded;
  SentenceModules reading;
  std::int64_t longest;
};

Embedder Embedder::Load(const std::string& folder, const LoadOptions& options) {
  EncoderFolder loaded = LoadEncoderFolder(folder, options);
  SentenceModules reading = ReadSentenceModules(folder, loaded.model->limits().model);
  const std::int64_t positions = loaded.model->limits().positions;
  const std::int64_t longest = std::min(positions, reading.longest.value_or(positions));
  return Embedder(std::make_shared<State>(State{std::move(loaded), std::move(reading), longest}));
}

Embeddings Embedder::Embed(std::span<const std::string> texts, const EmbedOptions& options) const {
  Embeddings result;
  const bool of_residues = options.pooling != EmbedPooling::folder;
  const PipelineTokenizer& tokenizer = state_->loaded.tokenizer;
  const std::string prompt = of_residues ? "" : state_->reading.PromptOf(options.purpose, options.prompt_name);
  std::int64_t prompt_tokens = 0;  // including special tokens before the prompt
  if (!prompt.empty() && !state_->reading.pools_prompt) {
    const std::vector<std::int32_t> ids = tokenizer.Encode(prompt, {.read_special = false}).ids;
    prompt_tokens = std::ssize(ids) - (!ids.empty() && tokenizer.IsSpecial(ids.back()) ? 1 : 0);
    Check(prompt_tokens < longest(), "the prompt {} has {} tokens, and the model reads {}", Quoted(prompt),
          prompt_tokens, longest());
  }
  std::vector<Encoding> encodings;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CheckText(texts[i], options.name_of, i);
    Encoding& encoding = encodings.emplace_back(tokenizer.Encode(prompt + texts[i], {.read_special = false}));
    const std::size_t tokens = encoding.ids.size();
    Check(std::ssize(encoding.ids) > prompt_tokens, "{}: it has no tokens", NameOf(options.name_of, i));
    if (of_residues) CheckResidues(state_->loaded, texts[i], encoding, NameOf(options.name_of, i));
    if (!Truncate(encoding, longest(), tokenizer.cut_at())) continue;
    Check(options.truncate, "{}: {} tokens, and the model reads at most {}; `truncate` leaves out its end",
          NameOf(options.name_of, i), tokens, longest());
    result.truncated.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::int64_t> first;  // first row of each text in the vectors
  std::int64_t rows = 0;
  for (const Encoding& encoding : encodings) {
    first.push_back(rows);
    rows += options.pooling == EmbedPooling::none ? result.residues.emplace_back(std::ssize(encoding.ids) - 2) : 1;
  }
  result.vectors = Tensor::Empty({rows, of_residues ? state_->loaded.model->limits().model : dimension()});
  const SentenceModules mean;
  EncodeInBatches(*state_->loaded.model, encodings, options.batch_tokens,
                  [&](Context&, const Tensor& hidden, const Sequences& sentences, std::span<const std::size_t> which) {
                    for (std::size_t i = 0; i < which.size(); ++i) {
                      // The residues are between <cls> and <eos>.
                      const Tensor states = of_residues
                                                ? hidden.ViewRows(sentences[i].begin + 1, sentences[i].length - 2)
                                                : hidden.ViewRows(sentences[i].begin, sentences[i].length);
                      const bool pooled = options.pooling != EmbedPooling::none;
                      const Tensor vector = result.vectors.ViewRows(first[which[i]], pooled ? 1 : states.rows());
                      vector.CopyFrom(!pooled       ? states
                                      : of_residues ? VectorOf(states, mean, 0)
                                                    : VectorOf(states, state_->reading, prompt_tokens));
                      CheckFinite(vector, *state_->loaded.model, "embedding " + NameOf(options.name_of, which[i]));
                    }
                  });
  return result;
}

std::vector<float> Embedder::Embed(std::string_view text, const EmbedOptions& options) const {
  const std::string texts[] = {std::string(text)};
  return Embed(texts, options).vectors.ToVector<float>();
}

std::int64_t Embedder::dimension() const { return state_->reading.Dimension(state_->loaded.model->limits().model); }
Similarity Embedder::similarity() const { return state_->reading.similarity; }
bool Embedder::reads_proteins() const { return dynamic_cast<const Esm*>(state_->loaded.model.get()) != nullptr; }
std::int64_t Embedder::longest() const { return state_->longest; }

}  // namespace headlight
