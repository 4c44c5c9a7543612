#include "headlight/recipes/importance_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/gguf.h"
#include "headlight/io/gguf_export.h"
#include "headlight/kinds/language_model.h"
#include "headlight/models/family.h"
#include "headlight/text/tokenizers/load_tokenizer.h"

namespace headlight {
namespace {

constexpr std::int64_t kPart = 512;                              // tokens per pass
constexpr std::uint64_t kLargestText = std::uint64_t{1} << 28;   // bytes
constexpr const char *kSums = ".in_sum2", *kCounts = ".counts";  // suffixes of tensor names

std::vector<float> NumbersOf(const GgufTensor& tensor, const std::string& path) {
  Check(tensor.type == GgufType::f32, "{}: tensor {} is not F32", path, Quoted(tensor.name));
  std::vector<float> numbers(tensor.bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  for (const float number : numbers)
    Check(std::isfinite(number) && number >= 0,
          "{}: tensor {} has the number {}; sums of squares and counts are at least 0", path, Quoted(tensor.name),
          number);
  return numbers;
}

}  // namespace

ImportanceMatrix MeasureImportance(const std::string& path, const GgufArchitecture& architecture,
                                   const std::string& text,
                                   const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const std::unique_ptr<LanguageModel> model = LoadModel<LanguageModel>(path, {.purpose = LoadFor::computing});
  const std::shared_ptr<const Tokenizer> tokenizer = LoadTokenizer(path);
  const std::vector<std::int32_t> ids = tokenizer->Encode(ReadFile(text, kLargestText));
  Check(!ids.empty(), "{}: has no tokens", text);
  const auto before = std::ssize(tokenizer->before());
  const std::int64_t most = std::min(kPart, model->limits().positions) - before;
  Check(most > 0, "{}: has no positions for a text", path);
  std::map<const Parameter*, std::vector<double>> squares;
  std::map<const Parameter*, double> rows;
  Context context;
  context.hooks.product = [&](const Parameter& weight, const Tensor& input) {
    std::vector<double>& sums = squares[&weight];
    sums.resize(static_cast<std::size_t>(input.columns()));
    for (std::int64_t row = 0; row < input.rows(); ++row) {
      const float* const numbers = input.matrix<float>().row(row);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += double{numbers[i]} * double{numbers[i]};
    }
    rows[&weight] += static_cast<double>(input.rows());
  };
  for (std::int64_t first = 0; first < std::ssize(ids); first += most) {
    const std::int64_t count = std::min(most, std::ssize(ids) - first);
    std::vector<std::int32_t> part = tokenizer->before();
    part.insert(part.end(), ids.begin() + first, ids.begin() + first + count);
    model->Decode(context, part, {{0, static_cast<std::int32_t>(part.size())}});
    if (progress) progress(first + count, std::ssize(ids));
  }
  ImportanceMatrix importance;
  for (const auto& [weight, sums] : squares) {
    Importance of_weight;
    of_weight.counts = {static_cast<float>(rows[weight])};
    of_weight.sums.assign(sums.begin(), sums.end());
    // A fused weight consists of the rows of several tensors with the same inputs.
    for (const std::string& name : weight->names)
      if (const std::string gguf = GgufTensorName(architecture, name); !gguf.empty()) importance[gguf] = of_weight;
  }
  return importance;
}

ImportanceMatrix ReadImportance(const std::string& path) {
  const Gguf file(path);
  ImportanceMatrix importance;
  for (const GgufTensor& tensor : file.tensors()) {
    if (!tensor.name.ends_with(kSums)) continue;
    const std::string name = tensor.name.substr(0, tensor.name.size() - std::string_view(kSums).size());
    const GgufTensor* const counts = FindTensor(file, name + kCounts);
    Check(counts != nullptr, "{}: there is no tensor {}", path, Quoted(name + kCounts));
    Importance& of = importance[name];
    of.sums = NumbersOf(tensor, path);
    of.counts = NumbersOf(*counts, path);
    const std::size_t matrices = of.counts.size();
    Check(matrices > 0 && of.sums.size() % matrices == 0, "{}: tensor {}: {} sums do not fit {} counts", path,
          Quoted(tensor.name), of.sums.size(), matrices);
  }
  Check(!importance.empty(), "{}: is not an importance matrix: there is no tensor NAME{}", path, kSums);
  return importance;
}

void WriteImportance(const ImportanceMatrix& importance, const std::string& dataset, const std::string& path) {
  GgufMetadata metadata;
  metadata.SetText("general.type", "imatrix");
  const std::string datasets[] = {dataset};
  metadata.SetTexts("imatrix.datasets", datasets);
  float tokens = 0;
  std::vector<GgufTensorPlan> plans;
  for (const auto& [name, of] : importance) {
    const std::int64_t matrices = std::ssize(of.counts);
    tokens = std::max(tokens, of.counts.front());
    plans.push_back({name + kSums, GgufType::f32, {matrices, std::ssize(of.sums) / matrices}});
    plans.push_back({name + kCounts, GgufType::f32, {matrices, 1}});
  }
  metadata.SetInteger("imatrix.chunk_count", static_cast<std::int64_t>(std::ceil(tokens / static_cast<float>(kPart))));
  metadata.SetInteger("imatrix.chunk_size", kPart);
  GgufWriter writer(path, metadata, plans);
  for (const auto& [name, of] : importance) {
    writer.Write(std::as_bytes(std::span(of.sums)));
    writer.Write(std::as_bytes(std::span(of.counts)));
  }
  writer.Commit();
}

std::vector<float> ImportanceFor(const ImportanceMatrix& importance, const GgufTensorPlan& tensor) {
  const auto found = importance.find(tensor.name);
  if (found == importance.end()) return {};
  const auto& [sums, counts] = found->second;
  std::int64_t expected = tensor.RowNumbers();
  for (std::size_t axis = 0; axis + 2 < tensor.axes.size(); ++axis) expected *= tensor.axes[axis];
  Check(std::ssize(sums) == expected, "tensor {}: has {} inputs, and the importance matrix {}", Quoted(tensor.name),
        expected, sums.size());
  const std::size_t inputs = sums.size() / counts.size();
  std::vector<float> means;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const float count = counts[i / inputs];
    means.push_back(count > 0 ? sums[i] / count : 1);  // all inputs of an expert without rows are equally important
  }
  return means;
}

}  // namespace headlight
