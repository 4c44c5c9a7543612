// A structure for the tests of pages and drawings.
#pragma once

#include <string_view>

#include "headlight/inspect/structure_record.h"
#include "headlight/protein/testing.h"

namespace headlight {

// Returns a helix of twelve residues after four extended residues, with an earlier unfolded moment and two attentions.
// The second attention has two layers.
inline StructureRecord SampleStructure() {
  StructureRecord record;
  record.title = "helix <b>";
  constexpr std::string_view letters = "MKTAYIAKDRCWGLEV";
  const int residues = static_cast<int>(letters.size());
  std::vector<BackboneAtoms> backbone = MadeBackbone(residues, -57, -47);
  for (int i = 0; i < residues; ++i) {
    const int type = ResidueOfLetter(letters[static_cast<std::size_t>(i)]).value();
    Residue residue{.type = type, .name = ResidueTypes()[static_cast<std::size_t>(type)].name, .number = 101 + i};
    for (std::size_t atom = 0; const std::string_view name : {"N", "CA", "C", "O"}) {
      const auto column = static_cast<std::size_t>(Atom37Of(name).value());
      residue.known[column] = true;
      residue.atoms[column] = backbone[static_cast<std::size_t>(i)][atom++];
      residue.b_factors[column] = static_cast<float>(40 + 4 * i);
    }
    record.chain.residues.push_back(residue);
  }
  record.moments = {{"block 1", MadeBackbone(residues, -120, 130)}, {"block 2", backbone}};
  record.errors.most = 32;
  record.distances.most = 22;
  for (int i = 0; i < residues; ++i)
    for (int j = 0; j < residues; ++j) {
      record.errors.values.push_back(static_cast<float>(2 * std::abs(i - j)));
      record.distances.values.push_back(static_cast<float>(std::min(22.0, 1.5 * std::abs(i - j))));
    }
  // Head 1 attends to the residue itself, and head 2 to the last residue. In the second layer the heads are swapped.
  const auto looks = [&](bool swapped) {
    std::vector<float> weights(2 * static_cast<std::size_t>(residues * residues));
    for (int i = 0; i < residues; ++i) {
      weights[static_cast<std::size_t>((swapped ? residues * residues : 0) + i * residues + i)] = 1;
      weights[static_cast<std::size_t>((swapped ? 0 : residues * residues) + i * residues + residues - 1)] = 1;
    }
    return weights;
  };
  record.attention = {{"Invariant point attention", 0, 2, looks(false)},
                      {"Row attention", 0, 2, looks(false)},
                      {"Row attention", 1, 2, looks(true)}};
  return record;
}

}  // namespace headlight
