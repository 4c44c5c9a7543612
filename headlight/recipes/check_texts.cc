// Checks text files.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/json.h"
#include "headlight/base/line_input.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/records.h"
#include "headlight/recipes/check_findings.h"
#include "headlight/recipes/check_rows.h"
#include "headlight/recipes/find_shifts.h"
#include "headlight/text/characters.h"
#include "headlight/text/metrics/tokenize_13a.h"
#include "headlight/text/printable.h"
#include "headlight/text/tokenizers/load_tokenizer.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

bool HasLetter(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
  });
}

// Returns the first control character (except tabs) or byte order mark in a text, or 0. If `lines` is true, line ends
// are allowed.
char32_t ControlIn(std::string_view text, bool lines) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte < 0x7F) continue;
    if (byte == '\t' || (lines && (byte == '\n' || byte == '\r'))) continue;
    if (byte < 0x20 || byte == 0x7F) return byte;
    const auto next = [&](std::size_t by) {
      return i + by < text.size() ? static_cast<unsigned char>(text[i + by]) : 0U;
    };
    if (byte == 0xC2 && next(1) >= 0x80 && next(1) < 0xA0) return next(1);
    if (byte == 0xEF && next(1) == 0xBB && next(2) == 0xBF) return 0xFEFF;
  }
  return 0;
}

// Returns the printable beginning of a text.
std::string Excerpt(std::string_view text) {
  constexpr std::size_t most = 60;  // bytes
  if (text.size() <= most) return InRow(text);
  std::size_t end = most;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return InRow(text.substr(0, end)) + "...";
}

// Collects data from all rows, and finds mistakes.
class TextChecker {
 public:
  TextChecker(const DataCheck& options, const CheckObserver& observer)
      : options_(options), observer_(observer), findings_(options.examples) {
    if (!options.tokenizer.empty()) tokenizer_ = LoadTokenizer(options.tokenizer);
  }

  CheckResult Run() {
    const bool parallel = options_.task == "parallel";
    for (const bool valid : {false, true}) {
      const std::vector<std::string>& files = valid ? options_.valid : options_.files;
      in_valid_ = valid;
      if (files.empty()) continue;
      Check(files_.size() + files.size() < 1U << 16, "there are more than 65535 files");
      Check(!parallel || files.size() == 2, "`task` parallel needs two files, the source's and the target's, not {}",
            files.size());
      if (parallel) {
        ReadParallel(files[0], files[1]);
        continue;
      }
      for (const std::string& path : files) Read(path);
    }
    FindDuplicates();
    CheckLabels();
    return {.unit = parallel || pairs_ ? "pairs"
                    : rows_are_lines_  ? "lines"
                                       : "rows",
            .count = rows_,
            .findings = findings_.Take()};
  }

 private:
  // Counts the rows that have a certain number of columns.
  struct ColumnCount {
    std::int64_t rows = 0;
    std::vector<std::uint64_t> first;
  };

  // Calls next(), which reads a row, until next() returns false. A row that cannot be read is a finding. If the
  // previous error occurs again, the rest of the file is unreadable, for example in a damaged .gz.
  template <typename Next>
  void ForEach(const Next& next) {
    std::string last;
    for (bool more = true; more;) {
      try {
        more = next();
      } catch (const Error& error) {
        if (error.cause() != ErrorCause::user || error.what() == last) throw;
        last = error.what();
        findings_.Add(FindingKind::unreadable, [&] { return last; });
        if (!in_valid_) ++rows_;
      }
    }
  }

  std::uint64_t PlaceOf(std::int64_t line) const {
    return (files_.size() - 1) << 48 | static_cast<std::uint64_t>(line);
  }
  std::string NameOf(std::uint64_t index) const {
    return fmt::format("{}{}", files_[index >> 48], index & ((std::uint64_t{1} << 48) - 1));
  }

