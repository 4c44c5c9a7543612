#include "headlight/cli/terminal/image_batches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/option_checks.h"
#include "headlight/base/parallel.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/prefetch.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/image_files.h"

namespace headlight {
namespace {

constexpr std::size_t kChunk = 16;  // number of images that a thread reads together
constexpr std::size_t kChunksAhead = 2;

std::int64_t most_pixels = kMostPixels;

// Images that were read, and an error for each image that could not be read.
struct ReadImages {
  std::vector<Image> fitted;
  std::vector<ImageSize> sizes;
  std::vector<std::optional<Error>> errors;
};

ReadImages Read(std::span<const ImageSource> sources, const FitImage& fit) {
  ReadImages read{std::vector<Image>(sources.size()), std::vector<ImageSize>(sources.size()),
                  std::vector<std::optional<Error>>(sources.size())};
  ParallelFor(std::ssize(sources), [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    const std::string start = sources[i].name() + ": ";
    try {
      const Image image = ReadImage(sources[i], MostPixels());
      read.sizes[i] = {image.height, image.width};
      read.fitted[i] = fit(image);
    } catch (const Error& bad) {
      const std::string message = bad.what();
      read.errors[i].emplace(message.starts_with(start) ? message : start + message, bad.cause());
    }
  });
  return read;
}

class ImagePrinter {
 public:
  ImagePrinter(const LineOptions& options, const ImageRows& rows, std::int64_t before)
      : options_(options), rows_(rows), done_(before) {}

  std::int64_t done() const { return done_; }
  std::int64_t skipped() const { return skipped_; }

  void Print(std::span<const ImageSource> sources, const ReadImages& read) {
    const std::span<const Image> fitted = read.fitted;
    const std::span<const ImageSize> sizes = read.sizes;
    for (std::size_t begin = 0, end; begin < sources.size(); begin = end) {
      for (end = begin; end < sources.size() && !read.errors[end]; ++end) continue;
      const std::size_t count = end - begin;
      PrintRows(sources.subspan(begin, count), fitted.subspan(begin, count), sizes.subspan(begin, count));
      if (end == sources.size()) break;
      PrintError(sources[end], *read.errors[end]);
      ++end;
    }
  }

 private:
  // Prints the rows of a batch. If the batch fails, its images are processed one by one.
  void PrintRows(std::span<const ImageSource> sources, std::span<const Image> fitted,
                 std::span<const ImageSize> sizes) {
    if (sources.empty()) return;
    std::vector<std::string> printed;
    std::optional<Error> error;
    try {
      printed = rows_({sources, fitted, sizes, done_, [=](std::size_t image) { return sources[image].name(); }});
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
      for (std::size_t i = 0; i < sources.size(); ++i)
        PrintRows(sources.subspan(i, 1), fitted.subspan(i, 1), sizes.subspan(i, 1));
    }
  }

  void PrintError(const ImageSource& source, const Error& error) {
    if (!options_.skip_errors || error.cause() != ErrorCause::user) throw Error(error);
    ++done_;
    ++skipped_;
    const std::string name = source.name(), start = name + ": ";
    std::string message = error.what();
    if (message.starts_with(start)) message.erase(0, start.size());
    if (options_.json) return WriteResult(Json(Json::Object{{"image", name}, {"error", message}}).Line() + "\n");
    WriteNote("headlight: " + start + message);
  }

