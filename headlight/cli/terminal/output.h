// The program's output: results on standard output, everything else on standard error.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/cli/terminal/quiet.h"

namespace headlight {

// Thrown if the reader of standard output has closed it. The program ends without a message.
struct OutputClosed {};

// Writes results, which are buffered until FlushResults. Both throw Error if writing fails, as on a full disk, and
// OutputClosed.
void WriteResult(std::string_view text);
// Holds back results from now on, for GatherResults (cli/commands/shard.h). For all ranks but the first.
void HoldResults();
std::string& HeldResults();
void FlushResults();

// Throws Error if a file cannot be written to `path`. For use before long work.
void CheckWritable(const std::string& path);

// A file to write, and the option that named it.
struct OutputFile {
  std::string option, path;
};

// Throws Error if an output is one of `inputs` or another output, by any path or link: it would be overwritten.
// Standard output counts if it goes to a file. An input is a file, all files of a model's folder, or - for standard
// input, which may be given once. The file of --config is an input, too. An empty path is ignored, and an output of -
// is refused. For use before anything is written.
void CheckOutputs(const std::vector<OutputFile>& outputs, std::vector<std::string> inputs);
void SetOptionsFile(const std::string& path);

// Returns `path`. If it is - and standard input is a terminal, notes once that the program waits for input.
const std::string& Input(const std::string& path);

// Sets the function that rewrites notes: NameFlags of cli/program/command_tree.h, for the command that runs.
void RewriteNotes(std::function<std::string(const std::string& note)> rewrite);
// Rewrites a message of the library in the same way, for results.
std::string Rewritten(const std::string& message);

// Prints a line to standard error. Control characters except tabs and line ends are escaped.
void WriteNote(const std::string& line);

// Prints a line of information, unless quiet. Failures to write it are ignored.
template <typename... Args>
void Note(fmt::format_string<Args...> format, Args&&... args) {
  if (!Quiet()) WriteNote(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace headlight
