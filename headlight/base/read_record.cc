#include "headlight/base/read_record.h"

#include "headlight/base/error.h"

namespace headlight {
namespace {

thread_local ReadRecord* current = nullptr;

}  // namespace

ReadRecord::ReadRecord() {
  Ensure(current == nullptr, "a record of what is read is open already");
  current = this;
}

ReadRecord::~ReadRecord() { current = nullptr; }

void ReadRecord::Add(const std::string& path) {
  if (current != nullptr) current->files_.try_emplace(path);
}

void ReadRecord::Add(const std::string& path, const JsonView& view) {
  if (current != nullptr) current->files_[path].push_back(view);
}

}  // namespace headlight
