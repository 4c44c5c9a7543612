#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <gemmi/align.hpp>
#include <gemmi/cif.hpp>
#include <gemmi/mmcif.hpp>
#include <gemmi/pdb.hpp>
#include <gemmi/polyheur.hpp>
#include <gemmi/resinfo.hpp>
#include <map>
#include <set>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/line_input.h"
#include "headlight/protein/files/structure_files.h"

namespace headlight {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr double kFarthest = 1e6;  // the largest absolute coordinate in angstrom

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool IsNumber(std::string_view text) {
  text = Trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

// Checks the columns of a PDB file. gemmi parses only the valid part of a number, so a shifted or damaged line would
// silently give wrong positions. Lines without relevant records are returned as empty lines, which keeps the line
// numbers correct.
std::string CheckedPdbLines(std::string_view text, const std::string& name) {
  std::string kept;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    for (const char* record : {"ATOM  ", "HETATM", "TER", "MODEL ", "ENDMDL", "END", "SEQRES"}) {
      if (!line.starts_with(record)) continue;
      kept += line;
      break;
    }
    kept += '\n';
    if (!line.starts_with("ATOM  ") && !line.starts_with("HETATM")) continue;
    constexpr std::size_t kUpToZ = 54;
    if (line.size() < kUpToZ)
      Fail("{}: line {}: an atom's line has only {} characters: it is truncated", name, number, line.size());
    for (const auto& [first, axis] : {std::pair(30, 'x'), std::pair(38, 'y'), std::pair(46, 'z')}) {
      const std::string_view field = line.substr(static_cast<std::size_t>(first), 8);
      if (!IsNumber(field)) {
        Fail("{}: line {}: columns {} to {} must be the {} of an atom, not {}", name, number, first + 1, first + 8,
             axis, Quoted(field));
      }
    }
    // Residue numbers above 9,999 begin with a letter (hybrid-36).
    const std::string_view residue = line.substr(22, 4);
    if (const std::string_view digits = Trimmed(residue);
        digits.empty() || (!IsNumber(digits) && (digits.front() < 'A' || digits.front() > 'z')))
      Fail("{}: line {}: columns 23 to 26 must be a residue's number, not {}", name, number, Quoted(residue));
    for (const auto& [first, what] : {std::pair(54, "occupancy"), std::pair(60, "B factor")}) {
      if (line.size() <= static_cast<std::size_t>(first)) break;
      const std::string_view field = line.substr(static_cast<std::size_t>(first), 6);
      if (!Trimmed(field).empty() && !IsNumber(field)) {
        Fail("{}: line {}: columns {} to {} must be the {}, not {}", name, number, first + 1, first + 6, what,
             Quoted(field));
      }
    }
  }
  return kept;
}

// Returns the text up to the first control character, such as a newline, and at most 300 characters.
std::string OneLine(std::string_view text) {
  const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < ' ') || c == 0x7F; };
  const auto end = std::ranges::find_if(text, is_control) - text.begin();
  return std::string(text.substr(0, std::min<std::size_t>(static_cast<std::size_t>(end), 300)));
}

// Runs `action`. Converts exceptions to an Error with one line that begins with the file's name.
template <typename Action>
auto InOneLine(const std::string& name, const Action& action) {
  try {
    return action();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::string message = OneLine(error.what());
    if (message.starts_with(name)) message.erase(0, message.find_first_not_of(": ", name.size()));
    Fail("{}: {}", name, message.empty() ? "it cannot be read" : message);
  }
}

gemmi::Structure Parse(std::string_view text, const std::string& name) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  Check(start != std::string_view::npos, "{}: neither PDB nor mmCIF: the file is empty", name);
  Check(text.find('\0') == std::string_view::npos, "{}: neither PDB nor mmCIF: the file has NUL bytes", name);
  if (text[start] == '#' || text.substr(start, 5) == "data_") {
    const gemmi::cif::Document document = gemmi::cif::read_memory(text.data(), text.size(), name.c_str());
    Check(!document.blocks.empty(), "{}: an mmCIF file without a block", name);
    return gemmi::make_structure_from_block(document.blocks.front());
  }
  const std::string lines = CheckedPdbLines(text, name);
  return gemmi::read_pdb_from_memory(lines.data(), lines.size(), name);
}

