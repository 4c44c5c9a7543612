#include "headlight/image/processor.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr std::int64_t kLargestSide = 1 << 15;
constexpr std::array<float, 3> kHalf = {0.5F, 0.5F, 0.5F};
constexpr std::array<float, 3> kImageNetMean = {0.485F, 0.456F, 0.406F}, kImageNetDeviation = {0.229F, 0.224F, 0.225F};
constexpr std::array<float, 3> kClipMean = {0.48145466F, 0.4578275F, 0.40821073F},
                               kClipDeviation = {0.26862954F, 0.26130258F, 0.27577711F};

// An image processor class of Transformers, with its defaults for missing keys.
struct Kind {
  const char* name;
  ResizeRule resize;
  ResizeFilter filter = ResizeFilter::bilinear;
  std::int64_t crop = 0;  // 0 if the image is not cropped
  std::array<float, 3> mean = kHalf, deviation = kHalf;
  bool mask = false;
};

ResizeRule Square(std::int64_t side) { return {.kind = ResizeRule::Kind::exact, .size = {side, side}}; }
ResizeRule Shortest(std::int64_t edge, std::int64_t longest = 0) {
  return {.kind = ResizeRule::Kind::shortest, .size = {}, .edge = edge, .longest = longest};
}

const std::vector<Kind>& Kinds() {
  using Rule = ResizeRule::Kind;
  static const std::vector<Kind> kinds = {
      {.name = "ViT", .resize = Square(224)},
      {.name = "DeiT", .resize = Square(256), .filter = ResizeFilter::bicubic, .crop = 224},
      {.name = "CLIP",
       .resize = Shortest(224),
       .filter = ResizeFilter::bicubic,
       .crop = 224,
       .mean = kClipMean,
       .deviation = kClipDeviation},
      {.name = "Bit",
       .resize = Shortest(224),
       .filter = ResizeFilter::bicubic,
       .crop = 224,
       .mean = kClipMean,
       .deviation = kClipDeviation},
      {.name = "Siglip", .resize = Square(224), .filter = ResizeFilter::bicubic},
      {.name = "Blip",
       .resize = Square(384),
       .filter = ResizeFilter::bicubic,
       .mean = kClipMean,
       .deviation = kClipDeviation},
      {.name = "DINOv3ViT", .resize = Square(224), .mean = kImageNetMean, .deviation = kImageNetDeviation},
      {.name = "ConvNext", .resize = {.kind = Rule::cropped, .size = {}, .edge = 384}, .filter = ResizeFilter::bicubic},
      {.name = "Detr",
       .resize = Shortest(800, 1333),
       .mean = kImageNetMean,
       .deviation = kImageNetDeviation,
       .mask = true},
      {.name = "Vilt",
       .resize = {.kind = Rule::multiple, .size = {}, .edge = 384},
       .filter = ResizeFilter::bicubic,
       .mask = true},
      {.name = "ImageGPT", .resize = Square(256)},
  };
  return kinds;
}

// Returns the class of a name such as "ViTImageProcessorFast" or "CLIPFeatureExtractor".
const Kind& KindOf(const JsonView& config) {
  const JsonView given =
      config["image_processor_type"].present() ? config["image_processor_type"] : config["feature_extractor_type"];
  Check(given.present(), "{}: image_processor_type is missing", config.location());
  const std::string type = given.String();
  std::string known;
  for (const Kind& kind : Kinds()) {
    for (const char* end : {"ImageProcessor", "ImageProcessorFast", "ImageProcessorPil", "FeatureExtractor"})
      if (type == std::string(kind.name) + end) return kind;
    known += fmt::format("{}{}ImageProcessor", known.empty() ? "" : ", ", kind.name);
  }
  Fail("{}: {} is not supported; these are: {}", given.location(), Quoted(type), known);
}

std::int64_t Side(const JsonView& value) { return value.Integer(1, kLargestSide); }