  const LineOptions& options_;
  const ImageRows& rows_;
  std::int64_t done_, skipped_ = 0;
};

std::vector<std::string> FilesOf(const std::vector<ImageSource>& sources) {
  std::vector<std::string> files;
  for (const ImageSource& source : sources)
    if (source.index == 0) files.push_back(source.path);
  return files;
}

}  // namespace

void ForEachImageBatch(const LineOptions& options, const std::vector<ImageSource>& sources, const std::string& progress,
                       const FitImage& fit, const ImageRows& rows) {
  const Shard shard = ShardOfRun(options.shard);
  const std::int64_t first = shard.begin(std::ssize(sources)), end = shard.end(std::ssize(sources));
  const std::span<const ImageSource> all =
      std::span(sources).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
  const auto chunk = [&](std::size_t begin) { return all.subspan(begin, std::min(kChunk, all.size() - begin)); };
  ImagePrinter printer(options, rows, first);
  std::size_t begun = 0;
  Prefetch<ReadImages> ahead(
      [&] {
        const std::span<const ImageSource> next = chunk(begun);
        begun += next.size();
        return Read(next, fit);
      },
      kChunksAhead);
  Progress shown(progress);
  for (std::size_t begin = 0; begin < all.size(); begin += kChunk) {
    printer.Print(chunk(begin), ahead.Next());
    FlushResults();
    shown.Show(printer.done() - first, std::ssize(all));
  }
  if (printer.skipped() > 0)
    Note("{} of {} could not be processed", printer.skipped(), Counted(printer.done() - first, "image"));
}

Option& AddMostPixels(OptionTable& command) {
  return command
      .Add("--most-pixels", most_pixels, Between(1, std::int64_t{1} << 40), "Refuse images with more pixels than this")
      .ShowDefault();
}

std::int64_t MostPixels() { return most_pixels; }

std::vector<ImageSource> ListInputImages(const std::vector<std::string>& inputs) {
  const std::vector<std::string> standard_input = {"-"};
  const std::vector<std::string>& named = inputs.empty() ? standard_input : inputs;
  for (const std::string& input : named) Input(input);
  CheckOutputs({}, named);
  NoteOtherImages(named);
  return ListImages(named);
}

void NoteOtherImages(const std::vector<std::string>& sources) {
  if (const std::int64_t count = CountUnsupportedImages(sources); count > 0)
    Note("{}: {} file{} left out: JPEG, PNG, WebP, BMP, GIF and TIFF are read, and not .avif, .heic, .svg and the like",
         fmt::join(sources, ", "), count, count == 1 ? " is" : "s are");
}

Image ReadOneImage(const std::string& path) {
  const std::vector<ImageSource> images = ListImages({&path, 1});
  Check(images.size() == 1, "{}: it has {} images, and one is needed", path, images.size());
  return ReadImage(images.front(), MostPixels());
}

void CheckNoImage(const std::string& option, const std::string& path, const std::vector<ImageSource>& sources) {
  if (!path.empty()) CheckOutputs({{option, path}}, FilesOf(sources));
}

ImageOutputs OutputsOf(const std::string& option, const std::string& out, const std::vector<ImageSource>& sources,
                       const std::vector<std::string>& endings) {
  namespace fs = std::filesystem;
  if (out.empty()) return {};
  std::string ending = fs::path(out).extension();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (std::ranges::find(endings, ending) != endings.end()) {
    Check(sources.size() == 1, "{} {}: a file is for one image, and there are {}; name a folder", option, out,
          sources.size());
    return {option, "", {out}};
  }
  const bool like_a_file = IsImagePath(out) || ending == ".svg" || ending == ".pdf" || ending == ".gif";
  Check(fs::is_directory(out) || (!fs::exists(out) && !like_a_file),
        "{} {}: must be a folder or a file whose name ends in {}", option, out, Alternatives(endings));
  ImageOutputs outputs{option, out, {}};
  std::map<std::string, std::string> taken;  // the image for each output path
  for (const ImageSource& source : sources) {
    const fs::path name = fs::path(source.name()).filename();
    const std::string path = out + "/" + (IsImagePath(name.string()) ? name.stem() : name).string() + ".png";
    const auto [other, is_new] = taken.emplace(path, source.name());
    Check(is_new, "{} {}: {} and {} would both become {}", option, out, other->second, source.name(), path);
    outputs.paths.push_back(path);
  }
  return outputs;
}

void PrepareOutputs(const std::vector<ImageOutputs>& outputs, std::vector<OutputFile> further,
                    const std::vector<ImageSource>& sources, std::vector<std::string> inputs) {
  for (const ImageOutputs& one : outputs)
    for (const std::string& path : one.paths) further.push_back({one.option, path});
  for (const std::string& file : FilesOf(sources)) inputs.push_back(file);
  CheckOutputs(further, inputs);
  for (const ImageOutputs& one : outputs) {
    if (!one.folder.empty()) std::filesystem::create_directories(one.folder);
    if (one.folder.empty() && !one.paths.empty()) CheckWritable(one.paths.front());
  }
}

}  // namespace headlight
