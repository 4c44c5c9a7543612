#include "headlight/protein/alignment.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/protein/residues.h"
#include "headlight/protein/sequence_lines.h"

namespace headlight {
namespace {

constexpr std::size_t kMostHeldLetters = std::size_t{1} << 30;

bool IsStockholmGap(char c) { return c == '-' || c == '.' || c == '_' || c == '~'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

// Parses comma-separated numbers from 1 to kMost. Returns an empty vector for any other text.
std::vector<std::int64_t> NumbersOf(std::string_view text) {
  constexpr std::int64_t kMost = 1 << 20;
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::string_view part = text.substr(begin, text.find(',', begin) - begin);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || number < 1 || number > kMost) return {};
    numbers.push_back(number);
    begin += part.size() + 1;
  }
  return numbers;
}

}  // namespace

AlignmentReader::AlignmentReader(const std::string& path, AlignmentOptions options)
    : lines_(ByteInput(path), LineInput::Marks::skipped), options_(std::move(options)) {
  options_.query = LettersOf(options_.query, "the sequence");
  while (const auto line = lines_.Next()) {
    const std::string_view text = Trimmed(*line);
    if (text.empty()) continue;
    if (text.starts_with("# STOCKHOLM")) {
      stockholm_ = true;
      ReadStockholm();
      return;
    }
    if (text.starts_with('#')) {
      ReadComment(text);
      continue;
    }
    Check(text.starts_with('>'), "{}: line {}: an alignment begins with > (A3M, A2M, FASTA) or # STOCKHOLM, not {}",
          name(), lines_.line_number(), Quoted(text));
    header_ = Trimmed(text.substr(1));
    header_line_ = lines_.line_number();
    return;
  }
  Fail("{}: no alignment: the file is empty", name());
}

// Checks a line that begins with #, as in the output of HHblits and ColabFold. ColabFold's line #LENGTHS<tab>COPIES
// describes the chains of the query, such as "#12,8<tab>1,1" or "#20<tab>2". Throws Error for more than one chain.
void AlignmentReader::ReadComment(std::string_view line) const {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return;
  const std::vector<std::int64_t> lengths = NumbersOf(line.substr(1, tab - 1)),
                                  copies = NumbersOf(line.substr(tab + 1));
  if (lengths.empty() || copies.size() != lengths.size()) return;
  const std::int64_t chains = std::accumulate(copies.begin(), copies.end(), std::int64_t{0});
  Check(chains == 1,
        "{}: line {}: {} is ColabFold's header of a complex of {} chains; only single chains are supported", name(),
        lines_.line_number(), Quoted(line), chains);
}

AlignmentReader::Text AlignmentReader::TakeFasta() {
  Text text{std::exchange(header_, {}), {}, fmt::format("{}: line {}", name(), std::exchange(header_line_, 0))};
  while (const auto line = lines_.Next()) {
    const std::string_view part = Trimmed(*line);
    if (part.starts_with('>')) {
      header_ = Trimmed(part.substr(1));
      header_line_ = lines_.line_number();
      break;
    }
    if (part.starts_with('#')) {
      ReadComment(part);
      continue;
    }
    if (text.letters.size() + part.size() > kMostResidues)
      Fail("{}: {} has more than {} letters", text.place, Quoted(text.name), kMostResidues);
    text.letters += part;
  }
  return text;
}

void AlignmentReader::ReadStockholm() {
  std::unordered_map<std::string, std::size_t> rows;
  std::size_t letters = 0;
  bool ended = false;
  while (const auto line = lines_.Next()) {
    const std::string_view text = Trimmed(*line);
    if (text.empty() || text.starts_with('#')) continue;
    const auto location = [&] { return fmt::format("{}: line {}", name(), lines_.line_number()); };
    if (ended) Fail("{}: there is text after the // that ends the alignment; a file holds one", location());
    if (text == "//") {
      ended = true;
      continue;
    }
    const std::size_t name_end = text.find_first_of(" \t");
    if (name_end == std::string_view::npos) Fail("{}: a Stockholm line must be a name, spaces and letters", location());
    const std::string row_name(text.substr(0, name_end));
    const std::string_view part = Trimmed(text.substr(name_end));
    const auto found = rows.find(row_name);
    const std::size_t row = found == rows.end() ? held_.size() : found->second;
    if (found == rows.end()) {
      if (static_cast<std::int64_t>(held_.size()) >= options_.most_rows) continue;
      rows.emplace(row_name, row);
      held_.push_back({row_name, {}, fmt::format("{}: row {}", name(), row + 1)});
      letters += row_name.size() + sizeof(Text);
    }
    letters += part.size();
    if (held_[row].letters.size() + part.size() > kMostResidues)
      Fail("{}: {} has more than {} letters", location(), Quoted(row_name), kMostResidues);
    if (letters > kMostHeldLetters)
      Fail("{}: the alignment has more than {} letters; reduce the number of rows", location(), kMostHeldLetters);
    held_[row].letters += part;
  }
  Check(ended, "{}: the alignment ends without the line // : the file is truncated", name());
  Check(!held_.empty(), "{}: the alignment has no rows", name());
}

