// A tiny, untrained image classifier for tests.
#pragma once

#include <string>

#include "headlight/base/file.h"
#include "headlight/models/vit.h"

namespace headlight {

// Saves a tiny, untrained ViT with its preprocessor_config.json into `folder`, which must exist. The classes are cat,
// dog and bird, or none.
inline void SaveTinyVit(const std::string& folder, bool classes = true) {
  VitConfig config{.model = 16, .layers = 2, .heads = 2, .ffn = 24, .image = {8, 8}, .patch = {4, 4}};
  config.classes = classes;
  if (classes) config.labels = {"cat", "dog", "bird"};
  Vit model(config);
  for (Parameter& parameter : model.parameters().all())  // larger weights, so that images have different results
    parameter.initialization = Initialization::Normal(0.5);
  model.parameters().Initialize(/*seed=*/3);
  model.Save(folder);
  WriteFile(folder + "/preprocessor_config.json",
            R"({"image_processor_type": "ViTImageProcessor", "size": {"height": 8, "width": 8}})");
}

}  // namespace headlight
