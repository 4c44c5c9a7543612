#include "headlight/pipelines/caption_folder.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/generation_settings.h"
#include "headlight/pipelines/image_folder.h"
#include "headlight/pipelines/sample_stream.h"
#include "headlight/pipelines/stop_strings.h"
#include "headlight/pipelines/tokenizer_fit.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

constexpr std::int32_t kUsualLength = 20;  // the default number of new tokens in Transformers

// Reads generation_config.json. If that file is missing, reads config.json and its section for the text decoder.
void ReadSettings(const ModelFolder& files, CaptionFolder& folder) {
  const ConditionalDecoder::Limits& limits = folder.model->limits();
  std::vector<JsonView> sources = {files.generation_config};
  const bool own_file = std::filesystem::exists(files.File("generation_config.json"));
  if (!own_file) sources = {files.config["decoder"], files.config["text_config"], files.config};
  TranslationSettings settings;
  settings.decoding.search.beam_size = 1;
  for (const JsonView& json : sources) {
    if (!json.present()) continue;
    settings = ReadTranslationSettings(json, settings, limits, GenerationKind::caption);
  }
  // The limits already have the start and end tokens of config.json. BLIP always uses these tokens.
  if (!own_file || files.config.Get("model_type", "").String() == "blip") {
    settings.decoding.prefix.clear();
    settings.decoding.search.end_ids.clear();
  }
  DecodingOptions& decoding = settings.decoding;
  if (!settings.length_given) decoding.max_new_tokens = kUsualLength;
  decoding.search.stops = StopsAt(settings.stop, folder.tokenizer);
  folder.decoding = std::move(decoding);
}

}  // namespace

CaptionFolder LoadCaptionFolder(const std::string& folder, const LoadOptions& options, const CaptionUse& use) {
  CheckImageOptions(folder, options);
  auto model = LoadModel<CaptionModel>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  Check(model->uses().*use.has, "{}: a model that {} is needed, and this one does not", folder, use.name);
  ImageProcessor processor = LoadColorProcessor(folder, model->image_limits().channels, model->image_limits().patch);
  CaptionFolder loaded{std::move(model), std::move(processor), PipelineTokenizer::Load(folder), {}};
  CheckRows(folder, loaded.tokenizer.size(), loaded.model->limits().target_vocabulary);
  ReadSettings(OpenModelFolder(folder), loaded);
  return loaded;
}

DecodingOptions DecodingFor(const CaptionFolder& folder, const CaptionOptions& options) {
  DecodingOptions decoding = folder.decoding;
  ApplyChoices(options, decoding.search);
  decoding.seed = options.seed.value_or(kDefaultSeed);
  Check(decoding.search.beam_size > 1 || !options.length_penalty, "`length_penalty` is for a `beam_size` above 1");
  CheckUtf8(options.prompt, "the prompt");
  if (decoding.prefix.empty()) decoding.prefix = {folder.model->limits().start_id};
  const std::vector<std::int32_t> prompt =
      folder.tokenizer.Encode(options.prompt, {.add_special = false, .read_special = false}).ids;
  decoding.prefix.insert(decoding.prefix.end(), prompt.begin(), prompt.end());
  const auto positions = static_cast<std::int32_t>(folder.model->limits().positions);
  if (options.max_length) {
    decoding.max_length = *options.max_length;
    decoding.max_new_tokens = 0;
    Check(decoding.max_length >= 1, "`max_length` must be at least 1, not {}", decoding.max_length);
  }
  // A folder's min_length may exceed the caller's max_length.
  decoding.min_length = std::min(decoding.min_length, decoding.max_length != 0 ? decoding.max_length : positions);
  if (options.min_length) decoding.min_new_tokens = 0;
  decoding.min_length = options.min_length.value_or(decoding.min_length);
  decoding.cancelled = options.cancelled;
  DecodingOptions checked = decoding;
  if (checked.search.sample) checked.search.n_best = 1;  // samples are separate entries
  Decode(*folder.model, Memory{}, checked);              // rejects invalid options
  return decoding;
}

std::vector<std::vector<ImageCaption>> WriteCaptions(const CaptionFolder& folder, const Memory& memory,
                                                     const DecodingOptions& decoding, const CaptionOptions& options,
                                                     std::span<const std::size_t> which) {
  // Each sample is decoded as a separate entry with a separate random stream. The samples of an image use the same
  // memory.
  const std::size_t samples = decoding.search.sample ? static_cast<std::size_t>(decoding.search.n_best) : 1;
  constexpr std::size_t at_once = 256;  // number of entries; bounds the memory of keys and values
  std::vector<std::vector<Hypothesis>> found;
  for (std::size_t begin = 0, count = memory.sequences.size() * samples; begin < count; begin += at_once) {
    Memory entries{memory.rows, {}};
    DecodingOptions own = decoding;
    if (decoding.search.sample) own.search.n_best = 1;
    for (std::size_t i = begin; i < std::min(count, begin + at_once); ++i) {
      entries.sequences.push_back(memory.sequences[i / samples]);
      own.sources.push_back({{}, SampleStream(options.first_stream + which[i / samples], /*part=*/0, i % samples)});
    }
    std::ranges::move(Decode(*folder.model, entries, own), std::back_inserter(found));
  }

  std::vector<std::vector<ImageCaption>> captions(memory.sequences.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const Hypothesis& hypothesis : found[i]) {
      ImageCaption& caption = captions[i / samples].emplace_back();
      std::vector<std::int32_t> ids = hypothesis.ids;
      // A start token other than the model's default may be part of the text, as in Transformers.
      if (const std::int32_t start = decoding.prefix.front(); start != folder.model->limits().start_id)
        ids.insert(ids.begin(), start);
      if (hypothesis.end >= 0 && hypothesis.end != folder.model->limits().end_id) ids.push_back(hypothesis.end);
      caption.text = folder.tokenizer.Decode(ids);
      caption.score = hypothesis.score;
      caption.tokens = std::ssize(hypothesis.ids);
      caption.complete = hypothesis.ended;
    }
  return captions;
}

}  // namespace headlight
