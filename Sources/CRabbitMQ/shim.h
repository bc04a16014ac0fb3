// The functions of librabbitmq that are used, of a library that is loaded when the first connection needs it. So nothing
// is linked.
#ifndef CRABBITMQ_SHIM_H
#define CRABBITMQ_SHIM_H

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <dlfcn.h>

#define CRABBITMQ_FUNCTIONS(FUNCTION)                                                                        \
  FUNCTION(basic_ack) FUNCTION(basic_consume) FUNCTION(basic_get) FUNCTION(basic_publish)                    \
  FUNCTION(basic_qos) FUNCTION(channel_close) FUNCTION(channel_open) FUNCTION(confirm_select)                \
  FUNCTION(connection_close) FUNCTION(destroy_connection) FUNCTION(destroy_message) FUNCTION(error_string2)  \
  FUNCTION(exchange_declare) FUNCTION(get_rpc_reply) FUNCTION(login_with_properties)                         \
  FUNCTION(maybe_release_buffers_on_channel) FUNCTION(new_connection) FUNCTION(queue_bind)                   \
  FUNCTION(queue_declare) FUNCTION(queue_delete) FUNCTION(read_message) FUNCTION(send_method)                \
  FUNCTION(set_handshake_timeout) FUNCTION(set_rpc_timeout) FUNCTION(simple_wait_frame_noblock)              \
  FUNCTION(socket_open_noblock) FUNCTION(ssl_socket_new) FUNCTION(ssl_socket_set_cacert)                     \
  FUNCTION(ssl_socket_set_key) FUNCTION(ssl_socket_set_verify_hostname)                                      \
  FUNCTION(ssl_socket_set_verify_peer) FUNCTION(tcp_socket_new)

struct crabbitmq {
#define CRABBITMQ_MEMBER(name) __typeof__(&amqp_##name) name;
  CRABBITMQ_FUNCTIONS(CRABBITMQ_MEMBER)
};

/// Loads librabbitmq for the rest of the process. Returns whether it has everything; `dlerror` says what is missing.
static inline int crabbitmq_load(struct crabbitmq *rabbitmq) {
  void *library = dlopen("librabbitmq.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return 0;
#define CRABBITMQ_FIND(name) \
  if (!(rabbitmq->name = (__typeof__(rabbitmq->name))dlsym(library, "amqp_" #name))) return 0;
  CRABBITMQ_FUNCTIONS(CRABBITMQ_FIND)
  return 1;
}

/// Logs in with a user's name and password. librabbitmq adds the property to its own: without it the engine does not say
/// that it has ended a consumer because its queue was deleted.
static inline amqp_rpc_reply_t crabbitmq_login(
  const struct crabbitmq *rabbitmq, amqp_connection_state_t connection, const char *host, int heartbeat,
  const char *user, const char *password) {
  amqp_table_entry_t capability = {
    .key = {22, "consumer_cancel_notify"}, .value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = 1}};
  amqp_table_entry_t capabilities = {
    .key = {12, "capabilities"}, .value = {.kind = AMQP_FIELD_KIND_TABLE, .value.table = {1, &capability}}};
  amqp_table_t properties = {1, &capabilities};
  return rabbitmq->login_with_properties(
    connection, host, 2047, 131072, heartbeat, &properties, AMQP_SASL_METHOD_PLAIN, user, password);
}

// Method numbers, which are casts in amqp_framing.h.
enum {
  CRABBITMQ_ACK = 0x003C0050, CRABBITMQ_NACK = 0x003C0078, CRABBITMQ_DELIVER = 0x003C003C,
  CRABBITMQ_RETURN = 0x003C0032, CRABBITMQ_CANCEL = 0x003C001E, CRABBITMQ_CHANNEL_CLOSE = 0x00140028, CRABBITMQ_CHANNEL_CLOSE_OK = 0x00140029,
  CRABBITMQ_CONNECTION_CLOSE = 0x000A0032, CRABBITMQ_GET_OK = 0x003C0047,
};

#endif
