#include "headlight/recipes/check_findings.h"

namespace headlight {
namespace {

struct KindWords {
  const char *name, *one, *several;  // name in JSON, and texts for a count of one and for other counts
};

KindWords WordsOf(FindingKind kind) {
  switch (kind) {
    case FindingKind::unreadable:
      return {"unreadable", "unreadable line or record", "unreadable lines or records"};
    case FindingKind::empty_files:
      return {"empty_files", "file without any row", "files without any row"};
    case FindingKind::invalid_utf8:
      return {"invalid_utf8", "line that is not UTF-8", "lines that are not UTF-8"};
    case FindingKind::control_characters:
      return {"control_characters", "text with control characters", "texts with control characters"};
    case FindingKind::empty:
      return {"empty", "empty text", "empty texts"};
    case FindingKind::long_texts:
      return {"long_texts", "very long text", "very long texts"};
    case FindingKind::columns:
      return {"columns", "row with a wrong number of columns", "rows with a wrong number of columns"};
    case FindingKind::line_counts:
      return {"line_counts", "line that only one of the parallel files has",
              "lines that only one of the parallel files has"};
    case FindingKind::shifts:
      return {"shifts", "likely shift: from some line on, the lines are misaligned",
              "likely shifts: from some line on, the lines are misaligned"};
    case FindingKind::copies:
      return {"copies", "target that is equal to its source", "targets that are equal to their source"};
    case FindingKind::length_ratio:
      return {"length_ratio", "pair of very different lengths", "pairs of very different lengths"};
    case FindingKind::answers:
      return {"answers", "answer that is not in its context", "answers that are not in their context"};
    case FindingKind::duplicates:
      return {"duplicates", "duplicate of an earlier row", "duplicates of an earlier row"};
    case FindingKind::leaks:
      return {"leaks", "validation row that is also in the training data",
              "validation rows that are also in the training data"};
    case FindingKind::empty_labels:
      return {"empty_labels", "empty label", "empty labels"};
    case FindingKind::similar_labels:
      return {"similar_labels", "group of labels that differ only by spaces or case",
              "groups of labels that differ only by spaces or case"};
    case FindingKind::many_labels:
      return {"many_labels", "label, more than half the number of rows",
              "different labels, more than half the number of rows"};
    case FindingKind::one_class:
      return {"one_class", "class only", "classes only"};
    case FindingKind::damaged:
      return {"damaged", "damaged image", "damaged images"};
    case FindingKind::wrong_extension:
      return {"wrong_extension", "image with the extension of another format",
              "images with the extension of another format"};
    case FindingKind::left_out:
      return {"left_out", "image that is left out, by its extension", "images that are left out, by their extension"};
    case FindingKind::outside_classes:
      return {"outside_classes", "image that is in no class folder", "images that are in no class folder"};
    case FindingKind::empty_classes:
      return {"empty_classes", "class folder without images", "class folders without images"};
    case FindingKind::classes_named_as_sets:
      return {"classes_named_as_sets", "class folder with the name of a set of images",
              "class folders with the name of a set of images"};
    case FindingKind::unknown_classes:
      return {"unknown_classes", "validation class that is not in the training data",
              "validation classes that are not in the training data"};
    case FindingKind::small_images:
      return {"small_images", "very small image", "very small images"};
    case FindingKind::duplicate_images:
      return {"duplicate_images", "duplicate file", "duplicate files"};
    case FindingKind::duplicates_between_classes:
      return {"duplicates_between_classes", "duplicate file in different classes",
              "duplicate files in different classes"};
    case FindingKind::leaked_images:
      return {"leaked_images", "validation file that is also a training file",
              "validation files that are also training files"};
  }
  return {};
}

}  // namespace

Finding& FindingCollector::Count(FindingKind kind, std::int64_t count) {
  Finding& finding = findings_[kind];
  finding.count += count;
  return finding;
}

void FindingCollector::Add(FindingKind kind, std::int64_t count, std::vector<std::string> examples) {
  if (count == 0) return;
  Finding& finding = Count(kind, count);
  for (std::string& example : examples)
    if (Keeps(kind, finding)) finding.examples.push_back(std::move(example));
}

std::vector<Finding> FindingCollector::Take() {
  std::vector<Finding> all;
  for (auto& [kind, finding] : findings_) {
    const KindWords words = WordsOf(kind);
    finding.kind = words.name;
    finding.text = finding.count == 1 ? words.one : words.several;
    all.push_back(std::move(finding));
  }
  return all;
}

}  // namespace headlight
