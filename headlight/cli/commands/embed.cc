// headlight embed: computes embeddings of texts or images, and searches them.
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/choice.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/ranks.h"
#include "headlight/cli/commands/embedders.h"
#include "headlight/cli/commands/shard.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/program/mpi_ranks.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/output_index.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/pipelines/embedder.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/search/index_files.h"
#include "headlight/search/vector_index.h"
#include "headlight/text/printable.h"

namespace headlight::embed {
namespace {

struct Options : LineOptions {
  std::string folder, out, search, index, faiss, prompt_name;
  std::vector<std::string> inputs;
  std::int64_t top = 10;
  std::optional<Compute> compute;
  EmbedPooling pooling = EmbedPooling::folder;
  const Option* most_pixels = nullptr;
};

// Returns the matrix in NumPy's .npy format, version 1.0: magic bytes, header length, header with type and shape, data.
std::string Npy(const std::vector<float>& numbers, std::size_t rows, std::int64_t columns) {
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  constexpr std::size_t before = 10, alignment = 64;
  header.resize((before + header.size() + 1 + alignment - 1) / alignment * alignment - before - 1, ' ');
  header += '\n';
  std::string file = "\x93NUMPY";
  file += {1, 0, static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
  return file;
}

// A search result: the text of a line, or the name of an image.
struct Found {
  double score;
  std::int64_t position;  // index of the line or image, from 0
  std::string text;
};

// Keeps only the `top` best results. If two scores are equal, the earlier result is better.
void KeepBest(std::vector<Found>& found, std::int64_t top) {
  const auto best = found.begin() + std::min<std::ptrdiff_t>(top, std::ssize(found));
  std::partial_sort(found.begin(), best, found.end(), [](const Found& a, const Found& b) {
    return a.score != b.score ? a.score > b.score : a.position < b.position;
  });
  found.erase(best, found.end());
}

std::string Numbers(const float* vector, std::int64_t columns) {
  return fmt::format("[{}]", fmt::join(vector, vector + columns, ","));
}

// Collects the vectors of all ranks on the first rank. `all` contains the vectors of this rank.
void GatherVectors(std::vector<float>& all) {
  if (JoinedRanks() == nullptr) return;
  SendParts(
      *JoinedRanks(), 1,
      [&](std::size_t) { return std::string(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(float)); },
      [&](const std::string& part) {
        const std::vector<float> more = NumbersOf<float>(part);
        all.insert(all.end(), more.begin(), more.end());
      });
}

// Passes the vectors to an index or a search, or writes them to a file or to standard output.
class Vectors {
 public:
  Vectors(const Options& options, const FolderEmbedder& embedder)
      : options_(options), columns_(embedder.dimension), similarity_(embedder.similarity) {
    if (!options.search.empty()) query_ = QueryVector(embedder, options.search, options.pooling);
    if (!options.index.empty()) index_.emplace(options.folder, options.index, options.faiss, columns_);
  }

  bool has_query() const { return !query_.empty(); }
  OutputIndex* index() { return index_ ? &*index_ : nullptr; }

  // Stores the vector, or returns false if the caller must print it. `position` is the index among all lines or images,
  // from 0, in ascending order. `item` returns the item for an index.
  template <typename Item>
  bool Take(std::int64_t position, const std::string& text, const float* vector, const Item& item) {
    const std::span<const float> numbers(vector, static_cast<std::size_t>(columns_));
    if (index_) {
      index_->Add(item(), numbers);
    } else if (!query_.empty()) {
      found_.push_back({Compare(similarity_, query_, numbers), position, text});
    } else if (!options_.out.empty()) {
      if (!first_) first_ = position;
      PadTo(position);
      rows_.insert(rows_.end(), numbers.begin(), numbers.end());
    } else {
      return false;
    }
    return true;
  }
  void EndBatch() { KeepBest(found_, options_.top); }

  // Completes the output for the indices [begin, end), and prints the search results.
  void Finish(std::int64_t begin, std::int64_t end, const std::function<std::string(const Found&)>& row) {
    for (const Found& one : found_) WriteResult(row(one));
    if (index_) return index_->Finish();
    if (options_.out.empty()) return;
    if (!first_) first_ = end;
    PadTo(end);
    rows_.insert(rows_.begin(), static_cast<std::size_t>((*first_ - begin) * columns_), kNone);
    GatherVectors(rows_);
    if (IsFirstRank()) WriteFile(options_.out, Npy(rows_, rows_.size() / static_cast<std::size_t>(columns_), columns_));
  }

 private:
  static constexpr float kNone = std::numeric_limits<float>::quiet_NaN();  // value for inputs with errors

  void PadTo(std::int64_t position) { rows_.resize(static_cast<std::size_t>((position - *first_) * columns_), kNone); }

  const Options& options_;
  std::int64_t columns_;
  Similarity similarity_;
  std::vector<float> query_;
  std::optional<OutputIndex> index_;
  std::vector<float> rows_;            // consecutive rows of --out
  std::optional<std::int64_t> first_;  // index of the first row
  std::vector<Found> found_;
};

void EmbedTexts(Options options) {
  const FolderEmbedder embedder = LoadEmbedder(options.folder, options.compute);
  options.source.proteins = embedder.proteins;
  const bool each = options.pooling == EmbedPooling::none;
  Check(options.pooling == EmbedPooling::folder || embedder.proteins,
        "{}: --pool is for models of proteins, such as ESM-2, whose tokens are residues", options.folder);
  const std::int64_t columns = embedder.dimension;
  Vectors to(options, embedder);
  if (to.index() != nullptr && embedder.similarity != Similarity::cosine)
    Note("{}: similarity_fn_name is {}; an index compares by the cosine", options.folder, Name(embedder.similarity));

  const auto rows = [&](const LineBatch& batch) {
    std::vector<std::string> printed(batch.lines.size());
    std::vector<std::string> lines;
    std::vector<std::size_t> places;  // indices of the lines in the batch
    for (std::size_t i = 0; i < batch.lines.size(); ++i) {
      if (to.index() != nullptr && to.index()->Has({batch.lines[i]})) continue;
      lines.push_back(batch.lines[i]);
      places.push_back(i);
    }
    const Embeddings embeddings = embedder.texts(
        lines, {.truncate = options.truncate,
                .pooling = options.pooling,
                .name_of = [&](std::size_t text) { return batch.name_of(places[text]); },
                .purpose = to.index() != nullptr || to.has_query() ? EmbedAs::document : EmbedAs::text,
                .prompt_name = options.prompt_name.empty() ? std::nullopt : std::optional(options.prompt_name)});
    for (const std::int64_t text : embeddings.truncated)
      NoteTruncated(batch.name_of(places[static_cast<std::size_t>(text)]), embedder.longest);
    std::int64_t row = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::int64_t vectors = each ? embeddings.residues[i] : 1;
      const float* const vector = embeddings.vectors.matrix<float>().row(std::exchange(row, row + vectors));
      const std::int64_t line = batch.first + static_cast<std::int64_t>(places[i]);
      if (to.Take(line - 1, lines[i], vector, [&] { return IndexItem{lines[i]}; })) continue;
      std::string numbers = Numbers(vector, columns);
      for (std::int64_t k = 1; k < vectors; ++k) numbers += "," + Numbers(vector + k * columns, columns);
      if (each) numbers = "[" + numbers + "]";
      printed[places[i]] = options.json
                               ? fmt::format("{{\"line\":{},\"{}\":{}}}\n", line, each ? "vectors" : "vector", numbers)
                               : numbers + "\n";
    }
    to.EndBatch();
    return printed;
  };
  const bool a_row_a_line = options.search.empty() && options.out.empty() && options.index.empty();
  const LineCount count = ForEachLineBatch(options, "lines embedded", BytesAhead(EmbedOptions().batch_tokens), rows,
                                           a_row_a_line ? "\n" : "");
  to.Finish(count.begin, count.end, [&](const Found& found) {
    if (options.json)
      return Json(Json::Object{{"line", found.position + 1}, {"text", found.text}, {"score", found.score}}).Line() +
             "\n";
    return fmt::format("{:.4f}\t{}\t{}\n", found.score, found.position + 1, OnOneLine(found.text));
  });
}

// Returns the index item of an image file.
IndexItem ItemOf(const ImageSource& source) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(source.path, ignored);
  const auto time = std::filesystem::last_write_time(source.path, ignored).time_since_epoch();
  return {std::filesystem::absolute(source.name()).lexically_normal().string(), true, static_cast<std::int64_t>(size),
          std::chrono::duration_cast<std::chrono::milliseconds>(time).count()};
}

// Removes the images that the first rank's index already contains. All ranks remove the same images.
void LeaveOutKnown(const OutputIndex& index, std::vector<ImageSource>& sources) {
  std::string known;
  for (const ImageSource& source : sources) known += index.Has(ItemOf(source)) ? '1' : '0';
  if (JoinedRanks() != nullptr) known = Broadcast(*JoinedRanks(), known);
  Check(known.size() == sources.size(), "this rank has {} images, and rank 0 {}", sources.size(), known.size());
  std::size_t next = 0;
  std::erase_if(sources, [&](const ImageSource&) { return known[next++] == '1'; });
}

// Merges several indexes, such as the indexes of shards, into one.
void MergeIndexes(const Options& options) {
  const FolderEmbedder embedder = LoadEmbedder(options.folder, options.compute);
  OutputIndex index(options.folder, options.index, options.faiss, embedder.dimension);
  for (const std::string& input : options.inputs) {
    Check(HasIndex(input), "{}: is no index; indexes cannot be merged together with texts or images", input);
    index.AddFrom(input);
  }
  index.Finish();
}

void EmbedImages(const Options& options) {
  // If an index is updated, folders may be missing, and their images are removed from the index. Otherwise, images are
  // listed before the model is loaded.
  const bool updates = !options.index.empty() && HasIndex(options.index);
  std::vector<ImageSource> sources;
  if (!updates) sources = ListInputImages(options.inputs);
  if (!options.out.empty()) CheckNoImage("--out", options.out, sources);
  if (!options.index.empty())
    Check(!options.inputs.empty() && std::ranges::find(options.inputs, "-") == options.inputs.end(),
          "--index: an image from standard input has no name for the index");
  const FolderEmbedder embedder = LoadEmbedder(options.folder, options.compute);
  Vectors to(options, embedder);
  if (updates) {
    const std::vector<std::string> left = to.index()->RemoveVanished(options.inputs);
    if (!left.empty()) sources = ListInputImages(left);
    LeaveOutKnown(*to.index(), sources);
  }
  const Shard shard = ShardOfRun(options.shard);
  const std::int64_t begin = shard.begin(std::ssize(sources)), end = shard.end(std::ssize(sources));

  const auto rows = [&](const FittedBatch& batch) {
    const Tensor vectors = embedder.fitted(batch.fitted, {.name_of = batch.name_of}).vectors;
    std::vector<std::string> printed(batch.sources.size());
    for (std::size_t i = 0; i < batch.sources.size(); ++i) {
      const float* const vector = vectors.matrix<float>().row(static_cast<std::int64_t>(i));
      const std::string name = batch.sources[i].name();
      if (to.Take(batch.first + static_cast<std::int64_t>(i), name, vector, [&] { return ItemOf(batch.sources[i]); }))
        continue;
      const std::string numbers = Numbers(vector, embedder.dimension);
      printed[i] = options.json ? fmt::format("{{\"image\":{},\"vector\":{}}}\n", Json(name).Line(), numbers)
                                : fmt::format("{}\t{}\n", InRow(name), numbers);
    }
    to.EndBatch();
    return printed;
  };
  ForEachImageBatch(options, sources, "images embedded", embedder.fit, rows);
  const auto line = [&](const Found& found) {
    if (options.json) return Json(Json::Object{{"image", found.text}, {"score", found.score}}).Line() + "\n";
    return fmt::format("{:.4f}\t{}\n", found.score, InRow(found.text));
  };
  to.Finish(begin, end, line);
  if (options.out.empty()) return;
  for (std::int64_t i = begin; i < end; ++i) WriteResult(InRow(sources[static_cast<std::size_t>(i)].name()) + "\n");
}

void Run(const Options& options) {
  if (!options.index.empty() && std::ranges::any_of(options.inputs, HasIndex)) {
    Check(ShardOfRun(options.shard).count == 1, "--shard divides texts or images, not indexes");
    RefuseTextOptions(options.source, "indexes are merged");
    return MergeIndexes(options);
  }
  const bool images = EmbedsImages(options.folder, options.inputs);
  Check(!images || options.prompt_name.empty(), "{}: --prompt-name is for texts, and this model reads images",
        options.folder);
  Check(!images || !options.truncate, "{}: --truncate is for texts, and this model reads images", options.folder);
  if (images) RefuseTextOptions(options.source, "images are embedded");
  Check(!images || options.pooling == EmbedPooling::folder, "{}: --pool is for sequences of proteins, not images",
        options.folder);
  Check(
      options.pooling != EmbedPooling::none || (options.out.empty() && options.search.empty() && options.index.empty()),
      "--pool none gives a vector for each residue; --out, --search and --index need one for each sequence");
  Check(images || !options.most_pixels->given(), "{}: --most-pixels is for images, and this model reads texts",
        options.folder);
  Options own = options;
  if (!images) own.input = OneInput(options.folder, options.inputs);
  std::vector<std::string> inputs = {own.folder};
  if (!images) inputs.push_back(own.input);
  if (images) inputs.insert(inputs.end(), own.inputs.begin(), own.inputs.end());
  if (images && IsImageQuery(own.search)) inputs.push_back(own.search);
  if (!own.faiss.empty()) inputs.push_back(own.index);
  CheckOutputs({{"--out", own.out}, {"--faiss", own.faiss}}, inputs);
  for (const std::string& path : {own.out, own.faiss})
    if (!path.empty() && IsFirstRank()) CheckWritable(path);
  return images ? EmbedImages(own) : EmbedTexts(own);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "embed", "Embed texts or images as vectors, or search them by cosine similarity", Run);
  AddFolder(command, options.folder,
            "Folder of a text encoder, such as a BERT or one of sentence-transformers, of images, such as "
            "a DINO, or of both, such as a CLIP; or GGUF file of a BERT");
  command.Add(
      "FILE", options.inputs,
      "Texts, one per line or as records (see --format), plain or gzip; for an ESM also FASTA; or "
      "images: JPEG, PNG, WebP, BMP, GIF, TIFF or IDX files (MNIST's format), folders of images, patterns such as "
      "'*.jpg'; with --index also indexes of shards; - is standard input [-]");
  Option& out =
      command.AddFile("--out", options.out,
                      "Write the vectors to this NumPy file, a row per line or image, instead of printing JSON "
                      "arrays; paths of images are printed in the order of the rows",
                      "FILE.npy");
  Option& search =
      command
          .Add("--search", options.search,
               "Print the inputs most similar to this text or image file: lines as "
               "SIMILARITY<tab>NUMBER<tab>LINE, images as SIMILARITY<tab>IMAGE; the similarity is the cosine, unless "
               "the model's files name another")
          .Check(NotEmpty())
          .Type("QUERY")
          .Excludes(out);
  Option& index = command
                      .Add("--index", options.index,
                           "Add the vectors to the index in this folder, for `headlight search`; unchanged items are "
                           "skipped, and images that are gone from the given folders are removed")
                      .Check(NotEmpty())
                      .Type("DIR")
                      .Excludes(out)
                      .Excludes(search);
  command
      .AddFile(
          "--faiss", options.faiss,
          "Write all vectors of --index to this file, too, as FAISS's IndexFlatIP, and print their names in its order")
      .Needs(index);
  command.Add("--top-k", options.top, AtLeast(1), "Number of lines or images that --search prints")
      .ShowDefault()
      .Needs(search);
  command
      .Add("--prompt-name", options.prompt_name,
           "Prompt of config_sentence_transformers.json to put before every text [the default prompt; "
           "with --search and --index query and document]")
      .Check(NotEmpty())
      .Type("NAME")
      .Excludes(search)
      .Excludes(index);
  AddTruncate(command, options);
  command
      .Add("--json", options.json,
           "Print one JSON object per line: line and vector, or with --search line, text and score (the similarity); "
           "for images image instead of line and text")
      .Excludes(out);
  AddChoice<EmbedPooling>(
      command, "--pool", options.pooling,
      {{"folder", EmbedPooling::folder}, {"residues", EmbedPooling::residues}, {"none", EmbedPooling::none}},
      "Pooling of a protein: as the folder says (its mean includes <cls> and <eos>), the mean of the "
      "residues only, or none, which prints a vector for each residue");
  options.most_pixels = &AddMostPixels(command);
  Describe(command, options.source);
  AddSkipErrors(command, options, ReadBy::either);
  AddShard(command, options.shard).Excludes(search);
  AddComputeOption(command, options.compute, ModelFiles::folders_and_gguf);
  command.footer =
      "\nA folder of sentence-transformers says in modules.json how a text's vector is pooled; the default is the "
      "mean of its tokens. An image's vector is its class token after the last norm, or the mean of all states "
      "if the model has no class token.\n\n"
      "A model of texts and images, such as CLIP, reads inputs with an image's name as images, and folders, "
      "too. A --search query without spaces that has an image's name must be an existing image.\n\n"
      "Examples:\n"
      "  headlight embed all-MiniLM-L6-v2 sentences.txt --out sentences.npy\n"
      "  headlight embed all-MiniLM-L6-v2 sentences.txt --search 'a dog on the beach' --top-k 3\n"
      "  headlight embed dino-vits16 photos/ --search query.jpg\n"
      "  headlight embed clip-vit-base-patch32 photos/ --search 'a dog on the beach'\n"
      "  headlight embed clip-vit-base-patch32 photos/ --index photos.index";
}

}  // namespace headlight::embed
