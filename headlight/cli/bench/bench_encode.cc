// headlight bench encode: measures throughput and latency of a text or image encoder.
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/random.h"
#include "headlight/cli/bench/bench_report.h"
#include "headlight/cli/bench/bench_texts.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/generate/batched.h"
#include "headlight/kinds/detection_model.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/embedder.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/image_embedder.h"
#include "headlight/pipelines/image_folder.h"
#include "headlight/pipelines/translation_options.h"

namespace headlight::bench_encode {
namespace {

// The size of an image after a detector's preprocessing, which resizes the shorter side to 800 pixels.
constexpr Grid kDetectedSize = {800, 1066};

struct Options {
  std::string folder, length, states;
  std::vector<std::string> sizes;  // image sizes
  std::int32_t batch_size = 32, repetitions = 10;
  std::optional<Compute> compute;
  std::uint64_t seed = 1;
  bool json = false;
};

// Returns the mean of a text's hidden states, which is the usual sentence embedding.
Json::Array MeanOf(const Tensor& hidden) {
  const Matrix<float> states = hidden.matrix<float>();
  Json::Array mean;
  for (std::int64_t column = 0; column < states.columns; ++column) {
    double sum = 0;
    for (std::int64_t row = 0; row < states.rows; ++row) sum += states.row(row)[column];
    mean.emplace_back(sum / static_cast<double>(states.rows));
  }
  return mean;
}

// Returns a result with the settings that text and image encoders share.
BenchResult ResultFor(const Options& options, const Parameters& parameters, const char* counted) {
  BenchResult result;
  result.tokens = counted;
  result.settings = {{"benchmark", "encode"},
                     {"model", options.folder},
                     {"parameters", parameters.count()},
                     {"batch_size", options.batch_size}};
  result.compute = parameters.all().front().compute;
  return result;
}

template <typename Kind>
std::unique_ptr<Kind> LoadToMeasure(const Options& options) {
  return Loaded(
      [&] { return LoadModel<Kind>(options.folder, {.compute = options.compute, .purpose = LoadFor::computing}); });
}

// Measures batches of random texts of at most `longest` tokens. `compute` returns a result for each text, and `state`
// returns the values that --states writes for one text.
template <class Make, class Compute, class State>
void MeasureTexts(const Options& options, const Parameters& parameters, const std::string& length, std::int64_t longest,
                  const Make& make, const Compute& compute, const State& state) {
  const LengthRange lengths = ReadLengths("--length", length, longest);
  BenchResult result = ResultFor(options, parameters, "tokens");
  result.settings.push_back({"length", length});
  Random random(options.seed);
  std::string states;
  MeasureBatches(
      result, options.repetitions,
      [&] {
        std::vector<Encoding> texts(static_cast<std::size_t>(options.batch_size));
        for (Encoding& text : texts) {
          text.ids = make(lengths, random);
          text.type_ids.resize(text.ids.size());
        }
        return texts;
      },
      compute,
      [&](const std::vector<Encoding>& texts, const auto& results) {
        for (std::size_t i = 0; i < texts.size(); ++i) {
          const std::vector<std::int32_t>& ids = texts[i].ids;
          result.counted_tokens += std::ssize(ids);
          if (options.states.empty()) continue;
          Json::Object line = {{"ids", Json::Array{ids.begin(), ids.end()}}};
          line.push_back(state(results[i]));
          states += Json(std::move(line)).Line() + "\n";
        }
      });
  if (!options.states.empty()) WriteFile(options.states, states);
  PrintBench(result, options.json);
}

// Throws Error if options are given that only apply to image models. Called before a text model is loaded.
void CheckTextOptions(const Options& options, const char* reason) {
  Check(options.sizes.empty(), "{}: --image-size is for images, and {}", options.folder, reason);
  CheckOutputs({{"--states", options.states}}, {options.folder});
  if (!options.states.empty()) CheckWritable(options.states);
}

void EncodeRandomTexts(const Options& options) {
  CheckTextOptions(options, "this model reads texts");
  const auto model = LoadToMeasure<TextEncoder>(options);
  const TextEncoder::Limits& limits = model->limits();
  Check(limits.vocabulary > 1, "{}: the vocabulary has {} tokens; at least 2 are needed", options.folder,
        limits.vocabulary);
  MeasureTexts(
      options, model->parameters(), options.length.empty() ? "8:128" : options.length, limits.positions,
      [&](const LengthRange& lengths, Random& random) {
        return RandomIds(lengths, limits.vocabulary, {&limits.pad_id, 1}, random);
      },
      [&](const std::vector<Encoding>& texts) {
        std::vector<Tensor> states(texts.size());
        EncodeInBatches(
            *model, texts, EmbedOptions{}.batch_tokens,
            [&](Context&, const Tensor& hidden, const Sequences& places, std::span<const std::size_t> which) {
              for (std::size_t i = 0; i < which.size(); ++i)
                states[which[i]] = hidden.ViewRows(places[i].begin, places[i].length);
            });
        return states;
      },
      [](const Tensor& states) {
        return Json::Member{"mean", MeanOf(states)};
      });
}

// Measures how fast a CLIP or SigLIP model embeds texts.
void EmbedRandomTexts(const Options& options) {
  CheckTextOptions(options, "--length for texts");
  const auto model = LoadToMeasure<DualEncoder>(options);
  model->CheckTexts();
  const DualEncoder::Limits& limits = model->limits();
  const auto end = static_cast<std::int32_t>(limits.vocabulary - 1);  // CLIP's end-of-text token
  MeasureTexts(
      options, model->parameters(), options.length, limits.positions,
      [&](const LengthRange& lengths, Random& random) {
        std::vector<std::int32_t> text = RandomIds(lengths, limits.vocabulary, {&end, 1}, random);
        text.back() = end;
        if (limits.filled > 0) text.resize(static_cast<std::size_t>(limits.filled), end);
        return text;
      },
      [&](const std::vector<Encoding>& texts) {
        std::vector<std::size_t> sizes;
        for (const Encoding& text : texts) sizes.push_back(text.ids.size());
        std::vector<std::vector<float>> vectors(texts.size());
        ForEachBatch(sizes, EmbedOptions{}.batch_tokens, [&](std::span<const std::size_t> which) {
          std::vector<std::int32_t> ids, own;
          for (const std::size_t text : which) {
            ids.insert(ids.end(), texts[text].ids.begin(), texts[text].ids.end());
            own.push_back(static_cast<std::int32_t>(texts[text].ids.size()));
          }
          Context context;
          const Tensor made = model->TextVectors(context, ids, PackedSequences(own));
          for (std::size_t i = 0; i < which.size(); ++i)
            vectors[which[i]] = made.ViewRows(static_cast<std::int64_t>(i), 1).ToVector<float>();
        });
        return vectors;
      },
      [](const std::vector<float>& vector) {
        return Json::Member{"vector", Json::Array{vector.begin(), vector.end()}};
      });
}

// Returns the sizes given by --image-size, or the model's usual size by default.
std::vector<Grid> SizesOf(const Options& options, const Grid& usual) {
  std::vector<Grid> sizes;
  for (const std::string& text : options.sizes) {
    const std::size_t cross = text.find('x');
    const auto side = [&](const std::string& part) {
      const std::int64_t pixels = IntegerOf(part).value_or(0);
      Check(pixels >= 1 && pixels <= 4096,
            "--image-size: {} must be a width and a height from 1 to 4096 pixels, such as 640x480", text);
      return static_cast<std::int32_t>(pixels);
    };
    const std::int32_t width = side(text.substr(0, cross));
    sizes.push_back({.height = side(cross == std::string::npos ? "" : text.substr(cross + 1)), .width = width});
  }
  return sizes.empty() ? std::vector<Grid>{usual} : sizes;
}

// Measures `compute` on batches of random images. The sizes alternate between batches.
template <class Compute>
void MeasureImages(const Options& options, const Parameters& parameters, const Grid& usual, const Compute& compute) {
  for (const auto& [name, value] : {std::pair("--length", &options.length), std::pair("--states", &options.states)})
    Check(value->empty(), "{}: {} is for texts, and this model reads images", options.folder, name);
  const std::vector<Grid> sizes = SizesOf(options, usual);
  BenchResult result = ResultFor(options, parameters, "images");
  std::vector<std::string> names;
  for (const Grid& size : sizes) names.push_back(fmt::format("{}x{}", size.width, size.height));
  result.settings.push_back({"image", fmt::format("{}", fmt::join(names, " "))});
  Random random(options.seed);
  MeasureBatches(
      result, options.repetitions,
      [&] {
        std::vector<Image> images;
        for (std::size_t i = 0; i < static_cast<std::size_t>(options.batch_size); ++i) {
          const Grid& size = sizes[i % sizes.size()];
          Image& image = images.emplace_back(Image{.height = size.height, .width = size.width});
          for (std::int64_t k = 0; k < 3 * size.cells(); ++k)
            image.pixels.push_back(static_cast<std::uint8_t>(random.Below(256)));
        }
        return images;
      },
      compute, [&](const std::vector<Image>& images, const auto&) { result.counted_tokens += std::ssize(images); });
  PrintBench(result, options.json);
}

// Returns a processor that scales bytes to [-1, 1], so that the model needs no preprocessor_config.json.
ImageProcessor AroundZero() { return {.resize = {}, .crop = {}, .scale = 1 / 127.5, .mean = {1, 1, 1}}; }

void EncodeRandomImages(const Options& options) {
  const ImageFolder loaded{LoadToMeasure<ImageEncoder>(options), AroundZero()};
  const ImageEncoder& model = *loaded.model;
  MeasureImages(options, model.parameters(), model.limits().image, [&](const std::vector<Image>& images) {
    std::vector<Tensor> results;
    EncodeImages(
        loaded, images, EmbedImageOptions().batch_pixels,
        [&](Context& context, const EncodedImages& encoded, std::size_t) {
          results.push_back(model.heads().classes ? model.ClassLogits(context, encoded) : model.Features(encoded));
        });
    return results;
  });
}

// Measures how fast a CLIP or SigLIP model embeds images.
void EmbedRandomImages(const Options& options) {
  const auto model = LoadToMeasure<DualEncoder>(options);
  model->CheckImages();
  MeasureImages(options, model->parameters(), model->limits().images.image, [&](const std::vector<Image>& images) {
    std::vector<Tensor> vectors;
    ForEachBatchOfValues(AroundZero(), images,
                         PixelsAtOnce(EmbedImageOptions().batch_pixels, model->limits().images.patch),
                         [&](std::span<const Tensor> values, std::size_t) {
                           Context context;
                           vectors.push_back(model->ImageVectors(context, values));
                         });
    return vectors;
  });
}

void DetectInRandomImages(const Options& options) {
  const auto model = LoadToMeasure<DetectionModel>(options);
  MeasureImages(options, model->parameters(), kDetectedSize, [&](const std::vector<Image>& images) {
    std::vector<Tensor> values;
    for (const Image& image : images) values.push_back(AroundZero().Values(image));
    Context context;
    return model->Detect(context, values).layers;
  });
}

void EmbedRandom(const Options& options) {
  return options.length.empty() ? EmbedRandomImages(options) : EmbedRandomTexts(options);
}

struct MeasuredKind {
  std::string_view kind;
  void (*measure)(const Options& options);
};
constexpr MeasuredKind kKinds[] = {{TextEncoder::kKind, EncodeRandomTexts},
                                   {ImageEncoder::kKind, EncodeRandomImages},
                                   {DetectionModel::kKind, DetectInRandomImages},
                                   {DualEncoder::kKind, EmbedRandom}};

void Run(const Options& options) {
  const auto kind = std::ranges::find(kKinds, FamilyOf(OpenModelFolder(options.folder)).kind, &MeasuredKind::kind);
  (kind == std::end(kKinds) ? kKinds[0] : *kind).measure(options);  // kKinds[0] throws Error for unsupported models
}

}  // namespace

void Add(Command& bench) {
  const auto [command, options] =
      NewCommand(bench, "encode", "Measure how fast an encoder or a detector reads random texts or images", Run);
  AddFolder(command, options.folder, "Folder of the model, with or without a tokenizer and preprocessor_config.json");
  command.Add("--batch-size", options.batch_size, Between(1, 65536), "Texts or images per batch, divided as by `embed`")
      .ShowDefault();
  command.Add("--length", options.length, "Tokens per text [8:128]; a CLIP then reads texts instead of images")
      .Check(NotEmpty())
      .Type("FROM:TO");
  command
      .Add("--image-size", options.sizes,
           "Pixels of the images; batches alternate between several sizes [the model's; of a detector 1066x800]")
      .Check(NotEmpty())
      .Type("WIDTHxHEIGHT");
  AddComputeOption(command, options.compute);
  command.Add("--repetitions", options.repetitions, AtLeast(1), "Batches to measure, after one to warm up")
      .ShowDefault();
  command.Add("--seed", options.seed, Seed(), "Random seed of the texts or images").ShowDefault();
  command.AddFile(
      "--states", options.states,
      "Write each text's ids and the mean of its hidden states, or its vector, to this file, as JSON lines");
  command.Add("--json", options.json, "Print one JSON object");
  command.footer =
      "\nExamples:\n"
      "  headlight bench encode bert-base-uncased --batch-size 32 --length 8:128 --compute int8 --threads 2\n"
      "  headlight bench encode vit-base-patch16-224 --batch-size 16 --compute int8 --threads 2\n"
      "  headlight bench encode clip-vit-base-patch32 --batch-size 32 --length 6:30 --threads 2\n"
      "  headlight bench encode detr-resnet-50 --batch-size 4 --image-size 1066x800 800x1066 --threads 2";
}

}  // namespace headlight::bench_encode
