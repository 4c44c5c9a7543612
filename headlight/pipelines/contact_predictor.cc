#include "headlight/pipelines/contact_predictor.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/esm.h"
#include "headlight/pipelines/encoder_folder.h"

namespace headlight {

std::vector<Contact> BestContacts(const Tensor& probabilities, std::int64_t separation) {
  Check(separation >= 1, "`separation` must be at least 1, not {}", separation);
  const std::int64_t residues = probabilities.rows();
  Check(probabilities.shape() == Shape{residues, residues}, "contacts {} are not residues x residues",
        ToString(probabilities.shape()));
  std::vector<Contact> best;
  for (std::int64_t i = 0; i < residues; ++i)
    for (std::int64_t j = i + separation; j < residues; ++j)
      best.push_back({i + 1, j + 1, probabilities.matrix<float>().row(i)[j]});
  const auto kept = std::min<std::ptrdiff_t>(residues, std::ssize(best));
  std::partial_sort(best.begin(), best.begin() + kept, best.end(), [](const Contact& a, const Contact& b) {
    return a.score != b.score ? a.score > b.score : std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
  best.resize(static_cast<std::size_t>(kept));
  return best;
}

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

Tensor ContactPredictor::Scores(std::string_view letters, const std::string& name) const {
  Tensor contacts = state_->model->Contacts(EncodeResidues(state_->loaded, letters, name).ids);
  CheckFinite(contacts, *state_->model, "the contacts of " + name);
  return contacts;
}

}  // namespace headlight
