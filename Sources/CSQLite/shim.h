#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

/// Binds bytes that SQLite copies. `SQLITE_TRANSIENT` is a cast, which the importer drops, and
/// `sqlite3_bind_blob` takes a null pointer, which empty arrays have, for NULL.
static inline int csqlite_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes,
                                     int count) {
  if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

#endif
