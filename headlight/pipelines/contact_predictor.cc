#include "headlight/pipelines/contact_predictor.h"

#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/esm.h"
#include "headlight/pipelines/encoder_folder.h"

namespace headlight {

struct ContactPredictor::State {
  EncoderFolder loaded;
  const Esm* model;
};

ContactPredictor ContactPredictor::Load(const std::string& folder, const LoadOptions& options) {
  EncoderFolder loaded = LoadEncoderFolder(folder, options);
  const auto* const model = dynamic_cast<const Esm*>(loaded.model.get());
  Check(model != nullptr && model->has_contacts(), "{}: the model has no contact head, as an ESM has", folder);
  return ContactPredictor(std::make_shared<State>(State{std::move(loaded), model}));
}

Tensor ContactPredictor::Predict(std::string_view letters, const std::string& name) const {
  Tensor contacts = state_->model->Contacts(EncodeResidues(state_->loaded, letters, name).ids);
  CheckFinite(contacts, *state_->model, "the contacts of " + name);
  return contacts;
}

}  // namespace headlight
