// Calls about the process at the other end of a Unix socket, which Swift's module of the C library leaves out:
// <sys/pidfd.h> came with glibc 2.36, and <sys/socket.h> declares `struct ucred` and CMSG_DATA only to C.
#ifndef CPIDFD_SHIM_H
#define CPIDFD_SHIM_H

#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// The layout of `struct ucred`.
struct cpidfd_credentials {
  pid_t pid;
  uid_t uid;
  gid_t gid;
};

// Returns a descriptor that refers to a process, or -1 with `errno`.
static inline int cpidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

// Returns the process that sent the next unread byte of a socket with SO_PASSCRED, without reading it; 0 if there is no
// unread byte, -1 for an error.
static inline pid_t cpidfd_next_sender(int socket) {
  char byte;
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(struct cpidfd_credentials))];
  } control;
  struct iovec data = {&byte, 1};
  struct msghdr message = {0};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) return 0;
  struct cmsghdr *first = CMSG_FIRSTHDR(&message);
  // SCM_CREDENTIALS
  if (!first || first->cmsg_level != SOL_SOCKET || first->cmsg_type != 2) return -1;
  struct cpidfd_credentials sender;
  memcpy(&sender, CMSG_DATA(first), sizeof sender);
  return sender.pid;
}

#endif
