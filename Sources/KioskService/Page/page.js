// The page of `beaconscan serve`.
//
// The service's events change the model; the views show it. Each view writes only what differs from what
// is there, and every text from outside is written as text, never as markup.

import { $, ago, clip, clock, counted, digits, duration, element, fill, fillFacts, isolated, line, mark, meters, now,
  setClock, shape, textWidth, write, writeAll } from "/elements.js";
import { boundaryOf, circleSentence, isFault, place, positionWords, showLocation, sourceWords, takeFix, takeHeading,
  takeLocation, takeSources, takeVisit, visitWords } from "/location.js";

const LIMIT = 400; // beacons that are shown at most, the nearest
const SIGNAL_SECONDS = 300; // of signal strength that are kept for each beacon
const ROW = 1.2; // heights of a label that a beacon's row in the picture takes at least
const NEAREST = 5; // beacons that keep a row in the picture where there are more than it has rows for
const CLEARLY = 1.15; // how many times nearer a beacon must be to take the place of another
const PIECE = 25; // rows out of sight that are shown at a time
const HISTORY_LIMIT = 100; // events that are listed
const GONE_SECONDS = 60; // for which the row of a beacon that left stays
const TOUCHED = 4000; // ms for which rows stay where they are after somebody has used the table

const calm = matchMedia("(prefers-reduced-motion: reduce)");

// MARK: Words

const NO_ANSWER = "The service does not answer; trying again";
const ZONES = ["immediate", "near", "far", "unknown"];
/** The distances in meters at which a zone begins and ends. It ends later than the next one begins. */
const REACH = { immediate: [0, 0.7], near: [0.5, 5], far: [4, Infinity], unknown: [0, Infinity] };
const collator = new Intl.Collator(undefined, { numeric: true });

const level = (value) => (value == null ? "–" : `${String(Math.round(value)).replace("-", "−")}\u00a0dBm`);
const seconds = (value) => (value == null ? "some time" : `${+value.toFixed(value < 1 ? 2 : 1)} s`);

/** The distance, kept within the beacon's zone: the typical distance moves estimates, but no zone. */
function distanceInZone({ distance, proximity }) {
  const [least, most] = REACH[proximity];
  return distance == null ? null : Math.min(Math.max(distance, least), most);
}

/** A distance and its range; a narrow screen leaves the range out. */
function distanceParts({ isPresent, distance, distanceLow, distanceHigh }) {
  if (!isPresent || distance == null) return ["–", ""];
  return [meters(distance), distanceLow == null ? "" : ` ${digits(distanceLow)}–${digits(distanceHigh)}`];
}

const identity = ({ uuid, major, minor }) => `${uuid}:${major}:${minor}`;

/** Major and minor, with as much of the UUID as tells it apart from those of the other beacons. */
function shortIdentity({ uuid, major, minor }) {
  return model.prefix ? `${major}:${minor} · ${uuid.slice(0, model.prefix)}…` : `${major}:${minor}`;
}

const title = (beacon) => beacon.name || shortIdentity(beacon);

/** The reason of an enter, exit or state as a sentence. */
function sentence(record) {
  const { reason } = record;
  if (!reason) return "";
  if (record.radius != null) return circleSentence(record);
  const beacon = record.uuid ? record : reason.lastSighting;
  const subject = beacon ? `“${isolated(title(beacon))}”` : "A beacon";
  const signal = record.rssi == null ? "without signal strength" : `at ${level(record.rssi)}`;
  const isInside = record.state === "inside";
  switch (reason.rule) {
    case "sighting": return `${subject} was received, ${signal}.`;
    case "count": return `${subject} was received often enough, last ${signal}.`;
    case "dwell": return `${subject} was received for long enough, last ${signal}.`;
    case "signal": return `${subject} was ${isInside ? "strong" : "weak"} for long enough, last ${signal}.`;
    case "distance": return `${subject} was ${isInside ? "close" : "far away"} for long enough, last ${signal}.`;
    case "exitTimeout": {
      const learned = reason.interval == null || reason.loss == null ? ""
        : ` It sends every ${seconds(reason.interval)} with a loss of ${Math.round(reason.loss * 100)} %.`;
      return `${subject} was not received for its exit timeout of ${seconds(reason.exitTimeout)}.${learned}`;
    }
    case "start": return `No beacon met the rules of the region for ${seconds(reason.exitTimeout)} after the start.`
      + (reason.approach ? ` ${approachSentence(reason.approach)}` : "");
    case "request": return "This is the initial state; nothing has happened since.";
    default: return `The deciding rule is “${reason.rule}”.`;
  }
}

/** The reason that a region was not entered: the beacon that came nearest, and the rule that it did not meet. */
function approachSentence(approach) {
  const { message } = approach;
  return approach.uuid ? `“${isolated(title(approach))}” did not enter: ${message}.` : `Not entered: ${message}.`;
}

/** The state of a receiver in a few words; its message has the reason. */
function receiverWords({ state, receptionLost }) {
  return state === "scanning" ? "Receiving" : receptionLost ? "Reception lost" : "Needs attention";
}

// MARK: The model

const model = {
  beacons: new Map(), // by identity; also those that left not long ago
  regions: new Map(), // by name
  approaches: new Map(), // by the name of a region: why it was not entered, where its details are open
  events: [], // oldest first: { id, event }
  receiving: null,
  receivers: [],
  faults: [], // of the service's own: sentences
  uptime: null,
  version: "",
  chosen: null, // the identity of the beacon whose signal is shown
  connection: "connecting", // "live", "lost"
  received: null, // the service's time of the last `range`, in ms
  uuids: [], // of the beacons that are present
  prefix: 0, // the digits of a UUID that tell them apart; none where there is one
};

