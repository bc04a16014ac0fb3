// Tells ThreadSanitizer of the standard library's Mutex, for Scripts/sanitize.sh; LD_PRELOAD loads it.
//
// The library is not built for ThreadSanitizer. Where a lock is free, taking it is inlined in our code and
// seen; where one has to wait, it happens in these two functions of the library and is not: what two threads
// do one after the other under one lock then looks like a race. So each is called through a function of the
// same name that says what it did.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

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
