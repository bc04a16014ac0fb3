// The page of `beaconscan-fleet serve`: all sites, and one site with its rooms, receivers and beacons.
//
// Every text from outside is written as text, never as markup.

import { $, ago, clip, clock, clockMinute, counted, digits, duration, element, fill, fillFacts, isolated, mark, now, setClock, shape, textWidth,
  write, writeAll } from "/elements.js";
import { percent, Plan } from "/plan.js";

const THEMES = ["system", "light", "dark"];
const ROWS = 250;
const HOUR = 3600e3;

/** The browser's memory, where it permits one. */
const memory = (() => {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
})();

const model = {
  view: null, site: null, sites: [], alarms: [], changes: [], beacon: null, floor: null, way: null, hours: 8,
  occupancy: null, room: null, isWhole: false, filters: { sites: "", beacons: "" },
  sorts: { sites: ["alarms", -1], beacons: ["room", 1], occupancy: ["room", 1] },
};

// MARK: The service

let token = memory?.getItem("fleet-token") ?? "";
let stream = null;
let retry = null;

const withToken = (path) => token ? `${path}${path.includes("?") ? "&" : "?"}access_token=${encodeURIComponent(token)}` : path;
const sitePath = (site, rest = "") => `/api/v1/sites/${encodeURIComponent(site)}${rest}`;

class Refusal extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function get(path) {
  const answer = await fetch(path, { headers: token ? { Authorization: `Bearer ${token}` } : {} });
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new Refusal(answer.status, problem.detail ?? answer.statusText);
  }
  return answer.json();
}

/** Loads something again and again, one at a time and not more than once in a time. */
class Loader {
  constructor(path, take, pause = 1000) {
    Object.assign(this, { path, take, pause, isWanted: false, isBusy: false, last: -Infinity });
  }

  async load() {
    this.isWanted = true;
    if (this.isBusy) return;
    this.isBusy = true;
    while (this.isWanted && !this.isOver) {
      const wait = this.last + this.pause - performance.now();
      if (wait > 0) await new Promise((done) => setTimeout(done, wait));
      this.isWanted = false;
      this.last = performance.now();
      try {
        const value = await get(this.path());
        if (!this.isOver) this.take(value);
      } catch (problem) {
        if (!this.isOver) fail(problem);
      }
    }
    this.isBusy = false;
  }

  end() { this.isOver = true; }
}

function fail(problem) {
  if (problem.status === 401 || problem.status === 403) return askToken(problem);
  if (problem.status === 404 && model.view === "site") return showMessage("There is no such site", problem.message);
  if (!problem.status) setConnection("lost");
}

function askToken({ message }) {
  disconnect();
  setConnection("token");
  write($("token-message"), token ? `${message}.` : "");
  present("start");
  $("token").focus();
}

function disconnect() {
  clearTimeout(retry);
  stream?.close();
  stream = null;
}

function connect() {
  disconnect();
  const site = model.view === "site" ? `?site=${encodeURIComponent(model.name)}&last=40` : "";
  const source = (stream = new EventSource(withToken(`/api/v1/events${site}`)));
  source.onopen = () => {
    if ($("connection").dataset.state !== "fault") setConnection("live");
    reload();
  };
  source.onerror = () => {
    setConnection("lost");
    if (source.readyState === EventSource.CLOSED) retry = setTimeout(() => { reload(); connect(); }, 2000);
  };
  const on = (kind, take) => source.addEventListener(kind, ({ data }) => take(JSON.parse(data)));
  on("picture", () => loaders.site?.load());
  on("missed", reload);
  on("change", takeChange);
  on("alarm", takeAlarm);
}

function setConnection(state) {
  const { dataset, firstElementChild } = $("connection");
  if (dataset.state === state) return;
  if (state === "lost") announce("The service does not answer.");
  if (state === "live" && dataset.state === "lost") announce("The service answers again.");
  dataset.state = state;
  write(firstElementChild, { live: "Live", lost: "The service does not answer", fault: "The service receives nothing", token: "A token is needed" }[state] ?? "Connecting");
  document.body.classList.toggle("stale", state === "lost" || state === "fault");
}

/** Shows whether the service receives anything from the engine. */
function showEngine(alarms) {
  if (stream?.readyState === EventSource.OPEN) setConnection(alarms.some(({ kind }) => kind === "engineLost") ? "fault" : "live");
}

const loaders = {};

/** Loads everything again. The way of a beacon ends at the site's time, so the site comes first. */
function reload() {
  for (const [name, loader] of Object.entries(loaders)) if (name !== "way" || model.site) loader.load();
}

