// Evaluates each kind of model.
#pragma once

#include "headlight/recipes/evaluation_options.h"

namespace headlight {

/// Scores the model's head: text classification, token classification, question answering or masked tokens.
EvaluationResult EvaluateTextEncoder(const Evaluation& options, const EvaluationObserver& observer);
/// Computes the perplexity of texts.
EvaluationResult EvaluateLanguageModel(const Evaluation& options, const EvaluationObserver& observer);
/// Generates a text for each source, and scores it with BLEU and chrF, or with ROUGE. Also computes the loss of the
/// references.
EvaluationResult EvaluatePairs(const Evaluation& options, const EvaluationObserver& observer);

/// Scores the classification of labeled images. With options.knn or options.linear_probe, scores the features.
EvaluationResult EvaluateImageEncoder(const Evaluation& options, const EvaluationObserver& observer);
/// Scores zero-shot classification by a CLIP or SigLIP. The class names are inserted into options.templates.
EvaluationResult EvaluateZeroShot(const Evaluation& options, const EvaluationObserver& observer);
/// Computes retrieval scores among 1,000 pairs: the fractions of images and of texts whose best match is from the same
/// pair.
EvaluationResult EvaluateDualEncoder(const Evaluation& options, const EvaluationObserver& observer);
/// Scores greedy captions: the fraction of exact matches with a reference, BLEU, and the loss of the references.
EvaluationResult EvaluateCaptionModel(const Evaluation& options, const EvaluationObserver& observer);
/// Computes COCO's detection scores.
EvaluationResult EvaluateDetector(const Evaluation& options, const EvaluationObserver& observer);
/// Computes the bits per pixel of images.
EvaluationResult EvaluateImageGenerator(const Evaluation& options, const EvaluationObserver& observer);
/// Computes the loss of images with texts, and the bits per code.
EvaluationResult EvaluateDrawer(const Evaluation& options, const EvaluationObserver& observer);
/// Computes the reconstruction error of images decoded from their codes, and the number of codes in use.
EvaluationResult EvaluateImageCoder(const Evaluation& options, const EvaluationObserver& observer);
/// Computes the accuracy of answers to questions about images, by kind of question, and the accuracy of baselines that
/// ignore the image.
EvaluationResult EvaluateRegionTextEncoder(const Evaluation& options, const EvaluationObserver& observer);

/// Predicts structures of chains with known structures, and scores them. Also scores contacts from alignments and, with
/// options.train, baselines computed from known structures.
EvaluationResult EvaluateFolding(const Evaluation& options, const EvaluationObserver& observer);

}  // namespace headlight
