#include "headlight/train/checkpoint.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/io/safetensors.h"
#include "headlight/kernels/arithmetic.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

std::string SnapshotName(std::int64_t step) { return fmt::format("snapshot-{:09}.safetensors", step); }

std::string StateName(const TrainingTask::State& part) { return fmt::format("task.{}", part.name); }

void ReadInto(const Safetensors& file, const std::string& name, const Tensor& to) {
  const Tensor stored = file.Read(name, to.dtype());
  Check(stored.shape() == to.shape(), "{}: {} has shape {}, but this model needs {}", file.path(), name,
        ToString(stored.shape()), ToString(to.shape()));
  to.CopyFrom(stored);
}

void Replace(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Parses a state.json. Replaces the metric names of version 0.1, which contain "picture" instead of "image".
JsonView ParseState(std::string text, const std::string& path) {
  for (const std::string_view name : {"_recall", "_recall_at_10", "_loss"})
    Replace(text, fmt::format("\"picture{}\"", name), fmt::format("\"image{}\"", name));
  Replace(text, "\"validate_pictures\"", "\"validate_images\"");
  return {ParseJson(text, path), path};
}

// Replaces the values on all other ranks with rank 0's values.
void Share(Ranks* ranks, const Tensor& values) {
  if (ranks == nullptr) return;
  Dispatch(values.dtype(), [&]<typename T>(T) { Broadcast(*ranks, BytesOf(values.span<T>())); });
}

// Throws Error naming the first setting that differs.
void CheckSameRun(const JsonView& stored, const Json& run, const std::string& path) {
  const auto check = [&](const std::string& name, const Json* before, const Json* now) {
    Check(before != nullptr && now != nullptr && *before == *now,
          "{}: this training started with {} {}, not {}; resume with the same, or train into another folder", path,
          name, before == nullptr ? "none" : before->Line(), now == nullptr ? "none" : now->Line());
  };
  for (const auto& [name, value] : *run.As<Json::Object>()) check(name, stored.value().Find(name), &value);
  for (const auto& [name, value] : stored.Object()) check(name, &value, run.Find(name));
}

}  // namespace

void SaveCheckpoint(const std::string& folder, const Json& run, const TrainingState& state, const Optimizer& optimizer,
                    const TrainingTask& task, Ranks* ranks) {
  const Parameters& parameters = task.model->parameters();
  optimizer.GatherAverage();
  const Tensor m = optimizer.Whole(optimizer.m), v = optimizer.Whole(optimizer.v);
  if (ranks != nullptr && ranks->rank() != 0) return;
  Json::Array snapshots;
  for (const std::int64_t step : state.snapshots) snapshots.push_back(step);
  const Json json = Json::Object{{"version", kCheckpointVersion},
                                 {"step", optimizer.step},
                                 {"epoch", state.position.epoch},
                                 {"batch", state.position.batch},
                                 {"labels", state.labels},
                                 {"seconds", state.seconds},
                                 {"best_score", state.best_score},
                                 {"best_loss", state.best_loss},
                                 {"best_step", state.best_step},
                                 {"best_metric", state.best_metric},
                                 {"validated_step", state.validated_step},
                                 {"validations_since_best", state.validations_since_best},
                                 {"loss_sum", state.loss_sum},
                                 {"loss_labels", state.loss_labels},
                                 {"finished", state.finished},
                                 {"snapshots", snapshots},
                                 {"run", run}};
  ReplaceFolder(folder, [&](const std::string& fresh) {
    WriteFile(fresh + "/state.json", json.Text());
    std::vector<StoredTensor> tensors = {Stored("values", parameters.state()), Stored("m", m), Stored("v", v)};
    if (!optimizer.average.empty()) tensors.push_back(Stored("average", optimizer.average));
    for (const TrainingTask::State& part : task.state) tensors.push_back(Stored(StateName(part), part.values));
    WriteSafetensors(fresh + "/training.safetensors", std::move(tensors));
    for (const std::int64_t step : state.snapshots) {
      const std::string name = fmt::format("/{}", SnapshotName(step));
      if (step == optimizer.step)
        WriteSafetensors(fresh + name, {Stored("values", parameters.state())});
      else
        LinkOrCopy(folder + name, fresh + name);  // a snapshot never changes
    }
  });
}