// Returns the residue type of a three-letter name. A modified residue has the type of its parent.
int TypeOf(const std::string& name) {
  if (const auto type = ResidueOfName(name)) return *type;
  const gemmi::ResidueInfo& info = gemmi::find_tabulated_residue(name);
  if (!info.is_amino_acid() || info.kind == gemmi::ResidueInfo::AAD) return kUnknownResidue;
  const char letter = info.one_letter_code;
  return ResidueOfLetter(letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter)
      .value_or(kUnknownResidue);
}

// Returns the letter of the alternative location with the greatest occupancy, or 0 if there are no alternative
// locations.
char ChosenLocation(const gemmi::Residue& residue) {
  std::map<char, double> occupancies;
  std::string order;
  for (const gemmi::Atom& atom : residue.atoms) {
    if (atom.altloc == '\0') continue;
    if (!occupancies.contains(atom.altloc)) order += atom.altloc;
    occupancies[atom.altloc] += atom.occ;
  }
  char chosen = '\0';
  for (const char letter : order)
    if (chosen == '\0' || occupancies[letter] > occupancies[chosen]) chosen = letter;
  return chosen;
}

double OccupancyOf(const gemmi::Residue& residue) {
  const char chosen = ChosenLocation(residue);
  double sum = 0;
  for (const gemmi::Atom& atom : residue.atoms)
    if (atom.altloc == '\0' || atom.altloc == chosen) sum += atom.occ;
  return residue.atoms.empty() ? 0 : sum / static_cast<double>(residue.atoms.size());
}

bool Belongs(int type, int atom37) {
  constexpr int kOxt = kAtom37 - 1, kBackbone = 5;  // kBackbone: the number of atoms N, CA, C, CB and O
  if (type == kUnknownResidue) return atom37 < kBackbone;
  return atom37 == kOxt ||
         TablesOfResidues().has_atom37[static_cast<std::size_t>(type)][static_cast<std::size_t>(atom37)];
}

Residue Convert(const gemmi::Residue& from, const std::string& location) {
  Residue residue;
  residue.type = TypeOf(from.name);
  residue.name = from.name;
  Check(from.seqid.num.has_value(), "{}: a residue {} without a number", location, Quoted(from.name));
  residue.number = *from.seqid.num;
  residue.insertion = from.seqid.has_icode() ? from.seqid.icode : ' ';
  const char chosen = ChosenLocation(from);
  for (const gemmi::Atom& atom : from.atoms) {
    if (atom.altloc != '\0' && atom.altloc != chosen) continue;
    const bool selenium = from.name == "MSE" && atom.name == "SE";
    const std::optional<int> index = Atom37Of(selenium ? "SD" : atom.name);
    if (!index || !Belongs(residue.type, *index)) continue;
    const auto i = static_cast<std::size_t>(*index);
    const Vector3 point{atom.pos.x, atom.pos.y, atom.pos.z};
    if (!(std::abs(point.x) <= kFarthest && std::abs(point.y) <= kFarthest && std::abs(point.z) <= kFarthest))
      Fail("{}: residue {} {}: the position of {} is not three numbers within {} A", location, from.name,
           from.seqid.str(), Quoted(atom.name), kFarthest);
    if (residue.known[i]) continue;  // only the first of several atoms with one name is used
    residue.known[i] = true;
    residue.atoms[i] = point;
    residue.b_factors[i] = std::isfinite(atom.b_iso) ? atom.b_iso : 0;
  }
  return residue;
}

