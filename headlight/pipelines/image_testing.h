// A model of images for tests: tiny and untrained.
#pragma once

#include <string>

#include "headlight/base/file.h"
#include "headlight/models/vit.h"

namespace headlight {

// Saves a tiny, untrained ViT of the classes cat, dog and bird, or without classes, with the configuration of its
// processor into `folder`, which exists.
inline void SaveTinyVit(const std::string& folder, bool classes = true) {
  VitConfig config{.model = 16, .layers = 2, .heads = 2, .ffn = 24, .image = {8, 8}, .patch = {4, 4}};
  config.classes = classes;
  if (classes) config.labels = {"cat", "dog", "bird"};
  Vit model(config);
  for (Parameter& parameter : model.parameters().all())  // so that images differ
    parameter.initialisation = Initialisation::Normal(0.5);
  model.parameters().Initialise(/*seed=*/3);
  model.Save(folder);
  WriteFile(folder + "/preprocessor_config.json",
            R"({"image_processor_type": "ViTImageProcessor", "size": {"height": 8, "width": 8}})");
}

}  // namespace headlight
