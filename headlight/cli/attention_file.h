// The attention of many sentences as a safetensors file.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "headlight/inspect/attention_record.h"
#include "headlight/io/safetensors.h"

namespace headlight {

// Keeps all weights in memory until Write: for a few hundred sentences. Does nothing with an empty path.
class AttentionFile {
 public:
  // Throws Error where the file cannot be written.
  explicit AttentionFile(std::string path);

  // Tensors "SENTENCE.KIND.LAYER" [heads, query, key], and in the metadata "SENTENCE.source" and "SENTENCE.target", the
  // tokens as a JSON array. Throws Error where the file would become too large.
  void Add(std::int64_t sentence, const AttentionRecord& record);
  void Write() const;

 private:
  std::string path_;
  std::deque<std::vector<float>> weights_;
  std::vector<StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_ = {{"format", "pt"}};
  std::size_t bytes_ = 0;
};

}  // namespace headlight
