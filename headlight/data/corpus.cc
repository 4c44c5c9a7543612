#include "headlight/data/corpus.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/parallel.h"
#include "headlight/data/text_pairs.h"

namespace headlight {
namespace {

// The layout of the cache:
// - kMagic;
// - a record for each pair: int32 ids of source, then target. With keep_text, both lines follow, each ended by "\n".
//   Zeros follow up to a multiple of 4 bytes;
// - zeros up to a multiple of 8;
// - an Entry for each pair;
// - the Footer.
// Increment the last character of kMagic if the layout changes.
constexpr std::string_view kMagic = "hdlpair1";

constexpr std::size_t kChunkPairs = 4096,
                      kChunkBytes = std::size_t{4} << 20;  // approximate limits of a chunk, which is encoded at once
constexpr std::int64_t kPairsATask = 64;

template <typename T>
std::string_view BytesOf(const T* values, std::size_t count = 1) {
  return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

// Reads the texts of one side one by one, and computes their hash.
class HashedLines {
 public:
  HashedLines(const CorpusFiles& files, Side side)
      : reader_(files.source, files.target, side == Side::target, files.columns) {}

  std::optional<std::string_view> Next() {
    const auto line = reader_.Next();
    if (line) {
      hash_.Update(*line);
      hash_.Update("\n");
    }
    return line;
  }
  std::int64_t lines() const { return reader_.number(); }
  std::uint64_t hash() const { return hash_.value(); }

 private:
  SideReader reader_;
  Hash64 hash_;
};

std::uint64_t TextHash(const HashedLines& source, const HashedLines& target) {
  const std::uint64_t both[] = {source.hash(), target.hash()};
  return HashOf(BytesOf(both, std::size(both)));
}

void CheckIsFile(const std::string& path) {
  std::error_code error;
  const bool other = std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
  Check(!other, "{}: not a regular file; a corpus is read twice, which a pipe cannot be", path);
}

// Returns the counter for a pair: `kept`, or the counter of the reason why the pair is left out.
std::int64_t CorpusCounts::*Verdict(std::size_t source_tokens, std::size_t target_tokens,
                                    const CorpusOptions& options) {
  const auto [shorter, longer] = std::minmax({source_tokens + 1, target_tokens + 1});
  if (shorter == 1) return &CorpusCounts::empty;
  if (longer > static_cast<std::size_t>(options.max_tokens)) return &CorpusCounts::over_long;
  if (static_cast<double>(longer) > options.max_ratio * static_cast<double>(shorter)) return &CorpusCounts::lopsided;
  return &CorpusCounts::kept;
}

// A chunk of the corpus that fits into memory.
struct Chunk {
  std::vector<std::string> source, target;  // reused by the next chunk
  std::vector<std::vector<std::int32_t>> source_ids, target_ids;
  std::size_t size = 0;

  Chunk() : source(kChunkPairs), target(kChunkPairs), source_ids(kChunkPairs), target_ids(kChunkPairs) {}

  void Read(HashedLines& source_lines, HashedLines& target_lines) {
    std::size_t bytes = 0;
    for (size = 0; size < kChunkPairs && bytes < kChunkBytes; ++size) {
      const auto source_line = source_lines.Next(), target_line = target_lines.Next();
      if (!source_line || !target_line) break;
      source[size] = *source_line;
      target[size] = *target_line;
      bytes += source_line->size() + target_line->size();
    }
  }

  void Encode(const EncodeText& encode) {
    const auto pairs = static_cast<std::int64_t>(size);
    ParallelFor((pairs + kPairsATask - 1) / kPairsATask, [&](std::int64_t task) {
      for (std::int64_t i = task * kPairsATask; i < std::min(pairs, (task + 1) * kPairsATask); ++i) {
        const auto pair = static_cast<std::size_t>(i);
        source_ids[pair] = encode(source[pair], Side::source);
        target_ids[pair] = encode(target[pair], Side::target);
      }
    });
  }
};

}  // namespace

struct Corpus::Footer {
  CorpusCounts counts;
  std::uint64_t corpus_hash;   // hash of the data from which the cache was made
  std::uint64_t content_hash;  // hash of all preceding bytes
};

// Appends bytes to the cache and to its hash.
class Corpus::Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {}

  void Write(std::string_view bytes) {
    hash_.Update(bytes);
    file_.Write(bytes);
    size_ += bytes.size();
  }
  void Pad(std::size_t multiple) { Write(std::string((multiple - size_ % multiple) % multiple, '\0')); }
  std::uint64_t size() const { return size_; }
  void Commit() {
    const std::uint64_t hash = hash_.value();
    file_.Write(BytesOf(&hash));
    file_.Commit();
  }

