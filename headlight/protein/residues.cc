#include "headlight/protein/residues.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "headlight/base/error.h"
#include "headlight/protein/residue_table.h"

namespace headlight {
namespace {

constexpr std::array<std::string_view, kAtom37> kAtomNames = {
    "N",   "CA",  "C",   "CB",  "O",   "CG", "CG1", "CG2", "OG",  "OG1", "SG", "CD",  "CD1",
    "CD2", "ND1", "ND2", "OD1", "OD2", "SD", "CE",  "CE1", "CE2", "CE3", "NE", "NE1", "NE2",
    "OE1", "OE2", "CH2", "NH1", "NH2", "OH", "CZ",  "CZ2", "CZ3", "NZ",  "OXT"};

constexpr int kPsiGroup = 3, kChiGroup = 4;

double Radians(double degrees) { return degrees * std::numbers::pi / 180; }

// Returns the indices (atom14) of joined atom names such as N-CA-C.
std::vector<int> AtomsOf(const ResidueType& type, const std::string& joined) {
  std::vector<int> atoms;
  std::istringstream names(joined);
  for (std::string name; std::getline(names, name, '-');) {
    const std::optional<int> atom = type.Atom14Of(name);
    Ensure(atom.has_value(), "the table of residues: {} has no atom {}", type.name, name);
    atoms.push_back(*atom);
  }
  return atoms;
}

void ReadItem(ResidueType& type, const std::string& word, std::istringstream& line) {
  std::string name;
  double mean = 0, deviation = 0;
  if (word == "atom") {
    ResidueAtom atom;
    line >> atom.name >> atom.group >> atom.position.x >> atom.position.y >> atom.position.z;
    const std::optional<int> atom37 = Atom37Of(atom.name);
    Ensure(!line.fail() && atom37.has_value(), "the table of residues: an atom of {}", type.name);
    atom.atom37 = *atom37;
    type.atoms.push_back(atom);
  } else if (word == "bonds") {
    while (line >> name >> mean >> deviation) {
      const std::vector<int> atoms = AtomsOf(type, name);
      type.bonds.push_back({atoms.at(0), atoms.at(1), mean, deviation});
    }
  } else if (word == "angles") {
    while (line >> name >> mean >> deviation) {
      const std::vector<int> atoms = AtomsOf(type, name);
      type.angles.push_back({atoms.at(0), atoms.at(1), atoms.at(2), Radians(mean), Radians(deviation)});
    }
  } else {
    Ensure(false, "the table of residues: an unknown word {}", word);
  }
}

std::array<ResidueType, kResidueTypes> ReadTable() {
  std::array<ResidueType, kResidueTypes> types;
  // Lines with `chi` and `swap` precede the lines of their atoms.
  std::array<std::vector<std::string>, kResidueTypes> chains, swaps;
  int current = -1;
  std::istringstream table{std::string(kResidueTable)};
  for (std::string text; std::getline(table, text);) {
    std::istringstream line(text);
    std::string word;
    if (!(line >> word)) continue;
    if (word == "residue") {
      ++current;
      line >> types.at(static_cast<std::size_t>(current)).name >> types[static_cast<std::size_t>(current)].letter;
      continue;
    }
    const auto index = static_cast<std::size_t>(current);
    if (word == "chi" || word == "swap") {
      auto& names = word == "chi" ? chains[index] : swaps[index];
      for (std::string name; line >> name;) names.push_back(name);
    } else {
      ReadItem(types[index], word, line);
    }
  }
  for (std::size_t i = 0; i < kResidueTypes; ++i) {
    ResidueType& type = types[i];
    const std::vector<std::string>& chain = chains[i];
    for (std::size_t angle = 0; angle + 3 < chain.size(); ++angle) {
      std::array<int, 4> atoms{};
      for (std::size_t j = 0; j < 4; ++j) atoms[j] = type.Atom14Of(chain[angle + j]).value();
      type.chi.push_back(atoms);
    }
    for (std::size_t pair = 0; pair + 1 < swaps[i].size(); pair += 2)
      type.swapped.push_back({type.Atom14Of(swaps[i][pair]).value(), type.Atom14Of(swaps[i][pair + 1]).value()});
  }
  return types;
}

using Matrix4 = std::array<std::array<float, 4>, 4>;

Matrix4 MatrixOf(const RigidFrame& frame) {
  const auto row = [](const Vector3& r, double last) {
    return std::array<float, 4>{static_cast<float>(r.x), static_cast<float>(r.y), static_cast<float>(r.z),
                                static_cast<float>(last)};
  };
  return {row(frame.rows[0], frame.origin.x), row(frame.rows[1], frame.origin.y), row(frame.rows[2], frame.origin.z),
          std::array<float, 4>{0, 0, 0, 1}};
}

// Computes the group_frame of a residue type from its ideal atoms.
std::array<Matrix4, kRigidGroups> FramesOf(const ResidueType& type) {
  std::array<Matrix4, kRigidGroups> frames{};
  frames[0] = frames[1] = MatrixOf(RigidFrame());
  const Vector3 n = type.atoms[0].position, ca = type.atoms[1].position, c = type.atoms[2].position;
  frames[2] = MatrixOf(FrameOf(n - ca, Vector3{1, 0, 0}, n));
  frames[kPsiGroup] = MatrixOf(FrameOf(c - ca, ca - n, c));
  for (std::size_t i = 0; i < type.chi.size(); ++i) {
    const auto position = [&](std::size_t atom) {
      return type.atoms[static_cast<std::size_t>(type.chi[i][atom])].position;
    };
    // The axis of chi2 and later angles begins at the origin of the previous group and is along that group's x axis.
    const RigidFrame frame = i == 0 ? FrameOf(position(2) - position(1), position(0) - position(1), position(2))
                                    : FrameOf(position(2), Vector3{-1, 0, 0}, position(2));
    frames[kChiGroup + i] = MatrixOf(frame);
  }
  return frames;
}

ResidueTables MakeTables() {
  ResidueTables tables{};
  const auto atom37 = [](std::string_view name) { return static_cast<std::int32_t>(Atom37Of(name).value()); };
  for (std::size_t r = 0; r < kResidueTypes; ++r) {
    const ResidueType& type = ResidueTypes()[r];
    tables.has_group[r][0] = tables.has_group[r][kPsiGroup] = true;
    tables.group_atoms[r][0] = {atom37("C"), atom37("CA"), atom37("N")};
    tables.group_atoms[r][kPsiGroup] = {atom37("CA"), atom37("C"), atom37("O")};
    for (std::size_t i = 0; i < kAtom14; ++i) tables.atom14_swap[r][i] = static_cast<std::int32_t>(i);
    for (std::size_t i = 0; i < type.atoms.size(); ++i) {
      const ResidueAtom& atom = type.atoms[i];
      const auto column = static_cast<std::size_t>(atom.atom37);
      tables.has_atom14[r][i] = tables.has_atom37[r][column] = true;
      tables.atom14_to_atom37[r][i] = atom.atom37;
      tables.atom37_to_atom14[r][column] = static_cast<std::int32_t>(i);
      tables.atom14_group[r][i] = atom.group;
      tables.atom14_position[r][i] = {static_cast<float>(atom.position.x), static_cast<float>(atom.position.y),
                                      static_cast<float>(atom.position.z)};
    }
    for (const auto& [a, b] : type.swapped) {
      tables.atom14_swap[r][static_cast<std::size_t>(a)] = b;
      tables.atom14_swap[r][static_cast<std::size_t>(b)] = a;
      for (const int atom : {a, b}) tables.atom14_ambiguous[r][static_cast<std::size_t>(atom)] = true;
    }
    if (!type.atoms.empty()) tables.group_frame[r] = FramesOf(type);
    for (std::size_t i = 0; i < type.chi.size(); ++i) {
      tables.has_chi[r][i] = tables.has_group[r][kChiGroup + i] = true;
      for (std::size_t j = 0; j < 4; ++j) {
        const auto atom = static_cast<std::size_t>(type.chi[i][j]);
        tables.chi_atoms[r][i][j] = type.atoms[atom].atom37;
        if (j > 0) tables.group_atoms[r][kChiGroup + i][j - 1] = type.atoms[atom].atom37;
      }
    }
    if (!type.swapped.empty()) tables.group_ambiguous[r][kChiGroup + type.chi.size() - 1] = true;
  }
  return tables;
}

const Bond& BondOf(const ResidueType& type, int a, int b) {
  const auto found = std::find_if(type.bonds.begin(), type.bonds.end(), [&](const Bond& bond) {
    return (bond.first == a && bond.second == b) || (bond.first == b && bond.second == a);
  });
  Ensure(found != type.bonds.end(), "the table of residues: an angle of {} without its bonds", type.name);
  return *found;
}

// Returns the distance between the outer atoms of a bond angle, by the law of cosines. The deviation is propagated from
// the deviations of both bonds and the angle, which are assumed to be independent.
Bond EndsOf(const ResidueType& type, const BondAngle& angle) {
  const Bond a = BondOf(type, angle.first, angle.middle), b = BondOf(type, angle.middle, angle.last);
  const double cosine = std::cos(angle.angle), sine = std::sin(angle.angle);
  const double length = std::sqrt(a.length * a.length + b.length * b.length - 2 * a.length * b.length * cosine);
  const double by_angle = a.length * b.length * sine / length;
  const double by_a = (a.length - b.length * cosine) / length, by_b = (b.length - a.length * cosine) / length;
  return {angle.first, angle.last, length,
          std::hypot(by_angle * angle.deviation, by_a * a.deviation, by_b * b.deviation)};
}

}  // namespace

const std::array<std::string_view, kAtom37>& AtomNames() { return kAtomNames; }

std::optional<int> Atom37Of(std::string_view name) {
  const auto found = std::find(kAtomNames.begin(), kAtomNames.end(), name);
  if (found == kAtomNames.end()) return std::nullopt;
  return static_cast<int>(found - kAtomNames.begin());
}

std::optional<int> ResidueType::Atom14Of(std::string_view atom) const {
  const auto found = std::find_if(atoms.begin(), atoms.end(), [&](const ResidueAtom& a) { return a.name == atom; });
  if (found == atoms.end()) return std::nullopt;
  return static_cast<int>(found - atoms.begin());
}

const std::array<ResidueType, kResidueTypes>& ResidueTypes() {
  static const std::array<ResidueType, kResidueTypes> types = ReadTable();
  return types;
}

std::optional<int> ResidueOfLetter(char letter) {
  const auto& types = ResidueTypes();
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const ResidueType& type) { return type.letter == letter; });
  if (found == types.end()) return std::nullopt;
  return static_cast<int>(found - types.begin());
}

