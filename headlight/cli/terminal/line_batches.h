// Runs commands on lines of text: reads a file of texts, and prints rows for each text.
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

// The options that all commands for lines and for images (image_batches.h) share.
struct LineOptions {
  std::string input = "-";
  bool json = false, skip_errors = false;
  bool truncate = false;  // truncates texts that are too long
  TextSource source;      // the format of the input, and the columns of the texts
  Shard shard;
};

enum class ReadBy { line, image, either };

// Binds --skip-errors to `options`, which must outlive the program.
Option& AddSkipErrors(OptionTable& command, LineOptions& options, ReadBy unit = ReadBy::line);

// Adds the option --truncate.
Option& AddTruncate(OptionTable& command, LineOptions& options);
// Prints a note that the text at `location` is truncated to `longest` tokens.
void NoteTruncated(const std::string& location, std::int64_t longest);

// Throws Error if options for text files are given, although no text file is read. `why` is the reason, such as "this
// model reads images".
void RefuseTextOptions(const TextSource& source, std::string_view why);

// Returns the input of a command that reads several image files or one text file. Returns "-" if `inputs` is empty.
std::string OneInput(const std::string& folder, const std::vector<std::string>& inputs);

// A batch of consecutive texts of the input.
struct LineBatch {
  std::span<const std::string> lines;
  std::span<const std::optional<std::string>> seconds;  // the second text of each record with two texts
  bool tabbed = false;                                  // if true, a tab in a line separates two texts
  std::int64_t first = 1;                               // number of the first line in the file
  std::function<std::string(std::size_t)> name_of;      // returns "FILE: line 7" for the index of a line in the batch
};

// Returns the one or two texts of a record, or of a line in which a tab separates two texts. Throws Error with the
// line's name if there are more than two.
SourceText OneOrTwoTexts(const LineBatch& batch, std::size_t line);

// Returns the two texts of a record, or of a line with a tab between them. Throws Error with the line's name unless
// there are two texts. `columns` names the texts in the error, such as "a question and a passage".
std::pair<std::string, std::string> TwoColumns(const LineBatch& batch, std::size_t line, std::string_view columns);

struct LineCount {
  std::int64_t lines = 0, skipped = 0;
  std::int64_t begin = 0, end = 0;  // range of the processed lines; for a shard, only a part of all lines
};

// Returns the number of bytes to read in advance for batches of `batch_tokens` tokens: eight batches at four bytes per
// token.
inline std::size_t BytesAhead(std::int64_t batch_tokens) { return static_cast<std::size_t>(batch_tokens) * 32; }

// Returns the text to print for each line of a batch, with line ends. If the function throws Error, it is called again
// with parts of the batch. It must therefore have no side effects before it throws.
using LineRows = std::function<std::vector<std::string>(const LineBatch& batch)>;

// Reads the texts of options.input with TextReader, or of standard input if it is -. Prints `rows` of each batch in
// input order. Each text counts as a line. `progress` labels the progress line, such as "lines tagged".
//
// With options.skip_errors, the run continues if a line is not a valid text or if `rows` throws Error. With --json, the
// error is printed as an object with `line` and `error`. Otherwise it is printed to standard error. `error_row` is
// printed instead of the line's row: an empty line, or nothing if rows are numbered. The lines of a shard are numbered
// by their position in the file, and the returned count includes all lines.
LineCount ForEachLineBatch(const LineOptions& options, const std::string& progress, std::size_t bytes_ahead,
                           const LineRows& rows, const std::string& error_row = "\n");

}  // namespace headlight
