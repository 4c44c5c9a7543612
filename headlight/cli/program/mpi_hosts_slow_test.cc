// Tests training runs on two hosts, and the ways in which a host can fail. The hosts are network namespaces that are
// connected by a pair of virtual devices. Needs root, and ip and tc of iproute2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/cli/program/rank_run_testing.h"

namespace headlight::mpi_hosts_slow_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr int kTimes = 20;  // number of repetitions of each failure

bool Shell(const std::string& command) { return std::system((command + " 2>/dev/null").c_str()) == 0; }

// Two hosts that are connected with a delay of a millisecond. If the kernel does not support delays, only the rate is
// limited. A lost connection times out after a few seconds.
class TwoHosts {
 public:
  static constexpr const char* kAddresses[] = {"10.203.77.1", "10.203.77.2"};

  TwoHosts() {
    const std::string a = Space(0), b = Space(1);
    there_ =
        Shell(fmt::format("ip netns add {0} && ip netns add {1} && "
                          "ip -n {0} link add hl0 type veth peer name hl0 netns {1}",
                          a, b));
    for (int host = 0; there_ && host < 2; ++host) {
      const std::string space = Space(host);
      there_ =
          Shell(fmt::format("ip -n {0} addr add {1}/24 dev hl0 && ip -n {0} link set lo up && "
                            "ip -n {0} link set hl0 up && "
                            "ip netns exec {0} sh -c 'echo 2 > /proc/sys/net/ipv4/tcp_retries2' && "
                            "(tc -n {0} qdisc add dev hl0 root netem delay 500us rate 1gbit || "
                            "tc -n {0} qdisc add dev hl0 root tbf rate 1gbit burst 256kb latency 50ms)",
                            space, kAddresses[host]));
    }
  }
  ~TwoHosts() {
    for (int host = 0; host < 2; ++host) Shell("ip netns del " + Space(host));
  }
  TwoHosts(const TwoHosts&) = delete;
  TwoHosts& operator=(const TwoHosts&) = delete;

  bool there() const { return there_; }
  static std::string Name(int host) { return host == 0 ? "alpha" : "beta"; }

  // Returns the prefix of a command that runs on a host.
  static std::vector<std::string> On(int host) {
    return {"ip",        "netns",   "exec",
            Space(host), "unshare", "--uts",
            "sh",        "-c",      "hostname " + Name(host) + "; exec \"$0\" \"$@\""};
  }
  static void SetLink(bool up) { Shell(fmt::format("ip -n {} link set hl0 {}", Space(1), up ? "up" : "down")); }

 private:
  static std::string Space(int host) { return fmt::format("headlight-{}-{}", getpid(), Name(host)); }
  bool there_ = false;
};

class MpiHostsTest : public RankTrainingTest {
 protected:
  void SetUp() override {
    RankTrainingTest::SetUp();
    if (IsSkipped()) return;
    if (geteuid() != 0 || !Shell("ip -V >/dev/null && tc -V >/dev/null && unshare -V >/dev/null"))
      GTEST_SKIP() << "making hosts needs root, iproute2 and util-linux";
    hosts_.emplace();
    if (!hosts_->there()) GTEST_SKIP() << "this kernel makes no network namespaces";
    std::string agent =
        "#!/bin/sh\nhost=$1\nshift\nif [ $host = " + std::string(TwoHosts::kAddresses[0]) + " ]; then\n";
    for (int host = 0; host < 2; ++host) {
      agent += "  exec";
      for (const std::string& word : TwoHosts::On(host)) agent += " '" + word + "'";
      agent += std::string(" sh -c \"$*\"\n") + (host == 0 ? "else\n" : "fi\n");
    }
    WriteFile(In("agent"), agent);
    fs::permissions(In("agent"), fs::perms::owner_all);
  }

  // Returns the command that launches a rank on each host alternately. The command makes glibc allocate blocks of 4 KB
  // and more with mmap.
  std::vector<std::string> Launch() const {
    std::vector<std::string> launch = TwoHosts::On(0);
    const std::vector<std::string> mpirun = {
        "mpirun",
        "-x",
        "MALLOC_MMAP_THRESHOLD_=4096",
        "-x",
        "MALLOC_TOP_PAD_=0",
        "-x",
        "MALLOC_ARENA_MAX=1",
        "--mca",
        "plm_rsh_agent",
        In("agent"),
        "--mca",
        "oob_tcp_if_include",
        "hl0",
        "--mca",
        "btl",
        "tcp,self",
        "--mca",
        "btl_tcp_if_include",
        "hl0",
        "--oversubscribe",
        "--bind-to",
        "none",
        "--map-by",
        "node",
        "--host",
        fmt::format("{}:8,{}:8", TwoHosts::kAddresses[0], TwoHosts::kAddresses[1])};
    launch.insert(launch.end(), mpirun.begin(), mpirun.end());
    return launch;
  }

