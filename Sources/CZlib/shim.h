#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

#include <zlib.h>

/// `inflateInit2` is a macro over a function that takes the version and the structure's size, and
/// the importer drops macros with arguments.
///
/// - Returns: `Z_OK`, or zlib's error.
static inline int czlib_inflate_init_gzip(z_stream *stream) {
  return inflateInit2(stream, 15 + 16);  // 32 KiB window; gzip wrapper only.
}

#endif
