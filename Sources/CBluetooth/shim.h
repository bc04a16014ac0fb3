#ifndef CBLUETOOTH_SHIM_H
#define CBLUETOOTH_SHIM_H

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <linux/sock_diag.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The importer drops macros that are built with _IOW and _IOR.
static const unsigned long cbluetooth_HCIDEVUP = HCIDEVUP;
static const unsigned long cbluetooth_HCIGETDEVLIST = HCIGETDEVLIST;
static const unsigned long cbluetooth_HCIGETDEVINFO = HCIGETDEVINFO;
static const unsigned long cbluetooth_HCIGETCONNINFO = HCIGETCONNINFO;

/// `HCI_MAX_DEV` entries behind the flexible array's head, which the importer drops.
struct cbluetooth_dev_list {
  uint16_t dev_num;
  struct hci_dev_req dev_req[HCI_MAX_DEV];
};

/// `struct mmsghdr`, which the C library shows only to programs that ask for all of GNU, as the importer
/// does not.
struct cbluetooth_mmsghdr {
  struct msghdr msg_hdr;
  unsigned int msg_len;
};

/// `recvmmsg` wants arrays of structures that point into each other, and control messages are walked by
/// macros: both are dropped by the importer. So this one call fills plain arrays.
///
/// - `packets`: room for `count` packets of `stride` bytes each.
/// - `lengths`: the bytes of each packet as it was, which is more than `stride` where it was cut.
/// - `stamps`: when the kernel took each packet, in microseconds since 1970; -1 where it does not say.
/// - `incoming`: 1 from the controller, 0 to it.
/// - Returns: how many packets came, or -1 and `errno`.
static inline int cbluetooth_receive(int socket, unsigned char *packets, int stride, int count,
                                     int *lengths, long long *stamps, unsigned char *incoming) {
  enum { most = 64, control = 128 };
  struct cbluetooth_mmsghdr messages[most];
  struct iovec parts[most];
  _Alignas(struct cmsghdr) char controls[most][control];
  if (count > most) count = most;
  memset(messages, 0, sizeof(struct cbluetooth_mmsghdr) * (size_t)count);
  for (int i = 0; i < count; i++) {
    parts[i].iov_base = packets + (size_t)i * (size_t)stride;
    parts[i].iov_len = (size_t)stride;
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
    messages[i].msg_hdr.msg_control = controls[i];
    messages[i].msg_hdr.msg_controllen = control;
  }
  int received =
      (int)syscall(SYS_recvmmsg, socket, messages, (unsigned)count, MSG_DONTWAIT | MSG_TRUNC, NULL);
  for (int i = 0; i < received; i++) {
    lengths[i] = (int)messages[i].msg_len;
    stamps[i] = -1;
    incoming[i] = 1;
    struct msghdr *header = &messages[i].msg_hdr;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
      if (c->cmsg_level != SOL_HCI) continue;
      if (c->cmsg_type == HCI_CMSG_TSTAMP && c->cmsg_len >= CMSG_LEN(sizeof(struct timeval))) {
        struct timeval stamp;
        memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
        stamps[i] = (long long)stamp.tv_sec * 1000000 + stamp.tv_usec;
      } else if (c->cmsg_type == HCI_CMSG_DIR && c->cmsg_len >= CMSG_LEN(sizeof(int))) {
        int direction;
        memcpy(&direction, CMSG_DATA(c), sizeof direction);
        incoming[i] = direction ? 1 : 0;
      }
    }
  }
  return received;
}

#endif
