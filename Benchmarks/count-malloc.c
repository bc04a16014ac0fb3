// Counts a program's allocations, for the benchmarks: put before it by LD_PRELOAD.
//
//     cc -O2 -shared -fPIC count-malloc.c -o count-malloc.so -ldl
//     MALLOC_COUNT=FILE LD_PRELOAD=./count-malloc.so PROGRAM …
//
// At the end FILE has the number of calls of malloc, calloc, realloc and their aligned kin, and the
// number of bytes they were asked for.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_ullong calls, bytes;
static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);

// dlsym itself allocates before the functions are known.
static char early[65536];
static size_t early_used;
static int looks_up;

static void *early_alloc(size_t size) {
  size_t start = (early_used + 15) & ~(size_t)15;
  if (start + size > sizeof early) abort();
  early_used = start + size;
  return early + start;
}

static int is_early(void *p) { return (char *)p >= early && (char *)p < early + sizeof early; }

static void look_up(void) {
  looks_up = 1;
  next_calloc = dlsym(RTLD_NEXT, "calloc");
  next_realloc = dlsym(RTLD_NEXT, "realloc");
  next_free = dlsym(RTLD_NEXT, "free");
  next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
  next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
  next_malloc = dlsym(RTLD_NEXT, "malloc");
  looks_up = 0;
}

static int ready(size_t size) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
  if (looks_up) return 0;
  if (!next_malloc) look_up();
  return 1;
}

void *malloc(size_t size) { return ready(size) ? next_malloc(size) : early_alloc(size); }

void *calloc(size_t count, size_t size) {
  return ready(count * size) ? next_calloc(count, size) : early_alloc(count * size);
}

void *realloc(void *p, size_t size) {
  if (!ready(size)) return early_alloc(size);
  if (!is_early(p)) return next_realloc(p, size);
  void *moved = next_malloc(size);
  if (moved) memcpy(moved, p, size);
  return moved;
}

void free(void *p) {
  if (!p || is_early(p)) return;
  if (!next_malloc) look_up();
  next_free(p);
}

int posix_memalign(void **p, size_t alignment, size_t size) {
  ready(size);
  return next_posix_memalign(p, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  ready(size);
  return next_aligned_alloc(alignment, size);
}

__attribute__((destructor)) static void end(void) {
  unsigned long long count = calls, sum = bytes;
  const char *path = getenv("MALLOC_COUNT");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%llu %llu\n", count, sum);
  fclose(file);
}