const present = () => [...model.beacons.values()].filter((beacon) => beacon.isPresent);

function takeBeacons(records, time) {
  const seen = new Set();
  for (const record of records.slice(0, LIMIT)) {
    const key = identity(record);
    seen.add(key);
    let beacon = model.beacons.get(key);
    if (!beacon) model.beacons.set(key, (beacon = { key, samples: [], lastReceived: null, place: null }));
    Object.assign(beacon, record, { distance: distanceInZone(record), isPresent: true, leftAt: null });
    if (beacon.distance != null) beacon.place = [beacon.distance, record.distanceLow, record.distanceHigh];
    if (record.sightings > 0) beacon.lastReceived = time;
    addSample(beacon, [time / 1000, record.rssi, record.smoothedRSSI ?? null, beacon.distance]);
  }
  for (const [key, beacon] of model.beacons) {
    if (seen.has(key)) continue;
    if (beacon.isPresent) Object.assign(beacon, { isPresent: false, leftAt: time });
    if (time - beacon.leftAt > SIGNAL_SECONDS * 1000) model.beacons.delete(key);
  }
  if (!model.chosen || !model.beacons.has(model.chosen)) model.chosen = records[0] ? identity(records[0]) : null;
  model.received = time;
  takeUUIDs();
}

function takeUUIDs() {
  model.uuids = [...new Set(present().map(({ uuid }) => uuid))].sort();
  const isClear = (length) => new Set(model.uuids.map((uuid) => uuid.slice(0, length))).size === model.uuids.length;
  model.prefix = model.uuids.length > 1 ? [4, 8, 13, 18, 23, 36].find(isClear) : 0;
}

function addSample(beacon, sample) {
  const { samples } = beacon;
  const ahead = samples.length ? samples.at(-1)[0] - sample[0] : -1;
  if (ahead > 2) samples.length = 0; // The service's clock was set back.
  else if (ahead >= 0) return;
  samples.push(sample);
  while (samples[0][0] < sample[0] - SIGNAL_SECONDS) samples.shift();
}

function takeSignals({ beacons }) {
  for (const record of beacons) {
    const beacon = model.beacons.get(identity(record));
    if (!beacon) continue;
    const last = record.samples.at(-1)?.[0] ?? 0;
    beacon.samples = [...record.samples, ...beacon.samples.filter(([time]) => time > last)];
    const latest = record.samples.findLast(([, raw]) => raw != null);
    if (latest) beacon.lastReceived = Math.max(beacon.lastReceived ?? 0, latest[0] * 1000);
  }
}

function takeRegions(regions) {
  model.regions = new Map(regions.map((region) => [region.name, region]));
}

function takeHealth(health) {
  model.receiving = health.receiving;
  model.receivers = health.receivers;
  model.faults = health.faults ?? [];
  takeSources(health.locationSources ?? []);
  model.version = health.version ?? "";
  model.uptime = { seconds: health.uptime, at: performance.now() };
}

/** Applies an enter, an exit or a state to its region. */
function takeChange(record) {
  const region = model.regions.get(record.region);
  if (!region) return;
  // With `each` a record is about one beacon: the region is inside while any of its beacons is.
  const state = region.each && record.uuid && record.beacons != null ? (record.beacons > 0 ? "inside" : "outside")
    : record.state;
  if (state !== region.state) Object.assign(region, { state, since: record.time });
  Object.assign(region, { beacons: record.beacons, last: record });
}

function addEvent(id, event) {
  if (!id || model.events.some((entry) => entry.id === id)) return;
  model.events = [...model.events, { id, event }].slice(-HISTORY_LIMIT);
}

// MARK: The service

const service = { message: 0 }; // the time of the last event

async function get(path) {
  const response = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(5000) });
  if (!response.ok) throw new Error(`${path} answers ${response.status}`);
  return response.json();
}

/** Loads the data that events do not have; without an answer, again after the next snapshot. */
async function load(path, use) {
  try {
    use(await get(path));
    show();
  } catch {
    // The stream reports that the service does not answer.
  }
}

/** Loads the reasons that regions with open details were not entered. */
function loadApproaches() {
  for (const { dataset, firstChild } of $("region-list").children) {
    const { name, state, radius } = model.regions.get(dataset.region) ?? {};
    if (!name || !firstChild.open || state === "inside" || radius != null) continue;
    load(`/api/v1/regions/${encodeURIComponent(name)}`, ({ approach }) => model.approaches.set(name, approach));
  }
}

function loadHistory() {
  const before = new Set(model.events);
  return load(`/api/v1/history?limit=${HISTORY_LIMIT}`, ({ events }) => {
    const known = new Set(events.map(({ id }) => id));
    const since = model.events.filter((entry) => !before.has(entry) && !known.has(entry.id));
    model.events = [...events, ...since].slice(-HISTORY_LIMIT);
  });
}

const handlers = {
  snapshot(data) {
    const time = setClock(data.time);
    takeRegions(data.regions);
    takeHealth(data.health);
    takeLocation(data.location);
    takeBeacons(data.beacons, time);
    loadHistory();
    load("/api/v1/signal", takeSignals);
  },
  range(data) {
    if (data.region === null) takeBeacons(data.beacons, setClock(data.time));
  },
  regions: (data) => takeRegions(data.regions),
  fix(data) {
    if (Date.parse(data.time) > now()) setClock(data.time); // A recording is faster than the clock.
    takeFix(data);
  },
  heading: takeHeading,
  visit(data, id) {
    addEvent(id, data);
    takeVisit(data);
    announce(`Visit: ${visitWords(data)}.`);
  },
  health(data, id) {
    addEvent(id, data);
    if (data.service) {
      takeSources([...place.sources.filter(({ service }) => service !== data.service), data]);
      announce(`${sourceWords(data).join(": ")}. ${data.message}`);
      return;
    }
    model.receiving = !data.receptionLost;
    model.receivers = [...model.receivers.filter(({ adapter }) => adapter !== data.adapter), data];
    announce(data.receptionLost ? `Reception lost. ${data.message}` : "The receiver is receiving.");
    load("/api/v1/health", takeHealth);
  },
};
for (const type of ["enter", "exit", "state"]) {
  handlers[type] = (data, id) => {
    addEvent(id, data);
    takeChange(data);
    if (type !== "state") announce(`${type === "enter" ? "Entered" : "Left"}: ${data.region}. ${sentence(data)}`);
  };
}

