#include "headlight/hub/digest.h"

#include <gtest/gtest.h>

namespace headlight::digest_test {
namespace {

TEST(Digest, IsThatOfPublishedExamples) {
  Digest sha256 = Digest::Sha256();
  sha256.Update("ab");
  sha256.Update("c");
  // The expected hash is from FIPS 180-4.
  EXPECT_EQ(sha256.Hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // The expected hash is from: echo 'test content' | git hash-object --stdin
  Digest blob = Digest::GitBlob(13);
  blob.Update("test content\n");
  EXPECT_EQ(blob.Hex(), "d670460b4b4aece5915caf5c68d12f560a9fe3e4");
}

}  // namespace
}  // namespace headlight::digest_test
