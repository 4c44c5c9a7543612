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

// Thrown when the reader of standard output has closed it: the program ends without a message.
struct OutputClosed {};

// Writes results, buffered until FlushResults. Both throw Error where writing fails, as on a full disk, and
// OutputClosed.
void WriteResult(std::string_view text);
// From now on results are held back, as on all ranks but the first: for GatherResults (cli/commands/shard.h).
void HoldResults();
std::string& HeldResults();
void FlushResults();

// Throws Error where a file cannot be written to `path`. For use before long work.
void CheckWritable(const std::string& path);

// A file to write, and the option that named it.
struct OutputFile {
  std::string option, path;
};

// Throws Error where an output, or standard output if it goes to a file, is one of `inputs` or another output, by
// whatever path or link: it would be overwritten. An input is a file, a model's folder, whose files count, or - for
// standard input, which can be given once; the file of --config is one, too. An empty path is none; an output of - is
// refused. For use before anything is written.
void CheckOutputs(const std::vector<OutputFile>& outputs, std::vector<std::string> inputs);
void SetOptionsFile(const std::string& path);

// Returns `path` after a note, once, where it is - and standard input is a terminal, at which the program now waits.
const std::string& Input(const std::string& path);

// From now on notes are what this makes of them: NameFlags in cli/program/command_tree.h, of the command that runs.
void RewriteNotes(std::function<std::string(const std::string& note)> rewrite);
// A message of the library as notes have it, for results.
std::string Rewritten(const std::string& message);

// Prints a line to standard error, escaped likewise but for tabs and line ends.
void WriteNote(const std::string& line);

// Prints a line of information, unless quiet. Failures to write it are ignored.
template <typename... Args>
void Note(fmt::format_string<Args...> format, Args&&... args) {
  if (!Quiet()) WriteNote(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace headlight
