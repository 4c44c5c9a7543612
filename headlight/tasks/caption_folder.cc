#include "headlight/tasks/caption_folder.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/tasks/generation_settings.h"
#include "headlight/tasks/picture_folder.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

constexpr std::int32_t kUsualLength = 19;  // Transformers' 20, which count the start

// Of generation_config.json, or without that file of config.json and its part for the texts.
void ReadSettings(const ModelFolder& files, CaptionFolder& folder) {
  const ConditionalDecoder::Limits& limits = folder.model->limits();
  const auto positions = static_cast<std::int32_t>(limits.positions);
  std::vector<JsonView> sources = {files.generation_config};
  if (!std::filesystem::exists(files.File("generation_config.json")))
    sources = {files.config["decoder"], files.config["text_config"], files.config};
  TranslationSettings settings;
  settings.decoding.beam_size = 1;
  bool length_given = false;
  for (const JsonView& json : sources) {
    if (!json.present()) continue;
    settings = ReadTranslationSettings(json, settings, positions);
    length_given = length_given || json["max_length"].present();
    if (const JsonView longest = json["max_new_tokens"]; longest.present())
      folder.max_new_tokens = static_cast<std::int32_t>(longest.Integer(1, kLargestSize));
    if (const JsonView forced = json["forced_eos_token_id"]; forced.present()) {
      Check(forced.Integer() == limits.end_id, "{}: the model's end is {}, not {}", forced.place(), limits.end_id,
            forced.Integer());
      settings.decoding.force_end = true;
    }
    RefuseUnusual(json, {{"min_new_tokens", Json()},
                         {"min_p", Json()},
                         {"bad_words_ids", Json()},
                         {"begin_suppress_tokens", Json()},
                         {"prefix", Json()}});
  }
  DecodingOptions& decoding = settings.decoding;
  if (decoding.max_length == 0) decoding.max_length = length_given ? positions : std::min(positions, kUsualLength);
  decoding.min_length = std::min(decoding.min_length, decoding.max_length);
  folder.decoding = std::move(decoding);
}

}  // namespace

CaptionFolder LoadCaptionFolder(const std::string& folder, const LoadOptions& options, const CaptionUse& use) {
  CheckPictureOptions(folder, options);
  auto model = LoadModel<CaptionModel>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  Check(model->uses().*use.has, "{}: a model that {} is needed, and this one does not", folder, use.name);
  PictureProcessor processor = LoadColourProcessor(folder, model->picture_limits().channels);
  CaptionFolder loaded{std::move(model), std::move(processor), PipelineTokenizer::Load(folder), {}};
  Check(loaded.tokenizer.size() <= loaded.model->limits().target_vocabulary,
        "{}: the tokenizer has {} tokens, and the model {}: they are of different models", folder,
        loaded.tokenizer.size(), loaded.model->limits().target_vocabulary);
  ReadSettings(OpenModelFolder(folder), loaded);
  return loaded;
}

DecodingOptions DecodingFor(const CaptionFolder& folder, const CaptionOptions& options) {
  DecodingOptions decoding = folder.decoding;
  ApplyChoices(options, decoding);
  Check(decoding.beam_size > 1 || !options.length_penalty, "length_penalty is for a beam_size above 1");
  Check(options.n_best >= 1 && options.n_best <= 1024, "n_best must be from 1 to 1024, not {}", options.n_best);
  if (!decoding.sample) decoding.n_best = options.n_best;
  CheckUtf8(options.prompt, "the prompt");
  decoding.prefix = {folder.model->limits().start_id};
  const std::vector<std::int32_t> prompt =
      folder.tokenizer.Encode(options.prompt, {.add_special = false, .read_special = false}).ids;
  decoding.prefix.insert(decoding.prefix.end(), prompt.begin(), prompt.end());
  if (folder.max_new_tokens)
    decoding.max_length = static_cast<std::int32_t>(
        std::min<std::int64_t>(folder.model->limits().positions, std::ssize(prompt) + *folder.max_new_tokens));
  if (options.max_length) {
    decoding.max_length = *options.max_length;
    Check(decoding.max_length >= 1, "max_length must be at least 1, not {}", decoding.max_length);
  }
  decoding.min_length = std::min(decoding.min_length, decoding.max_length);  // the folder's, for other lengths
  decoding.min_length = options.min_length.value_or(decoding.min_length);
  decoding.cancelled = options.cancelled;
  Decode(*folder.model, Memory{}, decoding);  // refuses impossible options
  return decoding;
}

std::vector<std::vector<Caption>> WriteCaptions(const CaptionFolder& folder, const Memory& memory,
                                                const DecodingOptions& decoding, const CaptionOptions& options,
                                                std::span<const std::size_t> which) {
  // Samples are decoded as entries of their own, which share their memory, each with a random stream.
  const std::size_t samples = decoding.sample ? static_cast<std::size_t>(options.n_best) : 1;
  constexpr std::size_t at_once = 256;  // entries, whose keys and values are held, however many are drawn
  std::vector<std::vector<Hypothesis>> found;
  for (std::size_t begin = 0, count = memory.sentences.size() * samples; begin < count; begin += at_once) {
    Memory entries{memory.rows, {}};
    DecodingOptions own = decoding;
    for (std::size_t i = begin; i < std::min(count, begin + at_once); ++i) {
      entries.sentences.push_back(memory.sentences[i / samples]);
      own.sources.push_back({{}, ((options.first_stream + which[i / samples]) << 32U) + i % samples});
    }
    std::ranges::move(Decode(*folder.model, entries, own), std::back_inserter(found));
  }

  std::vector<std::vector<Caption>> captions(memory.sentences.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const Hypothesis& hypothesis : found[i]) {
      Caption& caption = captions[i / samples].emplace_back();
      caption.text = folder.tokenizer.Decode(hypothesis.ids);
      std::ranges::replace_if(
          caption.text, [](char c) { return c >= '\t' && c <= '\r'; }, ' ');
      caption.score = hypothesis.score;
      caption.tokens = std::ssize(hypothesis.ids);
      caption.complete = hypothesis.ended;
    }
  return captions;
}

}  // namespace headlight
