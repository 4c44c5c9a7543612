// The check of files of text.
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

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/json.h"
#include "headlight/base/line_input.h"
#include "headlight/data/csv.h"
#include "headlight/data/records.h"
#include "headlight/data/text_examples.h"
#include "headlight/recipes/check_findings.h"
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

// The first character that no text should have, or 0: controls but for tabs, and a byte order mark. `lines`: line ends
// are allowed, too.
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

// What is printed of a text.
std::string Excerpt(std::string_view text) {
  constexpr std::size_t most = 60;  // bytes
  if (text.size() <= most) return InRow(text);
  std::size_t end = most;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return InRow(text.substr(0, end)) + "...";
}

struct Row {
  std::vector<std::string_view> texts;
  bool is_pair = false;
  std::optional<std::string_view> label = {};
  std::uint64_t place = 0;
  std::uint64_t target_place = 0;  // of a pair in two files
  bool has_lines = false;          // a text may have several
};

// All that is read of text, row by row.
class TextChecker {
 public:
  TextChecker(const DataCheck& options, const CheckObserver& observer)
      : options_(options), observer_(observer), findings_(options.examples) {
    if (!options.tokenizer.empty()) tokenizer_ = LoadTokenizer(options.tokenizer);
  }

  CheckResult Run() {
    const bool parallel = options_.format == "parallel";
    for (const bool valid : {false, true}) {
      const std::vector<std::string>& files = valid ? options_.valid : options_.files;
      in_valid_ = valid;
      if (files.empty()) continue;
      Check(files_.size() + files.size() < 1U << 16, "there are more than 65535 files");
      Check(!parallel || files.size() == 2, "`format` parallel needs two files, the source's and the target's, not {}",
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
                    : tabbed_          ? "rows"
                                       : "lines",
            .count = rows_,
            .findings = findings_.Take()};
  }

 private:
  // Calls next(), which reads a row, until it returns false. A row that cannot be read is a finding, but an error that
  // comes again is the file's, such as that of a damaged .gz.
  template <typename Next>
  void ForEach(const Next& next) {
    std::string last;
    for (bool more = true; more;) {
      try {
        more = next();
      } catch (const Error& error) {
        if (error.blame() != Blame::user || error.what() == last) throw;
        last = error.what();
        findings_.Add(FindingKind::unreadable, [&] { return last; });
        if (!in_valid_) ++rows_;
      }
    }
  }

  std::uint64_t PlaceOf(std::int64_t line) const {
    return (files_.size() - 1) << 48 | static_cast<std::uint64_t>(line);
  }
  std::string NameOf(std::uint64_t place) const {
    return fmt::format("{}:{}", files_[place >> 48], place & ((std::uint64_t{1} << 48) - 1));
  }

  void Read(const std::string& path) {
    Check(!HasSequences(path) && !path.ends_with(".json"),
          "{}: text is checked in plain files and in .tsv, .csv and .jsonl, perhaps .gz", path);
    files_.push_back(path);
    if (IsCsv(path)) return ReadCsv(path);
    if (HasRecords(path)) return ReadJsonLines(path);
    Check(!options_.format.empty() || !(path.ends_with(".tsv") || path.ends_with(".tsv.gz")),
          "{}: `format` must say whether its columns are pairs, or texts and their label", path);
    if (options_.format == "pairs" || options_.format == "labels") return ReadTabbed(path);
    LineInput lines{ByteInput(path)};
    ForEach([&] {
      const auto line = lines.Next();
      if (line) Add({.texts = {*line}, .place = PlaceOf(lines.line_number())});
      return line.has_value();
    });
  }

  void ReadParallel(const std::string& source_path, const std::string& target_path) {
    files_.push_back(target_path);
    files_.push_back(source_path);
    LineInput sources{ByteInput(source_path)}, targets{ByteInput(target_path)};
    std::string source_error, target_error;
    // The next line; one that cannot be read is a finding, and empty.
    const auto next = [&](LineInput& lines, std::string& last, bool& bad) -> std::optional<std::string_view> {
      bad = false;
      try {
        return lines.Next();
      } catch (const Error& error) {
        if (error.blame() != Blame::user || error.what() == last) throw;
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
        const std::uint64_t place = PlaceOf(sources.line_number());
        Add({.texts = {*source, *target},
             .is_pair = true,
             .place = place,
             .target_place = place - (std::uint64_t{1} << 48)});
      }
    }
    if (difference > 0)
      findings_.Add(FindingKind::line_counts, difference,
                    {fmt::format("{} has {} lines, and {} has {}", source_path, sources.line_number(), target_path,
                                 targets.line_number())});
    std::vector<std::string> examples;
    const std::vector<Shift> found = FindShifts(source_traits, target_traits);
    for (const Shift& shift : found)
      examples.push_back(shift.offset == 0
                             ? fmt::format("about {}:{}: the lines are in step again", source_path, shift.line + 1)
                             : fmt::format("about {}:{}: from here on, line i belongs to line i {} {} of {}",
                                           source_path, shift.line + 1, shift.offset < 0 ? '-' : '+',
                                           std::abs(shift.offset), target_path));
    findings_.Add(FindingKind::shifts, std::ssize(found), std::move(examples));
  }

  void ReadTabbed(const std::string& path) {
    struct Count {
      std::int64_t rows = 0;
      std::vector<std::uint64_t> first;
    };
    std::map<std::size_t, Count> counts;  // by the number of columns
    const bool labels = options_.format == "labels";
    tabbed_ = true;
    LineInput lines{ByteInput(path)};
    ForEach([&] {
      const auto line = lines.Next();
      if (!line) return false;
      if (line->empty()) return true;
      Row row{.texts = {}, .is_pair = !labels, .place = PlaceOf(lines.line_number())};
      for (std::size_t begin = 0; begin <= line->size();) {
        const std::size_t end = std::min(line->find('\t', begin), line->size());
        row.texts.push_back(line->substr(begin, end - begin));
        begin = end + 1;
      }
      Count& count = counts[row.texts.size()];
      ++count.rows;
      if (std::ssize(count.first) < options_.examples) count.first.push_back(row.place);
      if (labels && row.texts.size() > 1) {
        row.label = row.texts.back();
        row.texts.pop_back();
      }
      row.is_pair = !labels && row.texts.size() == 2;
      Add(row);
      return true;
    });
    if (counts.empty()) return;
    std::size_t usual = 2;
    if (labels)
      usual = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second.rows; })->first;
    usual = std::max<std::size_t>(usual, 2);
    for (const auto& [columns, count] : counts) {
      if (columns == usual) continue;
      std::vector<std::string> examples;
      for (const std::uint64_t place : count.first)
        examples.push_back(fmt::format("{}: {} column{}, where {} are expected", NameOf(place), columns,
                                       columns == 1 ? "" : "s", usual));
      findings_.Add(FindingKind::columns, count.rows, std::move(examples));
    }
  }

  // What the members of a record are. Throws Error unless the row has what the format asks for.
  template <typename Member>
  Row RowOf(const Member& member, std::uint64_t place, const std::string& name) {
    Row row{.texts = {}, .place = place, .has_lines = true};
    const auto take = [&](std::initializer_list<const char*> names) {
      for (const char* one : names)
        if (const std::optional<std::string_view> text = member(one)) row.texts.push_back(*text);
    };
    const std::string& format = options_.format;
    if (format.empty() || format == "pairs") take({"source", "target"});
    row.is_pair = row.texts.size() == 2;
    Check(format != "pairs" || row.is_pair, "{}: there is no source or no target", name);
    if (!row.is_pair) {
      row.texts.clear();
      take({"text", "text_pair", "sentence", "sentence1", "sentence2", "question", "premise", "hypothesis", "question1",
            "question2"});
      if (format != "texts") row.label = member("label");
      if (format != "texts" && !row.label) row.label = member("class");
    }
    pairs_ = pairs_ || row.is_pair;
    Check(format != "labels" || row.label, "{}: there is no label", name);
    Check(!row.texts.empty(),
          "{}: there is no text, by a name that the trainings read, such as text, sentence or source", name);
    return row;
  }

  void ReadCsv(const std::string& path) {
    CsvReader reader(path);
    const std::vector<std::string> header = reader.Next().value_or(std::vector<std::string>());
    Check(!header.empty(), "{}: there is no header, which names the columns", path);
    tabbed_ = true;
    ForEach([&] {
      const auto fields = reader.Next();
      if (!fields) return false;
      const std::string name = reader.place();
      if (fields->size() != header.size()) {
        findings_.Add(FindingKind::columns, [&] {
          return fmt::format("{}: {} fields, where the header has {}", name, fields->size(), header.size());
        });
        if (!in_valid_) ++rows_;
        return true;
      }
      const auto member = [&](std::string_view column) -> std::optional<std::string_view> {
        const auto found = std::ranges::find(header, column);
        if (found == header.end()) return std::nullopt;
        return (*fields)[static_cast<std::size_t>(found - header.begin())];
      };
      Add(RowOf(member, PlaceOf(std::stoll(name.substr(name.rfind(':') + 1))), name));
      return true;
    });
  }

  void ReadJsonLines(const std::string& path) {
    LineInput lines{ByteInput(path)};
    tabbed_ = true;
    ForEach([&] {
      const auto line = lines.Next();
      if (!line) return false;
      if (line->empty()) return true;
      const std::string name = fmt::format("{}:{}", path, lines.line_number());
      const Json record = ParseJson(*line, name);
      Check(record.As<Json::Object>() != nullptr, "{}: expected an object", name);
      std::deque<std::string> numbers;  // labels may be numbers
      const auto member = [&](const char* key) -> std::optional<std::string_view> {
        const Json* const value = record.Find(key);
        if (value == nullptr) return std::nullopt;
        if (const auto* text = value->As<std::string>()) return *text;
        if (const auto* number = value->As<std::int64_t>()) return numbers.emplace_back(std::to_string(*number));
        Fail("{}: key '{}': expected a string", name, key);
      };
      Add(RowOf(member, PlaceOf(lines.line_number()), name));
      return true;
    });
  }

  void CheckText(std::string_view text, std::uint64_t place, bool has_lines) {
    if (const std::size_t valid = ValidUtf8(text); valid < text.size()) {
      findings_.Add(FindingKind::invalid_utf8,
                    [&] { return fmt::format("{}: byte {} is not UTF-8", NameOf(place), valid); });
      return;
    }
    if (const char32_t code = ControlIn(text, has_lines); code != 0)
      findings_.Add(FindingKind::control_characters,
                    [&] { return fmt::format("{}: U+{:04X}", NameOf(place), static_cast<unsigned>(code)); });
    if (Trimmed(text).empty()) {
      findings_.Add(FindingKind::empty, [&] { return NameOf(place); });
      return;
    }
    const std::int64_t characters = CountCharacters(text);
    if (characters > options_.max_characters) {
      findings_.Add(FindingKind::long_texts,
                    [&] { return fmt::format("{}: {} characters", NameOf(place), characters); });
    } else if (tokenizer_) {
      const std::int64_t tokens = std::ssize(tokenizer_->Encode(text));
      if (tokens > options_.max_tokens)
        findings_.Add(FindingKind::long_texts, [&] { return fmt::format("{}: {} tokens", NameOf(place), tokens); });
    }
  }

  void Add(const Row& row) {
    if (!in_valid_) ++rows_;
    if (++read_ % 10'000 == 0 && observer_.progress) observer_.progress(read_);
    for (std::size_t i = 0; i < row.texts.size(); ++i)
      CheckText(row.texts[i], i > 0 && row.target_place > 0 ? row.target_place : row.place, row.has_lines);
    if (row.is_pair) CheckPair(Trimmed(row.texts[0]), Trimmed(row.texts[1]), row.place);
    if (row.label) AddLabel(*row.label, row.place);
    Hash64 hash;
    bool any = false;
    for (const std::string_view text : row.texts) {
      any = any || !Trimmed(text).empty();
      hash.Update(Trimmed(text));
      hash.Update(std::string_view("\0", 1));
    }
    if (any) (in_valid_ ? valid_hashes_ : hashes_).push_back({hash.value(), row.place});
  }

  void CheckPair(std::string_view source, std::string_view target, std::uint64_t place) {
    if (source.empty() || target.empty()) return;
    if (source == target && HasLetter(source))
      findings_.Add(FindingKind::copies, [&] { return fmt::format("{}: {}", NameOf(place), Excerpt(source)); });
    const auto [shorter, longer] = std::minmax({CountCharacters(source), CountCharacters(target)});
    if (static_cast<double>(longer) > options_.max_ratio * static_cast<double>(shorter))
      findings_.Add(FindingKind::length_ratio, [&] {
        return fmt::format("{}: {} and {} characters", NameOf(place), CountCharacters(source), CountCharacters(target));
      });
  }

  void AddLabel(std::string_view label, std::uint64_t place) {
    if (Trimmed(label).empty()) {
      findings_.Add(FindingKind::empty_labels, [&] { return NameOf(place); });
      return;
    }
    if (ValidUtf8(label) < label.size()) {
      findings_.Add(FindingKind::invalid_utf8, [&] { return NameOf(place) + ": the label is not UTF-8"; });
      return;
    }
    if (!in_valid_) ++labelled_;
    std::map<std::string, std::int64_t, std::less<>>& labels = in_valid_ ? valid_labels_ : labels_;
    constexpr std::size_t most = 1 << 16;  // more are no labels, and would need too much memory
    if (const auto found = labels.find(label); found != labels.end())
      ++found->second;
    else if (labels.size() < most)
      labels.emplace(label, 1);
  }

  // Both lists are sorted. Of duplicates the first places are examples.
  void FindDuplicates() {
    std::ranges::sort(hashes_);
    std::ranges::sort(valid_hashes_);
    std::int64_t duplicates = 0, leaks = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> first, first_leaks;  // heaps of places, the last one on top
    const auto keep = [&](auto& heap, std::uint64_t place, std::uint64_t earlier) {
      if (options_.examples == 0) return;
      if (std::ssize(heap) == options_.examples) {
        if (heap.front().first < place) return;
        std::ranges::pop_heap(heap);
        heap.pop_back();
      }
      heap.emplace_back(place, earlier);
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
      for (const auto& [place, earlier] : heap) all.push_back(fmt::format("{}: as {}", NameOf(place), NameOf(earlier)));
      return all;
    };
    findings_.Add(FindingKind::duplicates, duplicates, examples(first));
    findings_.Add(FindingKind::leaks, leaks, examples(first_leaks));
  }

  void CheckLabels() {
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
    constexpr std::int64_t least = 20;  // rows that tell
    if (labelled_ >= least && std::ssize(labels_) * 2 > labelled_)
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
  std::vector<std::string> files_;  // that were begun
  bool in_valid_ = false, tabbed_ = false, pairs_ = false;
  std::int64_t rows_ = 0, read_ = 0, labelled_ = 0;
  std::deque<HashedRow> hashes_, valid_hashes_;  // which grow without copies
  std::map<std::string, std::int64_t, std::less<>> labels_, valid_labels_;
};

}  // namespace

CheckResult CheckTextFiles(const DataCheck& options, const CheckObserver& observer) {
  return TextChecker(options, observer).Run();
}

}  // namespace headlight
