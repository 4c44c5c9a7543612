// headlight generate: continues prompts with a language model, or generates images.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/commands/generate_images.h"
#include "headlight/cli/commands/sampling_options.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/kinds/language_model.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/pipelines/text_generator.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/text/printable.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::generate {
namespace {

struct Options : LineOptions {  // `input` is the file of prompts
  std::string folder;
  std::optional<std::string> prompt;
  std::optional<Compute> compute;
  bool draft = false;
  GenerateOptions generate;
  GenerateImagesOptions images;
  const OptionTable* command = nullptr;  // describes these options
};

// The options that both language models and image models have.
constexpr std::string_view kOfBoth[] = {"DIR",    "--temperature", "--top-k",  "--top-p",   "--seed", "--n-best",
                                        "--help", "--compute",     "--config", "--threads", "--quiet"};

const char* NameOf(FinishReason reason) {
  return std::array{"end", "stop", "length", "positions"}[static_cast<std::size_t>(reason)];
}

// Prints a note if the text fills all positions of the model. `location` is the name of the prompt.
void NoteFull(const GeneratedText& generated, const std::string& location, const TextGenerator& generator) {
  if (generated.finish_reason == FinishReason::positions)
    Note("{}: the text ends after {} tokens, which with the {} of the prompt fill the model's {} positions", location,
         generated.tokens, generated.prompt_tokens, generator.model().limits().positions);
}

std::string OnOneLine(std::string_view text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\\' ? "\\\\" : std::string(1, c);
  return line;
}

std::string Row(std::int64_t line, const std::string& prompt, const GeneratedText& generated, bool json) {
  if (!json) return OnOneLine(generated.text) + "\n";
  return Json(Json::Object{{"line", line},
                           {"prompt", prompt},
                           {"text", generated.text},
                           {"finish_reason", NameOf(generated.finish_reason)},
                           {"prompt_tokens", generated.prompt_tokens},
                           {"tokens", generated.tokens},
                           {"log_probability", generated.log_probability}})
             .Line() +
         "\n";
}

// Returns the prompt. With --truncate, the beginning of a prompt that is too long is removed. Up to half of the
// positions are then reserved for new tokens.
std::string Fitted(const TextGenerator& generator, const std::string& prompt, const Options& options,
                   const std::string& location) {
  const std::int64_t positions = generator.model().limits().positions;
  Encoding encoding = generator.tokenizer().Encode(prompt);
  if (std::ssize(encoding.ids) <= positions) return prompt;
  Check(options.truncate, "{}: {} tokens are more than the model's {} positions; --truncate leaves out its beginning",
        location, encoding.ids.size(), positions);
  const std::int64_t most =
      positions - std::min<std::int64_t>(options.generate.max_new_tokens.value_or(128), positions / 2);
  std::string text = prompt;
  // Repeats the cut, because the shortened text may have more tokens than expected.
  for (std::int64_t cut = most; cut > 0 && std::ssize(encoding.ids) > most; --cut) {
    text.erase(0, static_cast<std::size_t>(encoding.spans[encoding.ids.size() - static_cast<std::size_t>(cut)].begin));
    encoding = generator.tokenizer().Encode(text);
  }
  Note("{}: the model reads {} tokens at once: its beginning is left out", location, positions);
  return text;
}

void RunPrompt(const TextGenerator& generator, Options options) {
  options.prompt = Fitted(generator, *options.prompt, options, "the prompt");
  // Line ends in the PROMPT argument are part of the prompt.
  const bool streamed = !options.json && generator.n_best(options.generate) == 1;
  if (streamed)
    options.generate.on_text = [](std::size_t, std::string_view piece) {
      WriteResult(piece);
      FlushResults();
    };
  const std::vector<std::vector<GeneratedText>> texts = generator.Generate({&*options.prompt, 1}, options.generate);
  for (const GeneratedText& generated : texts.front()) {
    WriteResult(streamed ? "\n" : Row(1, *options.prompt, generated, options.json));
    FlushResults();
    NoteFull(generated, "the prompt", generator);
  }
}

void RunFile(const TextGenerator& generator, const Options& options) {
  GenerateOptions generate = options.generate;
  const std::size_t ahead = BytesAhead(generate.batch_tokens);
  const auto rows = [&](const LineBatch& batch) {
    generate.first_stream = static_cast<std::uint64_t>(batch.first - 1);
    std::vector<std::string> prompts;
    for (std::size_t i = 0; i < batch.lines.size(); ++i)
      prompts.push_back(Fitted(generator, batch.lines[i], options, batch.name_of(i)));
    const std::vector<std::vector<GeneratedText>> texts = [&] {
      try {
        return generator.Generate(prompts, generate);
      } catch (const Error& error) {
        if (error.cause() != ErrorCause::user) throw;
        Fail("{}{}: {}", batch.name_of(0), batch.lines.size() == 1 ? "" : " and on", error.what());
      }
    }();
    std::vector<std::string> printed(batch.lines.size());
    for (std::size_t prompt = 0; prompt < texts.size(); ++prompt)
      for (const GeneratedText& text : texts[prompt]) {
        const std::int64_t line = batch.first + static_cast<std::int64_t>(prompt);
        printed[prompt] += Row(line, batch.lines[prompt], text, options.json);
        NoteFull(text, batch.name_of(prompt), generator);
      }
    return printed;
  };
  ForEachLineBatch(options, "prompts continued", ahead, rows);
}

// Throws Error if an option is given that only the other kind of model has.
void CheckOptions(const Options& options, bool images) {
  for (const auto& option : options.command->options()) {
    const std::string name = option->name();
    const bool of_images = option->group() == kOptionsOfImages;
    const bool fits = images ? of_images || std::ranges::find(kOfBoth, name) != std::end(kOfBoth) : !of_images;
    Check(!option->given() || fits, "{}: {} is for models of {}, and this is {}", options.folder, name,
          images ? "texts" : "images", images ? "one of images" : "none");
  }
}

// Generates images. The sampling options also apply to pixels.
void DrawImages(const Options& options) {
  const GenerateOptions& generate = options.generate;
  TextToImageOptions images;
  images.temperature = generate.temperature.value_or(images.temperature);
  images.top_k = generate.top_k.value_or(images.top_k);
  images.top_p = generate.top_p.value_or(images.top_p);
  images.seed = generate.seed.value_or(images.seed);
  images.count = generate.n_best.value_or(1);
  GenerateImages(options.folder, options.images, options.compute, images);
}

void Run(const Options& options) {
  const bool images = FamilyOf(OpenModelFolder(options.folder)).kind == ImageGpt::kKind;
  CheckOptions(options, images);
  if (images) return DrawImages(options);
  const TextGenerator generator =
      Loaded([&] { return TextGenerator::Load(options.folder, {.compute = options.compute, .draft = options.draft}); });
  if (options.prompt) RefuseTextOptions(options.source, "PROMPT is one text");
  generator.Generate({}, options.generate);  // checks the options before any input is read
  options.prompt ? RunPrompt(generator, options) : RunFile(generator, options);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "generate", "Continue prompts with a language model, or generate images", Run);
  options.command = &command;
  GenerateOptions& generate = options.generate;
  AddFolder(command, options.folder, "Folder or GGUF file of a language model, or folder of an ImageGPT");
  Option& prompt = command.Add("PROMPT", options.prompt, "Text to continue, which may be empty");
  command
      .AddFile("--file", options.input,
               "File of texts to continue, one per line or as records (see --format), plain or gzip; - is "
               "standard input [-]")
      .Excludes(prompt);
  command.Add("--max-new-tokens", generate.max_new_tokens, AtLeast(1), "Maximum new tokens [the model's, or 128]");
  command.Add("--min-new-tokens", generate.min_new_tokens, AtLeast(0), "Minimum new tokens [the model's, or 0]");
  command.Add("--beam-size", generate.beam_size, Between(1, 1024), "Beams; 1: greedy or sampling [the model's, or 1]");
  command.Add("--length-penalty", generate.length_penalty, AnyNumber(),
              "With beams, score texts by log-probability / length^X [the model's, or 1]");
  command.Add("--n-best", generate.n_best, Between(1, 1024),
              "Write N texts for each prompt, which needs --beam-size N or sampling, or N images [the model's, or 1]");
  AddSamplingOptions(command, generate);
  command.Add("--no-repeat-ngram-size", generate.no_repeat_ngram_size, AtLeast(0),
              "Do not repeat n-grams of this size; 0: no limit [the model's, or 0]");
  command.Add("--stop", generate.stop, "End the text before this string; may be repeated")
      .Check(NotEmpty())
      .Type("TEXT")
      .OneAtATime();
  command.Add("--batch-tokens", generate.batch_tokens, AtLeast(1), "Prompt tokens read at once").ShowDefault();
  command.Add("--json", options.json,
              "Print one JSON object per text: line, prompt, text, finish_reason (\"end\", \"stop\", \"length\" or "
              "\"positions\"), prompt_tokens, tokens, log_probability");
  Describe(command, options.source);
  command.Add("--truncate", options.truncate,
              "Leave out the beginning of a prompt that is too long for the model, with a warning, instead of refusing "
              "it");
  AddSkipErrors(command, options).Excludes(prompt);
  AddComputeOption(command, options.compute, ModelFiles::folders_and_gguf);
  AddDraftOption(command, options.draft);
  AddGenerateImagesOptions(command, options.images);
  command.footer =
      "\nThe continuation is printed without the prompt: that of PROMPT as it is generated, and those of a file "
      "one per line, in order, with a line end as \\n and a backslash as \\\\. Defaults are those of the "
      "model's generation_config.json. Its end tokens always end a text.\n\n"
      "An ImageGPT generates images, or completes those of --image below their upper rows. Pixels are always "
      "sampled, with --temperature, --top-k, --top-p and --seed. Options about texts are errors.\n\n"
      "Examples:\n"
      "  headlight generate gpt2 'The capital of France is' --max-new-tokens 20\n"
      "  headlight generate gpt2 'Once upon a time' --temperature 0.8 --top-p 0.95 --seed 7 --stop '.'\n"
      "  headlight generate gpt2 --file questions.txt --beam-size 4 --json > answers.jsonl\n"
      "  headlight generate imagegpt-small --n-best 16 --out new.png\n"
      "  headlight generate imagegpt-small --image cat.jpg --keep-rows 16 --n-best 4 --seed 7 --out completed.png";
}

}  // namespace headlight::generate
