// Detection: what is in pictures, and where.
#pragma once

#include <functional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/detection.h"
#include "headlight/image/metrics/detection_scores.h"
#include "headlight/image/picture.h"
#include "headlight/image/processor.h"
#include "headlight/nn/object_detector.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct DetectionTrainingOptions {
  BatchOptions batches;  // tokens are pictures
  // Pictures are flipped, scaled and cropped at random as DETR's were (image/augment_boxes.h), with sides in proportion
  // to the processor's; where it gives all pictures one size they are only flipped.
  bool augment = true;
};

// Reads a picture's file: ReadPicture of image/decoding/decode.h.
using PictureReader = std::function<Picture(const std::string& path)>;

// The loss is that of every layer of the decoder (nn/detection_loss.h), of a batch divided by its pictures' number. A
// validation's score is COCO's AP, beside it the AP at an overlap of 0.5, in per cent. Model and sets must outlive the
// task. Throws Error where a set has no picture, and for a class that the model does not have.
HEADLIGHT_API TrainingTask DetectionTask(ObjectDetector& model, const PictureProcessor& processor,
                                         const DetectionSet& train, const DetectionSet& valid,
                                         const PictureReader& read, const DetectionTrainingOptions& options);

// That validation, and all scores of it.
struct DetectionEvaluation {
  ValidationReport report;
  DetectionScores scores;
};
HEADLIGHT_API DetectionEvaluation EvaluateDetection(const ObjectDetector& model, const PictureProcessor& processor,
                                                    const DetectionSet& valid, const PictureReader& read,
                                                    const PassWatch& watch = {});

}  // namespace headlight
