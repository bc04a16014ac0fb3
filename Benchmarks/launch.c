// Runs a program and tells what it took; a small one of its own because a child's greatest memory
// begins at its parent's, so that a child of python3 cannot be measured.
//
//     cc -O2 launch.c -o launch
//     launch RESULT PROGRAM …
//
// RESULT is a file that gets: exit status, wall seconds, processor seconds, most memory in KiB.

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

int main(int count, char **words) {
  if (count < 3) return 64;
  struct timespec start, end;
  struct rusage usage;
  int status = 0;
  clock_gettime(CLOCK_MONOTONIC, &start);
  pid_t child = fork();
  if (child == 0) {
    execvp(words[2], words + 2);
    _exit(127);
  }
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return 70;
  clock_gettime(CLOCK_MONOTONIC, &end);
  FILE *file = fopen(words[1], "w");
  if (!file) return 73;
  fprintf(file, "%d %.9f %.6f %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9,
          seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss);
  fclose(file);
  return 0;
}
