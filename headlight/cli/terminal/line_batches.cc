#include "headlight/cli/terminal/line_batches.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/option_table.h"
#include "headlight/cli/terminal/line_queue.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/records.h"
#include "headlight/data/text_examples.h"
#include "headlight/protein/sequences.h"

namespace headlight {
namespace {

// A shard's lines are counted first.
void CheckSeekable(const std::string& path) {
  std::error_code ignored;
  Check(path != "-" && !std::filesystem::is_fifo(path, ignored), "--shard: {} can be read only once: name a file",
        path == "-" ? "standard input" : path);
}

class LinePrinter {
 public:
  // `unit`: of what is counted, "line" or "sequence".
  LinePrinter(const LineOptions& options, std::string name, const char* unit, const LineRows& rows,
              const std::string& error_row, std::int64_t before = 0)
      : options_(options), name_(std::move(name)), unit_(unit), rows_(rows), error_row_(error_row) {
    count_.lines = before;
  }

  const LineCount& count() const { return count_; }

  void Print(const QueuedLines& queued) {
    const std::span<const std::string> lines = queued.lines;
    for (std::size_t begin = 0, end; begin < lines.size(); begin = end) {
      for (end = begin; end < lines.size() && (queued.errors.empty() || queued.errors[end].empty()); ++end) continue;
      PrintTexts(lines.subspan(begin, end - begin));
      if (end < lines.size()) PrintError(queued.errors[end++]);
    }
  }

 private:
  // Halves of a batch that fails are tried until the bad lines are alone.
  void PrintTexts(std::span<const std::string> lines) {
    if (lines.empty()) return;
    std::vector<std::string> printed;
    std::string error;
    try {
      const std::int64_t first = count_.lines + 1;
      const auto name_of = [this, first](std::size_t line) { return NameOf(first + static_cast<std::int64_t>(line)); };
      printed = rows_({lines, first, name_of});
    } catch (const Error& bad) {
      if (!options_.skip_errors || bad.blame() != Blame::user) throw;
      error = bad.what();
    }
    if (error.empty()) {
      count_.lines += std::ssize(lines);
      for (const std::string& row : printed) WriteResult(row);
      return;
    }
    if (lines.size() == 1) return PrintError(error);
    PrintTexts(lines.first(lines.size() / 2));
    PrintTexts(lines.subspan(lines.size() / 2));
  }

  void PrintError(std::string error) {
    ++count_.skipped;
    const std::string name = NameOf(++count_.lines) + ": ";
    if (error.starts_with(name)) error.erase(0, name.size());
    if (options_.json) return WriteResult(Json(Json::Object{{"line", count_.lines}, {"error", error}}).Line() + "\n");
    WriteNote("headlight: " + name + error);
    WriteResult(error_row_);
  }

  std::string NameOf(std::int64_t line) const { return fmt::format("{}: {} {}", name_, unit_, line); }

