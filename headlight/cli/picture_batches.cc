#include "headlight/cli/picture_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/cli/output.h"
#include "headlight/cli/progress.h"
#include "headlight/data/prefetch.h"
#include "headlight/image/decoding/decode.h"

namespace headlight {
namespace {

constexpr std::size_t kChunk = 16;  // pictures that are read at once
constexpr std::size_t kChunksAhead = 2;

// Pictures that have been read, and of each the error in its place, or nothing.
struct ReadPictures {
  std::vector<Picture> fitted;
  std::vector<std::optional<Error>> errors;
};

ReadPictures Read(std::span<const PictureSource> sources, const FitPicture& fit) {
  ReadPictures read{std::vector<Picture>(sources.size()), std::vector<std::optional<Error>>(sources.size())};
  ParallelFor(std::ssize(sources), [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    const std::string start = sources[i].name() + ": ";
    try {
      read.fitted[i] = fit(ReadPicture(sources[i]));
    } catch (const Error& bad) {
      const std::string message = bad.what();
      read.errors[i].emplace(message.starts_with(start) ? message : start + message, bad.blame());
    }
  });
  return read;
}

class PicturePrinter {
 public:
  PicturePrinter(const LineOptions& options, const PictureRows& rows) : options_(options), rows_(rows) {}

  std::int64_t done() const { return done_; }
  std::int64_t skipped() const { return skipped_; }

  void Print(std::span<const PictureSource> sources, const ReadPictures& read) {
    const std::span<const Picture> fitted = read.fitted;
    for (std::size_t begin = 0, end; begin < sources.size(); begin = end) {
      for (end = begin; end < sources.size() && !read.errors[end]; ++end) continue;
      PrintRows(sources.subspan(begin, end - begin), fitted.subspan(begin, end - begin));
      if (end == sources.size()) break;
      PrintError(sources[end], *read.errors[end]);
      ++end;
    }
  }

 private:
  // The pictures of a batch that fails are tried one by one.
  void PrintRows(std::span<const PictureSource> sources, std::span<const Picture> fitted) {
    if (sources.empty()) return;
    std::vector<std::string> printed;
    std::optional<Error> error;
    try {
      printed = rows_({sources, fitted, done_, [=](std::size_t picture) { return sources[picture].name(); }});
    } catch (const Error& bad) {
      error = bad;
    }
    if (!error) {
      done_ += std::ssize(sources);
      for (const std::string& row : printed) WriteResult(row);
    } else if (sources.size() == 1) {
      PrintError(sources[0], *error);
    } else {
      if (!options_.skip_errors) throw Error(*error);
      for (std::size_t i = 0; i < sources.size(); ++i) PrintRows(sources.subspan(i, 1), fitted.subspan(i, 1));
    }
  }

  void PrintError(const PictureSource& source, const Error& error) {
    if (!options_.skip_errors || error.blame() != Blame::user) throw Error(error);
    ++done_;
    ++skipped_;
    const std::string name = source.name(), start = name + ": ";
    std::string message = error.what();
    if (message.starts_with(start)) message.erase(0, start.size());
    if (options_.json) return WriteResult(Json(Json::Object{{"picture", name}, {"error", message}}).Line() + "\n");
    WriteNote("headlight: " + start + message);
  }

  const LineOptions& options_;
  const PictureRows& rows_;
  std::int64_t done_ = 0, skipped_ = 0;
};

}  // namespace

void ForEachPictureBatch(const LineOptions& options, const std::vector<PictureSource>& sources,
                         const std::string& progress, const FitPicture& fit, const PictureRows& rows) {
  const std::span<const PictureSource> all = sources;
  const auto chunk = [&](std::size_t begin) { return all.subspan(begin, std::min(kChunk, all.size() - begin)); };
  PicturePrinter printer(options, rows);
  std::size_t begun = 0;
  Prefetch<ReadPictures> ahead(
      [&] {
        const std::span<const PictureSource> next = chunk(begun);
        begun += next.size();
        return Read(next, fit);
      },
      kChunksAhead);
  Progress shown(progress);
  for (std::size_t begin = 0; begin < all.size(); begin += kChunk) {
    printer.Print(chunk(begin), ahead.Next());
    FlushResults();
    shown.Show(printer.done(), std::ssize(all));
  }
  if (printer.skipped() > 0) Note("{} of {} pictures could not be processed", printer.skipped(), printer.done());
}

std::vector<PictureSource> ListInputPictures(const std::vector<std::string>& inputs) {
  const std::vector<std::string> standard_input = {"-"};
  const std::vector<std::string>& named = inputs.empty() ? standard_input : inputs;
  for (const std::string& input : named) Input(input);
  CheckOutputs({}, named);
  return ListPictures(named);
}

void CheckNoPicture(const std::string& option, const std::string& path, const std::vector<PictureSource>& sources) {
  std::vector<std::string> files;
  for (const PictureSource& source : sources)
    if (source.index == 0) files.push_back(source.path);
  CheckOutputs({{option, path}}, files);
}

}  // namespace headlight