std::optional<AlignmentReader::Text> AlignmentReader::NextText() {
  if (rows_ >= options_.most_rows) return std::nullopt;
  while (!stockholm_ && header_line_ != 0)
    if (Text text = TakeFasta(); !IsAnnotation(text.name)) return text;
  if (!stockholm_) {
    Check(rows_ > 0, "{}: no alignment: all its rows are annotations, such as ss_pred", name());
    return std::nullopt;
  }
  if (rows_ == static_cast<std::int64_t>(held_.size())) return std::nullopt;
  return std::move(held_[static_cast<std::size_t>(rows_)]);
}

// Records which columns of the first row, `aligned`, have a residue, and compares the residues with the expected query.
// `aligned` has upper-case letters and '-'.
void AlignmentReader::TakeQuery(const std::string& aligned, const Text& text) {
  std::string letters;
  kept_.reserve(aligned.size());
  for (const char c : aligned) {
    kept_.push_back(c != '-');
    if (c != '-') letters += c;
  }
  columns_ = static_cast<std::int64_t>(letters.size());
  Check(columns_ > 0, "{}: the query, {}, has no residues", text.place, Quoted(text.name));
  if (options_.query.empty()) return;
  Check(letters.size() == options_.query.size(),
        "{}: the alignment's query, {}, has {} residues, but the sequence has {}", text.place, Quoted(text.name),
        letters.size(), options_.query.size());
  for (std::size_t i = 0; i < letters.size(); ++i) {
    Check(letters[i] == UpperCase(options_.query[i]),
          "{}: the alignment's query, {}, has {} as residue {}, but the sequence has {}", text.place, Quoted(text.name),
          letters[i], i + 1, options_.query[i]);
  }
}

AlignmentRow AlignmentReader::Parse(const Text& text) {
  // The letters in the columns of the file, and the number of insertions before each column.
  std::string aligned;
  std::vector<std::int32_t> inserted;
  std::int32_t pending = 0;
  std::string_view letters = Trimmed(text.letters);
  if (letters.ends_with('*')) letters.remove_suffix(1);
  const bool lower_query = rows_ == 0 && std::ranges::any_of(letters, IsLower) &&
                           std::ranges::none_of(letters, [](char c) { return IsLetter(c) && !IsLower(c); });
  const bool any_case = stockholm_ || lower_query;
  for (const char c : letters) {
    if (IsBlank(c)) continue;
    if (IsLetter(c) && (any_case || !IsLower(c))) {
      aligned += UpperCase(c);
    } else if (stockholm_ ? IsStockholmGap(c) : c == '-') {
      aligned += '-';
    } else if (IsLower(c)) {
      ++pending;
      continue;
    } else {
      if (c != '.') Fail("{}: {}: {} is neither a letter nor a gap", text.place, Quoted(text.name), Shown(c));
      continue;
    }
    inserted.push_back(std::exchange(pending, 0));
  }
  if (rows_ == 0) TakeQuery(aligned, text);
  if (aligned.size() != kept_.size())
    Fail("{}: {} has {} columns, but the query has {}", text.place, Quoted(text.name), aligned.size(), kept_.size());
  AlignmentRow row{text.name, {}, {}};
  row.residues.reserve(static_cast<std::size_t>(columns_));
  row.deletions.reserve(static_cast<std::size_t>(columns_));
  std::int32_t before = 0;
  for (std::size_t i = 0; i < aligned.size(); ++i) {
    before += inserted[i];
    const bool gap = aligned[i] == '-';
    if (!kept_[i]) {
      before += gap ? 0 : 1;
      continue;
    }
    row.residues.push_back(static_cast<std::uint8_t>(gap ? kGap : ResidueOfAnyLetter(aligned[i]).value()));
    row.deletions.push_back(std::exchange(before, 0));
  }
  return row;
}

std::optional<AlignmentRow> AlignmentReader::Next() {
  const std::optional<Text> text = NextText();
  if (!text) return std::nullopt;
  AlignmentRow row = Parse(*text);
  ++rows_;
  return row;
}

Alignment ReadAlignment(const std::string& path, AlignmentOptions options) {
  Alignment alignment;
  AlignmentReader reader(path, std::move(options));
  while (auto row = reader.Next()) alignment.rows.push_back(std::move(*row));
  return alignment;
}

}  // namespace headlight
