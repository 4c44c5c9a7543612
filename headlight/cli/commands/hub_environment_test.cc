#include "headlight/cli/commands/hub_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/cli/commands/hub_environment_testing.h"

namespace headlight::hub_environment_test {
namespace {

struct HubEnvironment : testing::Test {
  HubEnvironment() { environment.Set("HOME", folder.path()); }

  TemporaryFolder folder;
  TestEnvironment environment;
};

TEST_F(HubEnvironment, FindsTheCacheAsPythonDoes) {
  EXPECT_EQ(CacheOfEnvironment(), folder.path() + "/.cache/huggingface/hub");
  environment.Set("XDG_CACHE_HOME", "/xdg");
  EXPECT_EQ(CacheOfEnvironment(), "/xdg/huggingface/hub");
  environment.Set("HF_HOME", "~/hf");
  EXPECT_EQ(CacheOfEnvironment(), folder.path() + "/hf/hub");
  environment.Set("HUGGINGFACE_HUB_CACHE", "/old");
  EXPECT_EQ(CacheOfEnvironment(), "/old");
  environment.Set("HF_HUB_CACHE", "/new");
  EXPECT_EQ(CacheOfEnvironment(), "/new");
  environment.Set("HF_HUB_CACHE", "");
  EXPECT_EQ(CacheOfEnvironment(), "/old") << "an empty variable is none";
}

TEST_F(HubEnvironment, NeedsAFolder) {
  environment.Set("HOME", std::nullopt);
  EXPECT_EQ(CacheOfEnvironment(), "");
  EXPECT_THAT(ErrorOf([] { HubOptionsOfEnvironment(); }), testing::HasSubstr("HF_HOME must name the folder"));
}

TEST_F(HubEnvironment, ReadsTheToken) {
  environment.Set("HF_HOME", folder.path());
  EXPECT_EQ(HubOptionsOfEnvironment().token, "");
  WriteFile(folder.File("token"), " hf_file\n");
  EXPECT_EQ(HubOptionsOfEnvironment().token, "hf_file");
  WriteFile(folder.File("other"), "hf_other");
  environment.Set("HF_TOKEN_PATH", folder.File("other"));
  EXPECT_EQ(HubOptionsOfEnvironment().token, "hf_other");
  environment.Set("HF_TOKEN", "hf_variable\n");
  EXPECT_EQ(HubOptionsOfEnvironment().token, "hf_variable");
}

TEST_F(HubEnvironment, ReadsTheOthers) {
  const HubOptions plain = HubOptionsOfEnvironment();
  EXPECT_EQ(plain.endpoint, "https://huggingface.co");
  EXPECT_EQ(plain.certificates, "");
  EXPECT_FALSE(plain.offline);
  environment.Set("HF_ENDPOINT", "http://mirror");
  environment.Set("SSL_CERT_FILE", "/a.pem");
  environment.Set("HF_HUB_OFFLINE", "0");
  EXPECT_FALSE(HubOptionsOfEnvironment().offline);
  environment.Set("HF_HUB_OFFLINE", "yes");
  EXPECT_EQ(HubOptionsOfEnvironment().endpoint, "http://mirror");
  EXPECT_EQ(HubOptionsOfEnvironment().certificates, "/a.pem");
  EXPECT_TRUE(HubOptionsOfEnvironment().offline);
  environment.Set("REQUESTS_CA_BUNDLE", "/b.pem");
  EXPECT_EQ(HubOptionsOfEnvironment().certificates, "/b.pem");
}

}  // namespace
}  // namespace headlight::hub_environment_test
