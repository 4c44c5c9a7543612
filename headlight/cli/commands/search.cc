// headlight search: finds the nearest texts or images in an index of `headlight embed --index`, or the nearest vectors
// in a Faiss index.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/commands/embedders.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/html.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/lines.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/resize.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/search/faiss_index.h"
#include "headlight/search/index_files.h"
#include "headlight/search/vector_index.h"
#include "headlight/text/html.h"
#include "headlight/text/printable.h"

namespace headlight::search {
namespace {

struct Options {
  std::string index, query, model, names, out;
  std::int64_t top = 10, probes = 0, ef_search = 0;
  std::optional<Compute> compute;
  bool json = false;
};

struct Result {
  std::string name;
  const char* key;  // JSON key of `name`: "image", "text", or "id" if the vector has no name
  float score;
};

// The longer side of thumbnails, in pixels.
constexpr std::int64_t kSide = 256;

Image Small(const Image& image) {
  const double scale = static_cast<double>(kSide) / static_cast<double>(std::max(image.height, image.width));
  if (scale >= 1) return image;
  const auto side = [&](std::int64_t length) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(length) * scale));
  };
  return Resize(image, side(image.height), side(image.width), ResizeFilter::bilinear);
}

// Returns an <img> with the thumbnail, or "" if the image cannot be read.
std::string ImageHtml(const std::string& path) {
  try {
    const std::string paths[] = {path};
    return fmt::format("<img src=\"{}\" alt=\"\">", ImageSourceHtml(Small(ReadImage(ListImages(paths).front()))));
  } catch (const Error& error) {
    Note("{}", error.what());
    return "";
  }
}

// Returns the common folder of all images, or "" if there is none. Image names on a page are relative to this folder.
std::string CommonFolder(const std::vector<Result>& results) {
  std::optional<std::string> common;
  for (const Result& result : results) {
    if (std::string_view(result.key) != "image") continue;
    const std::string folder = result.name.substr(0, result.name.rfind('/') + 1);
    if (!common) common = folder;
    while (!folder.starts_with(*common)) {
      common->pop_back();
      common->resize(common->rfind('/') + 1);
    }
  }
  return common.value_or("");
}

std::string Page(const std::string& query, const std::vector<Result>& results) {
  const std::size_t common = CommonFolder(results).size();
  std::string figures;
  for (const auto& [name, key, score] : results) {
    const bool image = std::string_view(key) == "image";
    figures +=
        fmt::format("<figure title=\"{}\">{}<figcaption><b>{:.3f}</b> {}</figcaption></figure>\n", EscapeHtml(name),
                    image ? ImageHtml(name) : "", score, EscapeHtml(image ? name.substr(common) : name));
  }
  const std::string shown = IsImageQuery(query) ? "<div class=\"query\">" + ImageHtml(query) + "</div>\n" : "";
  return GalleryPage(query, shown, figures);
}

const char* KeyOf(bool image) { return image ? "image" : "text"; }

// Throws Error if the page cannot be written. Called before the index and the model are loaded.
void CheckPage(const Options& options, const std::string& model) {
  std::vector<std::string> inputs = {options.index, model, options.names};
  if (IsImageQuery(options.query)) inputs.push_back(options.query);
  CheckOutputs({{"--out", options.out}}, inputs);
  if (options.out.empty()) return;
  Check(options.out.ends_with(".html"), "--out {}: a page's name must end in .html", options.out);
  CheckWritable(options.out);
}

std::vector<Result> SearchFolder(const Options& options) {
  Check(options.names.empty() && options.probes == 0 && options.ef_search == 0,
        "--names, --probes and --ef-search are for an index of FAISS, and {} was made by `headlight embed`",
        options.index);
  const VectorIndex index = VectorIndex::Open(options.index);
  const std::string& folder = options.model.empty() ? index.model().folder : options.model;
  CheckPage(options, folder);
  Check(FingerprintOf(folder) == index.model().fingerprint,
        "{}: the vectors of {} were made by another model or with other weights", folder, options.index);
  const std::vector<float> query = QueryVector(LoadEmbedder(folder, options.compute), options.query);
  Progress progress("searching");
  std::vector<Result> results;
  for (const auto& [row, cosine] :
       index.Search(query, options.top, [&](std::int64_t done, std::int64_t all) { progress.Show(done, all); })) {
    const IndexItem item = index.Item(row);
    results.push_back({item.name, KeyOf(item.image), cosine});
  }
  return results;
}

// Returns the line of each hit. A hit's id is its line number, counted from 0.
std::map<std::int64_t, std::string> LinesOf(const std::string& path, const std::vector<FaissIndex::Hit>& hits) {
  std::map<std::int64_t, std::string> lines;
  for (const FaissIndex::Hit& hit : hits) lines.emplace(hit.id, "");
  LineReader reader(path);
  std::int64_t count = 0;
  for (; const auto line = reader.Next(); ++count)
    if (const auto wanted = lines.find(count); wanted != lines.end()) wanted->second = std::string(*line);
  for (const auto& [id, line] : lines)
    Check(id >= 0 && id < count, "--names {}: vector {} has no line among {}", path, id, count);
  return lines;
}