function connect() {
  clearTimeout(service.retry);
  service.source?.close();
  const source = (service.source = new EventSource("/api/v1/events"));
  service.message = performance.now();
  source.onerror = () => {
    setConnection("lost");
    // The browser connects again by itself, unless the answer was an error.
    if (source.readyState === EventSource.CLOSED) service.retry = setTimeout(connect, 2000);
  };
  for (const [type, handle] of Object.entries(handlers)) {
    source.addEventListener(type, ({ data, lastEventId }) => {
      service.message = performance.now();
      handle(JSON.parse(data), lastEventId);
      setConnection("live");
      show();
    });
  }
}

function setConnection(state) {
  if (model.connection === state) return;
  if (state === "lost") announce(`${NO_ANSWER}.`);
  if (state === "live" && model.connection === "lost") announce("The service answers again.");
  model.connection = state;
  show();
}

/** Checks whether a silent stream is still connected. */
async function probe() {
  if (service.probing || performance.now() - service.message < 6000) return;
  service.probing = true;
  try {
    const health = await get("/api/v1/health");
    // Without reception there is nothing to send; otherwise there is a report each second.
    if (health.receiving || model.connection !== "live") connect();
    else service.message = performance.now();
    takeHealth(health);
  } catch {
    setConnection("lost");
  }
  service.probing = false;
}

// MARK: Announcements

const announcements = [];

/** Announces a sentence to a screen reader; many at once become one. */
function announce(text) {
  announcements.push(text);
  if (announcements.length > 1) return;
  setTimeout(() => {
    const latest = announcements.splice(-3);
    const others = announcements.splice(0).length;
    $("announcements").textContent = (others ? `${counted(others, "change")}. ` : "") + latest.join(" ");
  }, 600);
}

// MARK: The picture

