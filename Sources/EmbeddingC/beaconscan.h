/* beaconscan.h - Bluetooth beacons and locations for programs in C, C++ and languages that call C.
 *
 * A scanner receives iBeacons with the adapters of this machine and fixes from gpsd or GeoClue, or replays recordings,
 * and delivers events as lines of JSON: entries and exits of regions and circles, the distances of beacons, the
 * location of this machine, the receiver's state.
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
 * Threads. Use a bs_options on one thread at a time. The functions of a bs_scanner may be called on any thread, also
 * concurrently, with two exceptions: bs_next on one thread at a time, because a line is valid until the next call; and
 * no function during or after bs_stop. The library's threads block signals to the process, such as SIGTERM. After
 * fork() the child must not use a scanner; it may call exec*().
 *
 * Versions. While the library's soname is libbeaconscan.so.0, functions keep their meaning; functions, options and
 * JSON keys may be added. dlclose() does not unload the library.
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

/* Returns settings without regions. Free them with bs_options_free. */
bs_options *bs_options_new(void);

/* Sets an option to a value as on the command line.
 *
 * The names and values are those of `beaconscan monitor`, `range` and `locate`, without the dashes:
 *
 *   region          NAME=UUID[:MAJOR[:MINOR]], with rules after commas: lobby=UUID,enter-distance=1,each;
 *                   or NAME=LATITUDE,LONGITUDE,RADIUS, a circle in degrees and meters *
 *   uuid            a region without a name *         major, minor    of uuid, only these
 *   each            report each beacon of a region    exit-after      adaptive, or a time such as 20s
 *   boundary        where regions end: -67 or 3m      enter-distance, exit-distance, enter-rssi, exit-rssi,
 *   enter-count     such as 2/3                       dwell           when regions are entered and left
 *   range           report the distances of beacons: those of the regions, or of all beacons without a region
 *   interval        the time between two such reports, 1s without it
 *   raw             with the raw signal
 *   locate          report each fix of this machine   heading         its direction      visits      its stays at places
 *   source          of locations: auto, gpsd, geoclue or fixed (the position)
 *   gpsd            HOST, HOST:PORT or a path         position        LATITUDE,LONGITUDE or LATITUDE,LONGITUDE,ALTITUDE
 *   adapter         hci0, an address, or all *        backend         auto, hci or bluez
 *   active, coded   as on the command line
 *   replay          a capture or a track, instead of adapters and location sources *
 *   speed           max, or such as 1x                duration, follow
 *   state-file      keeps regions, their states, and undelivered events
 *   model, environment, measured-power, adapter-offset *, calibrate *, pin *
 *   application     the program's name in the administrator's file and the state file, by default the name of its file
 *   daemon          auto: let the service for apps receive where it answers; required; or never
 *   always          ask to be told of regions and visits also while the program does not run
 *   quiet           write no diagnostics to standard error
 *
 * Each value of an option that is marked with * is added; of the others the last value counts. The value of each,
 * range, raw, locate, heading, visits, active, coded, follow, always and quiet is "true" (or NULL) or "false".
 * Configuration files are not read, and of the environment only BEACONSCAN_SOCKET and XDG_RUNTIME_DIR, for the service's
 * socket.
 *
 * The service for apps (docs/daemon.md) receives for programs that leave the rest to it: adapter, backend, active,
 * coded, source, gpsd, position, replay, state-file, application and the options of distances (model, environment,
 * measured-power, typical-distance, adapter-offset, calibrate, pin) make the program receive by itself. A region is
 * monitored until bs_stop, or until the user revokes that if always is set: its events then wait for the program, which
 * the service starts.
 *
 * Returns 0, or -1 if the name or the value is wrong: then nothing was set, and bs_error states what is valid. */
int bs_options_set(bs_options *options, const char *name, const char *value);

/* Returns one sentence about the last failed call of bs_options_set or bs_start with these options, or NULL. It is
 * valid until the next call with these options. */
const char *bs_error(const bs_options *options);

/* Frees settings; a started scanner does not need them any more. As with free(), the pointer must not be used again.
 * NULL is ignored. */
void bs_options_free(bs_options *options);

/* Starts a scanner with a copy of the settings. It may take some seconds if a daemon does not answer.
 *
 * Returns NULL if settings contradict each other, a recording or the state file cannot be used, heading is set and
 * there is no compass, or the process may not receive: bs_error has the reason. Where the service must ask the user
 * first, the scanner starts, and an event of type "health" says so. If an adapter or a location source is
 * missing or off, the scanner starts: an event of type "health" has the reason, and reception starts by itself. Stop
 * the scanner with bs_stop. */
bs_scanner *bs_start(bs_options *options);

/* Returns a file descriptor that is readable while bs_next should be called, for poll(), g_unix_fd_add() or
 * QSocketNotifier: while an event waits, and while the scanner waits until the last one was handled (then bs_next
 * returns NULL). It belongs to the scanner: do not read or close it. */
int bs_fd(const bs_scanner *scanner);

/* Returns the next event, or NULL if none waits. It never blocks.
 *
 * An event is one line of JSON in UTF-8 without its end, valid until the next call for this scanner or bs_stop. The
 * types "state", "enter", "exit", "range", "fix", "heading", "visit", "health", "identity", "summary" and
 * "trackSummary" are those of docs/json.md. The state of each region comes first. Two types exist only in the library:
 *
 *   {"type":"missed","count":12}     this number of events was dropped before the next one
 *   {"type":"end","error":null}      the last event: a recording has ended, or the scanner cannot continue for the reason
 *                                    in "error"
 *
 * Live, at most 10,000 events wait; beyond that the oldest are dropped, except those that a state file keeps. Of
 * ranging reports, fixes and headings only the latest one waits. A replay waits until each event was read.
 *
 * With a state file or always, an event of a region or a visit counts as delivered when the next event is requested or the
 * scanner is stopped. If the program ends earlier, it receives the event again after its next start. */
const char *bs_next(bs_scanner *scanner);

/* Passes every event, including waiting ones, to a function, in order, on a thread of the library. bs_next then
 * returns NULL, and bs_fd is not readable. An event counts as delivered when the function returns.
 *
 * With NULL, events wait for bs_next again; no call of the earlier function is running when this returns, unless that
 * function is the caller. The function may call bs_stop, and must not use the scanner afterwards. */
void bs_set_callback(bs_scanner *scanner, bs_function function, void *context);

/* Stops a scanner, waits until its radios are off and everything is stored, and frees it. Waiting events are dropped;
 * with a state file or always, those of regions and visits are delivered after the next start. NULL is ignored. */
void bs_stop(bs_scanner *scanner);

#ifdef __cplusplus
}
#endif

#endif