  // Starts an endless training run on two ranks, and waits until it has started.
  std::unique_ptr<RankRun> Begin(const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"--steps", "100000"};
    all.insert(all.end(), more.begin(), more.end());
    auto run = std::make_unique<RankRun>(2, std::vector<std::vector<std::string>>{Command(out, all)}, Launch());
    EXPECT_TRUE(run->Await("step 9  loss")) << run->Printed();
    return run;
  }

  // Expects that the run fails with one line that matches the regular expression `line`.
  static void ExpectEnd(RankRun& run, const std::string& line) {
    EXPECT_NE(run.End(), 0);
    const std::string printed = "\n" + run.Printed();
    EXPECT_THAT(printed, ContainsRegex(line));
    EXPECT_EQ(printed.find("\nheadlight: "), printed.rfind("\nheadlight: ")) << printed;
  }

  // Resumes the training on three ranks. Expects the results to be bit-identical to the results of an uninterrupted
  // run.
  void ExpectResumption(const std::string& out) {
    MustRun(Command("whole", {"--steps", "100"}));
    RankRun resumed(3, {Command(out, {"--steps", "100", "--resume"})}, Launch());
    ASSERT_EQ(resumed.End(), 0) << resumed.Printed();
    EXPECT_THAT(resumed.Printed(), HasSubstr("resumed after step"));
    ExpectSame("whole", out);
  }

  std::optional<TwoHosts> hosts_;
};

TEST_F(MpiHostsTest, TwoHostsTrainTheModelOfOne) {
  MustRun(Command("whole", {"--steps", "30"}));
  RankRun run(3, {Command("hosts", {"--steps", "30", "--shard-optimizer"})}, Launch());
  ASSERT_EQ(run.End(), 0) << run.Printed();
  ExpectSame("whole", "hosts");
}

class LostHostTest : public MpiHostsTest, public testing::WithParamInterface<int> {};

TEST_P(LostHostTest, ARankThatIsKilled) {
  const std::unique_ptr<RankRun> run = Begin("cut");
  kill(run->ProcessOf(1), SIGKILL);
  ExpectEnd(*run, "step [0-9]+: rank 1 \\(host beta\\) has not answered");
  ExpectResumption("cut");
}

TEST_P(LostHostTest, ARankThatStalls) {
  const std::unique_ptr<RankRun> run = Begin("cut", {"--rank-timeout", "2"});
  kill(run->ProcessOf(1), SIGSTOP);
  ExpectEnd(*run, "rank 0 \\(host alpha\\), step [0-9]+: rank 1 \\(host beta\\) has not answered for 2 seconds");
  ExpectResumption("cut");
}

TEST_P(LostHostTest, AFullDisk) {
  fs::create_directory(In("disk"));
  ASSERT_EQ(mount("tmpfs", In("disk").c_str(), "tmpfs", 0, "size=4m"), 0);
  const std::unique_ptr<RankRun> run = Begin("disk/cut");
  {
    std::ofstream filler(In("disk/filler"), std::ios::binary);
    const std::string block(4096, ' ');
    while (filler.write(block.data(), std::ssize(block)).flush()) continue;
  }
  ExpectEnd(*run, "rank 0 \\(host alpha\\), step [0-9]+: .*No space left on device");
  fs::remove(In("disk/filler"));
  ExpectResumption("disk/cut");
  umount2(In("disk").c_str(), MNT_DETACH);
}

TEST_P(LostHostTest, NoMemory) {
  const std::unique_ptr<RankRun> run = Begin("cut");
  const rlimit limit{1 << 20, 1 << 20};  // prevents further allocations, such as for the next checkpoint
  ASSERT_EQ(prlimit(run->ProcessOf(0), RLIMIT_AS, &limit, nullptr), 0);
  // Open MPI crashes if an allocation fails. In this case, the other rank reports the failure.
  ExpectEnd(*run,
            "rank 0 \\(host alpha\\), step [0-9]+: there is not enough memory|"
            "step [0-9]+: rank 0 \\(host alpha\\) has not answered");
  ExpectResumption("cut");
}

TEST_P(LostHostTest, APartedNetwork) {
  const std::unique_ptr<RankRun> run = Begin("cut", {"--rank-timeout", "2"});
  TwoHosts::SetLink(false);
  ExpectEnd(*run, "rank 0 \\(host alpha\\), step [0-9]+: rank 1 \\(host beta\\) has not answered for 2 seconds");
  TwoHosts::SetLink(true);
  ExpectResumption("cut");
}

INSTANTIATE_TEST_SUITE_P(Times, LostHostTest, testing::Range(0, kTimes));

}  // namespace
}  // namespace headlight::mpi_hosts_slow_test