let waiting = [];

/** Announces a sentence to a screen reader; many at once become one. */
function announce(sentence) {
  if (!waiting.length) setTimeout(() => {
    write($("announcements"), waiting.length > 3 ? `${waiting.length} messages. ${waiting.at(-1)}` : waiting.join(" "));
    waiting = [];
  }, 700);
  waiting.push(sentence);
}

// MARK: Views

function route() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const name = parts.get("site"), beacon = parts.get("beacon");
  const view = name ? "site" : "overview";
  const isOther = model.view !== view || model.name !== name;
  if (isOther) {
    for (const [key, loader] of Object.entries(loaders)) {
      loader.end();
      delete loaders[key];
    }
    Object.assign(model, { view, name, site: null, changes: [], way: null, beacon: null, occupancy: null, room: null, floor: null, isWhole: false });
    $("beacon-filter").value = model.filters.beacons = "";
    rows.clear();
    if (view === "overview") {
      loaders.sites = new Loader(() => "/api/v1/sites", takeSites, 2000);
      loaders.alarms = new Loader(() => "/api/v1/alarms", takeAlarms, 2000);
    } else {
      loaders.site = new Loader(() => sitePath(name), takeSite);
      loaders.occupancy = new Loader(() => sitePath(name, "/occupancy"), takeOccupancy, 30e3);
    }
    showMessage(null);
    connect();
  }
  chooseBeacon(beacon);
  present(view);
  reload();
}

function present(view) {
  document.body.dataset.view = view;
  for (const name of ["start", "overview", "site"]) $(name).hidden = name !== view;
  mark($("skip"), "href", view === "site" ? "#beacons" : "#sites");
  $("crumb").hidden = view !== "site";
  write($("site-name"), model.name ?? "");
  document.title = view === "site" ? `${model.name} – beaconscan fleet` : "beaconscan fleet";
  show();
}

const address = (parts) => `#${new URLSearchParams(parts)}`;

function chooseBeacon(beacon) {
  if (model.beacon === beacon) return;
  Object.assign(model, { beacon, way: null });
  loaders.way?.end();
  delete loaders.way;
  if (beacon) {
    loaders.way = new Loader(() => {
      const from = new Date(now() - model.hours * HOUR).toISOString();
      return `${sitePath(model.name, `/beacons/${encodeURIComponent(beacon)}`)}?from=${from}`;
    }, (way) => {
      model.way = way;
      showBeacon();
    }, 3000);
  }
}

function toggleBeacon(beacon) {
  const isChosen = beacon && beacon !== model.beacon;
  history.replaceState(null, "", address(isChosen ? { site: model.name, beacon } : { site: model.name }));
  chooseBeacon(isChosen ? beacon : null);
  loaders.way?.load();
  if (isChosen) showFloorOf(beacon);
  show();
  if (!isChosen) return;
  rows.get(beacon)?.scrollIntoView({ block: "nearest" });
  if (matchMedia("(max-width: 70rem)").matches) $("beacon").scrollIntoView();
}

/** Goes to the floor on which a beacon is. */
function showFloorOf(key) {
  const beacon = model.site?.beacons.find((one) => one.beacon === key);
  const room = model.site?.rooms.find((one) => one.room === beacon?.best);
  if (room) model.floor = room.floor;
}

function showMessage(title, words) {
  const message = $("plan-message");
  message.hidden = !title;
  if (title) writeAll([message.children[0], message.children[1]], [title, words]);
}

function show() {
  if (document.hidden) return;
  if (model.view === "overview") showOverview();
  if (model.view === "site" && model.site) showSite();
}

// MARK: What comes

function takeSites({ sites, time }) {
  setClock(time);
  model.sites = sites;
  show();
}

function takeAlarms({ alarms }) {
  model.alarms = alarms;
  showEngine(alarms);
  show();
}

function takeSite(site) {
  if (site.time) setClock(site.time);
  model.site = site;
  showEngine(site.alarms);
  const floors = [...new Set(site.rooms.map((room) => room.floor))].sort((a, b) => a - b);
  model.floors = floors;
  if (!floors.includes(model.floor)) {
    model.floor = floors.includes(0) ? 0 : floors[0] ?? 0;
    showFloorOf(model.beacon);
  }
  if (!site.rooms.length) showMessage("The site has no site file", "Put it in the folder of --sites; the rooms then appear here.");
  else if (site.fault) showMessage("There are no rooms now", site.fault);
  else if (!site.time) showMessage("Nothing is published of the site", "No worker has it, or none of its receivers reports.");
  else showMessage(null);
  if (model.beacon) loaders.way?.load();
  show();
}

