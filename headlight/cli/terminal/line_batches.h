// Commands over lines: they read a file, and print rows for each of its lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/option_table.h"
#include "headlight/cli/commands/shard.h"
#include "headlight/data/text_reader.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headlight {

// The options of all commands over lines, and of those over images (image_batches.h).
struct LineOptions {
  std::string input = "-";
  bool json = false, skip_errors = false;
  bool truncate = false;  // texts that are too long
  TextSource source;      // the format of the input, and the columns of the texts
  Shard shard;            // of the lines or images
};

enum class ReadBy { line, image, either };

// Binds --skip-errors to `options`, which must outlive the program.
Option& AddSkipErrors(OptionTable& command, LineOptions& options, ReadBy unit = ReadBy::line);

// Binds --truncate.
Option& AddTruncate(OptionTable& command, LineOptions& options);
// Notes that the end of the text at `place` is left out.
void NoteTruncated(const std::string& place, std::int64_t longest);

// Throws Error for options about files of texts, if no such file is read. `why`: such as "this model reads images".
void RefuseTextOptions(const TextSource& source, std::string_view why);

// The input of a command that reads several files of images or one file of texts; - if there is none.
std::string OneInput(const std::string& folder, const std::vector<std::string>& inputs);

// Consecutive texts of the input.
struct LineBatch {
  std::span<const std::string> lines;
  std::span<const std::optional<std::string>> seconds;  // the second text of each record that has two
  bool tabbed = false;                                  // the texts are lines, in which a tab divides two texts
  std::int64_t first = 1;                               // number of the first line
  std::function<std::string(std::size_t)> name_of;      // "FILE: line 7" of a line, by its index in the batch
};

// A line as one text, or as two, of a record or with a tab between them. Throws Error naming the line for more.
SourceText OneOrTwoTexts(const LineBatch& batch, std::size_t line);

// A line as two texts, of a record or with a tab between them. Throws Error naming the line unless there are two.
// `columns` names them in the error, such as "a question and a passage".
std::pair<std::string, std::string> TwoColumns(const LineBatch& batch, std::size_t line, std::string_view columns);

struct LineCount {
  std::int64_t lines = 0, skipped = 0;
  std::int64_t begin = 0, end = 0;  // of the lines that were processed: all, or those of a shard
};

// Bytes to read ahead for batches of `batch_tokens` tokens: eight batches at four bytes per token.
inline std::size_t BytesAhead(std::int64_t batch_tokens) { return static_cast<std::size_t>(batch_tokens) * 32; }

// Returns the text to print for each line of a batch, with line ends. It may be called again with a part of a batch
// for which it threw Error, and so must have no effect before it throws.
using LineRows = std::function<std::vector<std::string>(const LineBatch& batch)>;

// Reads the texts of options.input (TextReader), or of standard input if it is -, and prints `rows` of each batch as
// soon as they are ready. Each text counts as a line. `progress` labels the progress line, such as "lines tagged".
//
// With options.skip_errors a line that is no text, or for which `rows` throws Error, does not end the run. Its error is
// printed instead: an object with `line` and `error`, or without --json a line on standard error. `error_row` is then
// printed instead of its row: an empty line, or nothing if rows have numbers. A shard's lines keep their numbers in the
// file, and the count is of all lines.
LineCount ForEachLineBatch(const LineOptions& options, const std::string& progress, std::size_t bytes_ahead,
                           const LineRows& rows, const std::string& error_row = "\n");

}  // namespace headlight
