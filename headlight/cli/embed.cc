// headlight embed: sentence embeddings, and search by cosine similarity.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/line_batches.h"
#include "headlight/cli/output.h"
#include "headlight/cli/translation_options.h"
#include "headlight/tasks/embedder.h"

namespace headlight {
namespace {

struct Options {
  std::string folder, input = "-", out, search;
  std::int64_t top = 10;
  std::optional<Compute> compute;
  bool truncate = false;
};

// NumPy's format, version 1.0: magic bytes, the length of a header with type and shape, the header, the numbers.
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

double Cosine(const float* a, const float* b, std::int64_t columns) {
  const double both = std::inner_product(a, a + columns, b, 0.0);
  const double norms =
      std::sqrt(std::inner_product(a, a + columns, a, 0.0) * std::inner_product(b, b + columns, b, 0.0));
  return norms > 0 ? both / norms : 0;
}

struct Found {
  double score;
  std::int64_t line;
  std::string text;
};

void Run(const Options& options) {
  if (!options.out.empty()) CheckWritable(options.out);
  const Embedder embedder = Embedder::Load(options.folder, {.compute = options.compute});
  const std::int64_t columns = embedder.dimension();
  std::vector<float> query;
  if (!options.search.empty()) query = embedder.Embed({&options.search, 1}).vectors.ToVector<float>();

  std::vector<float> all;
  std::vector<Found> found;
  std::int64_t done = 0;
  ForEachLineBatch(
      options.input, "lines embedded", BytesAhead(EmbedOptions().batch_tokens), [&](const LineBatch& batch) {
        const Embeddings embeddings = embedder.Embed(batch.lines, {.truncate = true, .name_of = batch.name_of});
        for (const std::int64_t text : embeddings.truncated) {
          const std::string place = batch.name_of(static_cast<std::size_t>(text));
          Check(options.truncate,
                "{}: it has more tokens than the {} that the model reads at once; --truncate leaves out its end", place,
                embedder.longest());
          Note("{}: the model reads {} tokens at once: its end is left out", place, embedder.longest());
        }
        for (const std::string& text : batch.lines) {
          const float* const vector = embeddings.vectors.matrix<float>().row(done - batch.first + 1);
          ++done;
          if (!query.empty()) {
            found.push_back({Cosine(query.data(), vector, columns), done, text});
          } else if (!options.out.empty()) {
            all.insert(all.end(), vector, vector + columns);
          } else {
            WriteResult(fmt::format("[{}]\n", fmt::join(vector, vector + columns, ",")));
          }
        }
        // Only the best are kept.
        const auto best = found.begin() + std::min<std::ptrdiff_t>(options.top, std::ssize(found));
        std::partial_sort(found.begin(), best, found.end(), [](const Found& a, const Found& b) {
          return a.score != b.score ? a.score > b.score : a.line < b.line;
        });
        found.erase(best, found.end());
      });
  for (const Found& one : found) WriteResult(fmt::format("{:.4f}\t{}\t{}\n", one.score, one.line, one.text));
  if (!options.out.empty()) WriteFile(options.out, Npy(all, static_cast<std::size_t>(done), columns));
}

}  // namespace

void AddEmbed(CLI::App& program) {
  const auto [command, options] =
      NewCommand(program, "embed", "Embed texts as vectors, or search them by cosine similarity", Run);
  command.add_option("DIR", options.folder, "Folder of an encoder, such as BERT, from sentence-transformers or not")
      ->required()
      ->check(Folder());
  command.add_option("FILE", options.input, "Texts, one a line, plain or gzip; - is standard input [-]");
  auto* out =
      command
          .add_option("--out", options.out,
                      "Write the vectors to this NumPy file, a row per line, instead of printing each as a JSON array")
          ->check(NotEmpty())
          ->type_name("FILE.npy");
  auto* search =
      command
          .add_option("--search", options.search,
                      "Print the lines nearest to this text by cosine similarity, as COSINE<tab>LINE<tab>TEXT")
          ->check(NotEmpty())
          ->type_name("TEXT")
          ->excludes(out);
  command.add_option("--top", options.top, "Lines that --search prints")
      ->check(AtLeast(1))
      ->capture_default_str()
      ->type_name("N")
      ->needs(search);
  command.add_flag(
      "--truncate", options.truncate,
      "Leave out the end of a text that is too long for the model, with a warning, instead of refusing it");
  AddComputeOption(command, options.compute);
  command.footer(
      "\nA folder of sentence-transformers says in modules.json how a text's vector is made of its tokens'; without "
      "that\n"
      "file it is their mean.\n\n"
      "Examples:\n"
      "  headlight embed all-MiniLM-L6-v2 sentences.txt --out sentences.npy\n"
      "  headlight embed all-MiniLM-L6-v2 sentences.txt --search 'a dog on the beach' --top 3");
}

}  // namespace headlight