function takeOccupancy(occupancy) {
  model.occupancy = occupancy;
  show();
}

function takeChange(change) {
  if (model.view !== "site") return;
  model.changes = [change, ...model.changes.filter(({ id }) => id !== change.id)].slice(0, 40);
  if (change.beacon === model.beacon) announce(`${nameOf(change.beacon)}: ${change.room ?? (change.isOutside ? "outside" : "room not known")}.`);
  showChanges();
}

function takeAlarm({ alarm, isActive }) {
  announce(isActive ? `Alarm: ${alarm.subject}. ${alarm.sentence}` : `The alarm of ${alarm.subject} is over.`);
  if (model.view === "site") return void loaders.site.load();
  loaders.alarms?.load();
  loaders.sites?.load();
}

// MARK: Words

const nameOf = (beacon) => names.get(beacon) ?? beacon;
const names = new Map();

/** A beacon without a name is known by the end of its identity. */
const title = (beacon) => beacon.name ?? shortIdentity(beacon.beacon);
const shortIdentity = (identity) => {
  const [uuid, major, minor] = identity.split(":");
  return `${major}:${minor} · ${uuid.slice(0, 4)}`;
};

const placeWords = (beacon) => beacon.room ?? (beacon.isOutside ? "outside" : "not known");

const time = (text) => text == null ? null : Date.parse(text);

function stateOf(beacon) {
  if (model.outside.has(beacon.beacon)) return "alarm";
  return beacon.room ? (beacon.probability >= 0.9 ? "sure" : "likely") : "unsure";
}

const KINDS = {
  engineLost: "Engine lost",
  siteSilent: "Site silent", siteFault: "Site has a fault", receiverSilent: "Receiver silent", receptionLost: "Reception lost",
  clockDifference: "Clock differs", reportRefused: "Report refused", configurationRefused: "Configuration refused",
  configurationNotTaken: "Configuration not taken", stranger: "Unknown receiver", beaconOutsideRooms: "Beacon outside its rooms",
  signalFading: "Signal fading",
};

/** The health of a receiver: a state for its mark, and words. */
function receiverWords(receiver) {
  const last = time(receiver.lastReport);
  if (receiver.isMissing == null) return { state: "unknown", words: "Nothing is known of it." };
  if (receiver.isMissing) {
    if (receiver.refusal) return { state: "fault", words: `Its reports cannot be used: ${receiver.refusal}` };
    if (last == null) return { state: "fault", words: "It has never reported." };
    const isLong = now() - last > 60e3;
    return { state: isLong ? "fault" : "late", words: `No report for ${duration((now() - last) / 1000)}.` };
  }
  if (receiver.receptionLost) return { state: "fault", words: receiver.receptionLost };
  if (receiver.refusal) return { state: "fault", words: `Its last report could not be used: ${receiver.refusal}` };
  const difference = receiver.clockDifference;
  if (difference != null && Math.abs(difference) > 2)
    return { state: "fault", words: `Its clock is ${Math.abs(difference).toFixed(1)} s ${difference > 0 ? "ahead" : "behind"}.` };
  const { configuration, wantedConfiguration: wanted } = receiver;
  if (wanted && configuration?.refused === wanted)
    return { state: "fault", words: `It does not use its new configuration: ${configuration.reason}` };
  if (model.untaken.has(receiver.receiver)) return { state: "fault", words: "It does not take its new configuration." };
  if (configuration?.trial) return { state: "well", words: "Reports. It tries a new configuration." };
  return { state: "well", words: wanted && configuration?.version !== wanted ? "Reports. A new configuration waits." : "Reports." };
}

// MARK: The list of sites

function sorted(values, [column, direction], keys) {
  const key = keys[column];
  const order = new Intl.Collator(undefined, { numeric: true }).compare;
  const pairs = values.map((value) => [key(value), value]);
  pairs.sort(([a], [b]) => direction * (typeof a === "string" ? order(a, b) : a - b));
  return pairs.map(([, value]) => value);
}

