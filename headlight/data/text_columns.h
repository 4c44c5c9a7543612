// The names of record members that have texts.
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

/// The names of the members with a text, a second text and the class. Empty: the usual names.
struct TextColumns {
  std::string text, text_pair, label;
};

/// Adds an option for the name of a column. Giving it twice is an error, because each column has its own option.
HEADLIGHT_API Option& AddColumn(OptionTable& table, const char* name, std::string& column, std::string description);

/// Adds options for the columns of a text classifier.
HEADLIGHT_API void AddTextColumns(OptionTable& table, TextColumns& columns, const char* group);
/// The same without --text-column.
HEADLIGHT_API void AddPairAndLabelColumns(OptionTable& table, TextColumns& columns, const char* group);

/// The texts to read from a record, which determine the usual names:
///   text: text or sentence
///   texts: two of a pair, such as sentence1 and sentence2 or question and context, or else one text
///   source: source, document, article or text
///   target: target, summary or highlights
///   reference: a target, or else text
/// The two texts of an object "translation" have the names of languages, of which a column must name one.
enum class TextsAsked { text, texts, source, target, reference };

/// The usual names of one text, in order of precedence.
std::initializer_list<const char*> UsualNames(TextsAsked asked);

/// True if a header has the named columns, or otherwise usual ones.
HEADLIGHT_API bool HasTexts(const std::vector<std::string>& header, const TextColumns& columns, TextsAsked asked);

/// The texts of a record. `header`: the columns of CSV or TSV, in which an empty field is an empty text; empty for
/// JSON. `option`: the option for the column of the text, for errors. Throws Error naming the record's members if it
/// lacks the texts, and for a text that is null.
HEADLIGHT_API SourceText TextsOfRecord(const JsonView& record, const std::vector<std::string>& header,
                                       const TextColumns& columns, TextsAsked asked,
                                       const char* option = "text_column");

/// The label of a record, from the named column, or otherwise "label" or "labels".
HEADLIGHT_API JsonView LabelOfRecord(const JsonView& record, const TextColumns& columns);

/// True if the first line of a .tsv file is a header with columns for one or two texts and the label. Throws Error that
/// begins with `location` if it has two texts and no label.
HEADLIGHT_API bool IsLabelledHeader(const std::vector<std::string>& header, const TextColumns& columns,
                                    const std::string& location);

/// The records of a file of texts with labels: JSON lines, CSV, or a .tsv file whose header has columns for one or two
/// texts and the label. Nothing for other files, whose columns have no names. `format` replaces the format of the file
/// name. Throws Error if columns are named and the file has none of them.
std::optional<Records> LabelledRecords(const std::string& path, const TextColumns& columns,
                                       std::optional<TextFormat> format = {});

}  // namespace headlight
