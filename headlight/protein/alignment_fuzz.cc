// Feeds arbitrary bytes to the readers of sequences, alignments and templates. All rows of an alignment must have as
// many columns as the query.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "headlight/base/error.h"
#include "headlight/protein/alignment.h"
#include "headlight/protein/templates.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using headlight::Ensure;
  static const int file = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  Ensure(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size), "no file");
  try {
    headlight::FastaReader reader(path);
    while (const auto sequence = reader.Next()) headlight::ResiduesOf(sequence->letters);
  } catch (const headlight::Error& error) {
    if (error.cause() == headlight::ErrorCause::internal) throw;
  }
  try {
    headlight::AlignmentReader reader(path);
    while (const auto row = reader.Next()) {
      Ensure(static_cast<std::int64_t>(row->residues.size()) == reader.columns(), "a ragged row");
      Ensure(row->deletions.size() == row->residues.size(), "deletions of other columns");
    }
  } catch (const headlight::Error& error) {
    if (error.cause() == headlight::ErrorCause::internal) throw;
  }
  // Reads the bytes as an alignment of templates, whose row names select the chains.
  try {
    headlight::AlignmentReader reader(path);
    const auto query = reader.Next();
    const auto read = [&](const std::string& name) {
      headlight::Structure structure{name, {{"A", {}}, {"B", {}}}};
      for (const std::uint8_t type : query->residues) {
        headlight::Residue& residue = structure.chains.front().residues.emplace_back();
        residue.type = type;
        residue.known[0] = residue.known[1] = residue.known[2] = true;
      }
      return structure;
    };
    if (query) {
      for (const auto& one : headlight::ReadTemplates({"1.cif", "2.cif"}, path, query->residues, read))
        Ensure(one.residues.size() == query->residues.size(), "a template of other columns");
    }
  } catch (const headlight::Error& error) {
    if (error.cause() == headlight::ErrorCause::internal) throw;
  }
  return 0;
}
