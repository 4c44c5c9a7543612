#include "headlight/serve/embedder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/io/json_view.h"
#include "headlight/models/bert.h"
#include "headlight/text/tokenizer_pipeline.h"

namespace headlight {
namespace {

enum class Pooling { mean, first, most };

// How sentence-transformers makes one vector of a text's.
struct Reading {
  Pooling pooling = Pooling::mean;
  bool normalize = false;
  std::optional<std::int64_t> longest;
};

bool Exists(const std::string& path) {
  std::error_code error;  // what cannot be looked at is left to whoever opens it
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
          reading.pooling == Pooling::mean ? vector[i] + rows.row(row)[i] : std::max(vector[i], rows.row(row)[i]);
  float scale = reading.pooling == Pooling::mean ? 1 / static_cast<float>(rows.rows) : 1;
  if (reading.normalize) {
    const float norm = std::sqrt(std::inner_product(vector, vector + columns, vector, 0.0F));
    scale = norm > 0 ? 1 / norm : 0;
  }
  for (std::int64_t i = 0; i < columns; ++i) vector[i] *= scale;
}

}  // namespace

struct Embedder::State {
  std::unique_ptr<const Bert> model;
  TokenizerPipeline tokenizer;
  Reading reading;
  std::int64_t longest;
};

Embedder Embedder::Load(const std::string& folder, std::optional<kernels::Compute> compute) {
  const Reading reading = ReadModules(folder);
  TokenizerPipeline tokenizer = TokenizerPipeline::Load(folder);
  auto model = LoadBert(folder, {.compute = compute, .purpose = LoadFor::computing});
  const BertConfig& config = model->config();
  Check(tokenizer.size() <= config.vocabulary, "{}: the tokenizer has {} tokens, and the model {}", folder,
        tokenizer.size(), config.vocabulary);
  const std::int64_t longest = std::min(config.positions, reading.longest.value_or(config.positions));
  return Embedder(std::make_shared<State>(State{std::move(model), std::move(tokenizer), reading, longest}));
}

Embeddings Embedder::Embed(std::span<const std::string> texts, const EmbedOptions& options) const {
  Check(options.batch_tokens >= 1, "batch_tokens must be at least 1, not {}", options.batch_tokens);
  Embeddings result{Tensor::Empty({static_cast<std::int64_t>(texts.size()), dimension()}), {}};
  std::vector<Encoding> encodings;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Encoding& encoding = encodings.emplace_back(state_->tokenizer.Encode(texts[i], {.read_special = false}));
    const auto tokens = static_cast<std::int64_t>(encoding.ids.size()), excess = tokens - longest();
    Check(tokens > 0, "text {}: it has no tokens", i + 1);
    if (excess <= 0) continue;
    Check(options.truncate, "text {}: {} tokens, of which the model reads {} at once", i + 1, tokens, longest());
    result.truncated.push_back(static_cast<std::int64_t>(i));
    // The text's last tokens go, the special ones behind it stay.
    const auto behind =
        std::find_if(encoding.texts.rbegin(), encoding.texts.rend(), [](auto text) { return text >= 0; });
    const auto end = encoding.ids.end() - (behind - encoding.texts.rbegin());
    encoding.type_ids.erase(encoding.type_ids.begin() + (end - excess - encoding.ids.begin()),
                            encoding.type_ids.begin() + (end - encoding.ids.begin()));
    encoding.ids.erase(end - excess, end);
  }

  // Those of one length together: attention over texts of mixed length costs nothing more, but a batch ends at once.
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return encodings[a].ids.size() > encodings[b].ids.size(); });
  for (std::size_t next = 0; next < order.size();) {
    std::vector<std::int32_t> ids, types, lengths;
    const std::size_t first = next;
    do {
      const Encoding& encoding = encodings[order[next++]];
      ids.insert(ids.end(), encoding.ids.begin(), encoding.ids.end());
      types.insert(types.end(), encoding.type_ids.begin(), encoding.type_ids.end());
      lengths.push_back(static_cast<std::int32_t>(encoding.ids.size()));
    } while (next < order.size() &&
             static_cast<std::int64_t>(ids.size() + encodings[order[next]].ids.size()) <= options.batch_tokens);
    const Sequences sentences = PackedSequences(lengths);
    Context context;
    const Tensor hidden = state_->model->Encode(context, ids, types, sentences);
    for (std::size_t i = 0; i < sentences.size(); ++i)
      Pool(hidden.ViewRows(sentences[i].begin, sentences[i].length), state_->reading,
           result.vectors.matrix<float>().row(static_cast<std::int64_t>(order[first + i])));
  }
  return result;
}

std::int64_t Embedder::dimension() const { return state_->model->config().model; }
std::int64_t Embedder::longest() const { return state_->longest; }

}  // namespace headlight
