// Tells ThreadSanitizer of what Swift's libraries, which are not built for it, synchronize in places that it
// cannot see. Scripts/sanitize.sh loads it by LD_PRELOAD. Races that our code makes are reported as before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

// The standard library's Mutex. Where a lock is free, taking it is inlined in our code and seen; where one has to
// wait, it happens in these two functions of the library and is not: what two threads do one after the other
// under one lock then looks like a race. So each is called through a function of the same name that says what it
// did.

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void (*Lock)(uint32_t, __attribute__((swift_context)) void *);
typedef __attribute__((swiftcall)) void (*Unlock)(__attribute__((swift_context)) void *);

__attribute__((swiftcall)) void lock_slow(
    uint32_t thread, __attribute__((swift_context)) void *mutex) __asm__(LOCK);
__attribute__((swiftcall)) void lock_slow(
    uint32_t thread, __attribute__((swift_context)) void *mutex) {
  ((Lock)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void unlock_slow(
    __attribute__((swift_context)) void *mutex) __asm__(UNLOCK);
__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex) {
  if (__tsan_release) __tsan_release(mutex);
  ((Unlock)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}

// A continuation that is resumed before its task awaits it. The resuming thread releases the task, as the runtime
// tells ThreadSanitizer; the task then goes on in swift_continuation_await without the runtime's telling that it
// acquires it. This program is reported without what follows:
//
//     final class Box: Sendable { let value: Int; init(_ value: Int) { self.value = value } }
//     let box = await withCheckedContinuation { (continuation: CheckedContinuation<Box, Never>) in
//       DispatchQueue.global().async { continuation.resume(returning: Box(1)) }
//       usleep(10_000)
//     }
//     print(box.value)
//
// So a task goes on, in every case, through a function that says that it acquires the task.

#define ASYNC __attribute__((swiftasynccall))
#define CONTEXT __attribute__((swift_async_context))

struct context;
typedef ASYNC void (*Resume)(CONTEXT struct context *);

// The beginning of the runtime's AsyncContext, which is part of Swift's binary interface.
struct context {
  void *parent;
  Resume resume;
};

// Where the task of a context goes on. A context is used again by later continuations, so that entries stay.
struct entry {
  struct entry *next;
  struct context *context;
  Resume resume;
};

static struct entry *entries[65536];
// Not a mutex of the system's, by which ThreadSanitizer would see an order of all continuations.
static char is_locked;

static void lock(void) {
  while (__atomic_test_and_set(&is_locked, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(void) { __atomic_clear(&is_locked, __ATOMIC_RELEASE); }

static struct entry *entry_of(struct context *context) {
  struct entry **first = &entries[((uintptr_t)context >> 4) % 65536];
  for (struct entry *entry = *first; entry; entry = entry->next)
    if (entry->context == context) return entry;
  struct entry *entry = malloc(sizeof *entry);
  if (!entry) abort();
  *entry = (struct entry){*first, context, 0};
  return *first = entry;
}

extern __attribute__((swiftcall)) void *swift_task_getCurrent(void) __attribute__((weak));

static ASYNC void resumed(CONTEXT struct context *context) {
  lock();
  Resume resume = entry_of(context)->resume;
  unlock();
  __tsan_acquire(swift_task_getCurrent());
  __attribute__((musttail)) return resume(context);
}

typedef __attribute__((swiftcall)) void *(*Init)(struct context *, uintptr_t);

__attribute__((swiftcall)) void *swift_continuation_init(
    struct context *context, uintptr_t flags) {
  if (__tsan_acquire && context->resume != resumed) {
    lock();
    entry_of(context)->resume = context->resume;
    unlock();
    context->resume = resumed;
  }
  return ((Init)dlsym(RTLD_NEXT, "swift_continuation_init"))(context, flags);
}
