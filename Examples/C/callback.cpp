// The same by a function that the library calls, in C++; it ends with the recording.
#include <beaconscan.h>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>

namespace {

struct Events {
  std::mutex lock;
  std::condition_variable changed;
  bool is_over = false;
};

// A thread of the library calls it: hand what it brings to the thread of the screen, as QMetaObject::invokeMethod does.
void receive(const char *line, void *context) {
  auto &events = *static_cast<Events *>(context);
  const std::string event(line);
  std::lock_guard<std::mutex> guard(events.lock);
  std::cout << event << '\n';
  if (event.find("\"type\":\"end\"") == std::string::npos) return;
  events.is_over = true;
  events.changed.notify_one();
}

}  // namespace

int main(int count, char **arguments) {
  bs_options *options = bs_options_new();
  bool is_valid = true;
  for (int index = 1; index < count && is_valid; index++) {
    const std::string argument(arguments[index]);
    const auto place = argument.find('=');
    const bool has_value = place != std::string::npos;
    is_valid = bs_options_set(options, argument.substr(0, place).c_str(),
                              has_value ? argument.c_str() + place + 1 : nullptr) == 0;
  }
  bs_scanner *scanner = is_valid ? bs_start(options) : nullptr;
  if (scanner == nullptr) {
    std::cerr << "callback: " << bs_error(options) << '\n';
    bs_options_free(options);
    return 69;
  }
  bs_options_free(options);

  Events events;
  bs_set_callback(scanner, receive, &events);
  {
    std::unique_lock<std::mutex> guard(events.lock);
    events.changed.wait(guard, [&] { return events.is_over; });
  }
  bs_stop(scanner);
}
