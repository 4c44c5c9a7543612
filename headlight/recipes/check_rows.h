// The rows of a file that is checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/recipes/check_options.h"

namespace headlight {

/// A line, a record or a question.
struct CheckedRow {
  std::vector<std::string> texts;
  bool is_pair = false;  ///< a source and its target
  std::vector<std::string> labels = {};
  std::vector<std::string> wrong_answers = {};  ///< that are not at their place in the second text
  std::int64_t line = 0;                        ///< that it begins in, or the number of a question
  std::size_t columns = 0;                      ///< of a line with tabs; 0: others
  bool has_lines = false;                       ///< a text may have several
};

/// Reads a file as the trainings do.
class RowReader {
 public:
  /// `options`: must outlive this. Throws Error for a file that is not checked, and for a .tsv file of which neither
  /// the header nor `task` says what its columns are.
  RowReader(const std::string& path, const DataCheck& options);
  RowReader(RowReader&&) noexcept;
  ~RowReader();

  /// The next row; nothing after the last. Throws Error for one that cannot be read; reading can go on with the next.
  std::optional<CheckedRow> Next();
  bool has_records() const;    ///< rows are no lines
  bool has_questions() const;  ///< of SQuAD's files, which are counted
  bool is_tabbed() const;      ///< rows have columns without names

 private:
  struct Source;
  std::unique_ptr<Source> source_;
};

}  // namespace headlight