// Returns the residues of a chain, one per position. If several residues have the same position, the residue with the
// greatest occupancy is used.
std::vector<const gemmi::Residue*> OneResiduePerPosition(const gemmi::ConstResidueSpan& polymer,
                                                         const std::string& location) {
  std::vector<const gemmi::Residue*> residues;
  std::set<std::pair<int, char>> seen;
  for (const gemmi::Residue& residue : polymer) {
    if (!residues.empty() && residues.back()->seqid == residue.seqid) {
      if (OccupancyOf(residue) > OccupancyOf(*residues.back())) residues.back() = &residue;
      continue;
    }
    Check(seen.emplace(residue.seqid.num.has_value() ? *residue.seqid.num : 0, residue.seqid.icode).second,
          "{}: residue {} occurs twice in the chain", location, residue.seqid.str());
    residues.push_back(&residue);
  }
  return residues;
}

ProteinChain ChainFrom(const gemmi::Chain& chain, const gemmi::ConstResidueSpan& polymer, const gemmi::Entity* entity,
                       const std::string& file) {
  const std::string location = fmt::format("{}: chain {}", file, chain.name);
  ProteinChain out{chain.name, {}};
  const std::vector<const gemmi::Residue*> observed = OneResiduePerPosition(polymer, location);
  // If every residue has a label_seq and these are in ascending order, they are the positions in the whole sequence.
  const std::size_t whole = entity == nullptr ? 0 : entity->full_sequence.size();
  int last = 0;
  bool placed = whole > 0;
  for (const gemmi::Residue* residue : observed) {
    placed = placed && residue->label_seq.has_value() && *residue->label_seq > last &&
             *residue->label_seq <= static_cast<int>(whole);
    if (placed) last = *residue->label_seq;
  }
  std::size_t next = 0;
  const auto fill_up_to = [&](std::size_t end) {
    for (; next < end; ++next) {
      Residue missing;
      missing.name = gemmi::Entity::first_mon(entity->full_sequence[next]);
      missing.type = TypeOf(missing.name);
      missing.number = out.residues.empty() ? static_cast<int>(next) + 1 : out.residues.back().number + 1;
      out.residues.push_back(missing);
    }
  };
  for (const gemmi::Residue* residue : observed) {
    if (placed) fill_up_to(static_cast<std::size_t>(*residue->label_seq) - 1);
    out.residues.push_back(Convert(*residue, location));
    ++next;
  }
  if (placed) fill_up_to(whole);
  return out;
}

Structure StructureFrom(std::string_view text, const std::string& name) {
  gemmi::Structure from = Parse(text, name);
  Check(!from.models.empty(), "{}: no atoms: neither PDB nor mmCIF, or a file without a model", name);
  from.models.resize(1, from.models.front());
  gemmi::setup_entities(from);
  gemmi::assign_label_seq_id(from, false);
  Structure structure{name, {}};
  from.merge_chain_parts();
  for (const gemmi::Chain& chain : from.models.front().chains) {
    const gemmi::ConstResidueSpan polymer = chain.get_polymer();
    if (polymer.begin() == polymer.end()) continue;
    const gemmi::Entity* entity = from.get_entity_of(polymer);
    const gemmi::PolymerType type = entity != nullptr && entity->polymer_type != gemmi::PolymerType::Unknown
                                        ? entity->polymer_type
                                        : gemmi::check_polymer_type(polymer);
    if (!gemmi::is_polypeptide(type)) continue;
    structure.chains.push_back(ChainFrom(chain, polymer, entity, name));
  }
  Check(!structure.chains.empty(), "{}: there is no protein chain, or this is neither PDB nor mmCIF", name);
  return structure;
}

}  // namespace

Structure ParseStructure(std::string_view text, const std::string& name) {
  return InOneLine(name, [&] { return StructureFrom(text, name); });
}

Structure ReadStructure(const std::string& path) { return ParseStructure(ReadInflated(path, kMostBytes), path); }

}  // namespace headlight
