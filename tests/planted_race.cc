// Contains a data race that ThreadSanitizer must report. CTest expects this program to fail (cmake/tests.cmake).
#include <thread>

int main() {
  int count = 0;
  std::thread other([&] { ++count; });
  ++count;
  other.join();
  return count == 2 ? 0 : 1;
}
