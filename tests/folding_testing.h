// Provides synthetic chains and small structure prediction models for tests of training.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/random.h"
#include "headlight/models/alphafold.h"
#include "headlight/protein/nn/frames.h"
#include "headlight/protein/residues.h"
#include "headlight/protein/structure.h"

namespace headlight {

// Returns a helix of the residues `letters` with random side-chain directions and all atoms except OXT. Each residue
// adds a rotation of 100 degrees and a rise of 1.5 angstrom. The C alphas are 2.3 angstrom from the axis.
inline ProteinChain MadeChain(const std::string& letters, std::uint64_t seed) {
  const std::int64_t residues = std::ssize(letters);
  std::vector<std::int32_t> types;
  std::vector<double> backbones, torsions;
  Random random(seed);
  for (std::int64_t i = 0; i < residues; ++i) {
    types.push_back(ResidueOfLetter(letters[static_cast<std::size_t>(i)]).value());
    const double turn = static_cast<double>(i) * 100 * std::numbers::pi / 180;
    const double c = std::cos(turn), s = std::sin(turn);
    // The frame's x axis, towards C, points along the chain and upwards.
    const double up = 0.6, along = 0.8;
    backbones.insert(backbones.end(), {-along * s, -c, up * s, along * c, -s, -up * c, up, 0, along, 2.3 * c, 2.3 * s,
                                       1.5 * static_cast<double>(i)});
    for (int torsion = 0; torsion < 7; ++torsion) {
      const double angle = 2 * std::numbers::pi * random.Uniform();
      torsions.insert(torsions.end(), {std::sin(angle), std::cos(angle)});
    }
  }
  const Tensor atoms =
      PlaceAtoms(Tensor::From<double>(backbones, {residues, 12}), Tensor::From<double>(torsions, {residues, 14}), types)
          .atoms;
  const ResidueTables& tables = TablesOfResidues();
  ProteinChain chain;
  chain.name = "A";
  for (std::int64_t i = 0; i < residues; ++i) {
    Residue residue;
    residue.type = types[static_cast<std::size_t>(i)];
    residue.name = ResidueTypes()[static_cast<std::size_t>(residue.type)].name;
    residue.number = static_cast<int>(i) + 1;
    const double* const at = atoms.matrix<double>().row(i);
    for (std::size_t atom = 0; atom < kAtom14; ++atom) {
      if (!tables.has_atom14[static_cast<std::size_t>(residue.type)][atom]) continue;
      const auto column =
          static_cast<std::size_t>(tables.atom14_to_atom37[static_cast<std::size_t>(residue.type)][atom]);
      residue.known[column] = true;
      residue.atoms[column] = {at[3 * atom], at[3 * atom + 1], at[3 * atom + 2]};
    }
    chain.residues.push_back(residue);
  }
  return chain;
}

// Returns the chain with `motion` applied to each atom.
inline ProteinChain Moved(ProteinChain chain, const std::function<Vector3(const Vector3&)>& motion) {
  for (Residue& residue : chain.residues)
    for (std::size_t atom = 0; atom < kAtom37; ++atom)
      if (residue.known[atom]) residue.atoms[atom] = motion(residue.atoms[atom]);
  return chain;
}

// Returns a configuration with one block and few rows.
inline AlphaFoldConfig SmallAlphaFold() {
  AlphaFoldConfig config;
  config.alignment = 16;
  config.extra = 4;
  config.pair = config.lddt_hidden = 12;
  config.single = 16;
  config.blocks = config.extra_blocks = 1;
  config.evoformer = {.heads = 2, .head_dim = 8, .outer_product = 4, .transition = 2};
  config.extra_rows = {.heads = 2, .head_dim = 2, .outer_product = 4, .transition = 2};
  for (EvoformerConfig* const part : {&config.evoformer, &config.extra_rows})
    part->pair = {.channels = 12, .heads = 2, .head_dim = 6};
  config.structure = {
      .attention = {.heads = 2, .head_dim = 4, .query_points = 2, .value_points = 2}, .angles = 12, .blocks = 2};
  config.error_bins = 8;
  config.rows = 4;
  config.most_extra_rows = 4;
  config.recycles = 2;
  return config;
}

}  // namespace headlight
