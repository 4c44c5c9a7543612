// The names of the members of records that contain texts.
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

/// The names of the members with a text, a second text and the class. If empty, the default names are used.
struct TextColumns {
  std::string text, text_pair, label;
};

/// Adds an option for the name of a column. Giving the option twice is an error, because each column has a separate
/// option.
HEADLIGHT_API Option& AddColumn(OptionTable& table, const char* name, std::string& column, std::string description);

/// Adds options for the columns of a text classifier.
HEADLIGHT_API void AddTextColumns(OptionTable& table, TextColumns& columns, const char* group);
/// Adds the options of AddTextColumns without --text-column.
HEADLIGHT_API void AddPairAndLabelColumns(OptionTable& table, TextColumns& columns, const char* group);

/// The texts to read from a record. Each kind has its own default names:
///   text: text or sentence
///   texts: two texts of a pair, such as sentence1 and sentence2 or question and context, otherwise one text
///   source: source, document, article or text
///   target: target, summary or highlights
///   reference: a target, otherwise a text
/// In an object "translation", the names of the two texts are languages, and a column must name one of them.
enum class TextsAsked { text, texts, source, target, reference };

/// Returns the default names of one text, in order of precedence.
std::initializer_list<const char*> UsualNames(TextsAsked asked);

/// Returns true if a header has the named columns, or the default columns if none are named.
HEADLIGHT_API bool HasTexts(const std::vector<std::string>& header, const TextColumns& columns, TextsAsked asked);

/// Returns the texts of a record. `header` has the columns of CSV or TSV, and is empty for JSON. In CSV and TSV, an
/// empty field is an empty text. Throws Error naming the record's members if a text is missing, and for a text that is
/// null. The message names `option` as the option for the text's column.
HEADLIGHT_API SourceText TextsOfRecord(const JsonView& record, const std::vector<std::string>& header,
                                       const TextColumns& columns, TextsAsked asked,
                                       const char* option = "text_column");

/// Returns the label of a record from the named column, or from "label" or "labels" if none is named.
HEADLIGHT_API JsonView LabelOfRecord(const JsonView& record, const TextColumns& columns);

/// Returns true if the first line of a .tsv file is a header with columns for one or two texts and the label. Throws
/// Error, with a message that begins with `location`, if it has two texts and no label.
HEADLIGHT_API bool IsLabeledHeader(const std::vector<std::string>& header, const TextColumns& columns,
                                   const std::string& location);

/// Opens the records of a file of texts with labels: JSON lines, CSV, or .tsv. The header of a .tsv file must have
/// columns for one or two texts and the label. For other files, whose columns have no names, returns nothing, or throws
/// Error if `columns` names a column. `format` overrides the format that the file name indicates.
std::optional<Records> LabeledRecords(const std::string& path, const TextColumns& columns,
                                      std::optional<TextFormat> format = {});

}  // namespace headlight
