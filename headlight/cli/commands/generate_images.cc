#include "headlight/cli/commands/generate_images.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"

namespace headlight {

void AddGenerateImagesOptions(OptionTable& command, GenerateImagesOptions& options) {
  command.Add("--out", options.out, "ImageGPT: PNG file for a sheet of the images")
      .Check(NotEmpty())
      .Type("FILE")
      .Group(kOptionsOfImages);
  Option& image = command.Add("--image", options.image,
                              "ImageGPT: complete these JPEG, PNG, WebP, BMP, GIF or TIFF files, or an image of an "
                              "IDX file by its number (t10k-images-idx3-ubyte#7); - is standard input");
  image.Check(NotEmpty()).Type("FILE").Group(kOptionsOfImages);
  command.Add("--keep-rows", options.keep_rows, AtLeast(1), "Rows of pixels of the images to keep [half]")
      .Needs(image)
      .Group(kOptionsOfImages);
  AddMostPixels(command).Needs(image).Group(kOptionsOfImages);
  command
      .Add("--columns", options.columns, Between(1, 10'000),
           "Columns of the sheet [as many as rows; with several images --n-best]")
      .Group(kOptionsOfImages);
}

void GenerateImages(const std::string& folder, const GenerateImagesOptions& options, std::optional<Compute> compute,
                    TextToImageOptions generate) {
  Check(!options.out.empty(), "{}: --out FILE.png is required for a model of images", folder);
  std::vector<std::string> inputs = options.image;
  inputs.push_back(folder);
  CheckSheet(options, std::move(inputs));
  const ImageGenerator generator = Loaded([&] { return ImageGenerator::Load(folder, {.compute = compute}); });
  Check(!options.keep_rows || *options.keep_rows < generator.height(),
        "--keep-rows {}: an image has {} rows, of which at least one must be generated", options.keep_rows.value_or(0),
        generator.height());
  const ImageSheet sheet(options, std::max<std::int64_t>(1, std::ssize(options.image)), generate.count,
                         {generator.height(), generator.width()});
  std::vector<Image> begun;
  for (const std::string& path : options.image) begun.push_back(ReadOneImage(Input(path)));

  Progress progress("pixels generated");
  generate.progress = [&](std::int64_t done, std::int64_t total) { progress.Show(done, total); };
  if (begun.empty()) return sheet.Write(generator.Generate(generate));
  std::vector<Image> completed;
  for (std::vector<Image>& of_image : generator.Complete(begun, options.keep_rows, generate))
    std::ranges::move(of_image, std::back_inserter(completed));
  sheet.Write(completed);
}

}  // namespace headlight
