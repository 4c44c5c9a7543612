#include "headlight/inspect/structure_page.h"

#include <gmock/gmock.h>

#include <limits>

#include "headlight/base/test_support.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/inspect/structure_testing.h"

namespace headlight::structure_page_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(StructurePage, ContainsTheRecord) {
  const std::string page = StructurePage(SampleStructure());
  EXPECT_THAT(page, AllOf(HasSubstr("<title>helix &lt;b&gt;</title>"), HasSubstr(R"("letters":"MKTAYIAKDRCWGLEV")"),
                          HasSubstr(R"("names":["MET","LYS")"), HasSubstr(R"("numbers":[101,102)"),
                          HasSubstr(R"("lddt":[40.0,44.0)"), HasSubstr(R"("breaks":[],"steps":6)"),
                          HasSubstr(R"("title":"Row attention","layer":2,"heads":2)")));
}

TEST(StructurePage, OfAnExperimentHasNoConfidence) {
  StructureRecord record = SampleStructure();
  record.predicted = false;
  record.errors = record.distances = {};
  record.moments.clear();
  record.attention.clear();
  EXPECT_THAT(StructurePage(record), AllOf(HasSubstr(R"("lddt":null)"), HasSubstr(R"("errors":null)"),
                                           HasSubstr(R"("attention":[])"), HasSubstr(R"("moments":[{"name":"helix)")));
}

TEST(StructurePage, RefusesPartsThatDoNotMatch) {
  const auto refusal = [](const auto& change) {
    StructureRecord record = SampleStructure();
    change(record);
    return ErrorOf([&] { StructurePage(record); });
  };
  EXPECT_THAT(refusal([](StructureRecord& record) { record.chain.residues.clear(); }), HasSubstr("no residues"));
  EXPECT_THAT(refusal([](StructureRecord& record) { record.chain.residues[3].known.fill(false); }),
              HasSubstr("ALA 104 has no atom N"));
  EXPECT_THAT(refusal([](StructureRecord& record) { record.attention[0].weights.pop_back(); }),
              HasSubstr("has 511 weights"));
  EXPECT_THAT(refusal([](StructureRecord& record) { record.errors.values.pop_back(); }), HasSubstr("255 pairs"));
  EXPECT_THAT(refusal([](StructureRecord& record) { record.moments[0].backbone.pop_back(); }),
              HasSubstr("block 1 has 15 residues"));
  EXPECT_THAT(refusal([](StructureRecord& record) {
                record.moments[0].backbone[2][1].x = std::numeric_limits<double>::infinity();
              }),
              HasSubstr("a coordinate is inf"));
}

}  // namespace
}  // namespace headlight::structure_page_test