ImageSize SizeOf(const JsonView& value) {
  if (value.value().Find("height") != nullptr) return {Side(value["height"]), Side(value["width"])};
  return {Side(value), Side(value)};
}

// Parses `size`, which is an object, or a number whose meaning depends on the class of the processor.
void ReadSize(const JsonView& config, const JsonView& size, ResizeRule& rule) {
  using Rule = ResizeRule::Kind;
  const bool has_edge_rule = rule.kind == Rule::cropped || rule.kind == Rule::multiple;
  const bool square = config.Get("default_to_square", rule.kind == Rule::exact).Bool();
  const auto has = [&](const char* key) { return size.value().Find(key) != nullptr; };
  if (size.value().As<Json::Object>() == nullptr) {
    const std::int64_t edge = Side(size);
    if (has_edge_rule) {
      rule.edge = edge;
    } else {
      rule = square ? Square(edge) : Shortest(edge, rule.longest > 0 ? Side(config.Get("max_size", rule.longest)) : 0);
    }
  } else if (has("shortest_edge")) {
    if (!has_edge_rule) rule = Shortest(1);
    rule.edge = Side(size["shortest_edge"]);
    if (has("longest_edge")) rule.longest = Side(size["longest_edge"]);
  } else if (has("max_height")) {
    rule = {.kind = Rule::within, .size = {Side(size["max_height"]), Side(size["max_width"])}};
  } else {
    Check(!has_edge_rule, "{}: shortest_edge is missing", size.location());
    rule = {.kind = Rule::exact, .size = SizeOf(size)};
  }
  if (size.value().As<Json::Object>() != nullptr) size.RefuseUnread({});
}

// Parses three numbers, or one number for all channels.
std::array<float, 3> Channels(const JsonView& value) {
  constexpr double kMost = 1e6;
  if (value.value().As<Json::Array>() == nullptr) {
    const auto one = static_cast<float>(value.Number(-kMost, kMost));
    return {one, one, one};
  }
  const std::vector<JsonView> items = value.Items();
  Check(items.size() == 3, "{}: there must be 3 numbers, one for each channel", value.location());
  std::array<float, 3> channels;
  for (std::size_t i = 0; i < 3; ++i) channels[i] = static_cast<float>(items[i].Number(-kMost, kMost));
  return channels;
}

// Returns side * to / of, truncated as in Python.
std::int64_t Share(std::int64_t side, std::int64_t of, std::int64_t to) {
  return static_cast<std::int64_t>(static_cast<double>(side * to) / static_cast<double>(of));
}

ImageSize ShortestTo(ImageSize size, std::int64_t edge, std::int64_t longest) {
  const auto [shorter, longer] = std::minmax(size.height, size.width);
  std::int64_t new_shorter = edge, new_longer = Share(edge, shorter, longer);
  const auto exact_short = static_cast<double>(shorter), exact_long = static_cast<double>(longer);
  if (longest > 0 && exact_long / exact_short * static_cast<double>(edge) > static_cast<double>(longest)) {
    const double reduced = static_cast<double>(longest) * exact_short / exact_long;
    new_shorter = static_cast<std::int64_t>(std::nearbyint(reduced));
    new_longer = static_cast<std::int64_t>(reduced * exact_long / exact_short);
  }
  if (longest > 0 && shorter == new_shorter) return size;
  return size.height <= size.width ? ImageSize{new_shorter, new_longer} : ImageSize{new_longer, new_shorter};
}

ImageSize MultipleTo(ImageSize size, const ResizeRule& rule) {
  const auto edge = static_cast<double>(rule.edge), longest = std::floor(1333.0 / 800.0 * edge);
  const double scale = edge / static_cast<double>(std::min(size.height, size.width));
  const bool flat = size.height < size.width;
  double height = flat ? edge : scale * static_cast<double>(size.height);
  double width = flat ? scale * static_cast<double>(size.width) : edge;
  if (const double longer = std::max(height, width); longer > longest) {
    height = longest / longer * height;
    width = longest / longer * width;
  }
  const auto rounded = [&](double side) {
    return static_cast<std::int64_t>(side + 0.5) / rule.multiple * rule.multiple;
  };
  return {rounded(height), rounded(width)};
}

