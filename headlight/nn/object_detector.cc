#include "headlight/nn/object_detector.h"

#include <algorithm>

#include "headlight/ops/softmax.h"

namespace headlight {

std::vector<QueryFinding> FindingsOf(const QueryAnswers& answers, std::int64_t first, std::int64_t queries) {
  std::vector<QueryFinding> findings;
  const Tensor shares = ops::Softmax(answers.logits.Detached().ViewRows(first, queries));
  Dispatch(shares.dtype(), [&]<typename T>(T) {
    for (std::int64_t query = 0; query < queries; ++query) {
      const T* const share = shares.matrix<T>().row(query);
      const T* const box = answers.boxes.matrix<T>().row(first + query);
      const auto label = std::max_element(share, share + shares.columns() - 1) - share;
      findings.push_back({{box[0], box[1], box[2], box[3]}, static_cast<std::int32_t>(label), share[label]});
    }
  });
  return findings;
}

Json::Object ObjectDetector::Description() const {
  return {{"queries", limits_.queries}, {"channels", limits_.channels}, {"masks", limits_.masks}, {"labels", labels_}};
}

}  // namespace headlight