function showOverview() {
  const filter = model.filters.sites.toLowerCase();
  const found = model.sites.filter((site) => site.site.toLowerCase().includes(filter));
  const list = sorted(sorted(found, ["site", 1], { site: (site) => site.site }), model.sorts.sites, {
    site: (site) => site.site, alarms: (site) => site.alarms, receivers: (site) => site.receiversMissing,
    beacons: (site) => site.beacons, time: (site) => time(site.time) ?? 0,
  });
  fill($("site-rows"), list.slice(0, 1000), () => element("tr", {},
    element("th", { scope: "row" }, element("a", { class: "row-link" })), ...Array.from({ length: 4 }, () => element("td"))),
  (row, site) => {
    const link = row.firstChild.firstChild;
    write(link, site.site);
    mark(link, "href", address({ site: site.site }));
    mark(row, "data-state", site.alarms ? "fault" : "well");
    writeAll([...row.children].slice(1), [
      site.alarms ? String(site.alarms) : "–",
      site.receiversMissing ? `${site.receivers - site.receiversMissing} of ${site.receivers}` : String(site.receivers),
      `${site.beaconsInRooms} of ${site.beacons}`, ago(time(site.time))]);
  });
  $("no-sites").hidden = model.sites.length > 0;
  $("sites-more").hidden = list.length <= 1000;
  write($("sites-more"), `The first 1,000 of ${list.length.toLocaleString()}; filter to see others.`);
  const beacons = model.sites.reduce((sum, site) => sum + site.beacons, 0);
  write($("sites-counts"), `${counted(model.sites.length, "site")}, ${counted(beacons, "beacon")}`);
  showSorts("sites", document.querySelector("#overview table"));
  showAlarms($("all-alarms"), $("all-alarms-count"), model.alarms, true);
}

function showAlarms(list, count, alarms, hasSites) {
  write(count, alarms.length ? counted(alarms.length, "alarm") : "");
  mark(list, "data-empty", alarms.length ? null : "");
  fill(list, alarms.slice(0, 200), () => element("li", {},
    element("p", { class: "alarm-head" }, element("strong"), element("bdi"), element("time", { class: "quiet" })), element("p")),
  (node, alarm) => {
    const [head, sentence] = node.children;
    const name = alarm.name ?? (["beaconOutsideRooms", "signalFading"].includes(alarm.kind) ? shortIdentity(alarm.subject) : alarm.subject);
    mark(node, "data-kind", alarm.kind);
    writeAll(head.children, [KINDS[alarm.kind] ?? alarm.kind, hasSites && alarm.site && alarm.subject !== alarm.site ? `${alarm.site}: ${name}` : name,
      clockMinute(time(alarm.since))]);
    write(sentence, alarm.sentence);
  });
}

// MARK: A site

const plan = new Plan({
  choose: toggleBeacon,
  describe: { name: (beacon) => title(beacon), state: stateOf, receiver: receiverWords },
  source: (site, floor) => withToken(sitePath(site, `/plan?floor=${floor}`)),
});

function showSite() {
  const { site } = model;
  names.clear();
  for (const beacon of site.beacons) if (beacon.name) names.set(beacon.beacon, beacon.name);
  model.untaken = new Set(site.alarms.filter(({ kind }) => kind === "configurationNotTaken").map(({ subject }) => subject));
  model.outside = new Set(site.alarms.filter(({ kind }) => kind === "beaconOutsideRooms").map(({ subject }) => subject));
  const inRooms = site.beacons.filter((beacon) => beacon.room).length, outside = site.beacons.filter((beacon) => beacon.isOutside).length;
  write($("plan-counts"), `${counted(inRooms, "beacon")} in ${counted(site.rooms.length, "room")}, ${outside} outside, ${site.beacons.length - inRooms - outside} not known`);
  showFloors();
  plan.show(site, model.floor, model.beacon);
  showAlarms($("alarms"), $("alarms-count"), site.alarms, false);
  showBeacons();
  showReceivers();
  showOccupancy();
  showBeacon();
  showChanges();
}

function showFloors() {
  const group = $("floors");
  group.hidden = model.floors.length < 2;
  fill(group, model.floors, () => element("button", { type: "button" }), (button, floor) => {
    write(button, floor === 0 ? "Ground" : `Floor ${floor}`);
    mark(button, "aria-pressed", floor === model.floor);
    button.onclick = () => {
      model.floor = floor;
      showSite();
    };
  });
}

const rows = new Map();