 private:
  AtomicFile file_;
  Hash64 hash_;
  std::uint64_t size_ = 0;
};

Corpus::Corpus(CorpusFiles files, const EncodeText& encode, std::uint64_t tokenizer_hash, const CorpusOptions& options)
    : files_(std::move(files)), options_(options) {
  Check(options.max_tokens >= 2, "the maximum length must be at least 2 tokens, a word and the end, not {}",
        options.max_tokens);
  Check(std::isfinite(options.max_ratio) && options.max_ratio >= 1,
        "the maximum ratio of lengths must be at least 1, not {}", options.max_ratio);
  CheckIsFile(files_.source);
  if (!files_.target.empty()) CheckIsFile(files_.target);
  const std::string both =
      files_.target.empty() ? files_.source : fmt::format("{} and {}", files_.source, files_.target);

  HashedLines source(files_, Side::source), target(files_, Side::target);
  while (source.Next()) continue;
  while (target.Next()) continue;
  Check(source.lines() == target.lines(), "{} has {} lines, but {} has {}: each line needs a translation",
        files_.source, source.lines(), files_.target, target.lines());
  Check(source.lines() > 0, "{} {} empty: there is nothing to train on", both, files_.target.empty() ? "is" : "are");

  const std::uint64_t text_hash = TextHash(source, target);
  const std::uint64_t made_from[] = {text_hash, tokenizer_hash, static_cast<std::uint64_t>(options.max_tokens),
                                     HashOf(BytesOf(&options_.max_ratio)), options.keep_text};
  hash_ = HashOf(BytesOf(made_from, std::size(made_from)));
  if (options.share.share > 0) {
    const std::uint64_t part[] = {hash_, HashOf(BytesOf(&options_.share.share)), options.share.seed,
                                  options.share.held_out};
    hash_ = HashOf(BytesOf(part, std::size(part)));
  }
  if (!OpenCache()) {
    WriteCache(encode, text_hash);
    Ensure(OpenCache(), "{}: not what was just written", files_.cache);
  }
}

// Opens the cache. Returns false if there is no cache of this corpus.
bool Corpus::OpenCache() {
  std::error_code error;
  if (!std::filesystem::exists(files_.cache, error)) return false;
  MappedFile cache(files_.cache);
  const std::string_view text = cache.text();
  Check(text.starts_with(kMagic), "{}: is a file of another kind, so the corpus cannot store its token ids there",
        files_.cache);

  Footer footer;
  if (text.size() < kMagic.size() + sizeof(footer)) return false;
  const std::size_t entries_end = text.size() - sizeof(footer);
  std::memcpy(&footer, text.data() + entries_end, sizeof(footer));
  const auto kept = static_cast<std::uint64_t>(footer.counts.kept);
  if (footer.corpus_hash != hash_ || text.size() % alignof(Entry) != 0 || kept > entries_end / sizeof(Entry) ||
      footer.content_hash != HashOf(text.substr(0, text.size() - sizeof(footer.content_hash))))
    return false;

  cache_ = std::move(cache);
  counts_ = footer.counts;
  entries_ = {reinterpret_cast<const Entry*>(text.data() + entries_end - kept * sizeof(Entry)), kept};
  return true;
}

void Corpus::WriteCache(const EncodeText& encode, std::uint64_t text_hash) {
  Writer writer(files_.cache);
  writer.Write(kMagic);
  CorpusCounts counts;
  std::vector<Entry> entries;
  HashedLines source(files_, Side::source), target(files_, Side::target);
  const std::string both =
      files_.target.empty() ? files_.source : fmt::format("{} and {}", files_.source, files_.target);
  std::string records;
  Chunk chunk;
  for (chunk.Read(source, target); chunk.size > 0; chunk.Read(source, target)) {
    chunk.Encode(encode);
    records.clear();
    for (std::size_t pair = 0; pair < chunk.size; ++pair) {
      const std::span<const std::int32_t> source_ids = chunk.source_ids[pair], target_ids = chunk.target_ids[pair];
      if (!options_.share.Has(chunk.source[pair])) continue;
      const auto verdict = Verdict(source_ids.size(), target_ids.size(), options_);
      ++counts.lines;
      ++(counts.*verdict);
      if (verdict != &CorpusCounts::kept) continue;

      counts.source_tokens += static_cast<std::int64_t>(source_ids.size());
      counts.target_tokens += static_cast<std::int64_t>(target_ids.size());
      entries.push_back({writer.size() + records.size(), static_cast<std::uint32_t>(source_ids.size()),
                         static_cast<std::uint32_t>(target_ids.size())});
      records.append(BytesOf(source_ids.data(), source_ids.size()));
      records.append(BytesOf(target_ids.data(), target_ids.size()));
      if (!options_.keep_text) continue;
      records.append(chunk.source[pair]).append("\n").append(chunk.target[pair]).append("\n");
      records.append((4 - records.size() % 4) % 4, '\0');
    }
    writer.Write(records);
  }
  Check(text_hash == TextHash(source, target), "{}: changed while it was read", both);
  Check(counts.lines > 0 || options_.share.share == 0, "{}: with a share of {} held out, no pair is left", both,
        options_.share.share);
  Check(counts.kept > 0, "{}: no pair is left of {}: {} empty, {} over-long, {} lopsided", both, counts.lines,
        counts.empty, counts.over_long, counts.lopsided);
  writer.Pad(alignof(Entry));
  writer.Write(BytesOf(entries.data(), entries.size()));
  writer.Write(BytesOf(&counts));
  writer.Write(BytesOf(&hash_));
  writer.Commit();
}

Corpus::Ids Corpus::IdsOf(std::int64_t pair) const {
  const Entry& entry = entries_[static_cast<std::size_t>(pair)];
  const auto* ids = reinterpret_cast<const std::int32_t*>(cache_.bytes().data() + entry.begin);
  return {{ids, entry.source_length}, {ids + entry.source_length, entry.target_length}};
}

Corpus::Text Corpus::TextOf(std::int64_t pair) const {
  Ensure(options_.keep_text, "a corpus without keep_text has no text");
  const Entry& entry = entries_[static_cast<std::size_t>(pair)];
  const std::size_t ids = entry.source_length + std::size_t{entry.target_length};
  const std::string_view text = cache_.text().substr(entry.begin + ids * sizeof(std::int32_t));
  const std::size_t middle = text.find('\n');
  return {text.substr(0, middle), text.substr(middle + 1, text.find('\n', middle + 1) - middle - 1)};
}

}  // namespace headlight