  void Read(const std::string& path) {
    files_.push_back(path + ":");
    RowReader reader(path, options_);
    if (reader.has_questions()) files_.back() = path + ": question ";
    rows_are_lines_ = rows_are_lines_ && !reader.has_records() && !reader.is_tabbed();
    std::map<std::size_t, ColumnCount> counts;
    std::int64_t read = 0;
    ForEach([&] {
      ++read;  // also counts rows that cannot be read
      const std::optional<CheckedRow> row = reader.Next();
      if (!row) {
        --read;
        return false;
      }
      const std::uint64_t index = PlaceOf(row->line);
      if (reader.is_tabbed()) {
        ColumnCount& count = counts[row->columns];
        ++count.rows;
        if (std::ssize(count.first) < options_.examples) count.first.push_back(index);
      }
      Add(*row, index, index);
      return true;
    });
    if (read == 0) findings_.Add(FindingKind::empty_files, [&] { return path; });
    if (!counts.empty()) CheckColumns(counts);
  }

  void ReadParallel(const std::string& source_path, const std::string& target_path) {
    for (const std::string& path : {target_path, source_path}) {
      Check(!HasRecords(path), "{}: its rows are records, and in parallel files each line is a text", path);
      files_.push_back(path + ":");
    }
    LineInput sources{ByteInput(source_path)}, targets{ByteInput(target_path)};
    std::string source_error, target_error;
    // Reads the next line. A line that cannot be read is a finding, and is treated as an empty line.
    const auto next = [&](LineInput& lines, std::string& last, bool& bad) -> std::optional<std::string_view> {
      bad = false;
      try {
        return lines.Next();
      } catch (const Error& error) {
        if (error.cause() != ErrorCause::user || error.what() == last) throw;
        last = error.what();
        findings_.Add(FindingKind::unreadable, [&] { return last; });
        bad = true;
        return "";
      }
    };
    std::deque<LineTraits> source_traits, target_traits;
    const bool shifts = options_.shifts && !in_valid_;
    std::int64_t difference = 0;
    for (;;) {
      bool bad_source = false, bad_target = false;
      const auto source = next(sources, source_error, bad_source), target = next(targets, target_error, bad_target);
      if (!source && !target) break;
      if (shifts && source) source_traits.push_back(TraitsOf(*source));
      if (shifts && target) target_traits.push_back(TraitsOf(*target));
      if (!source || !target) {
        ++difference;
      } else if (bad_source || bad_target) {
        if (!in_valid_) ++rows_;
      } else {
        const std::uint64_t index = PlaceOf(sources.line_number());
        Add({.texts = {std::string(*source), std::string(*target)}, .is_pair = true}, index,
            index - (std::uint64_t{1} << 48));
      }
    }
    for (const auto& [path, lines] : {std::pair(&source_path, &sources), {&target_path, &targets}})
      if (lines->line_number() == 0) findings_.Add(FindingKind::empty_files, [path = path] { return *path; });
    if (difference > 0)
      findings_.Add(FindingKind::line_counts, difference,
                    {fmt::format("{} has {}, and {} has {}", source_path, Counted(sources.line_number(), "line"),
                                 target_path, targets.line_number())});
    std::vector<std::string> examples;
    const std::vector<Shift> found = FindShifts(source_traits, target_traits);
    for (const Shift& shift : found)
      examples.push_back(shift.offset == 0
                             ? fmt::format("about {}:{}: the lines are aligned again", source_path, shift.line + 1)
                             : fmt::format("about {}:{}: from here on, line i belongs to line i {} {} of {}",
                                           source_path, shift.line + 1, shift.offset < 0 ? '-' : '+',
                                           std::abs(shift.offset), target_path));
    findings_.Add(FindingKind::shifts, std::ssize(found), std::move(examples));
  }

