// A parallel corpus for training: the token ids of sentence pairs, in a file that is mapped and not held in memory, so
// that it may be larger than that.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/file.h"
#include "headlight/data/text_pairs.h"
#include "headlight/data/text_share.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

// A sentence to its token ids, as MarianTokenizer::Encode: without begin or end of sentence. Called from several
// threads at once; what it throws ends the work and reaches the caller, who may so cancel it.
using EncodeText = std::function<std::vector<std::int32_t>(std::string_view text, Side side)>;

struct CorpusFiles {
  // Plain or gzip, UTF-8: line i of one translates line i of the other. Or `target` is empty, and `source` holds pairs
  // (PairReader).
  std::string source, target;
  std::string cache;         // where the ids are kept; written, unless it already holds those of the same corpus
  PairColumns columns = {};  // of pairs
};

struct CorpusOptions {
  std::int32_t max_tokens = 256;  // tokens of a side, its end of sentence included; longer pairs are left out
  double max_ratio = 9;    // of the longer side to the shorter, in tokens with their ends; so are pairs beyond it
  bool keep_text = false;  // keep the text beside the ids, to encode it anew each epoch
  TextShare share = {};    // of the pairs, by their sources; the others are not counted
};

// How many pairs there were, how many are left, and why the others are not.
struct CorpusCounts {
  std::int64_t lines = 0, kept = 0;
  std::int64_t empty = 0, over_long = 0, lopsided = 0;
  std::int64_t source_tokens = 0, target_tokens = 0;  // of the kept pairs, without ends of sentences
  bool operator==(const CorpusCounts&) const = default;
};

class HEADLIGHT_API Corpus {
 public:
  struct Ids {
    std::span<const std::int32_t> source, target;
  };
  struct Text {
    std::string_view source, target;
  };

  // Reads both files whole (to compare their line counts and to hash them), then encodes them on all threads unless the
  // cache holds just that: the same text, `tokenizer_hash` and options. Memory: 16 bytes a pair while encoding, none
  // after. Throws Error as LineReader does, for files of different line counts, for a corpus of which nothing is left,
  // for impossible options, and where `files.cache` is a file of another kind.
  Corpus(CorpusFiles files, const EncodeText& encode, std::uint64_t tokenizer_hash, const CorpusOptions& options);

  std::int64_t size() const { return counts_.kept; }  // pairs
  const CorpusCounts& counts() const { return counts_; }
  const CorpusOptions& options() const { return options_; }
  std::uint64_t hash() const { return hash_; }  // of the text, the tokenizer's hash and the options

  // Pair i in the files' order, i from 0 to size() - 1. TextOf needs options().keep_text.
  Ids IdsOf(std::int64_t pair) const;
  Text TextOf(std::int64_t pair) const;

 private:
  struct Entry {
    std::uint64_t begin;  // of the pair's record in the cache, bytes
    std::uint32_t source_length, target_length;
  };
  struct Footer;
  class Writer;

  bool OpenCache();
  void WriteCache(const EncodeText& encode, std::uint64_t text_hash);

  CorpusFiles files_;
  CorpusOptions options_;
  CorpusCounts counts_;
  std::uint64_t hash_ = 0;
  MappedFile cache_;
  std::span<const Entry> entries_;
};

}  // namespace headlight
