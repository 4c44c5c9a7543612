#include "headlight/generate/shortlist.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/io/safetensors.h"

namespace headlight {
namespace {

constexpr const char* kTokenizer = "tokenizer";  // key in the metadata

}  // namespace

std::vector<std::int32_t> Shortlist::For(std::span<const std::int32_t> source_ids) const {
  std::vector<std::int32_t> candidates = always;
  for (const std::int32_t id : source_ids) {
    const auto source = static_cast<std::size_t>(id);
    Ensure(id >= 0 && source + 1 < begins.size(), "source word {} of a shortlist of {}", id, begins.size() - 1);
    candidates.insert(candidates.end(), words.begin() + begins[source], words.begin() + begins[source + 1]);
  }
  std::ranges::sort(candidates);
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

Shortlist LoadShortlist(const std::string& path, std::uint64_t tokenizer_hash, std::int64_t source_vocabulary,
                        std::int64_t target_vocabulary) {
  const Safetensors file(path);
  const auto made_for = file.metadata().find(kTokenizer);
  Check(made_for != file.metadata().end() && made_for->second == std::to_string(tokenizer_hash),
        "{}: is not a shortlist for this model's tokenizer; `headlight shortlist` makes one", path);
  const auto read = [&](const char* name) {
    const StoredTensor& tensor = file.At(name);
    Check(tensor.type == StoredType::i32 && tensor.shape.rank() == 1, "{}: {} is not a list of I32", path, name);
    return file.Read(name, DType::int32).ToVector<std::int32_t>();
  };
  Shortlist shortlist{read("always"), read("begins"), read("words")};
  const std::vector<std::int32_t>& begins = shortlist.begins;
  Check(static_cast<std::int64_t>(begins.size()) == source_vocabulary + 1,
        "{}: lists the translations of {} words, and the model's vocabulary has {}", path,
        static_cast<std::int64_t>(begins.size()) - 1, source_vocabulary);
  Check(begins.front() == 0 && std::ranges::is_sorted(begins) &&
            begins.back() == static_cast<std::int64_t>(shortlist.words.size()),
        "{}: \"begins\" does not divide its {} words", path, shortlist.words.size());
  Check(std::ranges::adjacent_find(shortlist.always, std::ranges::greater_equal{}) == shortlist.always.end(),
        "{}: \"always\" is not in ascending order", path);
  for (const std::vector<std::int32_t>* words : {&shortlist.always, &shortlist.words})
    for (const std::int32_t word : *words)
      Check(word >= 0 && word < target_vocabulary, "{}: word {} is outside the model's vocabulary of {}", path, word,
            target_vocabulary);
  return shortlist;
}

void SaveShortlist(const Shortlist& shortlist, const std::string& path, std::uint64_t tokenizer_hash) {
  const auto list = [](const std::vector<std::int32_t>& values) {
    return Tensor::From<std::int32_t>(values, {static_cast<std::int64_t>(values.size())});
  };
  const Tensor always = list(shortlist.always), begins = list(shortlist.begins), words = list(shortlist.words);
  WriteSafetensors(path, {Stored("always", always), Stored("begins", begins), Stored("words", words)},
                   {{kTokenizer, std::to_string(tokenizer_hash)}});
}

}  // namespace headlight