const picture = {
  svg: $("picture"), zones: $("zones"), dots: $("dots"),
  width: 0, height: 0, size: 15, axis: 30, top: 46,
  order: [], // the keys of the beacons, the nearest first
  marks: new Map(), // by key
  frame: 0, last: 0, late: 0, isSlowUntil: 0,

  x(distance) {
    const share = Math.log10(distance / 0.1) / 3; // from 0.1 to 100 m
    return 16 + Math.min(1, Math.max(0, share)) * (this.width - 32);
  },

  resize() {
    const { width, height } = this.svg.getBoundingClientRect();
    if (width === this.width && height === this.height || Math.min(width, height) < 100) return;
    const size = parseFloat(getComputedStyle(this.dots).fontSize);
    Object.assign(this, { width, height, size });
    const bottom = height - this.axis;
    // A zone is left later than it is entered: between both limits a beacon keeps its zone.
    const { immediate, near, far } = REACH;
    const limits = [[0, 0], [near[0], immediate[1]], [far[0], near[1]]]
      .map((both) => both.map((limit) => (limit ? this.x(limit) : 0)));
    const parts = [];
    const names = [];
    const ground = (kind, left, right) =>
      parts.push(shape("rect", { class: kind, x: left, y: 0, width: right - left, height: bottom }));
    ["Immediate", "Near", "Far"].forEach((name, index) => {
      const [left, kept] = limits[index];
      ground(`ground zone-${index}`, left, limits[index + 1]?.[0] ?? width);
      if (index) ground("kept", left, kept);
      names.push(shape("text", { class: "zone-name", x: kept + (width < 500 ? 7 : 14), y: 25 }, name));
    });
    const ticks = width < 500 ? [0.1, 0.5, 1, 4, 20, 100] : [0.1, 0.2, 0.5, 1, 2, 4, 10, 20, 50, 100];
    for (const tick of ticks) {
      const x = this.x(tick);
      const [anchor, inset] = { 0.1: ["start", -12], 100: ["end", 12] }[tick] ?? ["middle", 0];
      parts.push(line("tick", x, bottom, x, bottom + 6), shape("text", { class: "tick-name", "data-meters": tick, "data-x": x, x: x + inset, y: height - 6,
        "text-anchor": anchor }, tick === 100 ? "100 m" : String(tick)));
    }
    this.zones.replaceChildren(...parts, ...names);
    this.show(present());
    this.move(true);
  },

  /** Sorts the beacons by distance; one takes the place of another only when it is clearly nearer. */
  rank(drawn) {
    const distances = new Map(drawn.map((beacon) => [beacon.key, beacon.place[0]]));
    const order = this.order.filter((key) => distances.has(key));
    const known = new Set(order);
    const arrivals = drawn.filter(({ key }) => !known.has(key)).sort((one, other) => one.place[0] - other.place[0]);
    for (const { key } of arrivals) order.push(key);
    for (let index = 1; index < order.length; index += 1) {
      const key = order[index];
      const distance = distances.get(key) * (known.has(key) ? CLEARLY : 1);
      let to = index;
      while (to > 0 && distance < distances.get(order[to - 1])) to -= 1;
      if (to < index) order.splice(to, 0, ...order.splice(index, 1));
    }
    this.order = order;
  },

  /** Each beacon has a row while there is room; otherwise the nearest and the chosen one have. */
  show(beacons) {
    const drawn = beacons.filter((beacon) => beacon.place);
    this.rank(drawn);
    if (this.height < 100) return; // The wall has no picture.
    const keys = new Set(this.order);
    for (const [key, item] of this.marks) if (!keys.has(key)) this.remove(key, item);
    const bottom = this.height - this.axis;
    const isRoomy = drawn.length <= Math.max(NEAREST + 1, Math.floor((bottom - this.top) / (ROW * this.size)));
    const rows = isRoomy ? this.order : this.order.slice(0, NEAREST);
    if (!isRoomy && keys.has(model.chosen) && !rows.includes(model.chosen)) rows.push(model.chosen);
    const places = isRoomy ? Math.max(6, rows.length) : NEAREST + 1;
    const pitch = Math.min(3.5 * this.size, (isRoomy ? bottom - this.top : (bottom - this.top) * 0.55) / places);
    rows.forEach((key, index) => this.aim(key, this.top + pitch * (index + 0.5), true));
    if (!isRoomy) this.stack(new Set(rows), this.top + pitch * places, bottom - 8);
    const others = drawn.length - rows.length;
    write($("near-legend"), "Dot: distance. Bar: 95 % interval. Hatched: a beacon keeps its zone."
      + (others ? ` Below: ${counted(others, "other")}.` : ""));
    this.move(calm.matches || performance.now() < this.isSlowUntil);
  },

  /** Gives the beacons without a row a dot each at the bottom, above those that are at the same distance. */
  stack(rows, top, bottom) {
    const [wide, ends] = [this.size * 0.62, []];
    const others = this.order.filter((key) => !rows.has(key)).map((key) => [this.x(model.beacons.get(key).place[0]), key]);
    const levels = others.sort(([one], [other]) => one - other).map(([x]) => {
      let free = ends.findIndex((end) => x - end >= wide);
      if (free < 0) free = ends.length;
      ends[free] = x;
      return free;
    });
    const pitch = Math.min(wide, (bottom - top) / ends.length);
    others.forEach(([, key], index) => this.aim(key, bottom - levels[index] * pitch, false));
  },

  add(key) {
    const bar = shape("rect", { class: "bar", height: 1, y: -0.5 });
    const name = shape("tspan", { class: "name" });
    const distance = shape("tspan", { class: "distance", dx: 6 });
    const label = shape("text", { class: "label" }, name, distance);
    const hint = shape("title");
    const group = shape("g", { class: "beacon", "data-key": key }, hint, bar, shape("circle", { class: "ring" }),
      shape("circle", { class: "dot" }), label);
    const item = { group, bar, name, distance, label, hint, at: null, to: null };
    this.marks.set(key, item);
    this.dots.append(group);
    return item;
  },

  remove(key, item) {
    this.marks.delete(key);
    item.group.classList.add("gone");
    setTimeout(() => item.group.remove(), 500);
  },

  /** Sets where a beacon is to be drawn: x and y of its dot, x of both ends of its bar. */
  aim(key, y, hasRow) {
    const beacon = model.beacons.get(key);
    const item = this.marks.get(key) ?? this.add(key);
    mark(item.group, "data-zone", beacon.proximity);
    item.group.classList.toggle("row", hasRow);
    item.group.classList.toggle("chosen", key === model.chosen);
    const [distance, low, high] = beacon.place;
    const x = this.x(distance);
    item.to = [x, y, hasRow ? this.x(low ?? distance) : x, hasRow ? this.x(high ?? distance) : x];
    item.at ??= item.to.slice();
    const words = beacon.distance != null ? meters(beacon.distance) : beacon.rssi == null ? "not received" : "distance not known";
    write(item.hint, hasRow ? "" : `${isolated(title(beacon))} ${words}`);
    if (!hasRow) return;
    write(item.name, isolated(clip(title(beacon), this.width < 500 ? 16 : 24)));
    write(item.distance, words);
    const width = textWidth(item.name.textContent, 600, this.size) + 6 + textWidth(words, 400, this.size);
    mark(item.label, "x", x + 20 + width < this.width ? 15 : (-15 - width).toFixed(1));
    mark(item.label, "y", -5); // On the bar, as on a line.
  },

  /**
   * Moves the rows toward their aims, frame by frame until they are there; at once where the machine is too slow for that.
   * The other dots go to their places at once: they are many.
   */
  move(isImmediate) {
    const step = (time) => {
      const passed = time - this.last;
      this.late = passed > 70 ? this.late + 1 : 0;
      if (this.late > 2 && !isImmediate) [isImmediate, this.isSlowUntil] = [true, time + 20000];
      const share = isImmediate ? 1 : 1 - Math.exp(-Math.min(100, passed) / 140);
      this.last = time;
      let isMoving = false;
      for (const item of this.marks.values()) {
        const { at, to } = item;
        const hasRow = item.group.classList.contains("row");
        let hasMoved = !item.isDrawn;
        for (let index = 0; index < 4; index += 1) {
          const rest = to[index] - at[index];
          if (rest === 0) continue;
          hasMoved = true;
          if (isImmediate || !hasRow || Math.abs(rest) < 0.5) at[index] = to[index];
          else at[index] += rest * share;
          isMoving ||= at[index] !== to[index];
        }
        if (!hasMoved) continue;
        item.isDrawn = true;
        mark(item.group, "transform", `translate(${at[0].toFixed(1)} ${at[1].toFixed(1)})`);
        if (!hasRow) continue;
        mark(item.bar, "x", (at[2] - at[0]).toFixed(1));
        mark(item.bar, "width", Math.max(0.1, at[3] - at[2]).toFixed(1));
      }
      this.frame = isMoving ? requestAnimationFrame(step) : 0;
    };
    if (isImmediate) {
      cancelAnimationFrame(this.frame);
      step(performance.now());
    } else if (!this.frame) {
      this.last = performance.now();
      this.frame = requestAnimationFrame(step);
    }
  },
};

