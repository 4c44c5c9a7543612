// A lexical shortlist: the possible translations of each source word. The output layer only scores those instead of the
// whole vocabulary (Jean et al., "On Using Very Large Target Vocabulary for Neural Machine Translation", 2015, section
// 3.3).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct HEADLIGHT_API Shortlist {
  std::vector<std::int32_t> always;  ///< candidates for every sentence; ascending and distinct
  /// The candidates of source token s are words[begins[s]] to words[begins[s + 1] - 1], most probable first.
  std::vector<std::int32_t> begins;  ///< [source vocab + 1]
  std::vector<std::int32_t> words;

  /// The candidates for a source sentence, ascending and distinct. Throws Error for an id outside the source
  /// vocabulary.
  std::vector<std::int32_t> For(std::span<const std::int32_t> source_ids) const;
};

/// The file name in a model's folder. `tokenizer_hash` (MarianTokenizer::hash) identifies the vocabulary of the ids.
inline constexpr const char* kShortlistName = "shortlist.safetensors";

/// Throws Error naming the file if it is not a shortlist, or was made for another tokenizer.
HEADLIGHT_API Shortlist LoadShortlist(const std::string& path, std::uint64_t tokenizer_hash,
                                      std::int64_t source_vocabulary, std::int64_t target_vocabulary);
HEADLIGHT_API void SaveShortlist(const Shortlist& shortlist, const std::string& path, std::uint64_t tokenizer_hash);

}  // namespace headlight