function showBeacons() {
  const filter = model.filters.beacons.toLowerCase();
  const { beacons } = model.site;
  const found = filter ? beacons.filter((beacon) =>
    `${beacon.name ?? ""} ${beacon.beacon} ${placeWords(beacon)}`.toLowerCase().includes(filter)) : beacons;
  const byName = sorted(found, ["name", 1], { name: title });
  const list = sorted(byName, model.sorts.beacons, {
    name: title, room: (beacon) => beacon.room ?? (beacon.isOutside ? "\uffff0" : "\uffff1"), probability: (beacon) => beacon.probability,
    since: (beacon) => -time(beacon.since), received: (beacon) => -time(beacon.received),
  });
  const shown = model.isWhole ? list : list.slice(0, ROWS);
  const chosen = list.find((beacon) => beacon.beacon === model.beacon);
  if (chosen && !shown.includes(chosen)) shown.push(chosen);
  const body = $("rows"), focus = document.activeElement;
  const wanted = new Set(shown.map((beacon) => beacon.beacon));
  for (const [key, row] of rows) {
    if (wanted.has(key)) continue;
    row.remove();
    rows.delete(key);
  }
  let place = body.firstChild;
  for (const beacon of shown) {
    const row = rows.get(beacon.beacon) ?? makeRow(beacon.beacon);
    if (row === place) place = place.nextSibling;
    else body.insertBefore(row, place);
    showRow(row, beacon);
  }
  if (focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
  const more = list.length - shown.length;
  $("beacons-more").hidden = more <= 0;
  write($("beacons-more").firstChild, `Show ${more.toLocaleString()} more`);
  $("no-beacons").hidden = beacons.length > 0;
  write($("beacons-count"), filter ? `${list.length.toLocaleString()} of ${counted(beacons.length, "beacon")}` : counted(beacons.length, "beacon"));
  showSorts("beacons", document.querySelector("#beacons table"));
}

function makeRow(key) {
  const row = element("tr", {}, element("th", { scope: "row" }, element("button", { type: "button" },
    element("bdi", { class: "name" }))), ...Array.from({ length: 4 }, () => element("td")));
  row.onclick = () => toggleBeacon(key);
  row.cells[2].append(element("span", { class: "meter", "aria-hidden": "true" }), element("span"));
  rows.set(key, row);
  return row;
}

function showRow(row, beacon) {
  const [head, room, probability, since, received] = row.cells;
  write(head.firstChild.firstChild, title(beacon));
  mark(head.firstChild, "title", beacon.beacon);
  mark(head.firstChild, "aria-pressed", beacon.beacon === model.beacon);
  mark(row, "data-state", stateOf(beacon));
  write(room, placeWords(beacon));
  const share = beacon.room || beacon.isOutside ? beacon.probability : beacon.bestProbability;
  const level = String(Math.round(share * 10));
  if (probability.firstChild.dataset.level !== level) probability.firstChild.dataset.level = level;
  write(probability.lastChild, percent(share));
  write(since, clockMinute(time(beacon.since)));
  write(received, ago(time(beacon.received)));
}

function showReceivers() {
  const ranks = { fault: 0, late: 1, unknown: 2, well: 3 };
  const list = sorted(sorted(model.site.receivers, ["name", 1], { name: (one) => one.receiver })
    .map((receiver) => ({ receiver, ...receiverWords(receiver) })), ["state", 1], { state: ({ state }) => ranks[state] });
  for (const name of model.site.strangers) list.unshift({ receiver: { receiver: name }, state: "fault", words: "The site file does not have it." });
  fill($("receiver-rows"), list, () => element("tr", {}, element("th", { scope: "row" }, element("bdi")), element("td"), element("td")),
    (row, { receiver, state, words }) => {
      mark(row, "data-state", state);
      write(row.cells[0].firstChild, receiver.receiver);
      write(row.cells[1], words);
      write(row.cells[2], receiver.beacons == null ? "–" : String(receiver.beacons));
    });
  const well = list.filter(({ state }) => state === "well").length, { length } = model.site.receivers;
  write($("receivers-count"), well === length ? `${well}, all well` : `${well} of ${length} are well`);
}

function showSorts(name, table) {
  const [column, direction] = model.sorts[name];
  for (const header of table.querySelectorAll("[data-sort]"))
    mark(header, "aria-sort", header.dataset.sort !== column ? null : direction > 0 ? "ascending" : "descending");
}

function showChanges() {
  const { changes } = model;
  $("no-changes").hidden = changes.length > 0;
  fill($("changes"), changes, () => element("li", {}, element("button", { type: "button" },
    element("time", { class: "quiet" }), element("bdi", { class: "name" }), element("span"))), (node, change) => {
    const button = node.firstChild, to = change.room ?? (change.isOutside ? "outside" : "not known");
    writeAll(button.children, [clock(time(change.time)), names.get(change.beacon) ?? shortIdentity(change.beacon),
      `${change.former ?? (change.formerIsOutside ? "outside" : "not known")} → ${to}`]);
    button.onclick = () => toggleBeacon(change.beacon);
  });
}

// MARK: A beacon

function showBeacon() {
  const { beacon: key, way } = model;
  const beacon = model.site?.beacons.find((one) => one.beacon === key) ?? (way?.beacon === key ? way.now : null);
  $("feed").hidden = Boolean(key);
  $("details").hidden = $("close-beacon").hidden = !key;
  write($("side-title"), key ? (beacon ? title(beacon) : shortIdentity(key)) : "Latest changes");
  if (!key) return;
  const share = beacon && (beacon.room || beacon.isOutside ? beacon.probability : null);
  write($("beacon-room"), beacon ? (beacon.room ?? (beacon.isOutside ? "Outside" : "Not known")) : "Not received");
  write($("beacon-probability"), share == null ? "" : percent(share));
  write($("beacon-identity"), key);
  const places = beacon ? [[beacon.best, beacon.bestProbability], [beacon.runnerUp, beacon.runnerUpProbability]] : [];
  const rest = 1 - places.reduce((sum, [, value]) => sum + value, 0);
  const candidates = [...places.map(([room, value]) => [room ?? "outside", value]), ...places.length ? [["all others", Math.max(0, rest)]] : []];
  fill($("candidates"), candidates, () => element("li", {}, element("bdi"), element("span", { class: "meter", "aria-hidden": "true" }), element("span")),
    (node, [room, value]) => {
      const [name, meter, words] = node.children;
      write(name, room);
      meter.dataset.level = String(Math.round(value * 10));
      write(words, value > 0 && value < 0.005 ? "< 1 %" : percent(value));
    });
  fillFacts($("beacon-facts"), {
    Since: beacon && `${clock(time(beacon.since))}, ${duration((now() - time(beacon.since)) / 1000)}`,
    Received: beacon && ago(time(beacon.received)), ...beacon?.rooms ? { "May be in": beacon.rooms.join(", ") } : {},
  });
  for (const button of $("spans").children) mark(button, "aria-pressed", Number(button.dataset.hours) === model.hours);
  showWay();
}

/** The way of a beacon: a row for each room, a bar for each stay. */
function showWay() {
  const svg = $("way"), { way } = model;
  const width = svg.clientWidth;
  if (!way || !width) return void svg.replaceChildren();
  const from = time(way.from), to = Math.max(now(), from + 1);
  const stays = way.stays.map((stay) => ({ ...stay, begin: Math.max(from, time(stay.from) ?? from), end: Math.min(to, time(stay.to) ?? to) }))
    .filter((stay) => stay.end > stay.begin);
  const lengths = new Map();
  for (const stay of stays) if (stay.room) lengths.set(stay.room, (lengths.get(stay.room) ?? 0) + stay.end - stay.begin);
  const rooms = [...lengths].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([room]) => room);
  const lanes = [...rooms, ...lengths.size > 8 ? ["other rooms"] : [], ...stays.some((stay) => stay.isOutside) ? ["outside"] : [],
    ...stays.some((stay) => !stay.room && !stay.isOutside) ? ["not known"] : []];
  const lane = 26, foot = 24, left = Math.min(width * 0.34, 8 + Math.max(40, ...lanes.map((name) => textWidth(clip(name, 18), 400, 13))));
  const height = lanes.length * lane + foot;
  mark(svg, "height", height);
  const x = (value) => left + (value - from) / (to - from) * (width - left - 4);
  const parts = [];
  for (const tick of ticks(from, to)) {
    const at = x(tick).toFixed(1);
    parts.push(shape("path", { class: "grid", d: `M${at} 0V${height - foot}` }));
    const words = shape("text", { class: "tick-name", x: at, y: height - 6, "text-anchor": "middle" });
    words.textContent = new Intl.DateTimeFormat(undefined, { timeStyle: "short" }).format(tick);
    if (tick > from + (to - from) * 0.04 && tick < to - (to - from) * 0.06) parts.push(words);
  }
  lanes.forEach((name, at) => {
    const words = shape("text", { class: "lane-name", x: 0, y: at * lane + lane / 2 + 4 });
    words.textContent = clip(name, 18);
    parts.push(words);
  });
  for (const stay of stays) {
    let at = lanes.indexOf(stay.room ?? (stay.isOutside ? "outside" : "not known"));
    if (at < 0) at = lanes.indexOf("other rooms");
    const bar = shape("rect", {
      class: stay.room ? "stay" : "stay away", x: x(stay.begin).toFixed(1), y: at * lane + 5, height: lane - 10,
      width: Math.max(1.5, x(stay.end) - x(stay.begin)).toFixed(1), rx: 2,
    });
    const words = shape("title");
    words.textContent = `${stayPlace(stay)}, ${clockMinute(stay.begin)} – ${stay.to ? clockMinute(stay.end) : "now"}`;
    bar.append(words);
    parts.push(bar);
  }
  svg.replaceChildren(...parts);
  const moves = stays.length - 1;
  write($("way-summary"), `${moves > 0 ? counted(moves, "change") : "No change"} in the last ${model.hours === 1 ? "hour" : `${model.hours} hours`}`
    + `${lengths.size ? `; most of the time in ${rooms[0]}` : ""}.`);
  fill($("stays"), stays.slice(-20).reverse(), () => element("li", {}, element("bdi"), element("span", { class: "quiet" })), (node, stay) =>
    writeAll(node.children, [stayPlace(stay), `${clockMinute(stay.begin)}, ${duration((stay.end - stay.begin) / 1000)}`]));
}

