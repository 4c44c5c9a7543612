// Writes results to standard output, and all other messages to standard error.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/cli/terminal/quiet.h"

namespace headlight {

// Thrown if the reader of standard output has closed it. The program then ends without a message.
struct OutputClosed {};

// Writes results, which are buffered until FlushResults. Both WriteResult and FlushResults throw Error if writing
// fails, for example on a full disk. They throw OutputClosed if the reader has closed standard output.
void WriteResult(std::string_view text);
// Keeps further results in memory for GatherResults (cli/commands/shard.h). Called on all ranks except the first.
void HoldResults();
std::string& HeldResults();
void FlushResults();

// Throws Error if `path` cannot be written. Called before long computations.
void CheckWritable(const std::string& path);

// An output file, and the option that named it.
struct OutputFile {
  std::string option, path;
};

// Throws Error if an output is the same file as one of `inputs` or another output, through any path or link. Standard
// output is checked if it is redirected to a file. An input is a file, a model's folder with all its files, or - for
// standard input, which may be given once. The file of --config is also an input. Empty paths are ignored, and - is an
// invalid output. Called before anything is written.
void CheckOutputs(const std::vector<OutputFile>& outputs, std::vector<std::string> inputs);
void SetOptionsFile(const std::string& path);

// Returns `path`. If `path` is - and standard input is a terminal, prints a note that the program waits for input. The
// note is printed only once.
const std::string& Input(const std::string& path);

// Sets the function that rewrites notes. The function calls NameFlags of cli/program/command_tree.h for the running
// command.
void RewriteNotes(std::function<std::string(const std::string& note)> rewrite);
// Rewrites a message of the library with the function of RewriteNotes.
std::string Rewritten(const std::string& message);

// Prints a line to standard error. Escapes control characters except tabs and line ends.
void WriteNote(const std::string& line);

// Prints a line of information unless the program is quiet. Ignores write errors.
template <typename... Args>
void Note(fmt::format_string<Args...> format, Args&&... args) {
  if (!Quiet()) WriteNote(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace headlight
