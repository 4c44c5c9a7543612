#include "headlight/cli/train/training_moments.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/models/family.h"
#include "headlight/recipes/training_folder.h"
#include "headlight/recipes/training_run.h"
#include "headlight/train/checkpoint.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

// Links all files of a model's folder except its weights, such as the tokenizer. Existing files are kept.
void LinkOthers(const std::string& from, const std::string& to) {
  const std::set<std::string> others = {"checkpoint", "last", "corpus.cache"};
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    const std::string name = entry.path().filename();
    if (!others.contains(name) && !fs::exists(to + "/" + name))
      fs::create_symlink(fs::absolute(entry.path()), to + "/" + name);
  }
}

}  // namespace

TrainingMoments::Temporary::Temporary() : path(fs::temp_directory_path() / "headlight-look-XXXXXX") {
  Check(mkdtemp(path.data()) != nullptr, "{}: cannot make the folder: {}", path, std::strerror(errno));
}

TrainingMoments::Temporary::~Temporary() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

TrainingMoments::TrainingMoments(const std::string& folder) {
  const std::string checkpoint = CheckpointOf(folder);
  Check(HasCheckpoint(checkpoint), "{}: must be a folder of a training that has a checkpoint", folder);
  const JsonView state = ReadCheckpointState(checkpoint);
  const std::int64_t best = state["best_step"].Integer(0);
  if (best > 0) moments_.push_back({best, fmt::format("step {}, the best", best), folder});
  const std::string last = folder + "/last";
  if (const std::int64_t step = state["step"].Integer(0); fs::exists(last + "/config.json") && step != best)
    moments_.push_back({step, fmt::format("step {}, the last", step), last});
  std::unique_ptr<Model> model;
  for (const JsonView& item : state["snapshots"].Items()) {
    const std::int64_t step = item.Integer(0);
    if (std::ranges::count(moments_, step, &TrainingMoment::step) > 0) continue;
    if (model == nullptr) {
      model = LoadModel<Model>(folder);
      FreezeAsTrained(state["run"], model->parameters());  // snapshots lack frozen parameters
    }
    ReadSnapshot(checkpoint, step, model->parameters());
    const std::string path = fmt::format("{}/{}", temporary_.path, step);
    fs::create_directory(path);
    model->Save(path);
    LinkOthers(folder, path);
    moments_.push_back({step, fmt::format("step {}", step), path});
  }
  Check(!moments_.empty(), "{}: the training has not saved a model yet", folder);
  std::ranges::stable_sort(moments_, {}, &TrainingMoment::step);
}

}  // namespace headlight
