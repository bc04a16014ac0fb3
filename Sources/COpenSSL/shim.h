// The functions of libcrypto that are used, of a library that is loaded when the first webhook has a secret: its
// relocations alone take 0.4 MB of each process. So nothing is linked.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <dlfcn.h>
#include <openssl/hmac.h>

struct copenssl {
  __typeof__(&EVP_sha256) sha256;
  __typeof__(&HMAC) hmac;
};

/// Loads libcrypto for the rest of the process. Returns whether it has everything; `dlerror` says what is missing.
static inline int copenssl_load(struct copenssl *openssl) {
  void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return 0;
  openssl->sha256 = (__typeof__(openssl->sha256))dlsym(library, "EVP_sha256");
  openssl->hmac = (__typeof__(openssl->hmac))dlsym(library, "HMAC");
  return openssl->sha256 && openssl->hmac;
}

#endif
