#include "headlight/tasks/embedder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/tasks/encoder_folder.h"
#include "headlight/tasks/sentence_modules.h"

namespace headlight {
namespace {

// The vector of a text from the states of its tokens, hidden [length, dimension].
void Pool(const Tensor& hidden, const SentenceModules& reading, float* vector) {
  const std::int64_t columns = hidden.columns();
  const Matrix<float> rows = hidden.matrix<float>();
  const auto count = static_cast<float>(rows.rows);
  float scale = 1;
  std::copy_n(rows.row(reading.pooling == Pooling::last ? rows.rows - 1 : 0), columns, vector);
  switch (reading.pooling) {
    case Pooling::first:
    case Pooling::last:
      break;
    case Pooling::most:
      for (std::int64_t row = 1; row < rows.rows; ++row)
        for (std::int64_t i = 0; i < columns; ++i) vector[i] = std::max(rows.row(row)[i], vector[i]);
      break;
    case Pooling::weighted_mean:
      for (std::int64_t row = 1; row < rows.rows; ++row)
        for (std::int64_t i = 0; i < columns; ++i) vector[i] += static_cast<float>(row + 1) * rows.row(row)[i];
      scale = 2 / (count * (count + 1));
      break;
    case Pooling::mean:
    case Pooling::mean_sqrt:
      for (std::int64_t row = 1; row < rows.rows; ++row)
        for (std::int64_t i = 0; i < columns; ++i) vector[i] += rows.row(row)[i];
      scale = 1 / (reading.pooling == Pooling::mean ? count : std::sqrt(count));
      break;
  }
  if (reading.normalize) {
    const float norm = std::sqrt(std::inner_product(vector, vector + columns, vector, 0.0F));
    scale = norm > 0 ? 1 / norm : 0;
  }
  for (std::int64_t i = 0; i < columns; ++i) vector[i] *= scale;
}

}  // namespace

struct Embedder::State {
  EncoderFolder loaded;
  SentenceModules reading;
  std::int64_t longest;
};

Embedder Embedder::Load(const std::string& folder, const LoadOptions& options) {
  const SentenceModules reading = ReadSentenceModules(folder);
  EncoderFolder loaded = LoadEncoderFolder(folder, options);
  const std::int64_t positions = loaded.model->limits().positions;
  const std::int64_t longest = std::min(positions, reading.longest.value_or(positions));
  return Embedder(std::make_shared<State>(State{std::move(loaded), reading, longest}));
}

Embeddings Embedder::Embed(std::span<const std::string> texts, const EmbedOptions& options) const {
  Embeddings result{Tensor::Empty({static_cast<std::int64_t>(texts.size()), dimension()}), {}};
  std::vector<Encoding> encodings;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CheckText(texts[i], options.name_of, i);
    Encoding& encoding = encodings.emplace_back(
        state_->loaded.tokenizer.Encode(state_->reading.prompt + texts[i], {.read_special = false}));
    const std::size_t tokens = encoding.ids.size();
    Check(tokens > 0, "{}: it has no tokens", NameOf(options.name_of, i));
    if (!Truncate(encoding, longest())) continue;
    Check(options.truncate,
          "{}: {} tokens, of which the model reads {} at once; the option truncate leaves out its end",
          NameOf(options.name_of, i), tokens, longest());
    result.truncated.push_back(static_cast<std::int64_t>(i));
  }
  EncodeInBatches(*state_->loaded.model, encodings, options.batch_tokens,
                  [&](Context&, const Tensor& hidden, const Sequences& sentences, std::span<const std::size_t> which) {
                    for (std::size_t i = 0; i < which.size(); ++i) {
                      const Tensor vector = result.vectors.ViewRows(static_cast<std::int64_t>(which[i]), 1);
                      Pool(hidden.ViewRows(sentences[i].begin, sentences[i].length), state_->reading,
                           vector.data<float>());
                      CheckFinite(vector, *state_->loaded.model, "embedding " + NameOf(options.name_of, which[i]));
                    }
                  });
  return result;
}

std::vector<float> Embedder::Embed(std::string_view text, const EmbedOptions& options) const {
  const std::string texts[] = {std::string(text)};
  return Embed(texts, options).vectors.ToVector<float>();
}

std::int64_t Embedder::dimension() const { return state_->loaded.model->limits().model; }
std::int64_t Embedder::longest() const { return state_->longest; }

}  // namespace headlight
