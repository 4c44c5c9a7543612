// A tiny, untrained protein language model for tests.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "headlight/base/file.h"

namespace headlight {

// Writes an ESM of 23 tokens, with heads for masked residues and for contacts, into `folder`, which must not exist. The
// vocabulary lacks the residues W and C.
inline void SaveTinyEsm(const std::string& folder) {
  std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/esm_masked_left", folder);
  std::string vocabulary = "<cls>\n<pad>\n<eos>\n<unk>\nL\nA\nG\n<mask>\n";
  for (const char letter : std::string("VSERTIDPKQNFYMH")) vocabulary += std::string(1, letter) + "\n";
  WriteFile(folder + "/vocab.txt", vocabulary);
  WriteFile(folder + "/tokenizer_config.json", R"({"tokenizer_class": "EsmTokenizer"})");
}

// Returns a PDB file with one chain, A, of 8 residues that have only CA atoms.
inline std::string StrandAsPdb() {
  std::string text;
  for (int i = 1; i <= 8; ++i)
    text += fmt::format("ATOM  {:>5}  CA  ALA A{:>4}    {:8.3f}{:8.3f}{:8.3f}  1.00 50.00           C  \n", i, i,
                        i % 2 == 0 ? 0.9 : -0.9, i % 4 == 0 ? 0.5 : 0.0, 3.3 * i);
  return text + "TER\n";
}

}  // namespace headlight
