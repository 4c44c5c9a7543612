// Commands over images: they read files, folders or IDX files, and print rows for each image.
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

// A batch of images as the model reads them.
struct FittedBatch {
  std::span<const ImageSource> sources;
  std::span<const Image> fitted;
  std::span<const ImageSize> sizes;                 // of the images as they were read
  std::int64_t first = 0;                           // index of the first among all
  std::function<std::string(std::size_t)> name_of;  // the name of an image, by its index in the batch
};

// Resizes an image with the model's processor. Called on several threads at once.
using FitImage = std::function<Image(const Image& image)>;
// Returns the text to print for each image of a batch, with line ends. It may be called again with a part of a batch
// for which it threw Error, and so must have no effect before it throws.
using ImageRows = std::function<std::vector<std::string>(const FittedBatch& batch)>;

// Decodes and resizes images ahead on other threads, and prints `rows` of them in their order as they are ready.
// `progress` labels the progress line, such as "images classified".
//
// With options.skip_errors an image that cannot be read, or for which `rows` throws Error, does not end the run. Its
// error is printed instead, as an object with `image` and `error`, or without --json to standard error.
void ForEachImageBatch(const LineOptions& options, const std::vector<ImageSource>& sources, const std::string& progress,
                       const FitImage& fit, const ImageRows& rows);

// Adds --most-pixels, which sets the largest image that is decoded.
Option& AddMostPixels(OptionTable& command);
std::int64_t MostPixels();

// The images of `inputs`; standard input if there are none.
std::vector<ImageSource> ListInputImages(const std::vector<std::string>& inputs);

// Notes how many files of these folders are images in formats that are not read.
void NoteOtherImages(const std::vector<std::string>& sources);

// The image of an option's value: a file, one image of an IDX file ("t10k-images-idx3-ubyte#7"), or -. Throws Error if
// there are several.
Image ReadOneImage(const std::string& path);

// Throws Error if an output is one of the images. An empty path is no output.
void CheckNoImage(const std::string& option, const std::string& path, const std::vector<ImageSource>& sources);

// The paths of images that a command writes, one for each that it reads.
struct ImageOutputs {
  std::string option, folder;      // an empty folder: one file is written
  std::vector<std::string> paths;  // of each image; empty if the option is not given
};

// The path `out` if it is a file with one of these endings and one image is read; else NAME.png in the folder `out`.
// Throws Error that begins with the option if two images have the same name.
ImageOutputs OutputsOf(const std::string& option, const std::string& out, const std::vector<ImageSource>& sources,
                       const std::vector<std::string>& endings);

// Calls CheckOutputs for these and further outputs, and creates the folders. `inputs` are read besides the images.
// Throws Error if a file cannot be written.
void PrepareOutputs(const std::vector<ImageOutputs>& outputs, std::vector<OutputFile> further,
                    const std::vector<ImageSource>& sources, std::vector<std::string> inputs);

}  // namespace headlight
