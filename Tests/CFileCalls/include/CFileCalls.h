// The system calls by which this process changes files, as a test sees them: it counts them, lets them wait, or
// has them fail. They take the place of the C library's in the executable and in every library that it loads,
// SQLite's among them.
#ifndef CFILECALLS_H
#define CFILECALLS_H

#include <stddef.h>

enum FileCall { FILE_CALL_WRITE, FILE_CALL_TRUNCATE, FILE_CALL_SYNC, FILE_CALL_NAME };

/// Called before each call: with the descriptor, or, where a name is changed, with the path; with the place of a
/// write or the new length of a file; and with the number of bytes to write, which it may lower. Returns 0, or the
/// error with which the call fails.
typedef int (*FileCallHook)(enum FileCall call, int descriptor, const char *_Nullable path, long place,
                            size_t *_Nullable count);

/// Sets the function for good.
void file_calls_set_hook(FileCallHook _Nonnull hook);

/// The label of the dispatch queue that runs on this thread.
const char *_Nonnull file_calls_queue(void);

#endif
