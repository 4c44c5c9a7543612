#include "headlight/nn/picture_encoder.h"

#include <map>
#include <set>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/pooling.h"

namespace headlight {

Tensor EncodedPictures::RowOfEach(std::int32_t index) const {
  std::vector<std::int32_t> rows;
  for (const Sequence& picture : pictures) rows.push_back(picture.begin + index);
  return ops::Embedding(hidden, rows);
}

Tensor PictureEncoder::Features(const EncodedPictures& encoded) const {
  return limits_.special > 0 ? encoded.RowOfEach(0) : ops::MeanOfMaps({encoded.hidden, encoded.grids});
}

Json::Object PictureEncoder::Description() const {
  Json::Object description = {{"picture_height", limits_.picture.height},
                              {"picture_width", limits_.picture.width},
                              {"patch_height", limits_.patch.height},
                              {"patch_width", limits_.patch.width},
                              {"channels", limits_.channels},
                              {"model", limits_.model}};
  if (!labels_.empty()) description.push_back({"labels", labels_});
  return description;
}

std::unique_ptr<PictureEncoder> PictureEncoder::WithClasses(const std::vector<std::string>&) const {
  Fail("{}: this family has no head for classes", parameters_.source());
}

std::unique_ptr<PictureEncoder> GiveClasses(const PictureEncoder& model, const std::vector<std::string>& labels,
                                            std::uint64_t seed) {
  std::unique_ptr<PictureEncoder> made = model.WithClasses(labels);
  made->parameters().Initialise(seed);
  std::map<std::string_view, const Parameter*> had;
  for (const Parameter& parameter : model.parameters().all()) had[parameter.names.front()] = &parameter;
  const std::unique_ptr<PictureEncoder> encoder = model.WithClasses({});
  std::set<std::string_view> kept;
  for (const Parameter& parameter : encoder->parameters().all()) kept.insert(parameter.names.front());
  made->parameters().Unpack();
  for (const Parameter& parameter : made->parameters().all()) {
    const std::string_view name = parameter.names.front();
    if (!kept.contains(name)) continue;
    // A folder of an encoder alone has no `vit.` in front of its names.
    const auto same = had.contains(name) ? had.find(name) : had.find(name.substr(name.find('.') + 1));
    Ensure(same != had.end() && same->second->shape == parameter.shape, "{} is not kept", name);
    parameter.value.CopyFrom(same->second->value);
  }
  made->parameters().Pack();
  return made;
}

}  // namespace headlight
