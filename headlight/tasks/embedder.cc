#include "headlight/tasks/embedder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/tasks/encoder_folder.h"

namespace headlight {
namespace {

enum class Pooling { mean, first, most };

// How sentence-transformers pools the vectors of a text's tokens.
struct Reading {
  Pooling pooling = Pooling::mean;
  bool normalize = false;
  std::optional<std::int64_t> longest;
};

bool Exists(const std::string& path) {
  std::error_code error;  // opening the file reports it
  return std::filesystem::exists(path, error) || error;
}

Pooling ReadPooling(const JsonView& config) {
  struct Mode {
    const char* key;
    std::optional<Pooling> pooling;
  };
  const Mode modes[] = {{"pooling_mode_mean_tokens", Pooling::mean}, {"pooling_mode_cls_token", Pooling::first},
                        {"pooling_mode_max_tokens", Pooling::most},  {"pooling_mode_mean_sqrt_len_tokens", {}},
                        {"pooling_mode_weightedmean_tokens", {}},    {"pooling_mode_lasttoken", {}}};
  std::optional<Pooling> pooling;
  for (const Mode& mode : modes) {
    if (!config.Get(mode.key, false).Bool()) continue;
    Check(mode.pooling.has_value() && !pooling.has_value(),
          "{}: only one of the mean, the first token's and the maximum is supported", config[mode.key].place());
    pooling = mode.pooling;
  }
  Check(pooling.has_value(), "{} no pooling_mode is true", config.place());
  config.RefuseUnread({"include_prompt", "word_embedding_dimension"});
  return *pooling;
}

Reading ReadModules(const std::string& folder) {
  Reading reading;
  const std::string modules = folder + "/modules.json";
  if (!Exists(modules)) return reading;
  for (const JsonView& module : ReadJson(modules).Items()) {
    const std::string type = module["type"].String();
    const std::string name = type.substr(type.rfind('.') + 1);
    const std::string path = module.Get("path", "").String();
    if (name == "Transformer") {
      Check(path.empty(), "{}: a Transformer in a folder of its own, {}, is not supported", module.place(),
            Quoted(path));
    } else if (name == "Pooling") {
      reading.pooling = ReadPooling(ReadJson(folder + "/" + path + "/config.json"));
    } else {
      Check(name == "Normalize", "{}: {} is not supported; Transformer, Pooling and Normalize are",
            module["type"].place(), Quoted(type));
      reading.normalize = true;
    }
  }
  if (const std::string path = folder + "/sentence_bert_config.json"; Exists(path)) {
    const JsonView config = ReadJson(path);
    if (config["max_seq_length"].present()) reading.longest = config["max_seq_length"].Integer(2, 1 << 24);
    Check(!config.Get("do_lower_case", false).Bool(), "{}: lower case besides the tokenizer's is not supported",
          config["do_lower_case"].place());
  }
  return reading;
}

// The vector of a text from those of its tokens, hidden [length, dimension].
void Pool(const Tensor& hidden, const Reading& reading, float* vector) {
  const std::int64_t columns = hidden.columns();
  const Matrix<float> rows = hidden.matrix<float>();
  std::copy_n(rows.row(0), columns, vector);
  for (std::int64_t row = 1; row < rows.rows && reading.pooling != Pooling::first; ++row)
    for (std::int64_t i = 0; i < columns; ++i)
      vector[i] =
          reading.pooling == Pooling::mean ? vector[i] + rows.row(row)[i] : std::max(rows.row(row)[i], vector[i]);
  float scale = reading.pooling == Pooling::mean ? 1 / static_cast<float>(rows.rows) : 1;
  if (reading.normalize) {
    const float norm = std::sqrt(std::inner_product(vector, vector + columns, vector, 0.0F));
    scale = norm > 0 ? 1 / norm : 0;
  }
  for (std::int64_t i = 0; i < columns; ++i) vector[i] *= scale;
}

}  // namespace

struct Embedder::State {
  EncoderFolder loaded;
  Reading reading;
  std::int64_t longest;
};

Embedder Embedder::Load(const std::string& folder, const LoadOptions& options) {
  const Reading reading = ReadModules(folder);
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
    Encoding& encoding = encodings.emplace_back(state_->loaded.tokenizer.Encode(texts[i], {.read_special = false}));
    const std::size_t tokens = encoding.ids.size();
    Check(tokens > 0, "{}: it has no tokens", NameOf(options.name_of, i));
    if (!Truncate(encoding, longest())) continue;
    Check(options.truncate, "{}: {} tokens, of which the model reads {} at once; truncate leaves out its end",
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
