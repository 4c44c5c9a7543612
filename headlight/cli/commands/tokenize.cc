// headlight tokenize: splits texts into tokens, and decodes token ids.
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/choice.h"
#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/text/token_label.h"
#include "headlight/text/tokenizers/encode_text.h"
#include "headlight/text/tokenizers/esm_tokenizer.h"
#include "headlight/text/tokenizers/load_tokenizer.h"

namespace headlight::tokenize {
namespace {

struct Options : LineOptions {
  std::string folder;
  EncodeOptions encode;
  Side side = Side::source;
  bool ids = false, decode = false;
};

std::string Row(const Tokenizer& tokenizer, const std::string& text, std::int64_t line, const Options& options) {
  const Encoding encoding = EncodeOneText(tokenizer, text, options.encode, options.side);
  if (options.ids) return fmt::format("{}\n", fmt::join(encoding.ids, " "));
  std::vector<std::string> pieces;
  for (const std::int32_t id : encoding.ids) pieces.push_back(tokenizer.Piece(id));
  if (!options.json) {
    for (std::string& piece : pieces) piece = TokenLabel(piece);
    return fmt::format("{}\n", fmt::join(pieces, " "));
  }
  const auto spans = [](const std::vector<TextSpan>& given) {
    Json::Array array;
    for (const TextSpan span : given) array.push_back(Json::Array{span.begin, span.end});
    return array;
  };
  return Json(Json::Object{{"line", line},
                           {"text", text},
                           {"ids", encoding.ids},
                           {"type_ids", encoding.type_ids},
                           {"pieces", pieces},
                           {"byte_spans", spans(encoding.spans)},
                           {"character_spans", spans(CharacterSpans(text, encoding.spans))}})
             .Line() +
         "\n";
}

std::string Text(const Tokenizer& tokenizer, const std::string& line, const std::string& location) {
  std::vector<std::int32_t> ids;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t", at);
    if (begin == std::string::npos) break;
    at = std::min(line.find_first_of(" \t", begin), line.size());
    const std::string number = line.substr(begin, at - begin);
    std::int32_t id = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), id);
    Check(error == std::errc() && end == number.data() + number.size() && id >= 0 && id < tokenizer.size(),
          "{}: {} is not the id of a token in the vocabulary of {}", location, Quoted(number), tokenizer.size());
    ids.push_back(id);
  }
  return tokenizer.Decode(ids) + "\n";
}

std::vector<std::string> Rows(const Tokenizer& tokenizer, const LineBatch& batch, const Options& options) {
  const std::span<const std::string> lines = batch.lines;
  std::vector<std::string> rows(lines.size());
  // Each task processes several lines to amortize the cost of dispatch.
  constexpr std::size_t at_once = 16;
  ParallelFor(static_cast<std::int64_t>((lines.size() + at_once - 1) / at_once), [&](std::int64_t task) {
    const std::size_t begin = static_cast<std::size_t>(task) * at_once;
    for (std::size_t i = begin; i < std::min(begin + at_once, lines.size()); ++i)
      rows[i] = Row(tokenizer, lines[i], batch.first + static_cast<std::int64_t>(i), options);
  });
  return rows;
}

void Run(const Options& given) {
  Options options = given;
  const std::shared_ptr<const Tokenizer> loaded = LoadTokenizer(options.folder);
  options.source.proteins = HasResidueTokens(*loaded);
  options.source.mask = "<mask>";
  const Tokenizer& tokenizer = *loaded;
  Check(options.side == Side::source || HasSides(tokenizer),
        "--side is for folders of a MarianMT, which have two tokenizers; {} has one", options.folder);
  constexpr std::size_t ahead = std::size_t{1} << 20;  // bytes to read in advance
  const auto rows = [&](const LineBatch& batch) {
    if (!options.decode) return Rows(tokenizer, batch, options);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < batch.lines.size(); ++i)
      texts.push_back(Text(tokenizer, batch.lines[i], batch.name_of(i)));
    return texts;
  };
  ForEachLineBatch(options, "lines read", ahead, rows);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "tokenize", "Split text into tokens, or join tokens", Run);
  AddFolder(command, options.folder, "Folder or GGUF file with a tokenizer, such as a model's");
  command.Add("FILE", options.input,
              "Texts, one per line or as records (see --format), plain or gzip; - is standard input [-]");
  Option& ids = command.Add("--ids", options.ids, "Print token ids instead of tokens");
  Option& json = command.Add(
      "--json", options.json,
      "Print one JSON object per line: line, text, ids, type_ids, pieces, and the [start, end) of each token in bytes "
      "and in characters: byte_spans, character_spans");
  Option& decode = command.Add("--decode", options.decode, "Decode lines of token ids into text");
  ids.Excludes(json).Excludes(decode);
  json.Excludes(decode);
  command
      .AddFlag(
          "--no-special", [&value = options.encode.add_special] { value = false; },
          "Do not add the model's special tokens, such as [CLS]")
      .Excludes(decode);
  command
      .AddFlag(
          "--plain", [&value = options.encode.read_special] { value = false; },
          "Tokenize the text of special tokens like any other text")
      .Excludes(decode);
  AddChoice<Side>(command, "--side", options.side, {{"source", Side::source}, {"target", Side::target}},
                  "Tokenize as a source or as a target text, with a MarianMT")
      .Excludes(decode);
  Describe(command, options.source);
  AddSkipErrors(command, options);
  command.footer =
      "\nExamples:\n"
      "  echo 'A dog runs.' | headlight tokenize bert-base-uncased\n"
      "  headlight tokenize gpt2 news.en.gz --ids > news.ids\n"
      "  headlight tokenize gpt2 news.ids --decode\n"
      "  headlight tokenize roberta-base --json < questions";
}

}  // namespace headlight::tokenize
