/* A screen that shows content while a visitor with a beacon is near, and goes back when they leave.
 *
 *   kiosk [--events] OPTION=VALUE…
 *
 * The options are those of beaconscan.h, such as region=kiosk=UUID,enter-distance=1 or replay=FILE. With --events each
 * event is printed as it came. The loop waits for the scanner's file descriptor, as GLib's or Qt's loop would; here it
 * also waits for standard input, which ends the program with a line "q".
 */
#include <beaconscan.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Copies the text of a key of one line of JSON; a program with a JSON parser uses that. The keys "type", "region" and
 * "error" come before any other text, and names of regions without quotation marks need no more. */
static int text_of(const char *line, const char *key, char *text, size_t size)
{
    char mark[32];
    const char *start, *end;

    snprintf(mark, sizeof mark, "\"%s\":\"", key);
    start = strstr(line, mark);
    if (!start)
        return 0;
    start += strlen(mark);
    end = strchr(start, '"');
    if (!end || (size_t)(end - start) >= size)
        return 0;
    memcpy(text, start, (size_t)(end - start));
    text[end - start] = '\0';
    return 1;
}

/* Shows what an event means for the screen, and returns whether more events may come. */
static int show(const char *line)
{
    char type[16], region[256] = "", sentence[512];

    if (!text_of(line, "type", type, sizeof type))
        return 1;
    text_of(line, "region", region, sizeof region);
    if (strcmp(type, "enter") == 0)
        printf("%s: welcome\n", region);
    else if (strcmp(type, "exit") == 0)
        printf("%s: slides\n", region);
    else if (strcmp(type, "health") == 0 && text_of(line, "message", sentence, sizeof sentence))
        fprintf(stderr, "kiosk: %s\n", sentence);
    else if (strcmp(type, "end") == 0) {
        if (text_of(line, "error", sentence, sizeof sentence))
            fprintf(stderr, "kiosk: %s\n", sentence);
        return 0;
    }
    return 1;
}

int main(int count, char **arguments)
{
    bs_options *options = bs_options_new();
    bs_scanner *scanner;
    struct pollfd wait[2];
    const char *line;
    int prints_events = 0, runs = 1, index;

    for (index = 1; index < count; index++) {
        char *value = strchr(arguments[index], '=');
        if (strcmp(arguments[index], "--events") == 0) {
            prints_events = 1;
            continue;
        }
        if (value)
            *value++ = '\0';
        if (bs_options_set(options, arguments[index], value) != 0) {
            fprintf(stderr, "kiosk: %s\n", bs_error(options));
            bs_options_free(options);
            return 64;
        }
    }
    scanner = bs_start(options);
    if (!scanner) {
        fprintf(stderr, "kiosk: %s\n", bs_error(options));
        bs_options_free(options);
        return 69;
    }
    bs_options_free(options);

    wait[0].fd = bs_fd(scanner);
    wait[1].fd = STDIN_FILENO;
    wait[0].events = wait[1].events = POLLIN;
    while (runs && poll(wait, 2, -1) >= 0) {
        if (wait[0].revents)
            while (runs && (line = bs_next(scanner))) {
                if (prints_events)
                    puts(line);
                runs = prints_events ? strstr(line, "\"type\":\"end\"") == NULL : show(line);
                fflush(stdout);
            }
        if (wait[1].revents) {
            char typed[64];
            ssize_t size = read(STDIN_FILENO, typed, sizeof typed);
            if (size > 0 && typed[0] == 'q')
                runs = 0;
            /* Nobody types: poll() ignores a negative descriptor. */
            if (size <= 0)
                wait[1].fd = -1;
        }
    }
    bs_stop(scanner);
    return 0;
}
