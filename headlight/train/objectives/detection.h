// Training of object detectors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/data/detection.h"
#include "headlight/image/image.h"
#include "headlight/image/metrics/detection_scores.h"
#include "headlight/image/processor.h"
#include "headlight/kinds/detection_model.h"
#include "headlight/nn/detection_loss.h"
#include "headlight/train/training_task.h"

namespace headlight {

enum class BoxAugmentation {
  none,
  flip,   // left to right, every second image
  scale,  // flipped, scaled and cropped at random as DETR's were (image/augment_boxes.h), with sides in proportion to
          // the processor's; where it gives all images one size they are only flipped
};

struct DetectionTrainingOptions {
  BatchOptions batches;  // its size is in images
  BoxAugmentation augment = BoxAugmentation::scale;
  // Of an auxiliary loss at the encoder's cells, which DETR does not have (CellLoss).
  double cell_weight = 0;
};

// [1]: scale times the images' mean loss of the encoder's cells, to whose states the queries' heads are applied. The
// target of a cell whose middle is in a box, or that contains a box's middle, is that object's class and box (of
// several the smallest); of all others it is "no object". Each object trains many cells in every step, but only one
// query, so that a detector from scratch converges much sooner (as with the dense heads of Zong et al., "DETRs with
// Collaborative Hybrid Assignments Training", 2023).
HEADLIGHT_API Tensor CellLoss(const QueryAnswers& cells, const DetectedImages& found,
                              const std::vector<TrueObjects>& objects, const DetectionLossOptions& options,
                              double scale);

// One of TrainingBatch::parts: images as the model reads them, and their objects.
struct DetectionPart {
  std::vector<Tensor> images;  // [height, width, 3]
  std::vector<TrueObjects> objects;
  DetectionLossSums sums;         // of the whole batch
  std::int64_t batch_images = 0;  // as many
};

// Reads an image's file: ReadImage of image/decoding/decode.h.
using ImageReader = std::function<Image(const std::string& path)>;
// The size of the image that an ImageReader reads: ReadImageSize there.
using ImageSizeReader = std::function<ImageSize(const std::string& path)>;

// The loss is that of every layer of the decoder (nn/detection_loss.h), of a batch divided by its images' number. A
// validation's score is COCO's AP, beside it the AP at an IoU of 0.5 and 0.75, in per cent. Model and sets must
// outlive the task, and both readers are called from several threads. Throws Error where a set has no image, and for
// a class that the model does not have.
HEADLIGHT_API TrainingTask DetectionTask(DetectionModel& model, const ImageProcessor& processor,
                                         const DetectionSet& train, const DetectionSet& valid, const ImageReader& read,
                                         const ImageSizeReader& read_size, const DetectionTrainingOptions& options);

/// The loss and the precisions on `valid`, which are the task's validation, and all scores of the detections.
struct DetectionEvaluation {
  ValidationReport report;
  DetectionScores scores;
};
HEADLIGHT_API DetectionEvaluation EvaluateDetection(const DetectionModel& model, const ImageProcessor& processor,
                                                    const DetectionSet& valid, const ImageReader& read,
                                                    const PassWatch& watch = {});

}  // namespace headlight
