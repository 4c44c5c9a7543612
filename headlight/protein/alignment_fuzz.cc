// Feeds arbitrary bytes to the readers of sequences and of alignments, whose rows must all be as wide as the query.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "headlight/base/error.h"
#include "headlight/protein/alignment.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using headlight::Ensure;
  static const int file = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  Ensure(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size), "no file");
  try {
    headlight::FastaReader reader(path);
    while (const auto sequence = reader.Next()) headlight::ResiduesOf(sequence->letters);
  } catch (const headlight::Error& error) {
    if (error.blame() == headlight::Blame::internal) throw;
  }
  try {
    headlight::AlignmentReader reader(path);
    while (const auto row = reader.Next()) {
      Ensure(static_cast<std::int64_t>(row->residues.size()) == reader.columns(), "a ragged row");
      Ensure(row->deletions.size() == row->residues.size(), "deletions of other columns");
    }
  } catch (const headlight::Error& error) {
    if (error.blame() == headlight::Blame::internal) throw;
  }
  return 0;
}
