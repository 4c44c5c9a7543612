#include "headlight/image/image_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"

namespace headlight::image_files_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct ImageFilesTest : testing::Test {
  ImageFilesTest() {
    std::filesystem::create_directories(folder.File("photos/b/.cache"));
    std::filesystem::create_directories(folder.File("empty"));
    for (const char* name : {"photos/z.png", "photos/b/A.JPEG", "photos/a.webp", "photos/notes.txt", "photos/.a.jpg",
                             "photos/b/.cache/a.jpg", "photos/jpg", "photos/b.jpg"})
      WriteFile(folder.File(name), "");
    WriteFile(folder.File("t-idx3-ubyte"), std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01"
                                                       "ab",
                                                       18));
  }
  // Returns the names of the listed images, relative to the folder.
  std::vector<std::string> Names(std::vector<std::string> sources) const {
    for (std::string& source : sources)
      if (source != "-") source = folder.File(source);
    std::vector<std::string> names;
    for (const ImageSource& image : ListImages(sources)) {
      std::string name = image.name();
      if (name.starts_with(folder.path())) name.erase(0, folder.path().size() + 1);
      names.push_back(name);
    }
    return names;
  }
  std::string Refused(const std::vector<std::string>& sources) const {
    return ErrorOf([&] { Names(sources); });
  }

  TemporaryFolder folder;
};

TEST_F(ImageFilesTest, ListsFoldersFilesPatternsAndIdx) {
  EXPECT_THAT(Names({"photos"}), ElementsAre("photos/a.webp", "photos/b.jpg", "photos/b/A.JPEG", "photos/z.png"));
  EXPECT_THAT(Names({"photos/z.png", "-", "photos/notes.txt"}),
              ElementsAre("photos/z.png", "standard input", "photos/notes.txt"));
  EXPECT_THAT(Names({"photos/*.[pw]*"}), ElementsAre("photos/a.webp", "photos/z.png"));
  EXPECT_THAT(Names({"phot?s"}), testing::SizeIs(4));
  EXPECT_THAT(Names({"t-idx3-ubyte"}), ElementsAre("t-idx3-ubyte#1", "t-idx3-ubyte#2"));
  EXPECT_THAT(Names({"t-idx3-ubyte#2"}), ElementsAre("t-idx3-ubyte#2"));
  WriteFile(folder.File("[1].jpg"), "");  // since this file exists, its name is not a pattern
  EXPECT_THAT(Names({"[1].jpg"}), ElementsAre("[1].jpg"));
}

TEST_F(ImageFilesTest, RefusesSourcesWithoutImages) {
  EXPECT_THAT(Refused({"none.jpg"}), HasSubstr("none.jpg: no such file"));
  EXPECT_THAT(Refused({"empty"}), HasSubstr("empty: there is no image"));
  EXPECT_THAT(Refused({"*.gif"}), HasSubstr("no file matches this pattern"));
  EXPECT_THAT(Refused({"t-idx3-ubyte#3"}), HasSubstr("the file has 2 images"));
  for (const char* none : {"t-idx3-ubyte#0", "t-idx3-ubyte#", "t-idx3-ubyte#1x", "t-idx3-ubyte#-1", "z.png#1"})
    EXPECT_THAT(Refused({none}), HasSubstr(std::string(none) + ": no such file"));
  EXPECT_THAT(Refused({"u-idx3-ubyte#1"}), HasSubstr("u-idx3-ubyte: "));
  EXPECT_THAT(Refused({"-", "-"}), HasSubstr("only be one of"));
  EXPECT_EQ(ErrorOf([] { ListImages(std::vector<std::string>{""}); }), "an image's path is empty");
}

}  // namespace
}  // namespace headlight::image_files_test
