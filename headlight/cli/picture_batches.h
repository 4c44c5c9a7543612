// Commands over pictures: files, folders or an IDX file in, for each picture what is printed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/option_table.h"
#include "headlight/cli/line_batches.h"
#include "headlight/cli/output.h"
#include "headlight/image/picture_files.h"

namespace headlight {

// Pictures that stand together, as the model reads them.
struct FittedBatch {
  std::span<const PictureSource> sources;
  std::span<const Picture> fitted;
  std::span<const PictureSize> sizes;               // of the pictures as they were read
  std::int64_t first = 0;                           // index of the first among all
  std::function<std::string(std::size_t)> name_of;  // of a picture by its index in the batch
};

// A picture as the model's processor resizes it; called on several threads at once.
using FitPicture = std::function<Picture(const Picture& picture)>;
// The text to print for each picture of a batch, with line ends. May be called again with a part of a batch for which
// it threw Error, and so must have no effect before it throws.
using PictureRows = std::function<std::vector<std::string>(const FittedBatch& batch)>;

// Decodes and resizes the pictures ahead on other threads and prints `rows` of them in their order as they come.
// `progress` labels the progress line, such as "pictures classified".
//
// With options.skip_errors a picture that cannot be read, or for which `rows` throws Error, does not end the run: its
// error is printed in its place, as an object with `picture` and `error`, or else to standard error.
void ForEachPictureBatch(const LineOptions& options, const std::vector<PictureSource>& sources,
                         const std::string& progress, const FitPicture& fit, const PictureRows& rows);

// Adds --most-pixels, which changes MostPixels: larger pictures are refused before they are decoded.
Option& AddMostPixels(OptionTable& command);
std::int64_t MostPixels();

// The pictures that a command names, standard input where it names none.
std::vector<PictureSource> ListInputPictures(const std::vector<std::string>& inputs);

// Tells how many files of these folders are pictures in formats that are not read.
void NoteOtherPictures(const std::vector<std::string>& sources);

// The picture that an option names: a file, one of an IDX file ("t10k-images-idx3-ubyte#7"), or -. Throws Error for
// several.
Picture ReadOnePicture(const std::string& path);

// Throws Error where an output is one of the pictures. An empty path is none.
void CheckNoPicture(const std::string& option, const std::string& path, const std::vector<PictureSource>& sources);

// Where a command writes a picture for each that it reads.
struct PictureOutputs {
  std::string option, folder;      // no folder: one file
  std::vector<std::string> paths;  // of each picture; none where the option is not given
};

// `out` itself, a file with one of these endings, for a command that reads one picture; else NAME.png in the folder
// `out`. Throws Error that begins with the option where two pictures have the same name.
PictureOutputs OutputsOf(const std::string& option, const std::string& out, const std::vector<PictureSource>& sources,
                         const std::vector<std::string>& endings);

// CheckOutputs for these and further outputs, where `inputs` are what is read besides the pictures; then makes the
// folders. Throws Error, too, where a file cannot be written.
void PrepareOutputs(const std::vector<PictureOutputs>& outputs, std::vector<OutputFile> further,
                    const std::vector<PictureSource>& sources, std::vector<std::string> inputs);

}  // namespace headlight
