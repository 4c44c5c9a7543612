// Commands over lines: a file in, for each of its lines the rows that are printed.
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

// The options that every such command has, and those over images (image_batches.h).
struct LineOptions {
  std::string input = "-";
  bool json = false, skip_errors = false;
  bool truncate = false;  // texts that are too long
  TextSource source;      // where the texts are in the input
  Shard shard;            // of the lines or images
};

enum class ReadBy { line, image, either };

// Binds --skip-errors to `options`, which must outlive the program.
Option& AddSkipErrors(OptionTable& command, LineOptions& options, ReadBy unit = ReadBy::line);

// Binds --truncate.
Option& AddTruncate(OptionTable& command, LineOptions& options);
// Says that the end of the text at `place` is left out.
void NoteTruncated(const std::string& place, std::int64_t longest);

// Throws Error for options that say how a file of texts is read, if none is; `why`: such as "this model reads images".
void RefuseTextOptions(const TextSource& source, std::string_view why);

// The input of a command that reads several files where they are images, and of texts one: - where there is none.
std::string OneInput(const std::string& folder, const std::vector<std::string>& inputs);

// Texts of the input, one after another.
struct LineBatch {
  std::span<const std::string> lines;
  std::span<const std::optional<std::string>> seconds;  // of each, the second text of a record that has two
  bool tabbed = false;                                  // the texts are lines, in which a tab divides two texts
  std::int64_t first = 1;                               // number of the first line
  std::function<std::string(std::size_t)> name_of;      // "FILE: line 7" for a line by its index in the batch
};

// A text, or two of a record or with a tab between them. Throws Error naming the line for more.
SourceText OneOrTwoTexts(const LineBatch& batch, std::size_t line);

// Two texts of a record or with a tab between them. Throws Error naming the line unless there are two; `columns` names
// them in that error, such as "a question and a passage".
std::pair<std::string, std::string> TwoColumns(const LineBatch& batch, std::size_t line, std::string_view columns);

struct LineCount {
  std::int64_t lines = 0, skipped = 0;
  std::int64_t begin = 0, end = 0;  // of the lines that were processed: all, or those of a shard
};

// Bytes to read ahead for batches of `batch_tokens`: eight batches at four bytes per token.
inline std::size_t BytesAhead(std::int64_t batch_tokens) { return static_cast<std::size_t>(batch_tokens) * 32; }

// The text to print for each line of a batch, with line ends. May be called again with a part of a batch for which it
// threw Error, and so must have no effect before it throws.
using LineRows = std::function<std::vector<std::string>(const LineBatch& batch)>;

// Reads the texts of options.input (TextReader), or of standard input if it is -, and prints their `rows` as they
// come; a text counts as a line. Results are flushed after each batch. `progress` labels the progress line, such as
// "lines tagged".
//
// With options.skip_errors a line for which `rows` throws Error, or which is no text, does not end the run: its error
// is printed in its place, as an object with `line` and `error`, or else to standard error with `error_row` in its
// place: an empty line where the command prints a row for each line, nothing where its rows are numbered.
// Of a shard only its lines are printed, under the numbers that they have in the file. The count is of all lines.
LineCount ForEachLineBatch(const LineOptions& options, const std::string& progress, std::size_t bytes_ahead,
                           const LineRows& rows, const std::string& error_row = "\n");

}  // namespace headlight
