// headlight look: the attention of every head, as a page or a picture.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/translation_options.h"
#include "headlight/inspect/attention_page.h"
#include "headlight/inspect/drawing/attention_drawing.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/tasks/encoder_folder.h"
#include "headlight/tasks/generator.h"
#include "headlight/tasks/translator.h"

namespace headlight {
namespace {

struct Options {
  std::string folder;
  std::optional<std::string> source, target, text, second, attention;
  std::optional<int> layer;
  std::vector<std::string> out;
  TranslateOptions translate;
};

bool IsPage(const std::string& path) { return path.ends_with(".html") || path.ends_with(".htm"); }

AttentionRecord OfEncoderDecoder(const Options& options) {
  Check(options.source.has_value(), "{}: an encoder with a decoder reads a source text: give it with --source",
        options.folder);
  return Translator::Load(options.folder).Attention(*options.source, options.target, options.translate);
}

AttentionRecord OfTextEncoder(const Options& options) {
  Check(options.text.has_value(), "{}: an encoder reads one text: give it with --text", options.folder);
  return AttentionOf(LoadEncoderFolder(options.folder), *options.text, options.second);
}

AttentionRecord OfLanguageModel(const Options& options) {
  Check(options.text.has_value(), "{}: a language model reads one text: give it with --text", options.folder);
  Check(!options.second, "{}: a language model reads no second text", options.folder);
  return Generator::Load(options.folder).Attention(*options.text);
}

struct KindAttention {
  std::string_view kind;
  AttentionRecord (*attention)(const Options& options);
};
constexpr KindAttention kAttention[] = {{EncoderDecoder::kKind, OfEncoderDecoder},
                                        {TextEncoder::kKind, OfTextEncoder},
                                        {LanguageModel::kKind, OfLanguageModel}};

void Run(const Options& options) {
  for (const std::string& path : options.out) {
    const std::string ending = std::filesystem::path(path).extension();
    Check(IsPage(path) || ending == ".svg" || ending == ".png" || ending == ".pdf",
          "{}: the file's ending must be .html, .svg, .png or .pdf", path);
  }
  std::vector<OutputFile> files;
  for (const std::string& path : options.out) files.push_back({"--out", path});
  CheckOutputs(files, {options.folder});
  std::optional<AttentionKind> kind;
  if (options.attention) kind = ParseAttentionKind(*options.attention);
  std::optional<int> layer;
  if (options.layer) layer = *options.layer - 1;

  const auto of = std::ranges::find(kAttention, FamilyOf(OpenModelFolder(options.folder)).kind, &KindAttention::kind);
  Check(of != std::end(kAttention), "{}: look does not support this kind of model", options.folder);
  AttentionRecord record = SelectAttention(of->attention(options), kind, layer);
  record.title = std::filesystem::path(options.folder).lexically_normal().filename();
  const std::size_t sources = record.source_tokens.size(), targets = record.target_tokens.size();
  const bool both = sources > 0 && targets > 0;
  const std::string tokens = both ? fmt::format("{} source and {} target tokens", sources, targets)
                                  : fmt::format("{} tokens", sources + targets);
  for (const std::string& path : options.out) {
    IsPage(path) ? WriteFile(path, AttentionPage(record)) : DrawAttention(record, path);
    Note("{} shows {} attentions of {}", path, record.maps.size(), tokens);
  }
}

}  // namespace

void AddLook(CLI::App& program) {
  const auto [command, options] =
      NewCommand(program, "look", "Show the attention of every head as a page or picture", Run);
  command.add_option("DIR", options.folder, "The model's folder")->required()->check(Folder());
  auto* source = command.add_option("--source", options.source, "Sentence for the encoder")->type_name("TEXT");
  command.add_option("--target", options.target, "Sentence for the decoder [the model's translation]")
      ->type_name("TEXT")
      ->needs(source);
  auto* text = command.add_option("--text", options.text, "Text for a model without a decoder or a language model")
                   ->type_name("TEXT")
                   ->excludes(source);
  command.add_option("--second", options.second, "Second text of a pair, for an encoder")
      ->type_name("TEXT")
      ->needs(text);
  command.add_option("--out", options.out, "Page (.html) or picture (.svg, .png, .pdf) to write; may be repeated")
      ->check(NotEmpty())
      ->required()
      ->type_name("FILE");
  command.add_option("--attention", options.attention, "Which attention to show [all]")
      ->check(OneOf({"encoder", "decoder", "cross"}))
      ->type_name("encoder|decoder|cross");
  command.add_option("--layer", options.layer, "One layer, counted from 1 [all]")->check(AtLeast(1))->type_name("N");
  AddTaskOptions(command, options.translate);
  for (const char* name : {"--task", "--prefix", "--source-language", "--target-language"})
    command.get_option(name)->needs(source);
  command.footer(
      "\nExamples:\n"
      "  headlight look model --source 'Ein Hund läuft.' --out dog.html\n"
      "  headlight look bert --text 'Who runs?' --second 'A dog runs.' --attention encoder --out pair.html\n"
      "  headlight look gpt2 --text 'A dog runs because it is late.' --out runs.html\n"
      "  headlight look model --source 'Ein Hund läuft.' --target 'A dog runs.' --attention cross --out dog.pdf");
}

}  // namespace headlight
