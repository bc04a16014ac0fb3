// The functions of libpq that are used, of a library that is loaded when the first connection needs it. So nothing is
// linked.
#ifndef CPOSTGRESQL_SHIM_H
#define CPOSTGRESQL_SHIM_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// Debian has the header in a folder of its own.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#define CPOSTGRESQL_FUNCTIONS(FUNCTION)                                                                  \
  FUNCTION(clear) FUNCTION(connectPoll) FUNCTION(connectStartParams) FUNCTION(conninfoFree)              \
  FUNCTION(conninfoParse) FUNCTION(consumeInput) FUNCTION(errorMessage) FUNCTION(finish) FUNCTION(flush) \
  FUNCTION(freemem) FUNCTION(getisnull) FUNCTION(getlength) FUNCTION(getResult) FUNCTION(getvalue)       \
  FUNCTION(isBusy) FUNCTION(nfields) FUNCTION(ntuples) FUNCTION(resultErrorField) FUNCTION(resultStatus) \
  FUNCTION(sendQueryParams) FUNCTION(setnonblocking) FUNCTION(setNoticeReceiver) FUNCTION(socket)        \
  FUNCTION(status)

struct cpostgresql {
#define CPOSTGRESQL_MEMBER(name) __typeof__(&PQ##name) name;
  CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_MEMBER)
};

/// Loads libpq for the rest of the process. Returns whether it has everything; `dlerror` says what is missing.
static inline int cpostgresql_load(struct cpostgresql *postgresql) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return 0;
#define CPOSTGRESQL_FIND(name) \
  if (!(postgresql->name = (__typeof__(postgresql->name))dlsym(library, "PQ" #name))) return 0;
  CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_FIND)
  return 1;
}

/// Returns whether libpq can parse a connection string, and in `has_password` whether a password is in it.
static inline int cpostgresql_parse(const struct cpostgresql *postgresql, const char *text, int *has_password) {
  char *error = NULL;
  PQconninfoOption *options = postgresql->conninfoParse(text, &error);
  if (error) postgresql->freemem(error);
  if (!options) return 0;
  *has_password = 0;
  for (PQconninfoOption *option = options; option->keyword; option++)
    if (option->val && (!strcmp(option->keyword, "password") || !strcmp(option->keyword, "sslpassword")))
      *has_password = 1;
  postgresql->conninfoFree(options);
  return 1;
}

static inline void cpostgresql_ignore(void *argument, const PGresult *notice) {
  (void)argument;
  (void)notice;
}

/// Begins to connect by a connection string. Notices of the server are not printed. Returns `NULL` without memory.
static inline PGconn *cpostgresql_connect(const struct cpostgresql *postgresql, const char *text) {
  const char *names[] = {"dbname", "client_encoding", "fallback_application_name", NULL};
  const char *values[] = {text, "UTF8", "beaconscan-fleet", NULL};
  PGconn *connection = postgresql->connectStartParams(names, values, 1);
  if (connection) postgresql->setNoticeReceiver(connection, cpostgresql_ignore, NULL);
  return connection;
}

// Fields of an error, which are characters in the header.
enum { CPOSTGRESQL_STATE = PG_DIAG_SQLSTATE, CPOSTGRESQL_MESSAGE = PG_DIAG_MESSAGE_PRIMARY };

#endif
