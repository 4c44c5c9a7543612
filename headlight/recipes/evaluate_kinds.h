// Evaluate of each kind of model.
#pragma once

#include "headlight/recipes/evaluation_options.h"

namespace headlight {

/// Scores the model's head: classes of texts, tags, answers or masked tokens.
EvaluationResult EvaluateTextEncoder(const Evaluation& options, const EvaluationObserver& observer);
/// The perplexity of texts.
EvaluationResult EvaluateLanguageModel(const Evaluation& options, const EvaluationObserver& observer);
/// Writes a text for each source and scores it: BLEU and chrF, or ROUGE; and the loss of the references.
EvaluationResult EvaluatePairs(const Evaluation& options, const EvaluationObserver& observer);

/// Scores the classes of labelled images, or with options.knn or linear_probe the features.
EvaluationResult EvaluateImageEncoder(const Evaluation& options, const EvaluationObserver& observer);
/// Scores the classes that a CLIP or SigLIP finds by their names in options.templates.
EvaluationResult EvaluateZeroShot(const Evaluation& options, const EvaluationObserver& observer);
/// How many images find their own text first, and texts their own image, among 1,000 pairs.
EvaluationResult EvaluateDualEncoder(const Evaluation& options, const EvaluationObserver& observer);
/// How many greedy captions are one of their image's, their BLEU, and the loss of the images' own.
EvaluationResult EvaluateCaptionModel(const Evaluation& options, const EvaluationObserver& observer);
/// COCO's scores of what a detector finds.
EvaluationResult EvaluateDetector(const Evaluation& options, const EvaluationObserver& observer);
/// The bits per pixel of images.
EvaluationResult EvaluateImageGenerator(const Evaluation& options, const EvaluationObserver& observer);
/// The loss of images with texts, and how many bits a code takes.
EvaluationResult EvaluateDrawer(const Evaluation& options, const EvaluationObserver& observer);
/// How well images come back from their codes, and how many codes they have.
EvaluationResult EvaluateImageCoder(const Evaluation& options, const EvaluationObserver& observer);
/// How many answers to questions about images are right, of each kind of question, and how many would be without an
/// image.
EvaluationResult EvaluateRegionTextEncoder(const Evaluation& options, const EvaluationObserver& observer);

/// Folds chains of known structure and scores them, next to the contacts that alignments give without a model, and,
/// with options.train, what known structures tell without a model.
EvaluationResult EvaluateFolding(const Evaluation& options, const EvaluationObserver& observer);

}  // namespace headlight