const lost = () => model.receivers.filter(({ receptionLost }) => receptionLost);

function showNear(beacons) {
  picture.show(beacons);
  const zones = ZONES.map((zone) => [zone, beacons.filter(({ proximity }) => proximity === zone).length]);
  const parts = zones.filter(([, count]) => count).map(([zone, count]) => `${count} ${zone}`);
  const count = beacons.length === LIMIT ? `the nearest ${LIMIT} beacons` : counted(beacons.length, "beacon");
  write($("near-counts"), model.received === null ? "\u00a0" : [count, ...parts].join(" · "));
  write($("picture-summary"), `${count}: ${parts.join(", ")}. The list of beacons has the same contents.`);
  const nearest = picture.order.map((key) => model.beacons.get(key)).find(({ distance }) => distance != null);
  write($("nearest").children[0], nearest ? meters(nearest.distance) : "");
  write($("nearest").children[1], nearest ? title(nearest) : "");

  const faults = lost().map(({ message }) => message);
  const asOf = model.received === null ? "" : `Shown as of ${clock(model.received)}.`;
  let kind = null;
  let words = [];
  if (model.connection === "lost") words = [NO_ANSWER, asOf];
  else if (model.receiving === false && faults.length) words = ["Reception lost", [...new Set(faults), asOf].join(" · ")];
  else if (model.receiving === false) words = ["Nothing is received", `The recording has ended, or no adapter is in use. ${asOf}`];
  else if (model.connection === "connecting") words = ["Connecting to the service", ""];
  else if (!beacons.length) {
    words = ["No beacon is near", "The receiver works. A beacon appears here as soon as it is received."];
  }
  if (words.length) kind = beacons.length ? "strip" : "middle";
  const message = $("near-message");
  message.hidden = !kind;
  mark(message, "data-kind", kind);
  write(message.querySelector("h3"), words[0] ?? "");
  write(message.querySelector("p"), words[1] ?? "");
}

// MARK: The table

const strength = (beacon) => beacon.smoothedRSSI ?? beacon.rssi ?? null;

// The sort key of each column; unknown values come last.
const orders = {
  zone: (beacon) => ZONES.indexOf(beacon.proximity) * 1e4 + (beacon.distance ?? 0),
  distance: (beacon) => beacon.distance ?? Infinity,
  signal: (beacon) => -(strength(beacon) ?? -Infinity),
  last: (beacon) => -(beacon.lastReceived ?? 0),
};

