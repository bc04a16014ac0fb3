// What is used of libdbus 1, whose interface is stable since 2006 (https://dbus.freedesktop.org/doc/api/html/). The library is
// loaded when the first connection needs it, because it loads seven others, which every run of the command would touch.
// libdbus's own headers lie where only pkg-config finds them, and with that it would be linked.
#ifndef CDBUS_SHIM_H
#define CDBUS_SHIM_H

#include <dlfcn.h>
#include <stdint.h>

struct DBusConnection;
struct DBusMessage;

typedef struct {
  const char *name;
  const char *message;
  unsigned int dummy;
  void *padding;
} DBusError;

typedef struct {
  void *first;
  void *second;
  uint32_t third;
  int others[9];
  void *padding1;
  void *padding2;
} DBusMessageIter;

#define CDBUS_FUNCTIONS(FUNCTION) \
  FUNCTION(void, connection_close, (struct DBusConnection *))                                                \
  FUNCTION(uint32_t, connection_get_is_authenticated, (struct DBusConnection *))                             \
  FUNCTION(uint32_t, connection_get_is_connected, (struct DBusConnection *))                                 \
  FUNCTION(long, connection_get_outgoing_size, (struct DBusConnection *))                                    \
  FUNCTION(uint32_t, connection_get_unix_fd, (struct DBusConnection *, int *))                               \
  FUNCTION(uint32_t, connection_has_messages_to_send, (struct DBusConnection *))                             \
  FUNCTION(struct DBusConnection *, connection_open_private, (const char *, DBusError *))                    \
  FUNCTION(struct DBusMessage *, connection_pop_message, (struct DBusConnection *))                          \
  FUNCTION(uint32_t, connection_read_write, (struct DBusConnection *, int))                                  \
  FUNCTION(uint32_t, connection_send, (struct DBusConnection *, struct DBusMessage *, uint32_t *))           \
  FUNCTION(void, connection_set_change_sigpipe, (uint32_t))                                                  \
  FUNCTION(void, connection_set_exit_on_disconnect, (struct DBusConnection *, uint32_t))                     \
  FUNCTION(void, connection_set_max_message_size, (struct DBusConnection *, long))                           \
  FUNCTION(void, connection_set_max_received_size, (struct DBusConnection *, long))                          \
  FUNCTION(void, connection_unref, (struct DBusConnection *))                                                \
  FUNCTION(void, error_free, (DBusError *))                                                                  \
  FUNCTION(void, error_init, (DBusError *))                                                                  \
  FUNCTION(void, free, (void *))                                                                             \
  FUNCTION(struct DBusMessage *, message_demarshal, (const char *, int, DBusError *))                        \
  FUNCTION(uint32_t, message_get_auto_start, (struct DBusMessage *))                                         \
  FUNCTION(const char *, message_get_destination, (struct DBusMessage *))                                    \
  FUNCTION(const char *, message_get_error_name, (struct DBusMessage *))                                     \
  FUNCTION(const char *, message_get_interface, (struct DBusMessage *))                                      \
  FUNCTION(const char *, message_get_member, (struct DBusMessage *))                                         \
  FUNCTION(uint32_t, message_get_no_reply, (struct DBusMessage *))                                           \
  FUNCTION(const char *, message_get_path, (struct DBusMessage *))                                           \
  FUNCTION(uint32_t, message_get_reply_serial, (struct DBusMessage *))                                       \
  FUNCTION(const char *, message_get_sender, (struct DBusMessage *))                                         \
  FUNCTION(uint32_t, message_get_serial, (struct DBusMessage *))                                             \
  FUNCTION(int, message_get_type, (struct DBusMessage *))                                                    \
  FUNCTION(uint32_t, message_is_signal, (struct DBusMessage *, const char *, const char *))                  \
  FUNCTION(void, message_iter_abandon_container, (DBusMessageIter *, DBusMessageIter *))                     \
  FUNCTION(uint32_t, message_iter_append_basic, (DBusMessageIter *, int, const void *))                      \
  FUNCTION(uint32_t, message_iter_append_fixed_array, (DBusMessageIter *, int, const void *, int))           \
  FUNCTION(uint32_t, message_iter_close_container, (DBusMessageIter *, DBusMessageIter *))                   \
  FUNCTION(int, message_iter_get_arg_type, (DBusMessageIter *))                                              \
  FUNCTION(void, message_iter_get_basic, (DBusMessageIter *, void *))                                        \
  FUNCTION(int, message_iter_get_element_type, (DBusMessageIter *))                                          \
  FUNCTION(void, message_iter_get_fixed_array, (DBusMessageIter *, void *, int *))                           \
  FUNCTION(char *, message_iter_get_signature, (DBusMessageIter *))                                          \
  FUNCTION(uint32_t, message_iter_init, (struct DBusMessage *, DBusMessageIter *))                           \
  FUNCTION(void, message_iter_init_append, (struct DBusMessage *, DBusMessageIter *))                        \
  FUNCTION(uint32_t, message_iter_next, (DBusMessageIter *))                                                 \
  FUNCTION(uint32_t, message_iter_open_container, (DBusMessageIter *, int, const char *, DBusMessageIter *)) \
  FUNCTION(void, message_iter_recurse, (DBusMessageIter *, DBusMessageIter *))                               \
  FUNCTION(uint32_t, message_marshal, (struct DBusMessage *, char **, int *))                                \
  FUNCTION(struct DBusMessage *, message_new, (int))                                                         \
  FUNCTION(void, message_set_auto_start, (struct DBusMessage *, uint32_t))                                   \
  FUNCTION(uint32_t, message_set_destination, (struct DBusMessage *, const char *))                          \
  FUNCTION(uint32_t, message_set_error_name, (struct DBusMessage *, const char *))                           \
  FUNCTION(uint32_t, message_set_interface, (struct DBusMessage *, const char *))                            \
  FUNCTION(uint32_t, message_set_member, (struct DBusMessage *, const char *))                               \
  FUNCTION(void, message_set_no_reply, (struct DBusMessage *, uint32_t))                                     \
  FUNCTION(uint32_t, message_set_path, (struct DBusMessage *, const char *))                                 \
  FUNCTION(uint32_t, message_set_reply_serial, (struct DBusMessage *, uint32_t))                             \
  FUNCTION(uint32_t, message_set_sender, (struct DBusMessage *, const char *))                               \
  FUNCTION(void, message_set_serial, (struct DBusMessage *, uint32_t))                                       \
  FUNCTION(void, message_unref, (struct DBusMessage *))                                                      \
  FUNCTION(uint32_t, signature_validate, (const char *, DBusError *))                                        \
  FUNCTION(uint32_t, signature_validate_single, (const char *, DBusError *))                                 \
  FUNCTION(uint32_t, threads_init_default, (void))                                                           \
  FUNCTION(uint32_t, validate_bus_name, (const char *, DBusError *))                                         \
  FUNCTION(uint32_t, validate_error_name, (const char *, DBusError *))                                       \
  FUNCTION(uint32_t, validate_interface, (const char *, DBusError *))                                        \
  FUNCTION(uint32_t, validate_member, (const char *, DBusError *))                                           \
  FUNCTION(uint32_t, validate_path, (const char *, DBusError *))                                             \
  FUNCTION(uint32_t, validate_utf8, (const char *, DBusError *))

struct cdbus {
#define CDBUS_MEMBER(result, name, arguments) result(*name) arguments;
  CDBUS_FUNCTIONS(CDBUS_MEMBER)
};

/// Loads libdbus for the rest of the process. Returns whether it has everything; `dlerror` says what is missing.
static inline int cdbus_load(struct cdbus *dbus) {
  void *library = dlopen("libdbus-1.so.3", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return 0;
#define CDBUS_FIND(result, name, arguments) \
  if (!(dbus->name = (result(*) arguments)dlsym(library, "dbus_" #name))) return 0;
  CDBUS_FUNCTIONS(CDBUS_FIND)
  return dbus->threads_init_default() != 0;
}

#endif
