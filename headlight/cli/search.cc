// headlight search: what is nearest to a text or a picture, in an index that `headlight embed --index` has built.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/embedders.h"
#include "headlight/cli/html.h"
#include "headlight/cli/output.h"
#include "headlight/cli/progress.h"
#include "headlight/cli/translation_options.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/resize.h"
#include "headlight/tasks/vector_index.h"
#include "headlight/text/html.h"

namespace headlight {
namespace {

struct Options {
  std::string index, query, model, out;
  std::int64_t top = 10;
  std::optional<Compute> compute;
  bool json = false;
};

struct Result {
  IndexItem item;
  float cosine;
};

// A picture of a page, at most so many pixels wide and high.
constexpr std::int64_t kSide = 256;

Picture Small(const Picture& picture) {
  const double scale = static_cast<double>(kSide) / static_cast<double>(std::max(picture.height, picture.width));
  if (scale >= 1) return picture;
  const auto side = [&](std::int64_t length) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(length) * scale));
  };
  return Resize(picture, side(picture.height), side(picture.width), ResizeFilter::bilinear);
}

// The picture's <img>, or nothing where it cannot be read any more.
std::string PictureHtml(const std::string& path) {
  try {
    const std::string paths[] = {path};
    return fmt::format("<img src=\"{}\" alt=\"\">", PictureSourceHtml(Small(ReadPicture(ListPictures(paths).front()))));
  } catch (const Error& error) {
    Note("{}", error.what());
    return "";
  }
}

std::string Page(const std::string& query, const std::vector<Result>& results) {
  std::string page =
      HtmlHead("Search",
               "body{font:14px sans-serif}h1{font-size:18px}main{display:flex;flex-wrap:wrap;gap:16px}"
               "figure{margin:0;max-width:256px}img{display:block;max-width:256px}figcaption{overflow-wrap:anywhere}");
  page += fmt::format("<h1>{}</h1>\n", EscapeHtml(query));
  if (IsPictureQuery(query)) page += "<p>" + PictureHtml(query) + "</p>\n";
  page += "<main>\n";
  for (const auto& [item, cosine] : results)
    page += fmt::format("<figure>{}<figcaption>{:.4f} {}</figcaption></figure>\n",
                        item.picture ? PictureHtml(item.name) : "", cosine, EscapeHtml(item.name));
  return page + "</main></html>\n";
}

void Run(const Options& options) {
  const VectorIndex index = VectorIndex::Open(options.index);
  const std::string& folder = options.model.empty() ? index.model().folder : options.model;
  std::vector<std::string> inputs = {options.index, folder};
  if (IsPictureQuery(options.query)) inputs.push_back(options.query);
  CheckOutputs({{"--out", options.out}}, inputs);
  if (!options.out.empty()) {
    Check(options.out.ends_with(".html"), "--out {}: a page's name must end in .html", options.out);
    CheckWritable(options.out);
  }
  Check(FingerprintOf(folder) == index.model().fingerprint,
        "{}: is not the model that made the vectors of {}, or has other weights now", folder, options.index);
  const std::vector<float> query = LoadEmbedder(folder, options.compute).Query(options.query);
  std::vector<Result> results;
  {
    Progress progress("searching");
    for (const auto& [row, cosine] :
         index.Search(query, options.top, [&](std::int64_t done, std::int64_t all) { progress.Show(done, all); }))
      results.push_back({index.Item(row), cosine});
  }
  for (const auto& [item, cosine] : results)
    WriteResult(options.json
                    ? Json(Json::Object{{item.picture ? "picture" : "text", item.name}, {"score", cosine}}).Line() +
                          "\n"
                    : fmt::format("{:.4f}\t{}\n", cosine, InRow(item.name)));
  if (!options.out.empty()) WriteFile(options.out, Page(options.query, results));
}

}  // namespace

void AddSearch(CLI::App& program) {
  const auto [command, options] = NewCommand(program, "search", "Search pictures or texts by a text or a picture", Run);
  command.add_option("INDEX", options.index, "Folder that headlight embed --index has written")
      ->required()
      ->check(Folder());
  command.add_option("QUERY", options.query, "A text, or the path of a picture (JPEG, PNG or WebP)")
      ->required()
      ->check(NotEmpty());
  command.add_option("--model", options.model, "Folder of the model that made the index [where it was then]")
      ->check(Folder())
      ->type_name("DIR");
  AddNumber(command, "--top", options.top, AtLeast(1), "Results to print")->capture_default_str();
  AddFile(command, "--out", options.out, "Write a page of the results with the pictures", "FILE.html");
  command.add_flag("--json", options.json, "Print one JSON object per result: picture or text, and score, the cosine");
  AddComputeOption(command, options.compute);
  command.footer(
      "\nPrints COSINE<tab>NAME, the nearest first; all vectors are compared.\n\n"
      "Examples:\n"
      "  headlight embed clip-vit-base-patch32 photos/ --index photos.index\n"
      "  headlight search photos.index 'a dog on the beach'\n"
      "  headlight search photos.index query.jpg --top 20 --out results.html");
}

}  // namespace headlight
