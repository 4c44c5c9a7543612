// Commands over images: files, folders or an IDX file in, for each image what is printed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/option_table.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/image/image_files.h"

namespace headlight {

// Images that stand together, as the model reads them.
struct FittedBatch {
  std::span<const ImageSource> sources;
  std::span<const Image> fitted;
  std::span<const ImageSize> sizes;                 // of the images as they were read
  std::int64_t first = 0;                           // index of the first among all
  std::function<std::string(std::size_t)> name_of;  // of an image by its index in the batch
};

// An image as the model's processor resizes it; called on several threads at once.
using FitImage = std::function<Image(const Image& image)>;
// The text to print for each image of a batch, with line ends. May be called again with a part of a batch for which
// it threw Error, and so must have no effect before it throws.
using ImageRows = std::function<std::vector<std::string>(const FittedBatch& batch)>;

// Decodes and resizes the images ahead on other threads and prints `rows` of them in their order as they come.
// `progress` labels the progress line, such as "images classified".
//
// With options.skip_errors an image that cannot be read, or for which `rows` throws Error, does not end the run: its
// error is printed in its place, as an object with `image` and `error`, or else to standard error.
void ForEachImageBatch(const LineOptions& options, const std::vector<ImageSource>& sources, const std::string& progress,
                       const FitImage& fit, const ImageRows& rows);

// Adds --most-pixels, which changes MostPixels: larger images are refused before they are decoded.
Option& AddMostPixels(OptionTable& command);
std::int64_t MostPixels();

// The images that a command names, standard input where it names none.
std::vector<ImageSource> ListInputImages(const std::vector<std::string>& inputs);

// Tells how many files of these folders are images in formats that are not read.
void NoteOtherImages(const std::vector<std::string>& sources);

// The image that an option names: a file, one of an IDX file ("t10k-images-idx3-ubyte#7"), or -. Throws Error for
// several.
Image ReadOneImage(const std::string& path);

// Throws Error where an output is one of the images. An empty path is none.
void CheckNoImage(const std::string& option, const std::string& path, const std::vector<ImageSource>& sources);

// Where a command writes an image for each that it reads.
struct ImageOutputs {
  std::string option, folder;      // no folder: one file
  std::vector<std::string> paths;  // of each image; none where the option is not given
};

// `out` itself, a file with one of these endings, for a command that reads one image; else NAME.png in the folder
// `out`. Throws Error that begins with the option where two images have the same name.
ImageOutputs OutputsOf(const std::string& option, const std::string& out, const std::vector<ImageSource>& sources,
                       const std::vector<std::string>& endings);

// CheckOutputs for these and further outputs, where `inputs` are what is read besides the images; then makes the
// folders. Throws Error, too, where a file cannot be written.
void PrepareOutputs(const std::vector<ImageOutputs>& outputs, std::vector<OutputFile> further,
                    const std::vector<ImageSource>& sources, std::vector<std::string> inputs);

}  // namespace headlight
