// The names by which records have their texts.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/base/option_table.h"
#include "headlight/data/records.h"

namespace headlight {

/// One text, or two texts that belong together, such as a question and a passage.
struct SourceText {
  std::string text;
  std::optional<std::string> second = std::nullopt;
};

/// The members of records that hold a text, a second one and the class; empty: the usual ones.
struct TextColumns {
  std::string text, text_pair, label;
};

/// Adds an option for the name of a column, which is refused if it is given twice: each column has its own option.
HEADLIGHT_API Option& AddColumn(OptionTable& table, const char* name, std::string& column, std::string description);

/// Adds options for the columns that a classifier of texts reads.
HEADLIGHT_API void AddTextColumns(OptionTable& table, TextColumns& columns, const char* group);
/// The same without --text-column.
HEADLIGHT_API void AddPairAndLabelColumns(OptionTable& table, TextColumns& columns, const char* group);

/// What is asked of a record, which determines the usual names:
///   text: text or sentence
///   texts: two of a pair, such as sentence1 and sentence2 or question and context, or else one text
///   source: source, document, article or text
///   target: target, summary or highlights
///   reference: a target, or else text
/// The two texts of an object "translation" have the names of languages, of which a column must name one.
enum class TextsAsked { text, texts, source, target, reference };

/// The names of one text, in the order in which they are looked for.
std::initializer_list<const char*> UsualNames(TextsAsked asked);

/// True if a header has the columns that are named, or else usual ones.
HEADLIGHT_API bool HasTexts(const std::vector<std::string>& header, const TextColumns& columns, TextsAsked asked);

/// The texts of a record. `header`: the columns of CSV or TSV, of which an empty field is an empty text; empty for
/// JSON. `option`: that names the column of the text, for errors. Throws Error naming the members that the record has
/// for one without the texts, and for a text that is null.
HEADLIGHT_API SourceText TextsOfRecord(const JsonView& record, const std::vector<std::string>& header,
                                       const TextColumns& columns, TextsAsked asked,
                                       const char* option = "text_column");

/// The label of a record: of the column that is named, or else "label" or "labels".
HEADLIGHT_API JsonView LabelOfRecord(const JsonView& record, const TextColumns& columns);

/// True if the first line of a .tsv file is a header that names the columns of a text or two and of the label. Throws
/// Error that begins with `place` for one that names two texts and no label.
HEADLIGHT_API bool IsLabelledHeader(const std::vector<std::string>& header, const TextColumns& columns,
                                    const std::string& place);

/// The records of a file of texts with labels: of JSON lines, of CSV, and of a .tsv file whose header has the columns
/// of a text or two and of the label. Nothing for other files, whose columns have no names. Throws Error if columns are
/// named and the file has none of these.
std::optional<Records> LabelledRecords(const std::string& path, const TextColumns& columns);

}  // namespace headlight
