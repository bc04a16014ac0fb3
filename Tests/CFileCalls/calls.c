#define _GNU_SOURCE
#include "CFileCalls.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// Of libdispatch, which every Swift program has.
const char *dispatch_queue_get_label(void *queue);

static FileCallHook hook;

void file_calls_set_hook(FileCallHook new) { __atomic_store_n(&hook, new, __ATOMIC_RELEASE); }

const char *file_calls_queue(void) { return dispatch_queue_get_label(NULL); }

static int refuses(enum FileCall call, int descriptor, const char *path, long place, size_t *count) {
  FileCallHook body = __atomic_load_n(&hook, __ATOMIC_ACQUIRE);
  int error = body ? body(call, descriptor, path, place, count) : 0;
  if (error) errno = error;
  return error;
}

// Debian's SQLite calls pwrite64 and ftruncate64, Swift's packages pwrite and ftruncate: these are the same.

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t place) {
  if (refuses(FILE_CALL_WRITE, descriptor, NULL, place, &count)) return -1;
  return syscall(SYS_pwrite64, descriptor, bytes, count, place);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t place) {
  return pwrite(descriptor, bytes, count, place);
}

int ftruncate(int descriptor, off_t length) {
  if (refuses(FILE_CALL_TRUNCATE, descriptor, NULL, length, NULL)) return -1;
  return (int)syscall(SYS_ftruncate, descriptor, length);
}

int ftruncate64(int descriptor, off64_t length) { return ftruncate(descriptor, length); }

int fdatasync(int descriptor) {
  if (refuses(FILE_CALL_SYNC, descriptor, NULL, 0, NULL)) return -1;
  return (int)syscall(SYS_fdatasync, descriptor);
}

int fsync(int descriptor) {
  if (refuses(FILE_CALL_SYNC, descriptor, NULL, 0, NULL)) return -1;
  return (int)syscall(SYS_fsync, descriptor);
}

int unlink(const char *path) {
  if (refuses(FILE_CALL_NAME, -1, path, 0, NULL)) return -1;
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int rename(const char *old, const char *new) {
  if (refuses(FILE_CALL_NAME, -1, new, 0, NULL)) return -1;
  return (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
}
