// Runs commands on images: reads files, folders or IDX files, and prints rows for each image.
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

// A batch of images, resized for the model.
struct FittedBatch {
  std::span<const ImageSource> sources;
  std::span<const Image> fitted;
  std::span<const ImageSize> sizes;                 // original sizes of the images
  std::int64_t first = 0;                           // index of the batch's first image among all images
  std::function<std::string(std::size_t)> name_of;  // returns the name of an image by its index in the batch
};

// Resizes an image with the model's processor. Must be thread-safe.
using FitImage = std::function<Image(const Image& image)>;
// Returns the text to print for each image of a batch, with line ends. If the function throws Error, it is called again
// with parts of the batch. It must therefore have no side effects before it throws.
using ImageRows = std::function<std::vector<std::string>(const FittedBatch& batch)>;

// Decodes and resizes images in advance on other threads, and prints `rows` of each batch in input order. `progress`
// labels the progress line, such as "images classified".
//
// With options.skip_errors, the run continues if an image cannot be read or if `rows` throws Error. With --json, the
// error is printed as an object with `image` and `error`. Otherwise it is printed to standard error.
void ForEachImageBatch(const LineOptions& options, const std::vector<ImageSource>& sources, const std::string& progress,
                       const FitImage& fit, const ImageRows& rows);

// Adds --most-pixels, which limits the number of pixels of an image that is decoded.
Option& AddMostPixels(OptionTable& command);
std::int64_t MostPixels();

// Returns the images in `inputs`, or the image from standard input if `inputs` is empty.
std::vector<ImageSource> ListInputImages(const std::vector<std::string>& inputs);

// Prints a note with the number of files in these folders that are images in unsupported formats.
void NoteOtherImages(const std::vector<std::string>& sources);

// Reads the image that an option names: a file, one image of an IDX file ("t10k-images-idx3-ubyte#7"), or - for
// standard input. Throws Error if the path contains several images.
Image ReadOneImage(const std::string& path);

// Throws Error if the output `path` is one of the images. An empty path is ignored.
void CheckNoImage(const std::string& option, const std::string& path, const std::vector<ImageSource>& sources);

// The output paths of a command that writes one image for each input image.
struct ImageOutputs {
  std::string option, folder;      // if `folder` is empty, one file is written
  std::vector<std::string> paths;  // one path for each image; empty if the option is not given
};

// Returns the output paths. If `out` ends in one of `endings` and there is one image, the path is `out`. Otherwise each
// image is written to NAME.png in the folder `out`. Throws Error if two images have the same name.
ImageOutputs OutputsOf(const std::string& option, const std::string& out, const std::vector<ImageSource>& sources,
                       const std::vector<std::string>& endings);

// Calls CheckOutputs for these and further outputs, and creates the folders. `inputs` are input files other than the
// images. Throws Error if a file cannot be written.
void PrepareOutputs(const std::vector<ImageOutputs>& outputs, std::vector<OutputFile> further,
                    const std::vector<ImageSource>& sources, std::vector<std::string> inputs);

}  // namespace headlight
