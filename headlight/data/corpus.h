// A parallel corpus for training: the token ids of sentence pairs in a memory-mapped file, which may exceed memory.
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

/// Encodes a sentence like MarianTokenizer::Encode, but without begin- or end-of-sentence tokens. Called from several
/// threads at once. An exception stops the encoding and is passed to the caller, for example to cancel.
using EncodeText = std::function<std::vector<std::int32_t>(std::string_view text, Side side)>;

struct CorpusFiles {
  /// Plain or gzip UTF-8 files, in which line i of `target` translates line i of `source`. If `target` is empty,
  /// `source` contains pairs (PairReader).
  std::string source, target;
  std::string cache;         ///< file of ids; written unless it already has the ids of the same corpus
  PairColumns columns = {};  ///< columns of files with pairs
};

struct CorpusOptions {
  std::int32_t max_tokens = 256;  ///< maximum tokens of a side, including its end token; longer pairs are left out
  double max_ratio = 9;    ///< maximum ratio of the longer side to the shorter one, in tokens, including end tokens
  bool keep_text = false;  ///< if true, keeps the text in addition to the ids, to encode it again in each epoch
  TextShare share = {};    ///< selects pairs by their sources; other pairs are not counted
};

/// Counts of lines, of kept pairs, and of pairs omitted for each reason.
struct CorpusCounts {
  std::int64_t lines = 0, kept = 0;
  std::int64_t empty = 0, over_long = 0, lopsided = 0;
  std::int64_t source_tokens = 0, target_tokens = 0;  ///< tokens of the kept pairs without end tokens
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

  /// Reads both files to compare their line counts and to compute their hashes. Then encodes the lines on all threads,
  /// unless the cache is for the same text, `tokenizer_hash` and options. Uses 16 bytes of memory per pair while
  /// encoding, and none afterwards. Throws the errors of LineReader. Also throws Error if the line counts differ, if no
  /// pair is kept, and for invalid options. Throws Error if the file `files.cache` exists but is not a corpus cache.
  Corpus(CorpusFiles files, const EncodeText& encode, std::uint64_t tokenizer_hash, const CorpusOptions& options);

  std::int64_t size() const { return counts_.kept; }  ///< number of kept pairs
  const CorpusCounts& counts() const { return counts_; }
  const CorpusOptions& options() const { return options_; }
  std::uint64_t hash() const { return hash_; }  ///< hash of the text, the tokenizer's hash and the options

  /// Return pair i in the order of the files, i from 0 to size() - 1. TextOf requires options().keep_text.
  Ids IdsOf(std::int64_t pair) const;
  Text TextOf(std::int64_t pair) const;

 private:
  struct Entry {
    std::uint64_t begin;  // byte offset of the pair's record in the cache
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