const table = {
  body: $("rows"), rows: new Map(), order: [], column: "distance", isReversed: false, current: null, touched: -Infinity,
  seen: 20, // rows down to the last one that is in sight
  reports: 0,
  rest: 0, frame: 0, // the first of the rows out of sight that are shown with the next frame, and that frame

  /** Finds how many rows are in sight, from the top. */
  resize() {
    const scroll = this.body.closest(".scroll");
    const row = this.body.firstElementChild?.getBoundingClientRect().height || 40;
    this.seen = Math.ceil((scroll.scrollTop + scroll.clientHeight) / row) + 1;
  },

  /** The beacons in the chosen order; equal ones by their identity. */
  sorted(beacons) {
    const value = orders[this.column];
    const compare = value ? (one, other) => value(one) - value(other)
      : (one, other) => collator.compare(title(one), title(other));
    const sign = this.isReversed ? -1 : 1;
    return [...beacons].sort((one, other) => sign * compare(one, other) || collator.compare(one.key, other.key))
      .map(({ key }) => key);
  },

  /** The order in which rows stay where they are: the place of a beacon that left is given to one that comes. */
  kept(beacons) {
    const goneFor = (key) => {
      const beacon = model.beacons.get(key);
      return beacon?.isPresent ? 0 : beacon ? (now() - beacon.leftAt) / 1000 : Infinity;
    };
    const isOver = (key) => goneFor(key) > GONE_SECONDS;
    const known = new Set(this.order);
    const arrivals = this.sorted(beacons.filter(({ key }) => !known.has(key)));
    const order = this.order.map((key) => (arrivals.length && goneFor(key) > 3 ? arrivals.shift() : key));
    order.push(...arrivals);
    if (order.filter(isOver).length > beacons.length + 4) return order.filter((key) => !isOver(key));
    while (order.length && isOver(order.at(-1))) order.pop();
    return order;
  },

  show(beacons) {
    // A row must not move away from under a finger.
    const isUsed = performance.now() - this.touched < TOUCHED;
    this.order = $("keep").checked || isUsed ? this.kept(beacons) : this.sorted(beacons);
    this.showOrder();
    const { uuids } = model;
    write($("uuids"), uuids.length > 1 ? `${uuids.length} UUIDs` : uuids[0] ?? "");
    const keys = new Set(this.order);
    let isNew = keys.size !== this.rows.size;
    for (const [key, row] of this.rows) {
      if (keys.has(key)) continue;
      row.node.remove();
      this.rows.delete(key);
      isNew = true;
    }
    this.place(0, this.seen);
    if (!keys.has(this.current)) this.setCurrent(this.order[0] ?? null);
    // Rows out of sight follow every few reports, some with each frame: hundreds at once take too long on a small machine.
    this.reports += 1;
    if (isNew || this.reports % 5 === 0) this.rest = this.seen;
    if (this.rest < this.order.length) this.frame ||= requestAnimationFrame(() => this.follow());
  },

  /** Shows some rows out of sight, and the others with the next frames. */
  follow() {
    this.place(this.rest, this.rest += PIECE);
    this.frame = this.rest < this.order.length ? requestAnimationFrame(() => this.follow()) : 0;
  },

  /** Shows a part of the rows in their order. */
  place(start, end) {
    const focused = document.activeElement?.closest?.("#rows tr")?.dataset.key;
    const before = this.rows.get(this.order[start - 1])?.node;
    let next = before ? before.nextElementSibling : this.body.firstElementChild;
    for (const key of this.order.slice(start, end)) {
      const row = this.rows.get(key) ?? this.add(key);
      if (row.node === next) next = next.nextElementSibling;
      else this.body.insertBefore(row.node, next);
      const beacon = model.beacons.get(key);
      if (beacon) this.update(row, beacon);
    }
    if (focused && document.activeElement === document.body) {
      (this.rows.get(focused) ?? this.rows.get(this.current))?.button.focus();
    }
  },

  add(key) {
    const name = element("bdi", { class: "name" });
    const detail = element("span", { class: "detail" });
    const button = element("button", { type: "button", tabindex: -1 }, name, detail);
    const distance = [element("span"), element("span", { class: "range" })];
    const [zone, signal, last] = [element("td", { class: "glyph" }), element("td"), element("td")];
    const node = element("tr", { "data-key": key }, element("th", { scope: "row" }, button),
      zone, element("td", {}, ...distance), signal, last);
    const row = { node, button, name, detail, zone, distance, signal, last };
    this.rows.set(key, row);
    return row;
  },

  update(row, beacon) {
    write(row.name, title(beacon));
    write(row.detail, beacon.name ? shortIdentity(beacon) : "");
    mark(row.button, "aria-pressed", beacon.key === model.chosen);
    mark(row.node, "data-zone", beacon.isPresent ? beacon.proximity : "gone");
    write(row.zone, beacon.isPresent ? beacon.proximity : "left");
    writeAll(row.distance, distanceParts(beacon));
    write(row.signal, beacon.isPresent ? level(strength(beacon)) : "–");
    write(row.last, ago(beacon.lastReceived));
  },

  setCurrent(key) {
    this.rows.get(this.current)?.button.setAttribute("tabindex", -1);
    this.current = key;
    this.rows.get(key)?.button.setAttribute("tabindex", 0);
  },

  sortBy(column) {
    this.isReversed = this.column === column && !this.isReversed;
    this.column = column;
    this.order = this.sorted(present());
    [this.touched, this.reports] = [-Infinity, -1];
    show();
  },

  /** Marks the column that the rows are sorted by; none where they keep their places. */
  showOrder() {
    for (const header of document.querySelectorAll("th[data-sort]")) {
      const isSorted = header.dataset.sort === this.column && !$("keep").checked;
      mark(header, "aria-sort", isSorted ? (this.isReversed ? "descending" : "ascending") : null);
    }
  },

  handleKey(event) {
    const index = this.order.indexOf(event.target.closest("tr")?.dataset.key);
    const steps = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: this.order.length - 1 };
    const key = this.order[steps[event.key]];
    if (index < 0 || key === undefined) return;
    event.preventDefault();
    this.setCurrent(key);
    this.rows.get(key).button.focus();
  },
};

function choose(key) {
  model.chosen = key;
  table.reports = -1;
  table.setCurrent(key);
  show();
}

// MARK: The signal

const chart = {
  svg: $("chart"), width: 0, height: 0,

  y(value) {
    const share = (-25 - value) / 80; // from −25 to −105 dBm
    return 8 + Math.min(1, Math.max(0, share)) * (this.height - 34);
  },

  resize() {
    const { width, height } = this.svg.getBoundingClientRect();
    if (width === this.width && height === this.height) return;
    Object.assign(this, { width, height });
    const parts = [];
    for (const value of [-40, -60, -80, -100]) {
      const y = this.y(value);
      parts.push(line("grid", 44, y, width, y), shape("text", { class: "tick-name", x: 36, y: y + 5, "text-anchor": "end" }, `−${-value}`));
    }
    for (const minute of width < 440 ? [4, 2, 0] : [4, 3, 2, 1, 0]) {
      const x = this.x(-60 * minute);
      parts.push(line("tick", x, height - 24, x, height - 19), shape("text", { class: "tick-name", x, y: height - 4, "text-anchor": minute ? "middle" : "end" },
        minute ? `−${minute} min` : "now"));
    }
    $("chart-grid").replaceChildren(...parts);
    this.show();
  },

  x(age) {
    return 44 + (1 + age / SIGNAL_SECONDS) * (this.width - 52);
  },

  show() {
    const beacon = model.beacons.get(model.chosen);
    this.showFacts(beacon);
    const sample = beacon?.samples.at(-1);
    // The line is drawn again where there is another sample, beacon, size or report.
    const shown = [sample, beacon?.samples.length, this.width, this.height, model.received];
    if (shown.every((value, index) => value === this.shown?.[index])) return;
    this.shown = shown;
    const end = (model.received ?? now()) / 1000;
    let [raw, smooth, previous] = ["", "", -Infinity];
    for (const [time, rssi, smoothed] of beacon?.samples ?? []) {
      if (time < end - SIGNAL_SECONDS) continue;
      const x = this.x(time - end).toFixed(1);
      if (rssi != null) raw += `M${x} ${this.y(rssi).toFixed(1)}h0`;
      if (smoothed == null) continue;
      smooth += `${time - previous > 3.5 ? "M" : "L"}${x} ${this.y(smoothed).toFixed(1)}`;
      previous = time;
    }
    mark($("chart-raw"), "d", raw);
    mark($("chart-smooth"), "d", smooth);
  },

  showFacts(beacon) {
    write($("signal-name"), beacon ? title(beacon) : "no beacon");
    fillFacts($("facts"), {
      Identity: beacon?.key,
      Distance: beacon?.distance != null && `${meters(beacon.distance)}; 95 % interval ${meters(beacon.distanceLow)} `
        + `to ${meters(beacon.distanceHigh)}`,
      Signal: beacon && `${level(strength(beacon))}; ${level(beacon.measuredPower)} at 1 m`,
      "Last received": beacon && ago(beacon.lastReceived),
    });
  },
};