std::vector<Result> SearchFaiss(const Options& options) {
  Check(!options.model.empty(), "{}: an index of FAISS does not name the model that made it; --model DIR is required",
        options.index);
  CheckPage(options, options.model);
  const FaissIndex index = FaissIndex::Open(options.index);
  Check(options.probes <= index.lists(), "--probes {}: {} has {} list{}", options.probes, options.index, index.lists(),
        index.lists() == 1 ? "" : "s");
  Check(options.ef_search == 0 || index.has_graph(), "--ef-search is for an IndexHNSWFlat, and {} is none",
        options.index);
  const FolderEmbedder embedder = LoadEmbedder(options.model, options.compute);
  Check(embedder.dimension == index.dimension(), "{}: its vectors have {} numbers, and those of {} {}", options.model,
        embedder.dimension, options.index, index.dimension());
  const std::vector<float> query = UnitVector(QueryVector(embedder, options.query), "the query");
  Progress progress("searching");
  const std::vector<FaissIndex::Hit> hits = index.Search(
      query, options.top,
      {.probes = options.probes, .ef_search = options.ef_search, .progress = [&](std::int64_t done, std::int64_t all) {
         progress.Show(done, all);
       }});
  std::vector<Result> results;
  if (options.names.empty()) {
    for (const auto& [id, product] : hits) results.push_back({std::to_string(id), "id", product});
    return results;
  }
  const std::map<std::int64_t, std::string> names = LinesOf(options.names, hits);
  for (const auto& [id, product] : hits) {
    const std::string& name = names.at(id);
    results.push_back({name, KeyOf(IsImageQuery(name)), product});
  }
  return results;
}

void Run(const Options& options) {
  Check(std::filesystem::exists(options.index), "{}: no such folder or file", options.index);
  const std::vector<Result> results =
      std::filesystem::is_directory(options.index) ? SearchFolder(options) : SearchFaiss(options);
  for (const auto& [name, key, score] : results) {
    const Json named = std::string_view(key) == "id" ? Json(std::stoll(name)) : Json(name);
    WriteResult(options.json ? Json(Json::Object{{key, named}, {"score", score}}).Line() + "\n"
                             : fmt::format("{:.4f}\t{}\n", score, InRow(name)));
  }
  if (!options.out.empty()) WriteFile(options.out, Page(options.query, results));
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "search", "Search images or texts by a text or an image", Run);
  command
      .Add("INDEX", options.index,
           "Folder of `headlight embed --index`, or an index file of FAISS: IndexFlatIP, "
           "IndexFlatL2, IndexIVFFlat or IndexHNSWFlat")
      .Required()
      .Check(NotEmpty());
  command
      .Add("QUERY", options.query,
           "Text, or path of an image (JPEG, PNG, WebP, BMP, GIF or TIFF); with a CLIP or SigLIP, a query without "
           "spaces that ends in .jpg, .png or another ending of images is read as an image file")
      .Required()
      .Check(NotEmpty());
  command
      .Add("--model", options.model, "Folder of the model that made the index [as the index says; required for FAISS]")
      .Model()
      .Type("DIR");
  command.AddFile("--names", options.names,
                  "For FAISS: file with the names of the vectors, one per line [their numbers from 0]");
  command.Add("--probes", options.probes, AtLeast(1), "For an IndexIVFFlat: search only the N nearest lists [all]");
  command.Add("--ef-search", options.ef_search, AtLeast(1),
              "For an IndexHNSWFlat: candidates that the search keeps (efSearch); more are more exact [as the "
              "index says]");
  command.Add("--top-k", options.top, AtLeast(1), "Results to print").ShowDefault();
  command.AddFile("--out", options.out, "Write a page of the results with images", "FILE.html");
  command.Add("--json", options.json,
              "Print one JSON object per result: image, text or id, and score, the first column of the output");
  AddComputeOption(command, options.compute, ModelFiles::folders_and_gguf);
  command.footer =
      "\nEach line of the output is SCORE<tab>NAME, with the nearest first. The score of a folder's index is the "
      "cosine, and all its vectors are compared. The score of an index of FAISS is the inner product with the "
      "query's vector, which is scaled to length 1. For an index by L2 it is the squared distance, and the nearest "
      "has the smallest.\n\n"
      "Examples:\n"
      "  headlight embed clip-vit-base-patch32 photos/ --index photos.index\n"
      "  headlight search photos.index 'a dog on the beach'\n"
      "  headlight search photos.index query.jpg --top-k 20 --out results.html\n"
      "  headlight embed clip-vit-base-patch32 photos/ --index photos.index --faiss photos.faiss > names.txt\n"
      "  headlight search photos.faiss 'a dog on the beach' --model clip-vit-base-patch32 --names names.txt";
}

}  // namespace headlight::search
