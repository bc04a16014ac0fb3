// The functions of libcurl that are used, of a library that is loaded when the first webhook needs it: libcurl needs
// thirty others (LDAP, Kerberos, SSH, …), which every run of the command would load. So nothing is linked.
#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>

struct ccurl {
  __typeof__(&curl_easy_init) easy_init;
  __typeof__(&curl_easy_reset) easy_reset;
  __typeof__(&curl_easy_cleanup) easy_cleanup;
  __typeof__(&curl_easy_strerror) easy_strerror;
  __typeof__(&curl_slist_append) slist_append;
  __typeof__(&curl_slist_free_all) slist_free_all;
  __typeof__(&curl_multi_init) multi_init;
  __typeof__(&curl_multi_cleanup) multi_cleanup;
  __typeof__(&curl_multi_add_handle) multi_add_handle;
  __typeof__(&curl_multi_remove_handle) multi_remove_handle;
  __typeof__(&curl_multi_perform) multi_perform;
  // Variadic, which the importer drops, or used by the functions below alone.
  void *global_init, *easy_setopt, *easy_getinfo, *multi_info_read, *multi_poll;
};

/// Loads libcurl for the rest of the process. Returns whether it has everything; `dlerror` says what is missing.
static inline int ccurl_load(struct ccurl *curl) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return 0;
#define CCURL_FIND(name) \
  if (!(curl->name = (__typeof__(curl->name))dlsym(library, "curl_" #name))) return 0
  CCURL_FIND(easy_init);
  CCURL_FIND(easy_reset);
  CCURL_FIND(easy_cleanup);
  CCURL_FIND(easy_strerror);
  CCURL_FIND(slist_append);
  CCURL_FIND(slist_free_all);
  CCURL_FIND(multi_init);
  CCURL_FIND(multi_cleanup);
  CCURL_FIND(multi_add_handle);
  CCURL_FIND(multi_remove_handle);
  CCURL_FIND(multi_perform);
  CCURL_FIND(global_init);
  CCURL_FIND(easy_setopt);
  CCURL_FIND(easy_getinfo);
  CCURL_FIND(multi_info_read);
  CCURL_FIND(multi_poll);
#undef CCURL_FIND
  return ((__typeof__(&curl_global_init))curl->global_init)(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

static inline CURLcode ccurl_set_number(const struct ccurl *curl, CURL *easy, CURLoption option,
                                        long value) {
  return ((__typeof__(&curl_easy_setopt))curl->easy_setopt)(easy, option, value);
}

/// Sets a text, which libcurl copies, or an address, which it keeps.
static inline CURLcode ccurl_set_pointer(const struct ccurl *curl, CURL *easy, CURLoption option,
                                         const void *value) {
  return ((__typeof__(&curl_easy_setopt))curl->easy_setopt)(easy, option, value);
}

static inline size_t ccurl_discard(char *bytes, size_t size, size_t count, void *object) {
  (void)bytes, (void)object;
  return size * count;
}

/// Makes libcurl discard what is answered.
static inline CURLcode ccurl_discard_answer(const struct ccurl *curl, CURL *easy) {
  return ((__typeof__(&curl_easy_setopt))curl->easy_setopt)(easy, CURLOPT_WRITEFUNCTION,
                                                            &ccurl_discard);
}

/// Allows no other protocol than HTTP and HTTPS. The newer option that takes a text is not in every version.
static inline CURLcode ccurl_allow_http(const struct ccurl *curl, CURL *easy) {
  return ((__typeof__(&curl_easy_setopt))curl->easy_setopt)(
      easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
}

/// The status of the answer; 0 where there was none.
static inline long ccurl_status(const struct ccurl *curl, CURL *easy) {
  long status = 0;
  ((__typeof__(&curl_easy_getinfo))curl->easy_getinfo)(easy, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

/// The system's error when the connection failed; 0 where there was none.
static inline long ccurl_system_error(const struct ccurl *curl, CURL *easy) {
  long error = 0;
  ((__typeof__(&curl_easy_getinfo))curl->easy_getinfo)(easy, CURLINFO_OS_ERRNO, &error);
  return error;
}

/// The seconds that the answer asks to wait; 0 where it does not.
static inline long long ccurl_retry_after(const struct ccurl *curl, CURL *easy) {
  curl_off_t seconds = 0;
  ((__typeof__(&curl_easy_getinfo))curl->easy_getinfo)(easy, CURLINFO_RETRY_AFTER, &seconds);
  return seconds;
}

/// Returns the next request that has ended, and its result; `NULL` where there is none.
static inline CURL *ccurl_next_ended(const struct ccurl *curl, CURLM *multi, CURLcode *result) {
  int left;
  CURLMsg *message;
  while ((message = ((__typeof__(&curl_multi_info_read))curl->multi_info_read)(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}

/// Waits until a request can go on, or until a descriptor can be read, or for so many milliseconds.
static inline CURLMcode ccurl_wait(const struct ccurl *curl, CURLM *multi, int descriptor,
                                   int milliseconds) {
  struct curl_waitfd wake = {descriptor, CURL_WAIT_POLLIN, 0};
  return ((__typeof__(&curl_multi_poll))curl->multi_poll)(multi, &wake, descriptor >= 0,
                                                          milliseconds, NULL);
}

#endif
