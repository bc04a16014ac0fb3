/* beaconscan.h - Bluetooth beacons and locations for programs in C, C++ and languages that call C.
 *
 * A scanner receives iBeacons with the adapters of this machine and fixes from gpsd or GeoClue, or replays recordings,
 * and has each event as one line of JSON: a region or a circle was entered or left, the distances of beacons, the place
 * of this machine, the receiver's state.
 *
 *     bs_options *options = bs_options_new();
 *     bs_options_set(options, "region", "lobby=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0");
 *     bs_scanner *scanner = bs_start(options);
 *     if (!scanner) fprintf(stderr, "%s\n", bs_error(options));
 *     bs_options_free(options);
 *     struct pollfd wait = {bs_fd(scanner), POLLIN, 0};
 *     while (poll(&wait, 1, -1) >= 0)
 *       for (const char *line; (line = bs_next(scanner));) puts(line);
 *     bs_stop(scanner);
 *
 * Build with: cc kiosk.c $(pkg-config --cflags --libs beaconscan)
 *
 * Threads. A bs_options belongs to one thread at a time. The functions of a bs_scanner may be called on any thread, also
 * at once, but for these: bs_next on one thread at a time, because a line is valid until the next call; and nothing
 * during or after bs_stop. The library's threads block the signals that are sent to the process, such as SIGTERM. After
 * fork() the child must not use a scanner; it may call exec*().
 *
 * Versions. The functions and their meaning stay as they are while the library's soname, libbeaconscan.so.0, is the same:
 * functions, options and JSON keys may be added. The library cannot be unloaded: dlclose() leaves it in place.
 */
#ifndef BEACONSCAN_H
#define BEACONSCAN_H

#ifdef __cplusplus
extern "C" {
#endif

/* The settings of a scanner. */
typedef struct bs_options bs_options;

/* A scanner that was started. */
typedef struct bs_scanner bs_scanner;

/* Receives an event: one line of JSON in UTF-8 without its end, which is valid until the function returns. */
typedef void (*bs_function)(const char *line, void *context);

/* Returns the library's version, such as "0.1.0". */
const char *bs_version(void);

/* Returns settings that have no region yet. Free them with bs_options_free. */
bs_options *bs_options_new(void);

/* Sets an option to a value as it is written on the command line.
 *
 * The names and values are those of `beaconscan monitor`, `range` and `locate`, without the dashes:
 *
 *   region          NAME=UUID[:MAJOR[:MINOR]], with rules of its own behind commas: lobby=UUID,enter-distance=1,each;
 *                   or NAME=LATITUDE,LONGITUDE,RADIUS, a circle in degrees and meters *
 *   uuid            a region that has no name *       major, minor    of uuid, only these
 *   each            report each beacon of a region    exit-after      adaptive, or a time such as 20s
 *   boundary        where regions end: -67 or 3m      enter-distance, exit-distance, enter-rssi, exit-rssi,
 *   enter-count     such as 2/3                       dwell           when regions are entered and left
 *   range           report the distances of the regions' beacons too; without a region, those of all beacons
 *   interval        the time between two such reports, 1s without it
 *   raw             with the raw signal
 *   locate          report each fix of this machine   heading         its direction      visits      its visits of places
 *   source          of locations: auto, gpsd, geoclue or fixed (the position)
 *   gpsd            HOST, HOST:PORT or a path         position        LATITUDE,LONGITUDE or LATITUDE,LONGITUDE,ALTITUDE
 *   adapter         hci0, an address, or all *        backend         auto, hci or bluez
 *   active, coded   as on the command line
 *   replay          a capture or a track, in place of adapters and sources of locations *
 *   speed           max, or such as 1x                duration, follow
 *   state-file      keeps regions and their states, and events that the program did not deal with
 *   model, environment, measured-power, adapter-offset *, calibrate *, pin *
 *   application     the name under which the administrator's file and the state file know the program; without it, that
 *                   of the program's file
 *   quiet           write no diagnostics to standard error
 *
 * An option that is marked with * may be set several times: each value is added. Of the others the last value counts. The
 * value of each, range, raw, locate, heading, visits, active, coded, follow and quiet is "true", also where value is NULL,
 * or "false". No configuration file and no environment variable is read.
 *
 * Returns 0, or -1 where the name or the value is wrong: then nothing was set, and bs_error has a sentence that states
 * what is valid. */
int bs_options_set(bs_options *options, const char *name, const char *value);

/* Returns one sentence about the last call of bs_options_set or bs_start with these options that failed; NULL if none
 * did. It is valid until the next call with these options. */
const char *bs_error(const bs_options *options);

/* Frees settings, which a scanner that was started with them does not need any more. The pointer is invalid afterwards:
 * as with free(), it must not be used or freed again. NULL is ignored. */
void bs_options_free(bs_options *options);

/* Starts a scanner with a copy of the settings. It may take some seconds where a daemon does not answer.
 *
 * Returns NULL where the settings do not fit together, a recording or the state file cannot be used, heading is set and
 * there is no compass, or the process may not receive: bs_error has the reason. Where an adapter or a source of locations is
 * missing or off the scanner starts: an event of type "health" has the reason, and reception begins by itself. Stop the
 * scanner with bs_stop. */
bs_scanner *bs_start(bs_options *options);

/* Returns a file descriptor that is readable while bs_next should be called, for poll(), g_unix_fd_add() or QSocketNotifier.
 * That is while an event waits, and where the scanner waits until the last one was dealt with: then bs_next returns NULL.
 * It belongs to the scanner: only wait for it, and do not read or close it. */
int bs_fd(const bs_scanner *scanner);

/* Returns the next event, or NULL where none waits. It never blocks.
 *
 * An event is one line of JSON in UTF-8 without its end, valid until the next call for this scanner or bs_stop. The
 * types "state", "enter", "exit", "range", "fix", "heading", "visit", "health", "identity", "summary" and "trackSummary" are
 * those of docs/json.md. First comes the state of each region. Two types are the library's:
 *
 *   {"type":"missed","count":12}     so many events were dropped before the next one
 *   {"type":"end","error":null}      nothing will come any more, because a recording is at its end or, where "error" is
 *                                    a sentence, because the scanner cannot go on
 *
 * Live, at most 10,000 events wait; beyond that the oldest are dropped, but for those that a state file keeps. Of the
 * ranging reports, the fixes and the headings only the latest one waits. A recording stands still until each of its
 * events was taken.
 *
 * With a state file, an event of a region and a visit count as delivered when the next event is requested or the scanner
 * is stopped. If the program ends before, it has the event again after its next start, and only then. */
const char *bs_next(bs_scanner *scanner);

/* Has every event passed to a function, on a thread of the library, one at a time and in order; those that wait, too.
 * bs_next then returns NULL, and bs_fd is not readable. An event counts as delivered when the function returns.
 *
 * With NULL, events wait for bs_next again; no call of the earlier function goes on when this returns, unless it is
 * that function that calls. The function may call bs_stop and then must not use the scanner any more. */
void bs_set_callback(bs_scanner *scanner, bs_function function, void *context);

/* Stops a scanner, waits until no radio scans and everything is stored, and frees it: the pointer is invalid afterwards.
 * Events that wait are dropped; with a state file, those of regions and visits come again after the next start. NULL is
 * ignored. */
void bs_stop(bs_scanner *scanner);

#ifdef __cplusplus
}
#endif

#endif
