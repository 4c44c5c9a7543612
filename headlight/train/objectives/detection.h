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
  flip,  // each image is flipped horizontally with probability 0.5
  /// Each image is flipped, scaled and cropped at random as in DETR (image/augment_boxes.h). The sizes are relative to
  /// the processor's size. If the processor resizes all images to one size, they are only flipped.
  scale,
};

struct DetectionTrainingOptions {
  BatchOptions batches;  // batch_size counts images
  BoxAugmentation augment = BoxAugmentation::scale;
  /// The weight of CellLoss, an auxiliary loss of the encoder's cells that DETR does not have.
  double cell_weight = 0;
};

/// Returns the auxiliary loss of the encoder's cells, [1]: `scale` times the mean over images. The heads of the queries
/// are applied to the cells' states. The target of a cell is the class and box of the smallest matching object, or "no
/// object". An object matches if its box contains the cell's center, or if the box's center is in the cell. Each object
/// then trains many cells per step instead of one query. Training from scratch converges much faster, as with the dense
/// heads of Zong et al. ("DETRs with Collaborative Hybrid Assignments Training", 2023).
HEADLIGHT_API Tensor CellLoss(const QueryAnswers& cells, const DetectedImages& found,
                              const std::vector<TrueObjects>& objects, const DetectionLossOptions& options,
                              double scale);

/// The payload of one of TrainingBatch::parts: images as model inputs, and their objects.
struct DetectionPart {
  std::vector<Tensor> images;  // [height, width, 3]
  std::vector<TrueObjects> objects;
  DetectionLossSums sums;         // sums of the whole batch
  std::int64_t batch_images = 0;  // number of images in the whole batch
};

/// Reads an image file, as ReadImage does (image/decoding/decode.h).
using ImageReader = std::function<Image(const std::string& path)>;
/// Reads the size of an image file, as ReadImageSize does (image/decoding/decode.h).
using ImageSizeReader = std::function<ImageSize(const std::string& path)>;

/// Trains an object detector. The loss is the sum over decoder layers (nn/detection_loss.h), divided by the number of
/// images. A validation's score is COCO's AP in per cent. The AP at IoU 0.5 and at IoU 0.75 are also reported. The
/// model and the sets must outlive the task. Both readers are called from several threads. Throws Error if a set has no
/// image, or a class that the model does not have.
HEADLIGHT_API TrainingTask DetectionTask(DetectionModel& model, const ImageProcessor& processor,
                                         const DetectionSet& train, const DetectionSet& valid, const ImageReader& read,
                                         const ImageSizeReader& read_size, const DetectionTrainingOptions& options);

/// The loss and the average precisions, as in the task's validation, and all scores of the detections.
struct DetectionEvaluation {
  ValidationReport report;
  DetectionScores scores;
};
HEADLIGHT_API DetectionEvaluation EvaluateDetection(const DetectionModel& model, const ImageProcessor& processor,
                                                    const DetectionSet& valid, const ImageReader& read,
                                                    const PassWatch& watch = {});

}  // namespace headlight