bool HasCheckpoint(const std::string& folder) { return fs::exists(folder + "/state.json"); }

JsonView ReadCheckpointState(const std::string& folder) {
  const std::string path = folder + "/state.json";
  return ParseState(ReadFile(path), path);
}

void LoadCheckpoint(const std::string& folder, const Json& run, TrainingState& state, Optimizer& optimizer,
                    const TrainingTask& task, Ranks* ranks) {
  Parameters& parameters = task.model->parameters();
  const std::string path = fmt::format("{}/state.json", folder);
  const bool reads = ranks == nullptr || ranks->rank() == 0;
  std::string text = reads ? ReadFile(path) : "";
  if (ranks != nullptr) text = Broadcast(*ranks, text);
  const JsonView json = ParseState(std::move(text), path);
  Check(json["version"].Integer() == kCheckpointVersion,
        "{}: a checkpoint of version {}, but this program reads version {}; finish that training with the "
        "program that started it, or train into another folder",
        path, json["version"].Integer(), kCheckpointVersion);
  CheckSameRun(json["run"], run, path);
  optimizer.step = json["step"].Integer(0);
  state.position = {json["epoch"].Integer(0), json["batch"].Integer(0)};
  state.labels = json["labels"].Integer(0);
  state.seconds = json["seconds"].Number(0);
  state.best_score = json["best_score"].Number();
  state.best_loss = json["best_loss"].Number();
  state.best_step = json["best_step"].Integer(0);
  state.best_metric = json["best_metric"].String();
  state.validated_step = json["validated_step"].Integer(0);
  state.validations_since_best = json["validations_since_best"].Integer(0);
  state.loss_sum = json["loss_sum"].Number();
  state.loss_labels = json["loss_labels"].Integer(0);
  state.finished = json["finished"].Bool();

  std::optional<Safetensors> tensors;
  if (reads) tensors.emplace(folder + "/training.safetensors");
  const auto read = [&](const std::string& name, const Tensor& to) {
    if (reads) ReadInto(*tensors, name, to);
    Share(ranks, to);
  };
  read("values", parameters.state());
  for (const auto& [name, moments] : {std::pair("m", optimizer.m), std::pair("v", optimizer.v)}) {
    const Tensor whole = Tensor::Empty(parameters.values().shape(), parameters.dtype());
    read(name, whole);
    optimizer.Keep(moments, whole);
  }
  if (!optimizer.average.empty()) read("average", optimizer.average);
  for (const TrainingTask::State& part : task.state) read(StateName(part), part.values);
  for (const JsonView& item : json["snapshots"].Items()) {
    state.snapshots.push_back(item.Integer(0));
    const std::string snapshot = fmt::format("{}/{}", folder, SnapshotName(state.snapshots.back()));
    Check(!reads || fs::exists(snapshot), "{}: missing, though {} names it", snapshot, path);
  }
  parameters.Unpack();
}

void ReadSnapshot(const std::string& folder, std::int64_t step, Parameters& parameters) {
  ReadInto(Safetensors(folder + "/" + SnapshotName(step)), "values", parameters.state());
  parameters.Unpack();
}

Tensor MeanOfSnapshots(const std::string& folder, const TrainingState& state, const Parameters& parameters,
                       Ranks* ranks) {
  const Tensor mean = Tensor::Zeros(parameters.state().shape(), parameters.dtype());
  if (ranks != nullptr && ranks->rank() != 0) {
    Share(ranks, mean);
    return mean;
  }
  const Tensor values = Tensor::Empty(mean.shape(), mean.dtype());
  for (const std::int64_t step : state.snapshots) {
    ReadInto(Safetensors(folder + "/" + SnapshotName(step)), "values", values);
    Dispatch(mean.dtype(),
             [&]<typename T>(T) { kernels::AddRows<T>(mean.matrix<T>(), values.matrix<T>(), mean.matrix<T>()); });
  }
  Dispatch(mean.dtype(), [&]<typename T>(T) {
    kernels::ScaleRows<T>(mean.matrix<T>(), 1 / static_cast<double>(state.snapshots.size()), mean.matrix<T>());
  });
  Share(ranks, mean);
  return mean;
}

}  // namespace headlight
