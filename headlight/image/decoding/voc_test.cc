#include "headlight/image/decoding/voc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "headlight/base/test_support.h"

namespace headlight::voc_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kXml = R"(<?xml version="1.0"?>
<annotation>
  <folder>JPEGImages</folder><filename> cells.jpg </filename>
  <size><width>640</width><height>480</height><depth>3</depth></size>
  <object><name>RBC</name><difficult>0</difficult>
    <bndbox><xmin>78</xmin><ymin>336.5</ymin><xmax>184</xmax><ymax>435</ymax></bndbox></object>
  <object><name>WBC &amp; more</name>
    <bndbox><ymax>1</ymax><xmax>4</xmax><ymin>2</ymin><xmin>3</xmin></bndbox>
    <part><name>nucleus</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part></object>
</annotation>)";

TEST(Voc, HasTheImageAndItsObjects) {
  const ImageAnnotation annotation = ParseVoc(kXml, "a.xml");
  EXPECT_EQ(annotation.image, "cells.jpg");
  EXPECT_EQ(annotation.width, 640);
  EXPECT_EQ(annotation.height, 480);
  ASSERT_EQ(annotation.objects.size(), 2U);
  EXPECT_EQ(annotation.objects[0].label, "RBC");
  EXPECT_EQ(annotation.objects[0].box, (Box{78, 336.5, 184, 435}));
  EXPECT_EQ(annotation.objects[1].label, "WBC & more");
  EXPECT_EQ(annotation.objects[1].box, (Box{3, 2, 4, 1}));  // the area of the box is not positive; the caller drops it
}

TEST(Voc, RefusesDamagedFiles) {
  const auto error = [](const std::string& xml) { return ErrorOf([&] { ParseVoc(xml, "a.xml"); }); };
  const auto replaced = [](const std::string& from, const std::string& to) {
    std::string xml = kXml;
    return xml.replace(xml.find(from), from.size(), to);
  };
  EXPECT_THAT(error(""), testing::StartsWith("a.xml: byte 0:"));
  EXPECT_THAT(error(std::string(kXml).substr(0, 200)), testing::StartsWith("a.xml: byte "));
  EXPECT_THAT(error("<html/>"), HasSubstr("there is no <annotation>"));
  EXPECT_THAT(error(replaced("<xmin>78<", "<xmin>wide<")),
              AllOf(HasSubstr("object 1: <xmin>"), HasSubstr("not 'wide'")));
  EXPECT_THAT(error(replaced("<xmin>3</xmin>", "")), HasSubstr("object 2: <xmin>"));
  EXPECT_THAT(error(replaced(">78<", ">1e300<")), HasSubstr("not '1e300'"));
  EXPECT_THAT(error(replaced(">78<", ">nan<")), HasSubstr("not 'nan'"));
  EXPECT_THAT(error(replaced(">640<", ">6.5<")), AllOf(HasSubstr("a.xml: <width>"), HasSubstr("not 6.5")));
  EXPECT_THAT(error("<annotation><object><name>a</name></object></annotation>"),
              HasSubstr("object 1: there is no <bndbox>"));
}

}  // namespace
}  // namespace headlight::voc_test
