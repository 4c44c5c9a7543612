#include "headlight/cli/generate_images.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/progress.h"

namespace headlight {

void AddGenerateImagesOptions(OptionTable& command, GenerateImagesOptions& options) {
  command.Add("--out", options.out, "PNG file to write: a sheet of the pictures")
      .Check(NotEmpty())
      .Type("FILE")
      .Group(kOptionsOfPictures);
  Option& from =
      command.Add("--from", options.from,
                  "Complete these pictures: JPEG, PNG or WebP files, or of an IDX file one by its number, as in "
                  "t10k-images-idx3-ubyte#7; - is standard input");
  from.Check(NotEmpty()).Type("FILE").Group(kOptionsOfPictures);
  command.Add("--rows", options.rows, AtLeast(1), "Rows of pixels to keep of them [half of the picture's]")
      .Needs(from)
      .Group(kOptionsOfPictures);
  AddMostPixels(command).Needs(from).Group(kOptionsOfPictures);
  command.Add("--count", options.count, Between(1, 10'000), "Pictures to draw; with --from, for each [1]")
      .Group(kOptionsOfPictures);
  command
      .Add("--columns", options.columns, Between(1, 10'000),
           "Columns of the sheet [as many as rows; with several --from, --count]")
      .Group(kOptionsOfPictures);
}

void GenerateImages(const std::string& folder, const GenerateImagesOptions& options, std::optional<Compute> compute,
                    DrawOptions generate) {
  Check(!options.out.empty(), "{}: --out FILE.png is required for a model of pictures", folder);
  std::vector<std::string> inputs = options.from;
  inputs.push_back(folder);
  CheckSheet(options, std::move(inputs));
  const ImageGenerator generator = Loaded([&] { return ImageGenerator::Load(folder, {.compute = compute}); });
  Check(!options.rows || *options.rows < generator.height(),
        "--rows {}: a picture has {}, of which at least one is drawn", options.rows.value_or(0), generator.height());
  const std::int64_t count = options.count.value_or(1);
  const PictureSheet sheet(options, std::max<std::int64_t>(1, std::ssize(options.from)), count,
                           {generator.height(), generator.width()});
  std::vector<Picture> begun;
  for (const std::string& path : options.from) begun.push_back(ReadOnePicture(Input(path)));

  Progress progress("pixels drawn");
  generate.progress = [&](std::int64_t done, std::int64_t total) { progress.Show(done, total); };
  sheet.Write(begun.empty() ? generator.Generate(count, generate)
                            : generator.Complete(begun, options.rows, count, generate));
}

}  // namespace headlight