const stayPlace = (stay) => stay.room ?? (stay.isOutside ? "outside" : "not known");

/** The round times between two times, some five. */
function ticks(from, to) {
  const step = [5, 10, 15, 30, 60, 120, 240, 360].map((minutes) => minutes * 60e3).find((step) => (to - from) / step <= 6) ?? 6 * HOUR;
  const zone = new Date(from).getTimezoneOffset() * 60e3;
  const list = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at < to; at += step) list.push(at);
  return list;
}

// MARK: Occupancy

function showOccupancy() {
  const { occupancy, site } = model;
  if (!occupancy) return;
  const rooms = new Map(site.rooms.map((room) => [room.room, { room: room.room, sum: 0, maximum: 0, visits: 0, dwells: [] }]));
  const { hours } = occupancy;
  const bars = hours.map(({ hour, rooms: list }) => {
    const bar = { hour: time(hour), mean: 0, maximum: 0 };
    for (const room of list) {
      let entry = rooms.get(room.room);
      if (!entry) rooms.set(room.room, entry = { room: room.room, sum: 0, maximum: 0, visits: 0, dwells: [] });
      entry.sum += room.mean;
      entry.maximum = Math.max(entry.maximum, room.maximum);
      entry.visits += room.visits;
      if (room.medianDwell != null) entry.dwells.push(room.medianDwell);
      if (model.room && model.room !== room.room) continue;
      bar.mean += room.mean;
      bar.maximum = model.room ? room.maximum : null;
    }
    return bar;
  });
  const middle = (values) => values.length ? values.sort((a, b) => a - b)[values.length >> 1] : -1;
  const list = [...rooms.values()].map((room) => ({ ...room, mean: hours.length ? room.sum / hours.length : 0, dwell: middle(room.dwells) }));
  const order = sorted(sorted(list, ["room", 1], { room: ({ room }) => room }), model.sorts.occupancy, {
    room: ({ room }) => room, mean: ({ mean }) => mean, maximum: ({ maximum }) => maximum, visits: ({ visits }) => visits, dwell: ({ dwell }) => dwell,
  });
  fill($("occupancy-rows"), order, () => {
    const row = element("tr", {}, element("th", { scope: "row" }, element("button", { type: "button" }, element("bdi"))),
      ...Array.from({ length: 4 }, () => element("td")));
    row.onclick = () => chooseRoom(row.room === model.room ? null : row.room);
    return row;
  }, (row, room) => {
    row.room = room.room;
    write(row.firstChild.firstChild.firstChild, room.room);
    mark(row.firstChild.firstChild, "aria-pressed", room.room === model.room);
    writeAll([...row.cells].slice(1), [digits(room.mean), String(room.maximum), String(room.visits), room.dwell < 0 ? "–" : duration(room.dwell)]);
  });
  showSorts("occupancy", document.querySelector(".occupancy table"));
  write($("occupancy-room"), model.room ?? "All rooms");
  $("all-rooms").hidden = !model.room;
  showBars(bars);
}

