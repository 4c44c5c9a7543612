#include "headlight/text/metrics/ter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/text/metrics/bleu.h"
#include "headlight/text/metrics/ngrams.h"
#include "headlight/text/metrics/tokenize_13a.h"

namespace headlight {
namespace {

using TerWords = std::u32string;  // each element is the id of a word

// Tercom's limits.
constexpr int kLongestShift = 10, kFarthestShift = 50, kMostCandidates = 1000, kBeam = 25;
constexpr std::size_t kMostWords = 100'000;  // per line; a line with this many words requires 100 MB

// An operation on the hypothesis. If costs are equal, the first operation in this order is used.
enum class Edit : unsigned char { keep, substitute, remove, insert, none };

// The edit distance between a hypothesis and the reference, within a band around the diagonal. Rows are reused for
// hypotheses with the same beginning.
class EditTable {
 public:
  EditTable(const TerWords& reference, std::size_t hypothesis) : reference_(reference), rows_(hypothesis + 1) {
    const auto width = static_cast<double>(reference.size());
    ratio_ = hypothesis == 0 ? 1 : width / static_cast<double>(hypothesis);
    const int beam = kBeam < ratio_ / 2 ? static_cast<int>(std::ceil(ratio_ / 2 + kBeam)) : kBeam;
    const int end = static_cast<int>(reference.size()) + 1;
    for (std::size_t i = 0; i <= hypothesis; ++i) {
      const int diagonal = static_cast<int>(std::floor(static_cast<double>(i) * ratio_));
      rows_[i].begin = i == 0 ? 0 : std::max(0, diagonal - beam);
      const int row_end = i == 0 || i == hypothesis ? end : std::min(end, diagonal + beam);
      rows_[i].cells.resize(static_cast<std::size_t>(std::max(0, row_end - rows_[i].begin)));
    }
    for (int j = 0; j < end; ++j) rows_[0].cells[static_cast<std::size_t>(j)] = {j, Edit::insert};
  }

  // Fills the rows and returns the distance. The first `same` words must be unchanged since the previous call, so that
  // their rows can be reused.
  int Fill(const TerWords& hypothesis, std::size_t same) {
    for (std::size_t i = same + 1; i < rows_.size(); ++i) {
      Row& row = rows_[i];
      const Row& before = rows_[i - 1];
      for (std::size_t cell = 0; cell < row.cells.size(); ++cell) {
        const int j = row.begin + static_cast<int>(cell);
        Cell best;
        const auto offer = [&](int cost, Edit edit) {
          if (cost < best.cost) best = {cost, edit};
        };
        if (j > 0) {
          const bool equal = hypothesis[i - 1] == reference_[static_cast<std::size_t>(j) - 1];
          offer(before.Cost(j - 1) + (equal ? 0 : 1), equal ? Edit::keep : Edit::substitute);
        }
        offer(before.Cost(j) + 1, Edit::remove);
        if (cell > 0) offer(row.cells[cell - 1].cost + 1, Edit::insert);
        row.cells[cell] = best;
      }
    }
    return rows_.back().cells.back().cost;
  }

  // Returns the edits of the last hypothesis in order.
  std::vector<Edit> Edits() const {
    std::vector<Edit> edits;
    std::size_t i = rows_.size() - 1;
    int j = static_cast<int>(reference_.size());
    while (i > 0 || j > 0) {
      const Edit edit = rows_[i].At(j).edit;
      Ensure(edit != Edit::none, "the edits leave the band");
      edits.push_back(edit);
      if (edit != Edit::insert) --i;
      if (edit != Edit::remove) --j;
    }
    std::ranges::reverse(edits);
    return edits;
  }

 private:
  static constexpr int kInfinity = std::numeric_limits<int>::max() / 2;
  struct Cell {
    int cost = kInfinity;
    Edit edit = Edit::none;
  };
  struct Row {
    int begin = 0;  // index of a word in the reference
    std::vector<Cell> cells;

    Cell At(int j) const {
      return j < begin || j >= begin + static_cast<int>(cells.size()) ? Cell()
                                                                      : cells[static_cast<std::size_t>(j - begin)];
    }
    int Cost(int j) const { return At(j).cost; }
  };

  const TerWords& reference_;
  double ratio_ = 1;
  std::vector<Row> rows_;
};

struct Alignment {
  // For each reference word, the index of its hypothesis word, or of the last hypothesis word before it, or -1.
  std::vector<int> at;
  // Sums over the preceding words; the last element is the sum over all words.
  std::vector<int> hypothesis_errors, reference_errors;
};

Alignment AlignmentOf(const std::vector<Edit>& edits) {
  Alignment alignment{{}, {0}, {0}};
  int hypothesis = -1;
  for (const Edit edit : edits) {
    const int error = edit == Edit::keep ? 0 : 1;
    if (edit != Edit::insert) {
      ++hypothesis;
      alignment.hypothesis_errors.push_back(alignment.hypothesis_errors.back() + error);
    }
    if (edit != Edit::remove) {
      alignment.at.push_back(hypothesis);
      alignment.reference_errors.push_back(alignment.reference_errors.back() + error);
    }
  }
  return alignment;
}

// Moves the words [begin, begin + length) before the word at `to`. If `to` is within these words or directly after
// them, moves them `to - begin` words to the right, as in Tercom.
TerWords Shifted(const TerWords& words, int begin, int length, int to) {
  TerWords shifted = words;
  const auto first = shifted.begin();
  if (to < begin) {
    std::rotate(first + to, first + begin, first + begin + length);
  } else {
    const int end = to > begin + length ? to : std::min(length + to, static_cast<int>(words.size()));
    std::rotate(first + begin, first + begin + length, first + end);
  }
  return shifted;
}

// A shift of words. The best shift has the largest gain. Ties are resolved by the largest length, then the smallest
// `begin`, then the smallest `to`.
struct Shift {
  int gain = 0, length = 0, begin = 0, to = 0;