Image CropCenter(const Image& image, ImageSize size) {
  Image cropped{.height = size.height, .width = size.width};
  cropped.pixels.resize(static_cast<std::size_t>(size.height * size.width * 3));
  const auto half = [](std::int64_t difference) { return difference >= 0 ? difference / 2 : (difference - 1) / 2; };
  const std::int64_t top = half(image.height - size.height), left = half(image.width - size.width);
  const std::int64_t begin = std::max<std::int64_t>(left, 0), end = std::min(left + size.width, image.width);
  for (std::int64_t y = std::max<std::int64_t>(top, 0); y < std::min(top + size.height, image.height); ++y)
    std::copy_n(image.row(y) + 3 * begin, 3 * (end - begin), cropped.row(y - top) + 3 * (begin - left));
  return cropped;
}

// The value of each byte in each channel, rounded as in NumPy.
using ByteValues = std::array<std::array<float, 256>, 3>;

ByteValues ValuesOf(const ImageProcessor& processor) {
  ByteValues values;
  for (std::size_t channel = 0; channel < 3; ++channel)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto scaled = static_cast<float>(static_cast<double>(byte) * processor.scale);
      values[channel][byte] = (scaled - processor.mean[channel]) / processor.deviation[channel];
    }
  return values;
}

}  // namespace

ImageProcessor CenterSquare(std::int64_t edge) {
  ImageProcessor processor;
  processor.resize = Shortest(edge);
  processor.crop = ImageSize{edge, edge};
  processor.scale = 1.0 / 255;
  return processor;
}

ImageSize ResizedSize(const ResizeRule& rule, ImageSize size) {
  switch (rule.kind) {
    case ResizeRule::Kind::none:
      return size;
    case ResizeRule::Kind::exact:
      return rule.size;
    case ResizeRule::Kind::shortest:
      return ShortestTo(size, rule.edge, rule.longest);
    case ResizeRule::Kind::within: {
      const double scale = std::min(static_cast<double>(rule.size.height) / static_cast<double>(size.height),
                                    static_cast<double>(rule.size.width) / static_cast<double>(size.width));
      return {static_cast<std::int64_t>(static_cast<double>(size.height) * scale),
              static_cast<std::int64_t>(static_cast<double>(size.width) * scale)};
    }
    case ResizeRule::Kind::cropped:
      if (rule.edge >= 384) return {rule.edge, rule.edge};
      return ShortestTo(size, static_cast<std::int64_t>(static_cast<double>(rule.edge) / rule.crop_share), 0);
    case ResizeRule::Kind::multiple:
      return MultipleTo(size, rule);
  }
  Fail("the resizing rule is unknown");
}

Image ImageProcessor::Fit(const Image& image) const {
  const ImageSize size = ResizedSize(resize, {image.height, image.width});
  Check(size.height > 0 && size.width > 0 && size.height <= kLargestSide && size.width <= kLargestSide,
        "an image of {} x {} pixels is too elongated for this model: it would be resized to {} x {}", image.width,
        image.height, size.width, size.height);
  Image fitted = Resize(image, size.height, size.width, filter);
  if (resize.kind == ResizeRule::Kind::cropped && resize.edge < 384)
    fitted = CropCenter(fitted, {resize.edge, resize.edge});
  if (crop) fitted = CropCenter(fitted, *crop);
  return fitted;
}

Tensor ImageProcessor::Values(const Image& fitted) const {
  const ByteValues values = ValuesOf(*this);
  Tensor result = Tensor::Empty({fitted.height, fitted.width, 3});
  float* out = result.data<float>();
  for (std::size_t i = 0; i < fitted.pixels.size(); i += 3)
    for (std::size_t channel = 0; channel < 3; ++channel) *out++ = values[channel][fitted.pixels[i + channel]];
  return result;
}

