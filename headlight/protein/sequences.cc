#include "headlight/protein/sequences.h"

#include <array>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/protein/residues.h"
#include "headlight/protein/sequence_lines.h"

namespace headlight {

bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
char UpperCase(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
bool IsBlank(char c) { return c == ' ' || c == '\t'; }

std::string Shown(char c) {
  return c >= ' ' && c <= '~' ? Quoted({&c, 1}) : fmt::format("the byte {:#04x}", static_cast<std::uint8_t>(c));
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

bool IsAnnotation(std::string_view name) {
  name = name.substr(0, name.find_first_of(" \t"));
  return name == "ss_dssp" || name == "ss_pred" || name == "ss_conf" || name == "sa_dssp" || name == "sa_pred";
}

namespace {

constexpr std::uint8_t kNoResidue = 255;

// Returns the residue type of each character, or kNoResidue.
std::array<std::uint8_t, 256> MakeResiduesOfLetters() {
  std::array<std::uint8_t, 256> residues{};
  residues.fill(kNoResidue);
  for (char letter = 'A'; letter <= 'Z'; ++letter) {
    constexpr std::string_view kRead = "BDZEUCOXJX";  // pairs of a letter and its replacement
    const std::size_t pair = kRead.find(letter);
    const char read = pair != std::string_view::npos && pair % 2 == 0 ? kRead[pair + 1] : letter;
    const auto residue = static_cast<std::uint8_t>(ResidueOfLetter(read).value());
    residues[static_cast<std::uint8_t>(letter)] = residue;
    residues[static_cast<std::uint8_t>(letter - 'A' + 'a')] = residue;
  }
  return residues;
}

// Appends the letters of a text, which may be only a part of a sequence. `location()` is the prefix of error messages.
// `stopped` is true after a *, which ends the sequence. Masks are appended unchanged.
template <typename Place>
void AppendLetters(std::string_view text, const Place& location, std::string& letters, bool& stopped,
                   std::string_view mask = "") {
  for (; !text.empty(); text.remove_prefix(1)) {
    if (!mask.empty() && !stopped && text.starts_with(mask)) {
      if (letters.size() + mask.size() > kMostResidues)
        Fail("{}: a sequence has more than {} residues", location(), kMostResidues);
      letters += mask;
      text.remove_prefix(mask.size() - 1);
      continue;
    }
    const char c = text.front();
    if (IsBlank(c)) continue;
    if (stopped) Fail("{}: there are letters after the * that ends a sequence", location());
    stopped = c == '*';
    if (stopped) continue;
    if (c == '-' || c == '.') Fail("{}: gaps are only allowed in alignments, not in sequences", location());
    if (c == ':') Fail("{}: ':' separates the chains of a complex; only single chains are supported", location());
    if (!IsLetter(c)) Fail("{}: {} is not a letter of an amino acid", location(), Shown(c));
    if (letters.size() == kMostResidues) Fail("{}: a sequence has more than {} residues", location(), kMostResidues);
    letters.push_back(UpperCase(c));
  }
}

}  // namespace

std::string LettersOf(std::string_view text, std::string_view location) {
  std::string letters;
  bool stopped = false;
  AppendLetters(
      text, [&] { return location; }, letters, stopped);
  return letters;
}

std::optional<int> ResidueOfAnyLetter(char letter) {
  static const std::array<std::uint8_t, 256> residues = MakeResiduesOfLetters();
  const std::uint8_t residue = residues[static_cast<std::uint8_t>(letter)];
  if (residue == kNoResidue) return std::nullopt;
  return residue;
}

std::vector<std::uint8_t> ResiduesOf(std::string_view letters) {
  std::vector<std::uint8_t> residues;
  residues.reserve(letters.size());
  for (const char letter : letters) {
    const std::optional<int> residue = ResidueOfAnyLetter(letter);
    if (!residue) Fail("{} is not a letter of an amino acid", Shown(letter));
    residues.push_back(static_cast<std::uint8_t>(*residue));
  }
  return residues;
}

FastaReader::FastaReader(const std::string& path)
    : FastaReader(LineInput(ByteInput(path), LineInput::Marks::skipped)) {}

std::optional<ProteinSequence> FastaReader::Next() {
  std::optional<ProteinSequence> row = NextRow();
  while (row && IsAnnotation(row->name)) row = NextRow();
  return row;
}

std::optional<ProteinSequence> FastaReader::NextRow() {
  const bool skip = std::exchange(failed_, true);
  ProteinSequence sequence{std::exchange(header_, {}), {}, std::exchange(header_line_, 0)};
  bool stopped = false;  // true if a * has ended the sequence
  while (const auto line = lines_.Next()) {
    const std::string_view text = Trimmed(*line);
    const auto location = [&] { return fmt::format("{}: line {}", name(), lines_.line_number()); };
    if (text.starts_with('>')) {
      header_ = Trimmed(text.substr(1));
      header_line_ = lines_.line_number();
      if (sequence.line > 0) break;
      sequence.name = std::exchange(header_, {});
      sequence.line = std::exchange(header_line_, 0);
      continue;
    }
    if (text.empty() || (sequence.line == 0 && skip)) continue;
    if (sequence.line == 0)
      Fail("{}: not FASTA: {} precedes the first line that begins with >", location(), Quoted(text));
    if (IsAnnotation(sequence.name)) continue;
    AppendLetters(text, location, sequence.letters, stopped, mask_);
  }
  if (sequence.line > 0 && !IsAnnotation(sequence.name))
    Check(!sequence.letters.empty(), "{}: line {}: {} has no residues", name(), sequence.line, Quoted(sequence.name));
  failed_ = false;
  return sequence.line > 0 ? std::optional(sequence) : std::nullopt;
}

}  // namespace headlight