  bool operator>(const Shift& other) const {
    return std::tuple(gain, length, -begin, -to) > std::tuple(other.gain, other.length, -other.begin, -other.to);
  }
};

// Returns the number of edits from the hypothesis to the reference: greedily chosen shifts plus the edit distance.
int CountEdits(TerWords hypothesis, const TerWords& reference) {
  const int words = static_cast<int>(hypothesis.size()), others = static_cast<int>(reference.size());
  if (others == 0) return words;
  EditTable table(reference, hypothesis.size()), tried(reference, hypothesis.size());
  int shifts = 0, candidates = 0;
  for (std::size_t same = 0;;) {
    const int distance = table.Fill(hypothesis, same);
    tried.Fill(hypothesis, same);
    const Alignment alignment = AlignmentOf(table.Edits());
    const auto has_error = [](const std::vector<int>& sums, int begin, int length) {
      return sums[static_cast<std::size_t>(begin + length)] > sums[static_cast<std::size_t>(begin)];
    };
    std::size_t kept = hypothesis.size();  // rows of `tried` that are valid for the hypothesis
    Shift best;
    bool found = false;
    const auto consider = [&](int begin, int position, int length) {
      if (!has_error(alignment.hypothesis_errors, begin, length)) return;
      if (!has_error(alignment.reference_errors, position, length)) return;
      const int aligned = alignment.at[static_cast<std::size_t>(position)];
      if (begin <= aligned && aligned < begin + length) return;
      int last = -1;
      for (int offset = -1; offset < length; ++offset) {
        const int to = position + offset < 0 ? 0 : alignment.at[static_cast<std::size_t>(position + offset)] + 1;
        if (to == last) continue;
        last = to;
        const auto changed = static_cast<std::size_t>(std::min(begin, to));
        const Shift one{distance - tried.Fill(Shifted(hypothesis, begin, length, to), std::min(changed, kept)), length,
                        begin, to};
        kept = changed;
        ++candidates;
        if (!found || one > best) best = one;
        found = true;
      }
    };
    for (int begin = 0; begin < words && candidates < kMostCandidates; ++begin) {
      const int end = std::min(others, begin + kFarthestShift + 1);
      for (int position = std::max(0, begin - kFarthestShift); position < end && candidates < kMostCandidates;
           ++position) {
        for (int length = 1; length <= kLongestShift && begin + length <= words && position + length <= others &&
                             hypothesis[static_cast<std::size_t>(begin + length) - 1] ==
                                 reference[static_cast<std::size_t>(position + length) - 1] &&
                             candidates < kMostCandidates;
             ++length)
          consider(begin, position, length);
      }
    }
    if (candidates >= kMostCandidates || best.gain <= 0) return shifts + distance;
    ++shifts;
    hypothesis = Shifted(hypothesis, best.begin, best.length, best.to);
    same = 0;
  }
}

}  // namespace

std::array<double, 2> TerStatistics(std::string_view hypothesis, std::span<const std::string_view> references) {
  WordNumbers numbers;
  const auto words_of = [&](std::string_view line) {
    const std::string lowered = LowerCase(line);
    TerWords words = numbers.Of(SplitAtSpaces(lowered));
    Check(words.size() <= kMostWords, "a line has {} words, but TER supports at most {}", words.size(), kMostWords);
    return words;
  };
  const TerWords words = words_of(hypothesis);
  int least = std::numeric_limits<int>::max();
  double length = 0;
  for (const std::string_view reference : references) {
    const TerWords others = words_of(reference);
    least = std::min(least, CountEdits(words, others));
    length += static_cast<double>(others.size());
  }
  return {static_cast<double>(least), length / static_cast<double>(references.size())};
}

double TerOf(std::span<const double> sums) {
  if (sums[1] > 0) return 100 * sums[0] / sums[1];
  return sums[0] > 0 ? 100 : 0;
}

std::string TerSignature(std::size_t references) {
  return fmt::format("nrefs:{}|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0|by:headlight", references);
}

Ter CorpusTer(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references) {
  CheckSameLines(hypotheses, references);
  std::array<double, 2> sums{};
  std::vector<std::string_view> line_references(references.size());
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    for (std::size_t r = 0; r < references.size(); ++r) line_references[r] = references[r][line];
    std::ranges::transform(sums, TerStatistics(hypotheses[line], line_references), sums.begin(), std::plus<>());
  }
  return {TerOf(sums), std::llround(sums[0]), sums[1], TerSignature(references.size())};
}

std::string ToString(const Ter& ter) { return fmt::format("TER|{} = {:.2f}", ter.signature, ter.score); }

}  // namespace headlight
