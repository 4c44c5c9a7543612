#include "headlight/cli/attention_file.h"

#include <span>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/output.h"

namespace headlight {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 31;

}  // namespace

AttentionFile::AttentionFile(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) CheckWritable(path_);
}

void AttentionFile::Add(std::int64_t sentence, const AttentionRecord& record) {
  for (const AttentionMap& map : record.maps) {
    const std::vector<float>& weights = weights_.emplace_back(map.weights);
    bytes_ += weights.size() * sizeof(float);
    Check(bytes_ <= kMostBytes, "{}: the attention of the first {} lines is more than {} bytes: give fewer lines",
          path_, sentence + 1, kMostBytes);
    tensors_.push_back({fmt::format("{}.{}.{}", sentence, AttentionName(map.kind), map.layer),
                        StoredType::f32,
                        {map.heads, map.queries, map.keys},
                        std::as_bytes(std::span(weights))});
  }
  metadata_[fmt::format("{}.source", sentence)] = Json(record.source_tokens).Line();
  metadata_[fmt::format("{}.target", sentence)] = Json(record.target_tokens).Line();
}

void AttentionFile::Write() const {
  if (!path_.empty()) WriteSafetensors(path_, tensors_, metadata_);
}

}  // namespace headlight