function chooseRoom(room) {
  model.room = room;
  showOccupancy();
}

function showBars(bars) {
  const svg = $("bars"), width = svg.clientWidth, height = svg.clientHeight;
  if (!width || !bars.length) return void svg.replaceChildren();
  const most = Math.max(1, ...bars.map((bar) => Math.max(bar.mean, bar.maximum ?? 0)));
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((size) => most / size <= 3) ?? 10_000;
  const top = step * Math.ceil(most / step), left = 8 + textWidth(String(top), 400, 13), foot = 22;
  const y = (value) => 6 + (1 - value / top) * (height - foot - 8);
  const wide = (width - left) / bars.length;
  const parts = [];
  for (let value = 0; value <= top; value += step) {
    parts.push(shape("path", { class: "grid", d: `M${left} ${y(value).toFixed(1)}H${width}` }));
    const words = shape("text", { class: "tick-name", x: left - 6, y: (y(value) + 4).toFixed(1), "text-anchor": "end" });
    words.textContent = String(value);
    parts.push(words);
  }
  bars.forEach((bar, at) => {
    const x = left + at * wide;
    const node = shape("rect", { class: "hour", x: (x + wide * 0.14).toFixed(1), y: y(bar.mean).toFixed(1), width: (wide * 0.72).toFixed(1),
      height: Math.max(0, y(0) - y(bar.mean)).toFixed(1) });
    const words = shape("title");
    words.textContent = `${clockMinute(bar.hour)}: ${digits(bar.mean)}${bar.maximum == null ? "" : `, at most ${bar.maximum}`}`;
    node.append(words);
    parts.push(node);
    if (bar.maximum) parts.push(shape("path", { class: "most", d: `M${(x + wide * 0.14).toFixed(1)} ${y(bar.maximum).toFixed(1)}h${(wide * 0.72).toFixed(1)}` }));
    const hour = new Date(bar.hour).getHours();
    if (hour % (width < 420 ? 6 : 3) === 0) {
      const name = shape("text", { class: "tick-name", x: (x + wide / 2).toFixed(1), y: height - 4, "text-anchor": "middle" });
      name.textContent = String(hour).padStart(2, "0");
      parts.push(name);
    }
  });
  svg.replaceChildren(...parts);
  const highest = bars.reduce((best, bar) => bar.mean > best.mean ? bar : best, bars[0]);
  write($("occupancy-summary"), `Bars: mean number of beacons${model.room ? "; lines: the most at a time" : ""}. `
    + `Highest at ${clockMinute(highest.hour)}: ${digits(highest.mean)}.`
    + (model.occupancy.knownTo ? ` There are too many changes to count after ${clockMinute(time(model.occupancy.knownTo))}.` : ""));
}