  // Finds rows with a wrong number of columns. The expected number is two for pairs, and otherwise the most common
  // number.
  void CheckColumns(const std::map<std::size_t, ColumnCount>& counts) {
    std::size_t usual = 2;
    if (options_.task == "labels")
      usual = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second.rows; })->first;
    usual = std::max<std::size_t>(usual, 2);
    for (const auto& [columns, count] : counts) {
      if (columns == usual) continue;
      std::vector<std::string> examples;
      for (const std::uint64_t index : count.first)
        examples.push_back(fmt::format("{}: {} column{}, and {} are expected", NameOf(index), columns,
                                       columns == 1 ? "" : "s", usual));
      findings_.Add(FindingKind::columns, count.rows, std::move(examples));
    }
  }

  void CheckText(std::string_view text, std::uint64_t index, bool has_lines) {
    if (const std::size_t valid = ValidUtf8(text); valid < text.size()) {
      findings_.Add(FindingKind::invalid_utf8,
                    [&] { return fmt::format("{}: byte {} is not UTF-8", NameOf(index), valid); });
      return;
    }
    if (const char32_t code = ControlIn(text, has_lines); code != 0)
      findings_.Add(FindingKind::control_characters,
                    [&] { return fmt::format("{}: U+{:04X}", NameOf(index), static_cast<unsigned>(code)); });
    if (Trimmed(text).empty()) {
      findings_.Add(FindingKind::empty, [&] { return NameOf(index); });
      return;
    }
    const std::int64_t characters = CountCharacters(text);
    if (characters > options_.max_characters) {
      findings_.Add(FindingKind::long_texts,
                    [&] { return fmt::format("{}: {} characters", NameOf(index), characters); });
    } else if (tokenizer_) {
      const std::int64_t tokens = std::ssize(tokenizer_->Encode(text));
      if (tokens > options_.max_tokens)
        findings_.Add(FindingKind::long_texts, [&] { return fmt::format("{}: {} tokens", NameOf(index), tokens); });
    }
  }

  // Adds a row. `second_place` is the location of the target for a pair in two files.
  void Add(const CheckedRow& row, std::uint64_t index, std::uint64_t second_place) {
    if (!in_valid_) ++rows_;
    pairs_ = pairs_ || row.is_pair;
    if (++read_ % 10'000 == 0 && observer_.progress) observer_.progress(read_);
    for (std::size_t i = 0; i < row.texts.size(); ++i)
      CheckText(row.texts[i], i > 0 ? second_place : index, row.has_lines);
    if (row.is_pair) CheckPair(Trimmed(row.texts[0]), Trimmed(row.texts[1]), index);
    for (const std::string& answer : row.wrong_answers)
      findings_.Add(FindingKind::answers, [&] { return fmt::format("{}: {}", NameOf(index), Excerpt(answer)); });
    for (const std::string& label : row.labels) AddLabel(label, index);
    Hash64 hash;
    bool any = false;
    for (const std::string_view text : row.texts) {
      any = any || !Trimmed(text).empty();
      hash.Update(Trimmed(text));
      hash.Update(std::string_view("\0", 1));
    }
    if (any) (in_valid_ ? valid_hashes_ : hashes_).push_back({hash.value(), index});
  }

  void CheckPair(std::string_view source, std::string_view target, std::uint64_t index) {
    if (source.empty() || target.empty()) return;
    if (source == target && HasLetter(source))
      findings_.Add(FindingKind::copies, [&] { return fmt::format("{}: {}", NameOf(index), Excerpt(source)); });
    const auto [shorter, longer] = std::minmax({CountCharacters(source), CountCharacters(target)});
    if (static_cast<double>(longer) > options_.max_ratio * static_cast<double>(shorter))
      findings_.Add(FindingKind::length_ratio, [&] {
        return fmt::format("{}: {} and {} characters", NameOf(index), CountCharacters(source), CountCharacters(target));
      });
  }

  void AddLabel(std::string_view label, std::uint64_t index) {
    if (Trimmed(label).empty()) {
      findings_.Add(FindingKind::empty_labels, [&] { return NameOf(index); });
      return;
    }
    if (ValidUtf8(label) < label.size()) {
      findings_.Add(FindingKind::invalid_utf8, [&] { return NameOf(index) + ": the label is not UTF-8"; });
      return;
    }
    if (!in_valid_) ++labeled_;
    has_numbers_ = has_numbers_ || (label.find('.') != label.npos && NumberOf(label).has_value());
    std::map<std::string, std::int64_t, std::less<>>& labels = in_valid_ ? valid_labels_ : labels_;
    constexpr std::size_t most = 1 << 16;  // larger sets are unlikely to be labels, and would need too much memory
    if (const auto found = labels.find(label); found != labels.end())
      ++found->second;
    else if (labels.size() < most)
      labels.emplace(label, 1);
  }

  // Finds duplicates by sorting the hashes. The duplicates that occur first are reported as examples.
  void FindDuplicates() {
    std::ranges::sort(hashes_);
    std::ranges::sort(valid_hashes_);
    std::int64_t duplicates = 0, leaks = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> first,
        first_leaks;  // heaps with the last location on top
    const auto keep = [&](auto& heap, std::uint64_t index, std::uint64_t earlier) {
      if (options_.examples == 0) return;
      if (std::ssize(heap) == options_.examples) {
        if (heap.front().first < index) return;
        std::ranges::pop_heap(heap);
        heap.pop_back();
      }
      heap.emplace_back(index, earlier);
      std::ranges::push_heap(heap);
    };
    auto valid = valid_hashes_.begin();
    for (auto row = hashes_.begin(); row != hashes_.end();) {
      const HashedRow& earliest = *row;
      while (valid != valid_hashes_.end() && valid->hash < earliest.hash) ++valid;
      for (; valid != valid_hashes_.end() && valid->hash == earliest.hash; ++valid) {
        ++leaks;
        keep(first_leaks, valid->place, earliest.place);
      }
      for (++row; row != hashes_.end() && row->hash == earliest.hash; ++row) {
        ++duplicates;
        keep(first, row->place, earliest.place);
      }
    }
    const auto examples = [&](auto& heap) {
      std::ranges::sort_heap(heap);
      std::vector<std::string> all;
      for (const auto& [index, earlier] : heap) all.push_back(fmt::format("{}: as {}", NameOf(index), NameOf(earlier)));
      return all;
    };
    findings_.Add(FindingKind::duplicates, duplicates, examples(first));
    findings_.Add(FindingKind::leaks, leaks, examples(first_leaks));
  }

  void CheckLabels() {
    if (has_numbers_) return;  // the labels are values for regression
    std::map<std::string, std::vector<std::string>> alike;
    for (const auto& [label, count] : labels_) {
      std::string key;
      const std::string lower = LowerCase(label);
      for (const std::string_view word : SplitAtSpaces(lower)) key.append(word).append(" ");
      alike[key].push_back(fmt::format("{} ({})", Quoted(label), count));
    }
    for (const auto& [key, labels] : alike)
      if (labels.size() > 1)
        findings_.Add(FindingKind::similar_labels,
                      [&same = labels] { return fmt::format("{}", fmt::join(same, ", ")); });
    if (labels_.size() == 1) findings_.Add(FindingKind::one_class, [&] { return Quoted(labels_.begin()->first); });
    constexpr std::int64_t least = 20;  // fewest rows for this finding
    if (labeled_ >= least && std::ssize(labels_) * 2 > labeled_)
      findings_.Add(FindingKind::many_labels, std::ssize(labels_), {Quoted(Excerpt(labels_.begin()->first))});
    if (labels_.empty()) return;
    for (const auto& [label, count] : valid_labels_)
      if (!labels_.contains(label))
        findings_.Add(FindingKind::unknown_classes, [&name = label] { return Quoted(name); });
  }

  const DataCheck& options_;
  const CheckObserver& observer_;
  FindingCollector findings_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<std::string> files_;  // names of the files so far, as printed before line numbers
  bool in_valid_ = false, rows_are_lines_ = true, pairs_ = false, has_numbers_ = false;
  std::int64_t rows_ = 0, read_ = 0, labeled_ = 0;
  std::deque<HashedRow> hashes_, valid_hashes_;  // deques grow without copying
  std::map<std::string, std::int64_t, std::less<>> labels_, valid_labels_;
};

}  // namespace

CheckResult CheckTextFiles(const DataCheck& options, const CheckObserver& observer) {
  return TextChecker(options, observer).Run();
}

}  // namespace headlight
