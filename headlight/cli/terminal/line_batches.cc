#include "headlight/cli/terminal/line_batches.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/option_table.h"
#include "headlight/cli/terminal/line_queue.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"

namespace headlight {
namespace {

// Throws Error if the file cannot be read twice. For a shard, the lines are counted before they are processed.
void CheckSeekable(const std::string& path) {
  std::error_code ignored;
  Check(path != "-" && !std::filesystem::is_fifo(path, ignored),
        "{} can be read only once: with --shard or mpirun the input must be a file",
        path == "-" ? "standard input" : path);
}

class LinePrinter {
 public:
  LinePrinter(const LineOptions& options, const TextReader& reader, const LineRows& rows, const std::string& error_row,
              std::int64_t before = 0)
      : options_(options),
        name_(reader.name()),
        unit_(reader.unit()),
        tabbed_(reader.has_lines()),
        rows_(rows),
        error_row_(error_row) {
    count_.lines = before;
  }

  const LineCount& count() const { return count_; }

  void Print(const QueuedLines& queued) {
    const std::span<const std::string> lines = queued.lines;
    for (std::size_t begin = 0, end; begin < lines.size(); begin = end) {
      for (end = begin; end < lines.size() && (queued.errors.empty() || queued.errors[end].empty()); ++end) continue;
      PrintTexts(lines.subspan(begin, end - begin), std::span(queued.seconds).subspan(begin, end - begin));
      if (end < lines.size()) PrintError(queued.errors[end++]);
    }
  }

 private:
  // Prints the rows of a batch. If the batch fails, it is halved repeatedly until each part has one line.
  void PrintTexts(std::span<const std::string> lines, std::span<const std::optional<std::string>> seconds) {
    if (lines.empty()) return;
    std::vector<std::string> printed;
    std::string error;
    try {
      const std::int64_t first = count_.lines + 1;
      const auto name_of = [this, first](std::size_t line) { return NameOf(first + static_cast<std::int64_t>(line)); };
      printed = rows_({lines, seconds, tabbed_, first, name_of});
    } catch (const Error& bad) {
      if (!options_.skip_errors || bad.cause() != ErrorCause::user) throw;
      error = bad.what();
    }
    if (error.empty()) {
      count_.lines += std::ssize(lines);
      for (const std::string& row : printed) WriteResult(row);
      return;
    }
    if (lines.size() == 1) return PrintError(error);
    const std::size_t half = lines.size() / 2;
    PrintTexts(lines.first(half), seconds.first(half));
    PrintTexts(lines.subspan(half), seconds.subspan(half));
  }

  void PrintError(std::string error) {
    ++count_.skipped;
    const std::string name = NameOf(++count_.lines) + ": ";
    // The error message of a record already begins with the file and line, such as "a.jsonl:7: ".
    const bool placed = error.starts_with(name_ + ":") && !error.starts_with(name);
    if (error.starts_with(name)) error.erase(0, name.size());
    if (options_.json)
      return WriteResult(Json(Json::Object{{"line", count_.lines}, {"error", Rewritten(error)}}).Line() + "\n");
    WriteNote("headlight: " + (placed ? "" : name) + error);
    WriteResult(error_row_);
  }

  std::string NameOf(std::int64_t line) const { return fmt::format("{}: {} {}", name_, unit_, line); }

