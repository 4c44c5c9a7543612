#include "headlight/recipes/convert_gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <span>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/parallel.h"
#include "headlight/io/gguf_export.h"
#include "headlight/io/gguf_mix.h"
#include "headlight/io/model_folder.h"
#include "headlight/kernels/quantize.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/sentence_modules.h"
#include "headlight/recipes/importance_matrix.h"
#include "headlight/text/tokenizers/gguf_tokenizer_export.h"

namespace headlight {
namespace {

constexpr std::int64_t kChunk = 1 << 22;  // elements that are in memory at a time

// Returns the folder's config.json, with defaults for missing keys. GGUF stores Mistral as Llama, which is correct only
// if the sliding window covers all positions.
Json ConfigFor(ModelFolder& files) {
  const JsonView window = files.config["sliding_window"], positions = files.config["max_position_embeddings"];
  if (files.config["model_type"].String() == "mistral") {
    Check(!window.present() || (positions.present() && window.Integer() >= positions.Integer()),
          "{}: is {}, and GGUF has no windows of Mistral", window.location(), window.value().Line());
    Json config = files.config.value();
    config.Set("model_type", "llama");
    config.Set("sliding_window", Json());
    files.config = JsonView(std::move(config), files.config.location());
  }
  FamilyOf(files);  // throws Error for unknown types
  GgufArchitectureFor(files.config, files.weights);
  return CompleteConfig(files);
}

// Writes a tensor in its new type, in chunks of rows.
void WriteTensor(const GgufTensorSource& source, const GgufTensorPlan& plan, std::span<const float> importance,
                 const GgufConversionObserver& observer, std::int64_t& done, std::int64_t total, GgufWriter& writer) {
  const std::int64_t rows = plan.Rows(), columns = plan.RowNumbers(), row_bytes = plan.RowBytes();
  const std::int64_t at_once = std::max<std::int64_t>(1, kChunk / std::max<std::int64_t>(1, columns));
  std::vector<std::byte> bytes;
  for (std::int64_t first = 0; first < rows; first += at_once) {
    const std::int64_t count = std::min(at_once, rows - first);
    if (!source.bytes.empty() && source.plan.type == plan.type) {
      writer.Write(source.bytes.subspan(static_cast<std::size_t>(first * row_bytes),
                                        static_cast<std::size_t>(count * row_bytes)));
    } else {
      bytes.resize(static_cast<std::size_t>(count * row_bytes));
      std::atomic<bool> finite = true;
      ParallelFor(count, [&](std::int64_t row) {
        std::vector<float> numbers(static_cast<std::size_t>(columns));
        source.read(first + row, numbers.data());
        // Each expert of a stack has separate importance values.
        const std::int64_t matrices = importance.empty() ? 1 : std::ssize(importance) / columns;
        const std::int64_t matrix = (first + row) / (rows / matrices);
        if (!kernels::Quantize(plan.type, numbers,
                               importance.empty() ? importance
                                                  : importance.subspan(static_cast<std::size_t>(matrix * columns),
                                                                       static_cast<std::size_t>(columns)),
                               bytes.data() + row * row_bytes))
          finite = false;
      });
      Check(finite, "tensor {}: has a number that is not finite, or too large for {}", Quoted(plan.name),
            InfoOf(plan.type).name);
      writer.Write(bytes);
    }
    done += count * columns;
    if (observer.weights) observer.weights(done, total);
  }
}

std::string NameOf(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  return path.has_filename() ? path.filename() : path.parent_path().filename();
}

// Returns `general.file_type` for tensors that keep their types: the type of the largest tensor.
std::int64_t UsualType(std::span<const GgufTensorPlan> plans) {
  const auto numbers = [](const GgufTensorPlan& plan) { return plan.Rows() * plan.RowNumbers(); };
  const GgufType type = std::ranges::max_element(plans, {}, numbers)->type;
  return GgufFileTypeOf(InfoOf(type).name).id;
}

// Sets the pooling of a sentence-transformers folder. Returns its other settings, which have no keys.
std::vector<std::string> SetPooling(const std::string& folder, const JsonView& config, GgufMetadata& metadata) {
  const SentenceModules modules = ReadSentenceModules(folder, config["hidden_size"].Integer(1));
  if (!modules.given) return {};
  constexpr Pooling known[] = {Pooling::mean, Pooling::first, Pooling::last};  // numbered from 1 in GGUF
  const auto found = std::ranges::find(known, modules.poolings.front());
  Check(modules.poolings.size() == 1 && found != std::end(known),
        "{}: pools by {}, and GGUF has mean, cls and lasttoken", folder, Names(modules.poolings));
  Check(std::ranges::all_of(modules.modules,
                            [](const VectorModule& module) { return module.kind == VectorModule::Kind::normalize; }),
        "{}: modules.json has a module after the pooling that GGUF does not have", folder);
  metadata.SetInteger("bert.pooling_type", found - known + 1);
  std::vector<std::string> left_out;
  if (modules.normalizes()) left_out.emplace_back("the normalization of vectors");
  if (std::ranges::any_of(modules.prompts, [](const auto& prompt) { return !prompt.second.empty(); }))
    left_out.emplace_back("the prompts");
  if (modules.longest && *modules.longest < config["max_position_embeddings"].Integer(1))
    left_out.push_back(fmt::format("the longest text of {} tokens", *modules.longest));
  if (modules.truncate_dim) left_out.push_back(fmt::format("the length of a vector, {}", *modules.truncate_dim));
  if (modules.similarity != Similarity::cosine)
    left_out.push_back(fmt::format("the similarity {}", Name(modules.similarity)));
  return left_out;
}

void CheckOut(const GgufConversion& options) {
  std::error_code ignored;
  Check(!std::filesystem::equivalent(options.model, options.out, ignored),
        "{}: is the file to convert, which would be lost: name another for the result", options.out);
  Check(options.overwrite || !Exists(options.out), "`out`: {} exists already; `overwrite` replaces it", options.out);
}

}  // namespace

GgufConverted ConvertToGguf(const GgufConversion& options, const GgufConversionObserver& observer) {
  CheckOut(options);
  std::optional<Gguf> file;
  std::optional<ModelFolder> folder;
  GgufSource source;
  GgufConverted converted;
  if (IsGguf(options.model)) {
    file.emplace(options.model);
    source = GgufSourceOf(*file);
  } else {
    folder = OpenModelFolder(options.model);
    Check(!folder->config["quantization_config"].present(), "{}: convert the weights that are not quantized",
          folder->config["quantization_config"].location());
    const Json complete = ConfigFor(*folder);
    const JsonView config(complete, folder->config.location());
    source = GgufSourceOf(*folder, complete);
    source.metadata.SetText("general.name", NameOf(options.model));
    if (folder->config["model_type"].String() == "bert")
      converted.left_out = SetPooling(options.model, config, source.metadata);
    SetGgufTokenizer(options.model, config, source.metadata);
  }
  ImportanceMatrix importance;
  if (!options.importance.empty() && IsGguf(options.importance)) {
    importance = ReadImportance(options.importance);
  } else if (!options.importance.empty()) {
    const GgufArchitecture& architecture =
        file ? GgufArchitectureOf(*file) : GgufArchitectureFor(folder->config, folder->weights);
    importance = MeasureImportance(options.model, architecture, options.importance, observer.text);
  }
  if (!options.save_importance.empty()) WriteImportance(importance, options.importance, options.save_importance);
  source.model.importance = !importance.empty();

  std::vector<GgufTensorPlan> plans;
  for (const GgufTensorSource& tensor : source.tensors) plans.push_back(tensor.plan);
  if (!options.type.empty()) {
    const GgufFileType& type = GgufFileTypeOf(options.type);
    const std::vector<GgufType> types = GgufTypesFor(type, source.model, plans);
    for (std::size_t i = 0; i < plans.size(); ++i) plans[i].type = types[i];
    source.metadata.SetInteger("general.file_type", type.id);
  }
  if (options.type.empty() && folder) source.metadata.SetInteger("general.file_type", UsualType(plans));
  if (!options.type.empty() || folder) source.metadata.SetInteger("general.quantization_version", 2);
  std::int64_t total = 0, done = 0;
  for (const GgufTensorPlan& plan : plans) {
    total += plan.Rows() * plan.RowNumbers();
    converted.bytes += plan.Bytes();
    const auto found = std::ranges::find(converted.tensors, plan.type, &std::pair<GgufType, std::int64_t>::first);
    if (found == converted.tensors.end())
      converted.tensors.emplace_back(plan.type, 1);
    else
      ++found->second;
  }
  GgufWriter writer(options.out, source.metadata, plans, source.alignment);
  for (std::size_t i = 0; i < plans.size(); ++i)
    WriteTensor(source.tensors[i], plans[i], ImportanceFor(importance, plans[i]), observer, done, total, writer);
  writer.Commit();
  return converted;
}

}  // namespace headlight