std::vector<std::int32_t> ImageProcessor::Colors(const Image& fitted) const {
  const ByteValues values = ValuesOf(*this);
  std::vector<std::int32_t> colors;
  for (std::size_t i = 0; i < fitted.pixels.size(); i += 3) {
    std::int32_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster) {
      double distance = 0;
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const double difference = static_cast<double>(values[channel][fitted.pixels[i + channel]]) -
                                  static_cast<double>(clusters[cluster][channel]);
        distance += difference * difference;
      }
      if (distance < least) {
        least = distance;
        nearest = static_cast<std::int32_t>(cluster);
      }
    }
    colors.push_back(nearest);
  }
  return colors;
}

ImageProcessor ReadImageProcessor(const JsonView& config) {
  const Kind& kind = KindOf(config);
  ImageProcessor processor;
  const auto flag = [&](const char* key, bool fallback) { return config.Get(key, fallback).Bool(); };

  processor.resize = kind.resize;
  if (config["size"].present()) ReadSize(config, config["size"], processor.resize);
  if (processor.resize.kind == ResizeRule::Kind::cropped)
    processor.resize.crop_share = config.Get("crop_pct", processor.resize.crop_share).Number(0.01, 1);
  if (processor.resize.kind == ResizeRule::Kind::multiple)
    processor.resize.multiple = Side(config.Get("size_divisor", processor.resize.multiple));
  if (!flag("do_resize", true)) processor.resize = {};
  processor.filter = static_cast<ResizeFilter>(config.Get("resample", static_cast<int>(kind.filter)).Integer(0, 5));

  const JsonView crop = config.Get("crop_size", kind.crop > 0 ? kind.crop : 224);
  const ImageSize crop_size = SizeOf(crop);
  if (flag("do_center_crop", kind.crop > 0)) processor.crop = crop_size;

  const double scale = config.Get("rescale_factor", 1.0 / 255).Number(0, 1e6);
  if (flag("do_rescale", true)) processor.scale = scale;
  const JsonView mean = config["image_mean"], deviation = config["image_std"];
  const std::array<float, 3> means = mean.present() ? Channels(mean) : kind.mean;
  const std::array<float, 3> deviations = deviation.present() ? Channels(deviation) : kind.deviation;
  if (flag("do_normalize", true)) {
    processor.mean = means;
    processor.deviation = deviations;
    for (const float one : deviations) Check(one > 0, "{}: image_std must be above 0", config.location());
  }
  if (kind.mask) processor.mask = flag("do_pad", flag("pad_and_return_pixel_mask", true));
  if (flag("do_color_quantize", config["clusters"].present()))
    for (const JsonView& cluster : config["clusters"].Items()) processor.clusters.push_back(Channels(cluster));

  // These settings have no effect for RGB images, or concern labels and tensors.
  config.RefuseUnread({"image_processor_type",
                       "feature_extractor_type",
                       "processor_class",
                       "do_convert_rgb",
                       "auto_map",
                       "data_format",
                       "input_data_format",
                       "device",
                       "disable_grouping",
                       "return_tensors",
                       "default_to_square",
                       "max_size",
                       "format",
                       "do_convert_annotations",
                       "model_input_names",
                       "_valid_processor_keys",
                       "crop_pct",
                       "size_divisor",
                       "do_pad",
                       "image_seq_length",
                       "pad_and_return_pixel_mask"});
  return processor;
}

ImageProcessor LoadImageProcessor(const std::string& folder) {
  const std::string path = folder + "/preprocessor_config.json", newer = folder + "/processor_config.json";
  if (std::filesystem::exists(path)) return ReadImageProcessor(ReadJson(path));
  Check(std::filesystem::exists(newer),
        "{}: there is neither preprocessor_config.json nor processor_config.json, "
        "which say how images are prepared",
        folder);
  return ReadImageProcessor(ReadJson(newer)["image_processor"]);
}

}  // namespace headlight
