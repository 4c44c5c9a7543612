#include "headlight/kinds/layer_sizes.h"

#include <algorithm>
#include <utility>

namespace headlight {

void AddMissing(Json::Object& description, Json::Object members) {
  for (Json::Member& member : members)
    if (std::ranges::find(description, member.name, &Json::Member::name) == description.end())
      description.push_back(std::move(member));
}

}  // namespace headlight