// MARK: The page

function setTheme(theme) {
  mark(document.documentElement, "data-theme", theme === "system" ? null : theme);
  write($("theme").lastElementChild, `Theme: ${theme}`);
}

$("theme").addEventListener("click", () => {
  const theme = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1 || 1) % 3];
  setTheme(theme);
  memory?.setItem("theme", theme);
});

$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  memory?.setItem("fleet-token", token);
  model.view = null;
  route();
});

/** Sorts by a column; a second time in the other direction. */
function sortable(name, table) {
  for (const header of table.querySelectorAll("[data-sort]")) {
    header.firstElementChild.addEventListener("click", () => {
      const [column, direction] = model.sorts[name];
      const first = { alarms: -1, receivers: -1, beacons: -1, mean: -1, maximum: -1, visits: -1, dwell: -1 }[header.dataset.sort] ?? 1;
      model.sorts[name] = [header.dataset.sort, column === header.dataset.sort ? -direction : first];
      show();
    });
  }
}

sortable("sites", document.querySelector("#overview table"));
sortable("beacons", document.querySelector("#beacons table"));
sortable("occupancy", document.querySelector(".occupancy table"));

for (const [field, name] of [["site-filter", "sites"], ["beacon-filter", "beacons"]]) {
  $(field).addEventListener("input", ({ target }) => {
    model.filters[name] = target.value;
    show();
  });
}

/** Up and down go from row to row. */
for (const body of [$("rows"), $("site-rows"), $("occupancy-rows")]) {
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const next = step && event.target.closest("tr")?.[step]?.querySelector("button, a");
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
}

$("beacons-more").firstElementChild.addEventListener("click", () => {
  model.isWhole = true;
  show();
});
$("close-beacon").addEventListener("click", () => toggleBeacon(null));
$("all-rooms").addEventListener("click", () => chooseRoom(null));
for (const button of $("spans").children) {
  button.addEventListener("click", () => {
    model.hours = Number(button.dataset.hours);
    showBeacon();
    loaders.way?.load();
  });
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && model.beacon) toggleBeacon(null);
});
document.addEventListener("visibilitychange", show);
new ResizeObserver(() => {
  if (model.view === "site" && model.site) {
    showOccupancy();
    if (model.beacon) showWay();
  }
}).observe($("bars"));
window.addEventListener("hashchange", route);

setTheme(memory?.getItem("theme") ?? "system");
setInterval(() => {
  if (model.view === "overview") loaders.sites?.load();
  loaders.occupancy?.load();
  show();
}, 5000);
route();
