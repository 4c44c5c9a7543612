// Evaluation of each kind of model.
#pragma once

#include "headlight/recipes/evaluation_options.h"

namespace headlight {

/// Scores the model's head: text classification, token classification, question answering or masked tokens.
EvaluationResult EvaluateTextEncoder(const Evaluation& options, const EvaluationObserver& observer);
/// The perplexity of texts.
EvaluationResult EvaluateLanguageModel(const Evaluation& options, const EvaluationObserver& observer);
/// Generates a text for each source and scores it with BLEU and chrF, or ROUGE; also computes the loss of the
/// references.
EvaluationResult EvaluatePairs(const Evaluation& options, const EvaluationObserver& observer);

/// Scores classification of labelled images, or with options.knn or linear_probe the features.
EvaluationResult EvaluateImageEncoder(const Evaluation& options, const EvaluationObserver& observer);
/// Scores zero-shot classification by a CLIP or SigLIP, with the class names in options.templates.
EvaluationResult EvaluateZeroShot(const Evaluation& options, const EvaluationObserver& observer);
/// Retrieval scores among 1,000 pairs: how many images have their own text as the best match, and texts their own
/// image.
EvaluationResult EvaluateDualEncoder(const Evaluation& options, const EvaluationObserver& observer);
/// Scores greedy captions: the share that equals one of the image's captions, BLEU, and the loss of the image's
/// captions.
EvaluationResult EvaluateCaptionModel(const Evaluation& options, const EvaluationObserver& observer);
/// COCO's scores of detected objects.
EvaluationResult EvaluateDetector(const Evaluation& options, const EvaluationObserver& observer);
/// The bits per pixel of images.
EvaluationResult EvaluateImageGenerator(const Evaluation& options, const EvaluationObserver& observer);
/// The loss of images with texts, and the bits per code.
EvaluationResult EvaluateDrawer(const Evaluation& options, const EvaluationObserver& observer);
/// The reconstruction error of images decoded from their codes, and the number of codes in use.
EvaluationResult EvaluateImageCoder(const Evaluation& options, const EvaluationObserver& observer);
/// The accuracy of answers to questions about images, by kind of question, and of baselines that ignore the image.
EvaluationResult EvaluateRegionTextEncoder(const Evaluation& options, const EvaluationObserver& observer);

/// Predicts structures of chains with known structure and scores them. Baselines without a model are contacts from
/// alignments and, with options.train, known structures.
EvaluationResult EvaluateFolding(const Evaluation& options, const EvaluationObserver& observer);

}  // namespace headlight
