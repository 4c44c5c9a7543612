// A record of the files and settings of a model folder that were read, for `headlight info`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"

namespace headlight {

/// Records the files that this thread reads during its lifetime. Records must not be nested.
class HEADLIGHT_API ReadRecord {
 public:
  ReadRecord();
  ReadRecord(const ReadRecord&) = delete;
  ReadRecord& operator=(const ReadRecord&) = delete;
  ~ReadRecord();

  /// Returns the files by path. A JSON file has one view per read, which records the members that were read.
  const std::map<std::string, std::vector<JsonView>>& files() const { return files_; }

  /// Must be called by all code that reads files. Does nothing unless this thread has a record.
  static void Add(const std::string& path);
  static void Add(const std::string& path, const JsonView& view);

 private:
  std::map<std::string, std::vector<JsonView>> files_;
};

}  // namespace headlight
