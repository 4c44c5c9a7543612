// A lexical shortlist, which contains the possible translations of each source word. The output layer computes only
// their logits instead of the logits of the whole vocabulary (Jean et al., 2015, "On Using Very Large Target Vocabulary
// for Neural Machine Translation").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct HEADLIGHT_API Shortlist {
  std::vector<std::int32_t> always;  ///< candidates for every sentence, in ascending order and distinct
  /// The candidates of source token s are words[begins[s]] to words[begins[s + 1] - 1], most probable first.
  std::vector<std::int32_t> begins;  ///< [source vocab + 1]
  std::vector<std::int32_t> words;

  /// Returns the candidates for a source sentence, in ascending order and distinct. Throws Error for an id outside the
  /// source vocabulary.
  std::vector<std::int32_t> For(std::span<const std::int32_t> source_ids) const;
};

/// The name of the file in a model's folder.
inline constexpr const char* kShortlistName = "shortlist.safetensors";

/// Loads a shortlist. `tokenizer_hash` (MarianTokenizer::hash) identifies the vocabulary of the ids. Throws Error with
/// the file name if the file is not a shortlist, or if it was made for another tokenizer.
HEADLIGHT_API Shortlist LoadShortlist(const std::string& path, std::uint64_t tokenizer_hash,
                                      std::int64_t source_vocabulary, std::int64_t target_vocabulary);
HEADLIGHT_API void SaveShortlist(const Shortlist& shortlist, const std::string& path, std::uint64_t tokenizer_hash);

}  // namespace headlight
