// Writes synthetic scenes with boxes, to train detectors.
//   FOLDER COUNT SEED        writes COUNT scenes as PNG files, and FOLDER/annotations.json in COCO's format
//   FOLDER COUNT SEED SIDE   writes simpler scenes of SIDE x SIDE pixels with one to three larger shapes
// Without arguments, prints the shapes of one scene.
#include <cstdio>
#include <cstdlib>

#include "headlight/synthetic/scene_files.h"

int main(int argc, char** argv) {
  using namespace headlight;
  if (argc > 3) {
    SceneOptions options;
    if (argc > 4) {
      options.height = options.width = std::atoll(argv[4]);
      options.most = 3;
      options.smallest = 0.14;
    }
    WriteScenes(argv[1], std::atoll(argv[2]), std::strtoull(argv[3], nullptr, 10), options);
    return 0;
  }
  for (const auto& [box, label, area, crowd] : DrawScene(/*seed=*/1, /*number=*/0).boxes)
    std::printf("%-8s from (%.0f, %.0f) to (%.0f, %.0f)\n", SceneLabels()[static_cast<std::size_t>(label)].c_str(),
                box.left, box.top, box.right, box.bottom);
  return 0;
}
