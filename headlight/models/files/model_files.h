// What the families' files have in common: the settings that no model is changed by, tables stored twice, 8-bit
// weights.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/files/stored_parameters.h"

namespace headlight {

// Refuses (JsonView::RefuseUnread) what a family has not read of its config.json and is neither in `harmless` nor one
// of the settings that Transformers writes for every model and that change nothing of what it computes.
void RefuseUnreadSettings(const JsonView& config, std::initializer_list<std::string_view> harmless = {});

struct LoadModelOptions {
  std::optional<Compute> compute = {};  // of products; as the folder is stored unless given
  LoadFor purpose = LoadFor::everything;
};

// Fills a model's parameters from its folder, and says what its products shall be computed in. `harmless` as in
// LoadParameters.
void LoadWeights(const ModelFolder& files, const LoadModelOptions& options, Parameters& parameters,
                 const std::function<bool(std::string_view name)>& harmless);

// Whether `name` is stored though the model has tied it to `tied`, as long as both are the same: else an Error.
bool SameAsTied(const Safetensors& file, std::string_view name, std::string_view tied);

// Writes config.json and model.safetensors into `folder`; with `more` tensors, that others may want besides.
void SaveConfigAndWeights(const std::string& folder, Json config, const Parameters& parameters, Compute compute,
                          std::vector<StoredTensor> more = {});

}  // namespace headlight
