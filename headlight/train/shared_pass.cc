#include "headlight/train/shared_pass.h"

#include "headlight/generate/hypothesis.h"

namespace headlight {

std::vector<std::string> SharedPass(Ranks* ranks, const std::function<std::string(int part, int parts)>& body) {
  if (ranks == nullptr) return {body(0, 1)};
  std::string own(1, '-');  // cancelled; else + and what was found
  try {
    const std::string found = body(ranks->rank(), ranks->size());
    own.front() = '+';
    own.append(found);
  } catch (const Cancelled&) {
  }
  std::vector<std::string> all = GatherToAll(*ranks, own);
  for (std::string& found : all) {
    if (found.front() == '-') throw Cancelled();
    found.erase(0, 1);
  }
  return all;
}

}  // namespace headlight
