// Takes the place of fsync and fdatasync in a process that has it preloaded, as SYNCS says:
//
//   skip  does nothing: what the kernel has survives a killed process
//   slow  takes 2 s while the file "slow" exists; "syncing" exists meanwhile
//   held  takes 2 s and as long as the file "slow" exists; "syncing" exists meanwhile. The file "syncs" gets a
//         byte for each
//   copy  copies what it makes durable: a file's bytes to $SYNCS_COPY/INODE, a directory's inodes and names
//         to $SYNCS_COPY/names. A power cut leaves this at least.
//   faults  does nothing; and while the file "full" exists, no file becomes longer; while the file "read-only" exists,
//         none can be changed
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void copy(int descriptor) {
  const char *folder = getenv("SYNCS_COPY");
  struct stat status;
  char temporary[4200], path[4200], line[64];
  if (!folder || fstat(descriptor, &status)) _exit(71);
  snprintf(temporary, sizeof temporary, "%s/temporary", folder);
  FILE *file = fopen(temporary, "w");
  if (!file) _exit(72);
  if (S_ISDIR(status.st_mode)) {
    snprintf(line, sizeof line, "/proc/self/fd/%d", descriptor);
    DIR *names = opendir(line);
    for (struct dirent *entry; (entry = readdir(names));)
      if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
        fprintf(file, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
    closedir(names);
    snprintf(path, sizeof path, "%s/names", folder);
  } else {
    char block[65536];
    ssize_t count;
    for (off_t place = 0; (count = pread(descriptor, block, sizeof block, place)) > 0; place += count)
      fwrite(block, 1, count, file);
    snprintf(path, sizeof path, "%s/%lu", folder, (unsigned long)status.st_ino);
  }
  if (fclose(file) || rename(temporary, path)) _exit(73);
}

int fdatasync(int descriptor) {
  const char *mode = getenv("SYNCS");
  if (!mode) _exit(70);
  if (!strcmp(mode, "copy")) copy(descriptor);
  if (!strcmp(mode, "slow") && !access("slow", F_OK)) {
    close(open("syncing", O_CREAT | O_WRONLY, 0600));
    sleep(2);
    unlink("syncing");
  }
  if (!strcmp(mode, "held")) {
    int syncs = open("syncs", O_CREAT | O_APPEND | O_WRONLY, 0600);
    if (write(syncs, "s", 1) != 1 || close(syncs)) _exit(74);
    if (!access("slow", F_OK)) {
      close(open("syncing", O_CREAT | O_WRONLY, 0600));
      sleep(2);
      while (!access("slow", F_OK)) usleep(1000);
      unlink("syncing");
    }
  }
  return 0;
}

int fsync(int descriptor) { return fdatasync(descriptor); }

// Whether a file may not be changed, or may not become so long.
static int refuses(int descriptor, long length) {
  const char *mode = getenv("SYNCS");
  struct stat status;
  if (!mode || strcmp(mode, "faults")) return 0;
  if (!access("read-only", F_OK)) errno = EROFS;
  else if (!access("full", F_OK) && !fstat(descriptor, &status) && length > status.st_size) errno = ENOSPC;
  else return 0;
  return 1;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t place) {
  return refuses(descriptor, place + count) ? -1 : syscall(SYS_pwrite64, descriptor, bytes, count, place);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t place) {
  return pwrite64(descriptor, bytes, count, place);
}

int ftruncate64(int descriptor, off64_t length) {
  return refuses(descriptor, length) ? -1 : (int)syscall(SYS_ftruncate, descriptor, length);
}

int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }
