// The page of `beaconscan serve`.
//
// The service's events change the model; the views show it. Each view writes only what differs from what
// is there, and every text from outside is written as text, never as markup.

const LIMIT = 400; // beacons that are shown at most, the nearest
const SIGNAL_SECONDS = 300; // of signal strength that are kept for each beacon
const DENSE = 60; // beacons from which on the picture is drawn finer
const HISTORY_LIMIT = 100; // events that are listed
const GONE_SECONDS = 60; // for which the row of a beacon that left stays

const $ = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// MARK: Elements

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const element = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
const shape = (name, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

/** A line of the picture or of the chart. */
const line = (kind, x1, y1, x2, y2) => shape("line", { class: kind, x1, y1, x2, y2 });

/** Sets a text if it differs from the one that is there. */
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets the texts of several elements. */
const writeAll = (nodes, texts) => texts.forEach((text, at) => write(nodes[at], text));

/** Sets an attribute if it differs from the one that is there; null removes it. */
function mark(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Makes a list have an item for each value, and shows the value in it. */
function fill(list, values, make, show) {
  const { children } = list;
  while (children.length > values.length) list.lastChild.remove();
  while (children.length < values.length) list.append(make());
  values.forEach((value, at) => show(children[at], value));
}

// MARK: Words

const NO_ANSWER = "The service does not answer; trying again";
const ZONES = ["immediate", "near", "far", "unknown"];
const short = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const long = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const collator = new Intl.Collator(undefined, { numeric: true });

const digits = (value, reference) => value.toFixed(reference < 1 ? 2 : reference < 10 ? 1 : 0);
const meters = (value) => (value == null ? "–" : `${digits(value, value)} m`);
const level = (value) => (value == null ? "–" : `${String(Math.round(value)).replace("-", "−")}\u00a0dBm`);
const seconds = (value) => (value == null ? "some time" : `${+value.toFixed(value < 1 ? 2 : 1)} s`);
const counted = (number, noun) => `${number.toLocaleString()} ${noun}${number === 1 ? "" : "s"}`;

/** A distance, its error and the unit; a narrow screen leaves the error out. */
function distanceParts({ isPresent, distance, accuracy }) {
  if (!isPresent || distance == null) return ["–", "", ""];
  return [digits(distance, distance), accuracy == null ? "" : ` ± ${digits(accuracy, distance)}`, " m"];
}

/** A duration in its largest unit. */
function duration(length) {
  if (length < 60) return `${Math.max(0, Math.floor(length))} s`;
  if (length < 3600) return `${Math.floor(length / 60)} min`;
  if (length < 86400) return `${Math.floor(length / 3600)} h`;
  return counted(Math.floor(length / 86400), "day");
}

function ago(time) {
  if (time == null) return "–";
  const age = (now() - time) / 1000;
  return age < 2.5 ? "now" : `${duration(age)} ago`;
}

/** A time of day, with its date where it is not of today. */
function clock(time) {
  if (time == null) return "–";
  const isToday = new Date(time).toDateString() === new Date(now()).toDateString();
  return (isToday ? short : long).format(time);
}

const identity = ({ uuid, major, minor }) => `${uuid}:${major}:${minor}`;
const shortIdentity = ({ uuid, major, minor }) => `${major}:${minor} · ${uuid.slice(0, 8)}…`;
const title = (beacon) => beacon.name || shortIdentity(beacon);

/** The reason of an enter, exit or state as a sentence. */
function sentence(record) {
  const { reason } = record;
  if (!reason) return "";
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
    case "silence": {
      const learned = reason.interval == null || reason.loss == null ? ""
        : ` It sends every ${seconds(reason.interval)}, and ${Math.round(reason.loss * 100)} % is not received.`;
      return `${subject} was not received for its exit timeout of ${seconds(reason.silenceLimit)}.${learned}`;
    }
    case "start": return `No beacon met the rules of the region for ${seconds(reason.silenceLimit)} from the start on.`;
    case "request": return "This is the state at the start; nothing has happened since then.";
    default: return `The rule that decided is “${reason.rule}”.`;
  }
}

/** A name whose direction of writing has no effect on the text around it. */
const isolated = (text) => `\u2068${text}\u2069`;

/** What a receiver does, in a few words; its message says why. */
function receiverWords({ state, deaf }) {
  return state === "scanning" ? "Receiving" : deaf ? "Reception lost" : "Needs attention";
}

// MARK: The model

const model = {
  beacons: new Map(), // by identity; also those that left not long ago
  regions: new Map(), // by name
  events: [], // oldest first: { id, event }
  receiving: null,
  receivers: [],
  uptime: null,
  version: "",
  chosen: null, // the identity of the beacon whose signal is shown
  connection: "connecting", // "live", "lost"
  received: null, // the service's time of the last `range`, in ms
};

// The service's clock: another machine's clock may differ from this one's.
const serviceClock = { time: Date.now(), at: performance.now() };
const now = () => serviceClock.time + performance.now() - serviceClock.at;
function setClock(time) {
  Object.assign(serviceClock, { time: Date.parse(time), at: performance.now() });
  return serviceClock.time;
}

const present = () => [...model.beacons.values()].filter((beacon) => beacon.isPresent);

function takeBeacons(records, time) {
  const seen = new Set();
  for (const record of records.slice(0, LIMIT)) {
    const key = identity(record);
    seen.add(key);
    let beacon = model.beacons.get(key);
    if (!beacon) model.beacons.set(key, (beacon = { key, samples: [], lastReceived: null, place: null }));
    Object.assign(beacon, record, { isPresent: true, leftAt: null });
    if (record.distance != null) beacon.place = [record.distance, record.distanceLow, record.distanceHigh];
    if (record.sightings > 0) beacon.lastReceived = time;
    addSample(beacon, [time / 1000, record.rssi, record.smoothedRSSI ?? null, record.distance]);
  }
  for (const [key, beacon] of model.beacons) {
    if (seen.has(key)) continue;
    if (beacon.isPresent) Object.assign(beacon, { isPresent: false, leftAt: time });
    if (time - beacon.leftAt > SIGNAL_SECONDS * 1000) model.beacons.delete(key);
  }
  if (!model.chosen || !model.beacons.has(model.chosen)) model.chosen = records[0] ? identity(records[0]) : null;
  model.received = time;
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
  model.events.push({ id, event });
  model.events.splice(0, model.events.length - HISTORY_LIMIT);
}

// MARK: The service

const service = { message: 0 }; // the time of the last event

async function get(path) {
  const response = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(5000) });
  if (!response.ok) throw new Error(`${path} answers ${response.status}`);
  return response.json();
}

/** Loads what no event has; without an answer it is loaded after the next snapshot. */
async function load(path, use) {
  try {
    use(await get(path));
    show();
  } catch {
    // The stream reports that the service does not answer.
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
    takeBeacons(data.beacons, time);
    loadHistory();
    load("/api/v1/signal", takeSignals);
  },
  range(data) {
    if (data.region === null) takeBeacons(data.beacons, setClock(data.time));
  },
  regions: (data) => takeRegions(data.regions),
  health(data, id) {
    addEvent(id, data);
    model.receiving = !data.deaf;
    announce(data.deaf ? `Reception lost. ${data.message}` : "The receiver is receiving.");
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

/** Finds out whether a silent stream is still connected. */
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
  width: 0, height: 0, size: 15, axis: 30, top: 36,
  slots: [], // the keys of the beacons by their place between top and bottom
  marks: new Map(), // by key
  frame: 0, last: 0,

  x(distance) {
    const share = Math.log10(distance / 0.1) / 3; // from 0.1 to 100 m
    return 16 + Math.min(1, Math.max(0, share)) * (this.width - 32);
  },

  /** The height of a slot. Multiples of the golden ratio are spread evenly however many there are. */
  y(slot) {
    const share = (0.42 + slot * 0.6180339887498949) % 1;
    return this.top + 14 + share * (this.height - this.axis - this.top - 28);
  },

  resize() {
    const { width, height } = this.svg.getBoundingClientRect();
    if (width === this.width && height === this.height) return;
    const size = parseFloat(getComputedStyle(this.dots).fontSize);
    Object.assign(this, { width, height, size });
    const bottom = height - this.axis;
    const edges = [0, this.x(0.5), this.x(4), width];
    const parts = [];
    const names = [];
    ["Immediate", "Near", "Far"].forEach((name, index) => {
      const [left, right] = [edges[index], edges[index + 1]];
      parts.push(shape("rect", { class: `zone-${index}`, x: left, y: 0, width: right - left, height: bottom }));
      if (index) parts.push(line("border", left, 0, left, bottom));
      names.push(shape("text", { class: "zone-name", x: left + (width < 500 ? 7 : 14), y: 25 }, name));
    });
    const ticks = width < 500 ? [0.1, 0.5, 1, 4, 20, 100] : [0.1, 0.2, 0.5, 1, 2, 4, 10, 20, 50, 100];
    for (const tick of ticks) {
      const x = this.x(tick);
      const [anchor, inset] = { 0.1: ["start", -12], 100: ["end", 12] }[tick] ?? ["middle", 0];
      parts.push(line("tick", x, bottom, x, bottom + 6), shape("text", { class: "tick-name", "data-meters": tick, "data-x": x, x: x + inset, y: height - 6,
        "text-anchor": anchor }, tick === 100 ? "100 m" : String(tick)));
    }
    this.zones.replaceChildren(...parts, ...names);
    for (const [key, item] of this.marks) this.aim(model.beacons.get(key), item);
    this.move(true);
  },

  show(beacons) {
    const drawn = beacons.filter((beacon) => beacon.place);
    mark(this.svg, "data-density", drawn.length > DENSE ? "high" : "low");
    const keys = new Set(drawn.map(({ key }) => key));
    for (const [key, item] of this.marks) if (!keys.has(key)) this.remove(key, item);
    for (const beacon of drawn) {
      const item = this.marks.get(beacon.key) ?? this.add(beacon);
      mark(item.group, "data-zone", beacon.proximity);
      item.group.classList.toggle("chosen", beacon.key === model.chosen);
      this.aim(beacon, item);
    }
    this.label(drawn);
    this.move(calm.matches);
  },

  add(beacon) {
    let slot = this.slots.indexOf(null);
    if (slot < 0) slot = this.slots.length;
    this.slots[slot] = beacon.key;
    const bar = shape("rect", { class: "bar", height: 1, y: -0.5 });
    const name = shape("tspan", { class: "name" });
    const distance = shape("tspan", { class: "distance", dx: 6 });
    const label = shape("text", { class: "label" }, name, distance);
    const group = shape("g", { class: "beacon", "data-key": beacon.key }, bar, shape("circle", { class: "ring" }),
      shape("circle", { class: "dot" }), label);
    const item = { group, bar, name, distance, label, slot, at: null, to: null, side: -1 };
    this.marks.set(beacon.key, item);
    this.dots.append(group);
    return item;
  },

  remove(key, item) {
    this.slots[item.slot] = null;
    this.marks.delete(key);
    item.group.classList.add("gone");
    setTimeout(() => item.group.remove(), 500);
  },

  /** Sets where a beacon is to be drawn: x and y of its dot, x of both ends of its bar. */
  aim(beacon, item) {
    const [distance, low, high] = beacon.place;
    item.to = [this.x(distance), this.y(item.slot), this.x(low ?? distance), this.x(high ?? distance)];
    item.at ??= item.to.slice();
  },

  /** Moves everything toward its aim, frame by frame until it is there. */
  move(isImmediate) {
    const step = (time) => {
      if (!isImmediate && this.marks.size > DENSE && time - this.last < 25) { // Every other frame is enough then.
        this.frame = requestAnimationFrame(step);
        return;
      }
      const share = isImmediate ? 1 : 1 - Math.exp(-Math.min(100, time - this.last) / 140);
      this.last = time;
      let isMoving = false;
      for (const item of this.marks.values()) {
        const { at, to } = item;
        let hasMoved = !item.isDrawn;
        for (let index = 0; index < 4; index += 1) {
          const rest = to[index] - at[index];
          if (rest === 0) continue;
          hasMoved = true;
          if (Math.abs(rest) < 0.5) at[index] = to[index];
          else at[index] += rest * share;
          isMoving ||= at[index] !== to[index];
        }
        if (!hasMoved) continue;
        item.isDrawn = true;
        mark(item.group, "transform", `translate(${at[0].toFixed(1)} ${at[1].toFixed(1)})`);
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

  /** Gives labels to as many beacons as have space for one: the chosen one first, then the nearest. */
  label(drawn) {
    const isDense = drawn.length > DENSE;
    const radius = isDense ? 5 : 9;
    const taken = drawn.map(({ key }) => {
      const [x, y] = this.marks.get(key).to;
      return [x - radius, y - radius, x + radius, y + radius, key];
    });
    const rank = (beacon) => (beacon.key === model.chosen ? -1 : beacon.distance ?? Infinity);
    const sorted = [...drawn].sort((one, other) => rank(one) - rank(other));
    let labels = 0;
    for (const beacon of sorted) {
      const item = this.marks.get(beacon.key);
      write(item.name, isolated(clip(title(beacon), this.width < 500 ? 16 : 24)));
      write(item.distance, beacon.distance == null ? "not received" : meters(beacon.distance));
      const width = textWidth(item.name.textContent, 600, this.size) + 6
        + textWidth(item.distance.textContent, 400, this.size);
      const [x, y, low, high] = item.to;
      const half = this.size * 0.65;
      const box = (left, middle) => [left, middle - half, left + width, middle + half];
      const left = Math.min(low, x - 12) - 8 - width;
      const right = Math.max(high, x + 12) + 8;
      const boxes = [box(right, y), box(left, y), box(x - width / 2, y - 12 - half), box(x - width / 2, y + 12 + half),
        box(x + 16, y), box(x - 16 - width, y)];
      const isChosen = beacon.key === model.chosen; // Its label may cover dots.
      const isFree = (box) => box[0] >= 4 && box[2] <= this.width - 4 && box[1] >= this.top
        && box[3] <= this.height - this.axis
        && !taken.some((other) => other[4] !== beacon.key && !(other[4] && isChosen)
          && box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
      // Among many beacons a label must stand beside its dot, and a few labels are enough.
      const sides = isDense ? (labels < 16 ? [4, 5, 2, 3] : []) : [0, 1, 2, 3, 4, 5];
      if (sides.includes(item.side)) sides.unshift(item.side);
      item.side = sides.find((side) => isFree(boxes[side])) ?? -1;
      item.group.classList.toggle("unlabeled", item.side < 0);
      if (item.side < 0) continue;
      labels += 1;
      const place = boxes[item.side];
      taken.push([...place, null]);
      mark(item.label, "x", (place[0] - x).toFixed(1));
      mark(item.label, "y", (place[1] - y + half + this.size * 0.35).toFixed(1));
    }
  },
};

const segmenter = new Intl.Segmenter();

/** The start of a text, with a mark where it was cut. */
function clip(text, length) {
  if (text.length <= length) return text;
  const parts = Array.from(segmenter.segment(text.slice(0, 400)), ({ segment }) => segment);
  return parts.length <= length ? parts.join("") : `${parts.slice(0, length - 1).join("")}…`;
}

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();
const family = getComputedStyle(document.body).fontFamily;

function textWidth(text, weight, size) {
  const key = `${weight} ${size} ${text}`;
  if (!widths.has(key)) {
    if (widths.size > 5000) widths.clear();
    ruler.font = `${weight} ${size}px ${family}`;
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

function showNear(beacons) {
  picture.show(beacons);
  const zones = ZONES.map((zone) => [zone, beacons.filter(({ proximity }) => proximity === zone).length]);
  const parts = zones.filter(([, count]) => count).map(([zone, count]) => `${count} ${zone}`);
  const count = beacons.length === LIMIT ? `the nearest ${LIMIT} beacons` : counted(beacons.length, "beacon");
  write($("near-counts"), model.received === null ? "\u00a0" : [count, ...parts].join(" · "));
  write($("picture-summary"), `${count}: ${parts.join(", ")}. The list of beacons has the same in words.`);

  // Another beacon is the nearest only when it is clearly nearer: two at one distance would alternate.
  const weight = ({ key, distance }) => (distance ?? Infinity) * (key === picture.first ? 0.85 : 1);
  const nearest = beacons.reduce((best, beacon) =>
    (weight(beacon) < (best ? weight(best) : Infinity) ? beacon : best), null);
  picture.first = nearest?.key;
  write($("nearest").children[0], nearest ? meters(nearest.distance) : "");
  write($("nearest").children[1], nearest ? title(nearest) : "");

  const faults = model.receivers.filter(({ deaf }) => deaf).map(({ message }) => message);
  const asOf = model.received === null ? "" : `This is as of ${clock(model.received)}.`;
  let kind = null;
  let words = [];
  if (model.connection === "lost") words = [NO_ANSWER, asOf];
  else if (model.receiving === false) words = ["Reception lost", [...new Set(faults), asOf].join(" · ")];
  else if (model.connection === "connecting") words = ["Connecting to the service", ""];
  else if (!beacons.length) {
    words = ["Nothing is near", "The receiver is receiving. A beacon appears here as soon as it is received."];
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

// What a column is sorted by; what is not known comes last.
const orders = {
  zone: (beacon) => ZONES.indexOf(beacon.proximity) * 1e4 + (beacon.distance ?? 0),
  distance: (beacon) => beacon.distance ?? Infinity,
  signal: (beacon) => -(strength(beacon) ?? -Infinity),
  last: (beacon) => -(beacon.lastReceived ?? 0),
};

const table = {
  body: $("rows"), rows: new Map(), order: [], column: "distance", isReversed: false, current: null,

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
    this.order = $("keep").checked ? this.kept(beacons) : this.sorted(beacons);
    const keys = new Set(this.order);
    const focused = document.activeElement?.closest?.("#rows tr")?.dataset.key;
    for (const [key, row] of this.rows) {
      if (keys.has(key)) continue;
      row.node.remove();
      this.rows.delete(key);
    }
    let next = this.body.firstElementChild;
    for (const key of this.order) {
      const row = this.rows.get(key) ?? this.add(key);
      if (row.node === next) next = next.nextElementSibling;
      else this.body.insertBefore(row.node, next);
      const beacon = model.beacons.get(key);
      if (beacon) this.update(row, beacon);
    }
    if (!keys.has(this.current)) this.setCurrent(this.order[0] ?? null);
    if (focused && document.activeElement === document.body) {
      this.rows.get(keys.has(focused) ? focused : this.current)?.button.focus();
    }
  },

  add(key) {
    const name = element("bdi", { class: "name" });
    const detail = element("span", { class: "detail" });
    const button = element("button", { type: "button", tabindex: -1 }, name, detail);
    const distance = [element("span"), element("span", { class: "error" }), element("span")];
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
    for (const header of document.querySelectorAll("th[data-sort]")) {
      const isColumn = header.dataset.sort === column;
      mark(header, "aria-sort", isColumn ? (this.isReversed ? "descending" : "ascending") : null);
    }
    this.order = this.sorted(present());
    show();
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
    write($("signal-name"), beacon ? title(beacon) : "no beacon");
    const facts = {
      Identity: beacon?.key,
      Distance: beacon?.distance == null ? null : `${meters(beacon.distance)}; 95 times of 100 `
        + `from ${meters(beacon.distanceLow)} to ${meters(beacon.distanceHigh)}`,
      Signal: beacon && `${level(strength(beacon))}; ${level(beacon.measuredPower)} at 1 m`,
      "Last received": ago(beacon?.lastReceived),
    };
    fill($("facts"), Object.entries(facts), () => element("div", {}, element("dt"), element("dd")),
      (node, [name, value]) => writeAll(node.children, [name, value ?? "–"]));
  },
};

// MARK: Regions, history and receivers

function meaning({ uuid, major, minor }) {
  const numbers = [major, minor].filter((part) => part != null).join(":");
  return [numbers, `${uuid.slice(0, 8)}…`].filter(Boolean).join(" · ");
}

function showRegions() {
  const regions = [...model.regions.values()];
  const inside = regions.filter(({ state }) => state === "inside").length;
  write($("region-counts"), regions.length ? `${inside} of ${regions.length} inside` : "\u00a0");
  $("no-regions").hidden = model.connection === "connecting" || regions.length > 0;
  const make = () => element("li", {}, element("h3", { class: "glyph" }, element("bdi")),
    element("p", { class: "state" }, element("strong"), element("span")),
    element("p", { class: "reason" }), element("p", { class: "quiet" }));
  fill($("region-list"), regions, make, (node, region) => {
    mark(node, "data-region", region.name);
    mark(node, "data-state", region.state);
    const [name, state, reason, details] = node.children;
    const since = region.since ? Date.parse(region.since) : null;
    write(name.lastChild, region.name);
    writeAll(state.children, [{ inside: "Inside", outside: "Outside" }[region.state] ?? "Not known yet",
      since ? `for ${duration((now() - since) / 1000)}` : ""]);
    write(reason, region.last ? sentence(region.last) : "Nothing was reported about it yet.");
    const count = region.state === "inside" && region.beacons > 1 ? `${counted(region.beacons, "beacon")} inside` : "";
    write(details, [meaning(region), since && `since ${clock(since)}`, count].filter(Boolean).join(" · "));
  });
}

function eventWords(event) {
  if (event.type === "health") return [event.adapter ?? "Receiver", receiverWords(event), event.message];
  const words = { enter: "Enter", exit: "Exit", state: event.state === "inside" ? "Is inside" : "Is outside" };
  const dwell = event.dwell == null ? "" : `Was inside for ${duration(event.dwell)}. `;
  return [event.region ?? "", words[event.type] ?? event.type, dwell + sentence(event)];
}

function showHistory() {
  // Each item shows another event when one is added: no item moves.
  const make = () => element("li", {}, element("time"), element("strong"), element("bdi"),
    element("span", { class: "why" }));
  fill($("events"), [...model.events].reverse(), make, (node, { id, event }) => {
    const [subject, what, why] = eventWords(event);
    writeAll(node.children, [clock(Date.parse(event.time)), what, subject, why]);
    mark(node, "data-id", id);
    mark(node, "data-type", event.type);
    mark(node.children[0], "datetime", event.time);
    mark(node.children[3], "title", why);
  });
  $("no-events").hidden = model.events.length > 0 || model.connection === "connecting";
}

function showReceivers() {
  const make = () => element("li", {}, element("h3"), element("p"), element("p", { class: "quiet" }));
  fill($("receiver-list"), model.receivers, make, (node, record) => {
    mark(node, "data-state", record.deaf ? "deaf" : record.state === "scanning" ? "well" : "worse");
    const since = `since ${clock(Date.parse(record.time))}`;
    writeAll(node.children, [`${record.adapter ?? "All adapters"}: ${receiverWords(record)}`, record.message,
      record.address ? `${record.address} · ${since}` : since]);
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
  else if (connection !== "live") status($("reception"), "waiting", "Receiver not known");
  else if (receiving) status($("reception"), "well", "Receiving");
  else status($("reception"), "fault", "Reception lost");
  const words = { connecting: "Connecting", live: "Live", lost: NO_ANSWER };
  status($("connection"), connection, words[connection]);
  document.body.classList.toggle("stale", connection === "lost" || receiving === false);
}

// MARK: Showing

let isScheduled = false;

/** Shows the model at the next frame. */
function show() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    const beacons = present();
    showStatus();
    showNear(beacons);
    table.show(beacons);
    chart.show();
    showRegions();
    showHistory();
    showReceivers();
  });
}

// MARK: Controls

const THEMES = ["system", "light", "dark"];
const memory = (() => {
  try {
    return localStorage;
  } catch {} // The browser forbids it: the theme is not remembered.
})();

function setTheme(theme) {
  mark(document.documentElement, "data-theme", theme === "system" ? null : theme);
  write($("theme"), `Theme: ${theme}`);
}

function switchTheme() {
  const theme = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1 || 1) % 3];
  setTheme(theme);
  memory?.setItem("theme", theme);
}

function openHelp() {
  const [name] = model.regions.keys();
  // The name is a string of JavaScript inside a script element.
  if (name !== undefined) write($("snippet-region"), JSON.stringify(name).replace(/</g, "\\u003c"));
  for (const node of document.querySelectorAll(".origin")) write(node, location.origin);
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
$("keep").addEventListener("change", show);
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button));
for (const header of document.querySelectorAll("th[data-sort]")) {
  header.firstElementChild.addEventListener("click", () => table.sortBy(header.dataset.sort));
}
table.body.addEventListener("click", (event) => {
  const row = event.target.closest("tr");
  if (row) choose(row.dataset.key);
});
table.body.addEventListener("keydown", (event) => table.handleKey(event));
picture.dots.addEventListener("click", (event) => {
  const group = event.target.closest(".beacon");
  if (group) choose(group.dataset.key);
});

const sizes = new ResizeObserver(() => {
  picture.resize();
  chart.resize();
  show();
});
sizes.observe(picture.svg);
sizes.observe(chart.svg);

setTheme(memory?.getItem("theme") ?? "system");
setInterval(() => {
  probe();
  if (!document.hidden) show();
}, 1000);
show();
connect();
