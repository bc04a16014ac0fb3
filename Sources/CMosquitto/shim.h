// The functions of libmosquitto that are used, of a library that is loaded when the first broker needs it: it loads TLS's
// libraries too, which every run of the command would touch. So nothing is linked.
#ifndef CMOSQUITTO_SHIM_H
#define CMOSQUITTO_SHIM_H

#include <dlfcn.h>
#include <mosquitto.h>

#define CMOSQUITTO_FUNCTIONS(FUNCTION)                                                                          \
  FUNCTION(connect) FUNCTION(connect_callback_set) FUNCTION(destroy) FUNCTION(disconnect)                      \
  FUNCTION(disconnect_callback_set) FUNCTION(int_option) FUNCTION(lib_init) FUNCTION(log_callback_set)         \
  FUNCTION(loop_misc) FUNCTION(loop_read) FUNCTION(loop_write) FUNCTION(message_callback_set) FUNCTION(new)    \
  FUNCTION(publish) FUNCTION(publish_callback_set) FUNCTION(socket) FUNCTION(strerror) FUNCTION(subscribe)     \
  FUNCTION(subscribe_callback_set) FUNCTION(tls_set) FUNCTION(username_pw_set) FUNCTION(want_write)            \
  FUNCTION(will_set)

struct cmosquitto {
#define CMOSQUITTO_MEMBER(name) __typeof__(&mosquitto_##name) name;
  CMOSQUITTO_FUNCTIONS(CMOSQUITTO_MEMBER)
};

/// Loads libmosquitto for the rest of the process. Returns whether it has everything; `dlerror` says what is missing.
static inline int cmosquitto_load(struct cmosquitto *mosquitto) {
  void *library = dlopen("libmosquitto.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return 0;
#define CMOSQUITTO_FIND(name) \
  if (!(mosquitto->name = (__typeof__(mosquitto->name))dlsym(library, "mosquitto_" #name))) return 0;
  CMOSQUITTO_FUNCTIONS(CMOSQUITTO_FIND)
  return mosquitto->lib_init() == MOSQ_ERR_SUCCESS;
}

#endif