  const LineOptions& options_;
  const std::string name_;
  const char* const unit_;
  const bool tabbed_;
  const LineRows& rows_;
  const std::string& error_row_;
  LineCount count_;
};

// Skips a text. Returns false at the end of the file.
bool Skip(TextReader& reader, bool keep_errors) {
  const std::int64_t before = reader.count();
  try {
    return reader.Next().has_value();
  } catch (const Error&) {
    if (!keep_errors || reader.count() == before) throw;
    return true;
  }
}

// Counts all lines or records, but processes only the shard.
LineCount PrintShard(const Shard& shard, const LineOptions& options, const std::string& label, std::size_t bytes_ahead,
                     const LineRows& rows, const std::string& error_row) {
  TextReader all(options.input, options.source), reader(options.input, options.source);
  while (Skip(all, options.skip_errors)) continue;
  const std::int64_t lines = all.count(), begin = shard.begin(lines), end = shard.end(lines);
  while (reader.count() < begin) Skip(reader, options.skip_errors);
  LinePrinter printer(options, reader, rows, error_row, begin);
  LineQueue queue(std::move(reader), bytes_ahead, options.skip_errors);
  Progress progress(label);
  while (printer.count().lines < end) {
    QueuedLines next = queue.Next();
    if (next.lines.empty()) break;
    const auto most = static_cast<std::size_t>(end - printer.count().lines);
    if (next.lines.size() > most) next.lines.resize(most);
    printer.Print(next);
    FlushResults();
    progress.Show(printer.count().lines - begin, end - begin);
  }
  return {lines, printer.count().skipped, begin, end};
}

}  // namespace

Option& AddSkipErrors(OptionTable& command, LineOptions& options, ReadBy unit) {
  const char* const what = unit == ReadBy::line ? "line" : unit == ReadBy::image ? "image" : "line or image";
  const char* const location =
      unit == ReadBy::image ? "" : ", and an empty line is printed unless the lines have numbers or paths";
  return command.Add(
      "--skip-errors", options.skip_errors,
      fmt::format("Continue after {2} {0} that cannot be processed; its error goes to standard error{1}, or "
                  "with --json is an object with {0} and error",
                  what, location, unit == ReadBy::image ? "an" : "a"));
}

Option& AddTruncate(OptionTable& command, LineOptions& options) {
  return command.Add("--truncate", options.truncate,
                     "Leave out the end of a text that is too long for the model, with a warning, instead of refusing "
                     "it");
}

void NoteTruncated(const std::string& location, std::int64_t longest) {
  Note("{}: the model reads {} tokens at once: its end is left out", location, longest);
}

void RefuseTextOptions(const TextSource& source, std::string_view why) {
  Check(!source.format, "`format` is for files of texts: {}", why);
  Check(source.columns.text.empty(), "`text_column` is for files of texts: {}", why);
  Check(source.columns.text_pair.empty(), "`text_pair_column` is for files of texts: {}", why);
}

std::string OneInput(const std::string& folder, const std::vector<std::string>& inputs) {
  Check(inputs.size() <= 1, "{}: this model reads texts, from one FILE; {} are given", folder, inputs.size());
  return inputs.empty() ? "-" : inputs[0];
}

SourceText OneOrTwoTexts(const LineBatch& batch, std::size_t line) {
  const std::string& text = batch.lines[line];
  const std::size_t tab = batch.tabbed ? text.find('\t') : std::string::npos;
  if (tab == std::string::npos) return {text, batch.seconds[line]};
  Check(text.find('\t', tab + 1) == std::string::npos,
        "{}: it has more than one tab; a line is a text, or two with a tab between them", batch.name_of(line));
  return {text.substr(0, tab), text.substr(tab + 1)};
}

std::pair<std::string, std::string> TwoColumns(const LineBatch& batch, std::size_t line, std::string_view columns) {
  const std::string& text = batch.lines[line];
  if (!batch.tabbed) {
    Check(batch.seconds[line].has_value(), "{}: it has one text, and {} are needed", batch.name_of(line), columns);
    return {text, *batch.seconds[line]};
  }
  const std::size_t tab = text.find('\t');
  Check(tab != std::string::npos && text.find('\t', tab + 1) == std::string::npos,
        "{}: a line is {} with a tab between them", batch.name_of(line), columns);
  return {text.substr(0, tab), text.substr(tab + 1)};
}

LineCount ForEachLineBatch(const LineOptions& options, const std::string& progress, std::size_t bytes_ahead,
                           const LineRows& rows, const std::string& error_row) {
  CheckOutputs({}, {options.input});
  const auto closing = [](const LineCount& count) {
    if (count.skipped > 0) Note("{} of {} could not be processed", count.skipped, Counted(count.lines, "line"));
    return count;
  };
  const Shard shard = ShardOfRun(options.shard);
  if (shard.count > 1) CheckSeekable(options.input);
  Check(options.input == "-" || Exists(options.input),
        "{}: there is no such file; texts are read from a file, or from standard input (-)", options.input);
  TextReader reader(Input(options.input), options.source);
  if (shard.count > 1) {
    Check(!reader.has_sequences(), "{}: --shard divides lines or images, not sequences", options.input);
    return closing(PrintShard(shard, options, progress, bytes_ahead, rows, error_row));
  }
  LinePrinter printer(options, reader, rows, error_row);
  // Interactive input needs no progress line.
  const bool typed = options.input == "-" && isatty(STDIN_FILENO) == 1;
  LineQueue queue(std::move(reader), bytes_ahead, options.skip_errors);
  std::optional<Progress> shown;
  if (!typed) shown.emplace(progress);
  for (QueuedLines next = queue.Next(); !next.lines.empty(); next = queue.Next()) {
    printer.Print(next);
    FlushResults();
    if (shown) shown->ShowShare(printer.count().lines, next.share);
  }
  shown.reset();
  return closing({printer.count().lines, printer.count().skipped, 0, printer.count().lines});
}

}  // namespace headlight