// MARK: Regions, history and receivers

/** The definition of a region. */
function meaning(region) {
  const { uuid, major, minor, radius } = region;
  if (radius != null) return [`${meters(radius)} around ${positionWords(region)}`, boundaryOf(region)];
  return [[major, minor].filter((part) => part != null).join(":"), `${uuid.slice(0, 8)}…`];
}

/** The details that somebody has opened, or closed where they are open by themselves. */
const toggled = new Set();

/** An item that is one line, with more on demand. */
function disclosure(summary, ...more) {
  const details = element("details", {}, element("summary", { tabindex: -1 }, ...summary), ...more);
  details.addEventListener("toggle", () => {
    if (details.open === ("open" in details.dataset)) toggled.delete(details.dataset.key);
    else toggled.add(details.dataset.key);
    if (details.open) loadApproaches();
  });
  return element("li", {}, details);
}

/** Opens or closes the details of an item that shows another value now. */
function disclose(item, key, isOpen) {
  const details = item.firstChild;
  if (details.dataset.key === key) return;
  details.dataset.key = key;
  mark(details, "data-open", isOpen ? "" : null);
  details.open = toggled.has(key) !== isOpen;
}

/** Lets Tab come to one item of a list; the arrow keys go on from there. */
function rove(list) {
  const items = () => [...list.querySelectorAll("summary")];
  const set = (item) => items().forEach((one) => mark(one, "tabindex", one === item ? 0 : -1));
  list.addEventListener("focusin", ({ target }) => set(target));
  list.addEventListener("keydown", (event) => {
    const all = items();
    const index = all.indexOf(event.target);
    const steps = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: all.length - 1 };
    const next = all[steps[event.key]];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
}

/** Makes the first item of a list one that Tab comes to, if there is none. */
function keepReachable(list) {
  if (!list.querySelector("summary[tabindex='0']")) mark(list.querySelector("summary") ?? list, "tabindex", list.firstChild ? 0 : null);
}

const STATES = ["inside", "unknown", "outside"];

function showRegions() {
  const regions = [...model.regions.values()].sort((one, other) => STATES.indexOf(one.state) - STATES.indexOf(other.state));
  const inside = regions.filter(({ state }) => state === "inside").length;
  write($("region-counts"), regions.length ? `${inside} of ${regions.length} inside` : "\u00a0");
  $("no-regions").hidden = model.connection === "connecting" || regions.length > 0;
  const make = () => disclosure(
    [element("h3", { class: "glyph" }, element("bdi")), element("p", { class: "state" }, element("strong"), element("span"))],
    element("p", { class: "reason" }), element("p", { class: "reason" }), element("p", { class: "quiet" }));
  fill($("region-list"), regions, make, (node, region) => {
    mark(node, "data-region", region.name);
    mark(node, "data-state", region.state);
    disclose(node, `${region.name}\n${region.state}`, region.state === "inside");
    const [summary, reason, why, details] = node.firstChild.children;
    const [name, state] = summary.children;
    const since = region.since ? Date.parse(region.since) : null;
    write(name.lastChild, region.name);
    writeAll(state.children, [{ inside: "Inside", outside: "Outside" }[region.state] ?? "Unknown",
      since ? `for ${duration((now() - since) / 1000)}` : ""]);
    const approach = region.state === "inside" ? null : model.approaches.get(region.name);
    write(why, approach ? approachSentence(approach) : "");
    // The approach after the first seconds is outdated by then.
    write(reason, approach && region.last?.reason?.rule === "start" ? ""
      : region.last ? sentence(region.last) : "No event has been reported yet.");
    const count = region.state === "inside" && region.beacons > 1 ? `${counted(region.beacons, "beacon")} inside` : "";
    write(details, [...meaning(region), since && `since ${clock(since)}`, count].filter(Boolean).join(" · "));
  });
  keepReachable($("region-list"));
}

/** The event, its subject and its reason; of a receiver, its name and its state. */
function eventWords(event) {
  if (event.type === "visit") {
    return [event.departure ? "Left" : "Arrived", "Visit", `${positionWords(event)}: ${visitWords(event)}.`];
  }
  if (event.type === "health") {
    const words = event.service ? sourceWords(event) : [event.adapter ?? "Receiver", receiverWords(event)];
    return [...words, event.message];
  }
  const words = { enter: "Enter", exit: "Exit", state: event.state === "inside" ? "Is inside" : "Is outside" };
  const dwell = event.dwell == null ? "" : `Was inside for ${duration(event.dwell)}. `;
  return [words[event.type] ?? event.type, event.region ?? "", dwell + sentence(event)];
}

let shownEvents = [];

function showHistory() {
  $("no-events").hidden = model.events.length > 0 || model.connection === "connecting";
  // The date is shown where it is not of today; names of beacons may be cut otherwise.
  const shown = [model.events, new Date(now()).toDateString(), model.prefix];
  if (shown.every((value, index) => value === shownEvents[index])) return;
  shownEvents = shown;
  // Each item shows another event when one is added: no item moves.
  const make = () => disclosure([element("time"), element("strong"), element("bdi")], element("p", { class: "why" }));
  fill($("events"), [...model.events].reverse(), make, (node, { id, event }) => {
    const [what, subject, why] = eventWords(event);
    disclose(node, id, false);
    const [summary, reason] = node.firstChild.children;
    writeAll(summary.children, [clock(Date.parse(event.time)), what, subject]);
    write(reason, why);
    mark(node, "data-id", id);
    mark(node, "data-type", event.type);
    mark(summary.children[0], "datetime", event.time);
  });
  keepReachable($("events"));
}

function showReceivers() {
  const receivers = model.receivers.map((record) => [record.receptionLost ? "fault" : record.state === "scanning" ? "well" : "worse",
    `${record.adapter ?? "All adapters"}: ${receiverWords(record)}`, record]);
  const sources = place.sources.map((record) => [isFault(record) ? "fault" : record.state === "receiving" ? "well" : "worse",
    sourceWords(record).join(": "), record]);
  const faults = model.faults.map((message) => ["fault", "Service", { message }]);
  const make = () => element("li", {}, element("h3"), element("p"), element("p", { class: "quiet" }));
  fill($("receiver-list"), [...receivers, ...sources, ...faults], make, (node, [state, words, { message, address, time }]) => {
    mark(node, "data-state", state);
    writeAll(node.children, [words, message, [address, time && `since ${clock(Date.parse(time))}`].filter(Boolean).join(" · ")]);
  });
  if (!model.uptime) return;
  const running = model.uptime.seconds + (performance.now() - model.uptime.at) / 1000;
  write($("uptime"), `beaconscan ${model.version} · running for ${duration(running)}`);
}

function showStatus() {
  const status = (node, state, words) => {
    mark(node, "data-state", state);
    write(node.lastChild, words);
  };
  const { connection, receiving } = model;
  if (receiving === null) status($("reception"), "waiting", "Waiting for the service");
  else if (connection !== "live") status($("reception"), "waiting", "Receiver unknown");
  else if (receiving) status($("reception"), "well", "Receiving");
  else if (lost().length) status($("reception"), "fault", "Reception lost");
  else status($("reception"), "waiting", "Not receiving");
  const words = { connecting: "Connecting", live: "Live", lost: NO_ANSWER };
  status($("connection"), connection, words[connection]);
  document.body.classList.toggle("stale", connection === "lost" || receiving === false);
}

// MARK: Showing

let isScheduled = false;

/** Shows the model in the next frame, and its lists in the one after: both together take too long on a small machine. */
function show() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    showStatus();
    showNear(present());
    showLocation([...model.regions.values()], model.connection);
    requestAnimationFrame(() => {
      isScheduled = false;
      table.show(present());
      chart.show();
      showRegions();
      showHistory();
      showReceivers();
    });
  });
}

