// Reads the rows of a file for checking.
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
  bool is_pair = false;  ///< if true, the texts are a source and its target
  std::vector<std::string> labels = {};
  std::vector<std::string> wrong_answers = {};  ///< answers that are not at their position in the second text
  std::int64_t line = 0;                        ///< the first line of the row, or the number of a question
  std::size_t columns = 0;                      ///< number of columns of a line with tabs; 0 for other formats
  bool has_lines = false;                       ///< if true, a text may have several lines
};

/// Reads the rows of a file in the same way as a training run.
class RowReader {
 public:
  /// `options` must outlive this object. Throws Error for a file that cannot be checked, and for a .tsv file whose
  /// columns are described neither by its header nor by `task`.
  RowReader(const std::string& path, const DataCheck& options);
  RowReader(RowReader&&) noexcept;
  ~RowReader();

  /// Returns the next row, or nothing after the last row. Throws Error for a row that cannot be read. The next call
  /// continues after that row.
  std::optional<CheckedRow> Next();
  bool has_records() const;    ///< returns true if rows are records instead of lines
  bool has_questions() const;  ///< returns true if rows are numbered questions of a SQuAD file
  bool is_tabbed() const;      ///< returns true if rows have columns without names

 private:
  struct Source;
  std::unique_ptr<Source> source_;
};

}  // namespace headlight