  const LineOptions& options_;
  const std::string name_;
  const char* const unit_;
  const LineRows& rows_;
  const std::string& error_row_;
  LineCount count_;
};

// Prints the rows of items such as sequences or records. `read` returns the next item, or nothing after the last. If
// errors are skipped, a broken item is passed on as its error. `share` is the share of the file that has been read.
void PrintItems(LinePrinter& printer, const std::function<std::optional<std::string>()>& read,
                const std::function<double()>& share, const LineOptions& options, std::size_t bytes_ahead,
                const std::string& label) {
  Progress progress(label);
  std::string last_error;
  for (bool more = true; more;) {
    QueuedLines next;
    for (std::size_t bytes = 0; more && bytes < bytes_ahead;) {
      try {
        std::optional<std::string> item = read();
        more = item.has_value();
        if (!more) break;
        bytes += item->size();
        next.lines.push_back(std::move(*item));
        next.errors.emplace_back();
      } catch (const Error& bad) {
        // The same error again is the file's, not an item's: reading does not go on.
        if (!options.skip_errors || bad.blame() != Blame::user || bad.what() == last_error) throw;
        last_error = bad.what();
        next.lines.emplace_back();
        next.errors.emplace_back(bad.what());
      }
    }
    printer.Print(next);
    FlushResults();
    progress.ShowShare(printer.count().lines, share());
  }
}

// A record's text, or its two texts with a tab between, as a line has them.
std::string LineOf(const JsonView& record) {
  static constexpr std::pair<const char*, const char*> pairs[] = {
      {"text", "text_pair"},   {"sentence1", "sentence2"}, {"premise", "hypothesis"}, {"question1", "question2"},
      {"question", "context"}, {"question", "passage"},    {"question", "sentence"}};
  for (const auto& [first, second] : pairs) {
    if (!record[first].present() || !record[second].present()) continue;
    const std::string texts[] = {TextOf(record[first]), TextOf(record[second])};
    for (const std::string& text : texts)
      Check(text.find('\t') == std::string::npos, "{}: one of two texts has a tab in it", record.place());
    return texts[0] + "\t" + texts[1];
  }
  return TextOf(record["text"]);
}

// Reads past a line; false at the end.
bool Skip(LineReader& reader, bool keep_errors) {
  try {
    return reader.Next().has_value();
  } catch (const Error&) {
    if (!keep_errors) throw;
    return true;
  }
}

LineCount PrintShard(const Shard& shard, const LineOptions& options, const std::string& label, std::size_t bytes_ahead,
                     const LineRows& rows, const std::string& error_row) {
  LineReader all(options.input), reader(options.input);
  while (Skip(all, options.skip_errors)) continue;
  const std::int64_t lines = all.line_number(), begin = shard.begin(lines), end = shard.end(lines);
  while (reader.line_number() < begin) Skip(reader, options.skip_errors);
  LinePrinter printer(options, reader.name(), "line", rows, error_row, begin);
  LineQueue queue(std::move(reader), bytes_ahead, options.skip_errors);
  Progress progress(label);
  while (printer.count().lines < end) {
    QueuedLines next = queue.Next();
    if (next.lines.empty()) break;
    const auto most = static_cast<std::size_t>(end - printer.count().lines);
    if (next.lines.size() > most) next.lines.resize(most);
    if (next.errors.size() > most) next.errors.resize(most);
    printer.Print(next);
    FlushResults();
    progress.Show(printer.count().lines - begin, end - begin);
  }
  return {lines, printer.count().skipped, begin, end};
}

}  // namespace

Option& AddSkipErrors(OptionTable& command, LineOptions& options, ReadBy unit) {
  const char* const what = unit == ReadBy::line ? "line" : unit == ReadBy::image ? "image" : "line or image";
  const char* const place =
      unit == ReadBy::image
          ? ""
          : " and an empty line takes its place, or nothing where the printed lines have numbers or paths";
  return command.Add("--skip-errors", options.skip_errors,
                     fmt::format("Continue after a {0} that cannot be processed: its error goes to standard error{1}; "
                                 "with --json an object with {0} and error; the closing line counts them",
                                 what, place));
}

std::string OneInput(const std::string& folder, const std::vector<std::string>& inputs) {
  Check(inputs.size() <= 1, "{}: this model reads texts, from one FILE; {} are given", folder, inputs.size());
  return inputs.empty() ? "-" : inputs[0];
}

std::pair<std::string, std::string> TwoColumns(const LineBatch& batch, std::size_t line, std::string_view columns) {
  const std::string& text = batch.lines[line];
  const std::size_t tab = text.find('\t');
  Check(tab != std::string::npos && text.find('\t', tab + 1) == std::string::npos,
        "{}: a line is {} with a tab between them", batch.name_of(line), columns);
  return {text.substr(0, tab), text.substr(tab + 1)};
}

LineCount ForEachLineBatch(const LineOptions& options, const std::string& progress, std::size_t bytes_ahead,
                           const LineRows& rows, const std::string& error_row) {
  CheckOutputs({}, {options.input});
  const auto closing = [](const LineCount& count) {
    if (count.skipped > 0) Note("{} of {} lines could not be processed", count.skipped, count.lines);
    return count;
  };
  const auto whole = [&](const LineCount& count) { return closing({count.lines, count.skipped, 0, count.lines}); };
  const Shard shard = ShardOfRun(options.shard);
  if (shard.count > 1) CheckSeekable(options.input);
  const bool sequences = HasSequences(options.input) || options.proteins;
  LineInput lines(ByteInput(Input(options.input)), sequences ? LineInput::Marks::skipped : LineInput::Marks::kept);
  if (HasSequences(options.input) ||
      (options.proteins && (lines.BeginsWith(">") || lines.BeginsWith("\xEF\xBB\xBF>")))) {
    Check(shard.count == 1, "{}: --shard divides lines or images, not sequences", options.input);
    FastaReader reader(std::move(lines));
    LinePrinter printer(options, reader.name(), "sequence", rows, error_row);
    const auto read = [&] {
      std::optional<ProteinSequence> sequence = reader.Next();
      return sequence ? std::optional(std::move(sequence->letters)) : std::nullopt;
    };
    PrintItems(
        printer, read, [&] { return reader.share(); }, options, bytes_ahead, progress);
    return whole(printer.count());
  }
  if (HasRecords(options.input)) {
    Check(ShardOfRun(options.shard).count == 1, "{}: --shard divides lines or images, not records", options.input);
    Records records(options.input);
    LinePrinter printer(options, options.input, "record", rows, error_row);
    const auto read = [&] {
      const std::optional<JsonView> record = records.Next();
      return record ? std::optional(LineOf(*record)) : std::nullopt;
    };
    PrintItems(
        printer, read, [] { return -1.0; }, options, bytes_ahead, progress);
    return whole(printer.count());
  }
  if (shard.count > 1) return closing(PrintShard(shard, options, progress, bytes_ahead, rows, error_row));
  LineReader reader(std::move(lines));
  LinePrinter printer(options, reader.name(), "line", rows, error_row);
  // At a terminal a person types, and sees how far they are.
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
  return whole(printer.count());
}

}  // namespace headlight