// MARK: Controls

const THEMES = ["system", "light", "dark"];
const memory = (() => {
  try {
    return localStorage;
  } catch {} // The browser forbids it: nothing is remembered.
})();

function setTheme(theme) {
  mark(document.documentElement, "data-theme", theme === "system" ? null : theme);
  write($("theme").lastElementChild, `Theme: ${theme}`);
}

function switchTheme() {
  const theme = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1 || 1) % 3];
  setTheme(theme);
  memory?.setItem("theme", theme);
}

/** The wall has the nearest distance and the regions alone, for people at the other end of a room. */
function showWall() {
  const isWall = location.hash === "#wall";
  document.body.classList.toggle("wall", isWall);
  mark($("to-wall"), "href", isWall ? "#" : "#wall");
  write($("to-wall").lastElementChild, isWall ? "Everything" : "Wall");
}

function openHelp() {
  const [name] = model.regions.keys();
  // The name is a string of JavaScript inside a script element.
  if (name !== undefined) write($("snippet-region"), JSON.stringify(name).replace(/</g, "\\u003c"));
  for (const node of document.querySelectorAll(".origin")) write(node, location.origin);
  $("where").hidden = !place.isServed;
  $("help").showModal();
}

async function copy(button) {
  const source = $(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    // Without a secure context there is no clipboard, but a selection can be copied.
    getSelection().selectAllChildren(source);
    document.execCommand("copy");
  }
  write(button, "Copied");
  setTimeout(() => write(button, "Copy"), 2000);
}

$("theme").addEventListener("click", switchTheme);
$("open-help").addEventListener("click", openHelp);
$("close-help").addEventListener("click", () => $("help").close());
$("keep").checked = memory?.getItem("keep") === "yes";
$("keep").addEventListener("change", ({ target }) => {
  memory?.setItem("keep", target.checked ? "yes" : "no");
  table.reports = -1; // rows out of sight follow at once
  show();
});
table.body.closest(".scroll").addEventListener("scroll", () => {
  table.resize();
  show();
}, { passive: true });
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button));
for (const header of document.querySelectorAll("th[data-sort]")) {
  header.firstElementChild.addEventListener("click", () => table.sortBy(header.dataset.sort));
}
table.body.addEventListener("click", (event) => {
  const row = event.target.closest("tr");
  if (row) choose(row.dataset.key);
});
for (const type of ["pointerdown", "pointermove", "keydown"]) {
  table.body.addEventListener(type, () => { table.touched = performance.now(); });
}
table.body.addEventListener("keydown", (event) => table.handleKey(event));
picture.dots.addEventListener("click", (event) => {
  const group = event.target.closest(".beacon");
  if (group) choose(group.dataset.key);
});

rove($("region-list"));
rove($("events"));
addEventListener("hashchange", showWall);

const sizes = new ResizeObserver(() => {
  picture.resize();
  chart.resize();
  table.resize();
  show();
});
sizes.observe(picture.svg);
sizes.observe(chart.svg);
sizes.observe($("map"));

showWall();
setTheme(memory?.getItem("theme") ?? "system");
setInterval(() => {
  probe();
  if (document.hidden) return;
  loadApproaches();
  show();
}, 1000);
show();
connect();