std::optional<int> ResidueOfName(std::string_view name) {
  const auto& types = ResidueTypes();
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const ResidueType& type) { return type.name == name; });
  if (found == types.end()) return std::nullopt;
  return static_cast<int>(found - types.begin());
}

const ResidueTables& TablesOfResidues() {
  static const ResidueTables tables = MakeTables();
  return tables;
}

double VanDerWaalsRadius(char element) {
  switch (element) {
    case 'C':
      return 1.7;
    case 'N':
      return 1.55;
    case 'O':
      return 1.52;
    case 'S':
      return 1.8;
    default:
      Fail("no van der Waals radius is known for the element {}, only for C, N, O and S", element);
  }
}

DistanceBounds BoundsOfDistances(double overlap, double factor) {
  constexpr float kFar = 1e10F;
  DistanceBounds bounds{};
  for (std::size_t r = 0; r < kResidueTypes; ++r) {
    const ResidueType& type = ResidueTypes()[r];
    const auto set = [&](int i, int j, double least, double most, double deviation) {
      for (const auto& [a, b] : {std::pair(i, j), std::pair(j, i)}) {
        const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
        bounds.least[r][first][second] = static_cast<float>(least);
        bounds.most[r][first][second] = static_cast<float>(most);
        bounds.deviation[r][first][second] = static_cast<float>(deviation);
      }
    };
    const auto atoms = static_cast<int>(type.atoms.size());
    for (int i = 0; i < atoms; ++i) {
      for (int j = 0; j < i; ++j) {
        const auto radius = [&](int atom) {
          return VanDerWaalsRadius(type.atoms[static_cast<std::size_t>(atom)].name.front());
        };
        set(i, j, radius(i) + radius(j) - overlap, kFar, 0);
      }
    }
    const auto bind = [&](const Bond& bond) {
      const double slack = factor * bond.deviation;
      set(bond.first, bond.second, bond.length - slack, bond.length + slack, bond.deviation);
    };
    for (const Bond& bond : type.bonds) bind(bond);
    for (const BondAngle& angle : type.angles) bind(EndsOf(type, angle));
  }
  return bounds;
}

}  // namespace headlight
