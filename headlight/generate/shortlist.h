// A lexical shortlist: the words that may translate each word of the source, so that the output layer scores those
// instead of the whole vocabulary (Jean et al., "On Using Very Large Target Vocabulary for Neural Machine
// Translation", 2015, section 3.3).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct HEADLIGHT_API Shortlist {
  std::vector<std::int32_t> always;  // words that any sentence may have; ascending, without repeats
  // Source word s may become words[begins[s]] to words[begins[s + 1] - 1], the likeliest first.
  std::vector<std::int32_t> begins;  // [source vocab + 1]
  std::vector<std::int32_t> words;

  // What a source sentence may become, ascending and without repeats; every id is a word of the source.
  std::vector<std::int32_t> For(std::span<const std::int32_t> source_ids) const;
};

// Its file in a model's folder. `tokenizer_hash` (MarianTokenizer::hash) says whose words the numbers are.
inline constexpr const char* kShortlistName = "shortlist.safetensors";

// Throws Error naming the file where it is no shortlist, or one of another tokenizer.
HEADLIGHT_API Shortlist LoadShortlist(const std::string& path, std::uint64_t tokenizer_hash,
                                      std::int64_t source_vocabulary, std::int64_t target_vocabulary);
HEADLIGHT_API void SaveShortlist(const Shortlist& shortlist, const std::string& path, std::uint64_t tokenizer_hash);

}  // namespace headlight
