// The location of the machine: a drawing to scale with north at the top, without a map, and the same in words.

import { $, ago, clip, clock, clockMinute, counted, digits, duration, fillFacts, isolated, mark, meters, shape,
  textWidth, write } from "/elements.js";

const WAY = 600; // fixes that are kept of the way
const PAUSE = 60000; // ms without a fix after which the way begins anew
const FAR = 20000; // meters to a boundary from which on a circle is left out of the drawing
const LEAST = 60; // meters that the drawing is wide at least
const NORTHEAST = ["north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"];

// MARK: The model

export const place = {
  isServed: false, // whether the service has locations
  fix: null, heading: null, visit: null,
  sources: [], // the states of the source of fixes and of the compass
  way: [], // the latest fixes, oldest first: { latitude, longitude, time }
  isChanged: true, // since it was drawn
};

export function takeLocation(location) {
  place.isServed = location != null;
  takeHeading(location?.heading ?? null);
  takeVisit(location?.visit ?? null);
  if (location?.fix) takeFix(location.fix);
  else Object.assign(place, { fix: null, isChanged: true });
}

export function takeFix(fix) {
  const { way } = place;
  const time = Date.parse(fix.time);
  const last = way.at(-1)?.time ?? -Infinity;
  if (time < last) way.length = 0; // The service's clock was set back, or a recording began again.
  if (time !== last) way.push({ latitude: fix.latitude, longitude: fix.longitude, time });
  if (way.length > WAY) way.shift();
  Object.assign(place, { fix, isChanged: true });
}

export const takeHeading = (heading) => Object.assign(place, { heading, isChanged: true });
export const takeVisit = (visit) => Object.assign(place, { visit });
export const takeSources = (sources) => Object.assign(place, { sources, isChanged: true });

export const isFault = ({ state }) => state !== "receiving" && state !== "searching";

// MARK: Distances

/** The meters of a degree of latitude and of one of longitude at a latitude, on the ellipsoid of WGS 84. */
function metersOfDegree(latitude) {
  const angle = latitude * Math.PI / 180;
  return [111132.954 - 559.822 * Math.cos(2 * angle) + 1.175 * Math.cos(4 * angle),
    111412.84 * Math.cos(angle) - 93.5 * Math.cos(3 * angle) + 0.118 * Math.cos(5 * angle)];
}

/** The distances east and north of one place to another, in meters on a plane that touches the earth between them. */
function offset(from, to) {
  const [north, east] = metersOfDegree((from.latitude + to.latitude) / 2);
  const degrees = (to.longitude - from.longitude + 540) % 360 - 180; // The shorter way around the earth.
  return [degrees * east, (to.latitude - from.latitude) * north];
}

/** The circles with the meters to their centers and to their boundaries (negative inside), the nearest boundary first. */
function measured(circles, fix) {
  const found = circles.map((circle) => {
    const center = fix ? Math.hypot(...offset(fix, circle)) : 0;
    return { circle, center, boundary: center - circle.radius };
  });
  return fix ? found.sort((one, other) => Math.abs(one.boundary) - Math.abs(other.boundary)) : found;
}

// MARK: Words

const direction = (degrees) => `${Math.round(degrees) % 360}° ${NORTHEAST[Math.round(degrees / 45) % 8]}`;
const plusMinus = (value) => (value == null ? "" : ` ± ${meters(value)}`);
const boundaryWords = ({ circle, boundary }) =>
  `${meters(Math.abs(boundary))} ${boundary < 0 ? "inside" : "outside"} ${isolated(circle.name)}`;

export function positionWords({ latitude, longitude, accuracy }) {
  const decimals = accuracy != null && accuracy < 1 ? 6 : 5;
  return `${Math.abs(latitude).toFixed(decimals)}°\u00a0${latitude < 0 ? "S" : "N"}, `
    + `${Math.abs(longitude).toFixed(decimals)}°\u00a0${longitude < 0 ? "W" : "E"}`;
}

/** The distance of the latest fix from the boundary of a circle; empty without a fix. */
export function boundaryOf(circle) {
  return place.fix ? `${meters(Math.abs(measured([circle], place.fix)[0].boundary))} from the boundary` : "";
}

export function visitWords({ arrival, departure }) {
  if (!departure) return arrival ? `here since ${clockMinute(Date.parse(arrival))}` : "here";
  const left = `left at ${clockMinute(Date.parse(departure))}`;
  return arrival ? `${left}, after ${duration((Date.parse(departure) - Date.parse(arrival)) / 1000)}` : left;
}

/** The state of a location source in a few words; its message has the reason. */
export function sourceWords({ service, state }) {
  const name = service === "heading" ? "Compass" : "Location";
  return [name, { receiving: "Receiving", searching: "Searching" }[state] ?? "Not available"];
}

/** The reason of a circle's enter, exit or state as a sentence. */
export function circleSentence({ state, distance, reason }) {
  if (distance == null) return "This is the initial state; nothing has happened since.";
  const side = distance < 0 ? "inside" : "outside";
  const fix = `The last fix was ${meters(Math.abs(distance))} ${side} the boundary${plusMinus(reason.accuracy)}`;
  const fixes = counted(reason.fixes ?? 0, "fix", "fixes");
  const there = state === "inside" ? "inside" : "outside";
  switch (reason.rule) {
    case "clear": return `${fix}; ${fixes} are clearly ${there}.`;
    case "travel": return `${fix}; ${fixes} form a path that leads ${there}.`;
    case "stay": return `${fix}; the mean of ${fixes} is clearly ${there}.`;
    case "silence": return `${fix}; no fix came after it.`;
    case "request": return `${fix}; the state was requested.`;
    default: return `${fix}; the deciding rule is “${reason.rule}”.`;
  }
}

// MARK: The drawing

const map = {
  svg: $("map"), width: 0, height: 0, size: 15, frame: null,

  resize() {
    const { width, height } = this.svg.getBoundingClientRect();
    if (width === this.width && height === this.height) return;
    Object.assign(this, { width, height, frame: null, size: parseFloat(getComputedStyle(this.svg).fontSize) });
    place.isChanged = true;
  },

  /** The contents of the drawing, in meters from an origin: the fix, its path, and the circles that are near enough. */
  bounds(origin, circles) {
    const bounds = [Infinity, Infinity, -Infinity, -Infinity];
    const include = (at, radius = 0) => {
      const [x, y] = offset(origin, at);
      [x - radius, y - radius].forEach((value, index) => { bounds[index] = Math.min(bounds[index], value); });
      [x + radius, y + radius].forEach((value, index) => { bounds[index + 2] = Math.max(bounds[index + 2], value); });
    };
    if (place.fix) include(place.fix, Math.max(place.fix.accuracy ?? 0, LEAST / 2));
    place.way.forEach((at) => include(at));
    for (const { circle } of circles) include(circle, circle.radius);
    return bounds;
  },

  /** The circles that are drawn: all without a fix, else the nearest, and those that are not much farther than it. */
  drawn(circles) {
    if (!place.fix) return circles;
    const near = circles.filter(({ boundary }) => Math.abs(boundary) < FAR);
    const reach = Math.max(4 * LEAST, near.length ? near[0].center + near[0].circle.radius : 0);
    return near.filter(({ center, circle }) => center + circle.radius <= 3 * reach);
  },

  /** Keeps the frame while everything is in it and large enough: the ground is fixed, and the dot moves. */
  aim(circles) {
    const old = this.frame;
    if (old) {
      const bounds = this.bounds(old.origin, circles);
      const isInside = bounds[0] >= old.bounds[0] && bounds[1] >= old.bounds[1]
        && bounds[2] <= old.bounds[2] && bounds[3] <= old.bounds[3];
      const span = Math.max((bounds[2] - bounds[0]) / (old.bounds[2] - old.bounds[0]),
        (bounds[3] - bounds[1]) / (old.bounds[3] - old.bounds[1]));
      if (isInside && span > 0.4) return;
    }
    const origin = place.fix ?? circles[0].circle;
    const [left, bottom, right, top] = this.bounds(origin, circles);
    // A little more than is needed now, so that the frame can stay for some time.
    const scale = Math.min((this.width - 24) / ((right - left) * 1.15), (this.height - 62) / ((top - bottom) * 1.15));
    const [x, y] = [(left + right) / 2, (bottom + top) / 2];
    const [halfWidth, halfHeight] = [(this.width - 24) / 2 / scale, (this.height - 62) / 2 / scale];
    this.frame = { origin, x, y, scale, bounds: [x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight] };
    this.drawScale();
  },

  /** The position of a place in the drawing. */
  at(point) {
    const { origin, x, y, scale } = this.frame;
    const [east, north] = offset(origin, point);
    return [this.width / 2 + (east - x) * scale, (this.height - 12) / 2 - (north - y) * scale];
  },

  /** Draws the bar of a round length, and a grid with cells of that length. */
  drawScale() {
    const { scale } = this.frame;
    const most = Math.min(150, this.width / 3) / scale;
    const unit = 10 ** Math.floor(Math.log10(most));
    const length = [5, 2, 1].find((factor) => factor * unit <= most) * unit;
    const cell = length * scale;
    const y = this.height - 16;
    mark($("map-bar"), "d", `M14 ${y - 6}v6h${cell.toFixed(1)}v-6`);
    mark($("map-length"), "x", (22 + cell).toFixed(1));
    mark($("map-length"), "y", y);
    write($("map-length"), length < 1000 ? `${length} m` : `${length / 1000} km`);
    const [x0, y0] = this.at(this.frame.origin);
    for (const [name, value] of Object.entries({ x: x0 % cell, y: y0 % cell, width: cell, height: cell })) {
      mark($("map-cell"), name, value.toFixed(2));
    }
    mark($("map-cell").firstElementChild, "d", `M0 0V${cell.toFixed(2)}M0 0H${cell.toFixed(2)}`);
    mark($("map-north"), "transform", `translate(${this.width - 24} 16)`);
  },

  drawCircles(circles) {
    const groups = $("map-circles").children;
    while (groups.length > circles.length) groups[0].parentNode.lastChild.remove();
    while (groups.length < circles.length) {
      $("map-circles").append(shape("g", { class: "circle" }, shape("circle"), shape("text", { "text-anchor": "middle" })));
    }
    const taken = [];
    if (place.fix) {
      const [x, y] = this.at(place.fix);
      taken.push([x - 18, y - 18, x + 18, y + 18]);
    }
    for (const { circle } of circles) { // No name covers a small circle.
      const [x, y] = this.at(circle);
      const radius = circle.radius * this.frame.scale;
      if (radius < 40) taken.push([x - radius, y - radius, x + radius, y + radius]);
    }
    circles.forEach(({ circle }, index) => {
      const [x, y] = this.at(circle);
      const radius = Math.max(4, circle.radius * this.frame.scale);
      const [disc, name] = groups[index].children;
      mark(groups[index], "data-state", circle.state);
      mark(groups[index], "data-name", circle.name);
      for (const [key, value] of Object.entries({ cx: x, cy: y, r: radius })) mark(disc, key, value.toFixed(1));
      write(name, isolated(clip(circle.name, this.width < 500 ? 16 : 28)));
      const half = textWidth(name.textContent, 600, this.size) / 2;
      const middle = Math.min(this.width - half - 6, Math.max(half + 6, x));
      const box = (baseline) => [middle - half, baseline - this.size, middle + half, baseline + 4];
      const isFree = (one) => one[1] >= 4 && one[3] <= this.height - 30 && (one[2] < this.width - 44 || one[1] > 52)
        && !taken.some((other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]);
      const { size } = this;
      const baseline = [y - radius - 8, y + radius + size + 4, y - radius + size + 10, y + radius - 12, y + size / 3]
        .find((value) => isFree(box(value)));
      mark(name, "visibility", baseline === undefined ? "hidden" : null); // The regions have its name.
      if (baseline === undefined) return;
      taken.push(box(baseline));
      mark(name, "x", middle.toFixed(1));
      mark(name, "y", baseline.toFixed(1));
    });
  },

  drawWay() {
    let [path, previous] = ["", -Infinity];
    for (const fix of place.way) {
      const [x, y] = this.at(fix);
      path += `${fix.time - previous > PAUSE ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
      previous = fix.time;
    }
    mark($("map-way"), "d", path);
  },

  drawFix() {
    const { fix, heading } = place;
    mark($("map-fix"), "visibility", fix ? null : "hidden");
    if (!fix) return;
    const [x, y] = this.at(fix);
    mark($("map-fix"), "transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    mark($("map-accuracy"), "r", ((fix.accuracy ?? 0) * this.frame.scale).toFixed(1));
    const angle = heading && (heading.trueHeading ?? heading.magneticHeading);
    mark($("map-heading"), "visibility", angle == null ? "hidden" : null);
    if (angle != null) {
      const half = Math.min(60, Math.max(12, heading.headingAccuracy ?? 45)) * Math.PI / 180;
      const [east, north] = [Math.sin(half) * 56, Math.cos(half) * 56].map((value) => value.toFixed(1));
      mark($("map-heading"), "d", `M0 0L${-east} ${-north}A56 56 0 0 1 ${east} ${-north}Z`);
      mark($("map-heading"), "transform", `rotate(${angle.toFixed(1)})`);
    }
    mark($("map-course"), "visibility", fix.course == null ? "hidden" : null);
    if (fix.course != null) mark($("map-course"), "transform", `rotate(${fix.course.toFixed(1)})`);
  },

  /** Draws the fix and the circles, if there are any. */
  draw(circles) {
    const drawn = this.drawn(circles);
    const isEmpty = this.height < 100 || !place.fix && !drawn.length;
    mark(this.svg, "data-empty", isEmpty ? "" : null);
    if (isEmpty) return;
    this.aim(drawn);
    this.drawCircles(drawn);
    this.drawWay();
    this.drawFix();
    const left = circles.length - drawn.length;
    write($("map-legend"), "Disc: the 68 % radius of the fix. Line: the path since the page was opened."
      + (left ? ` ${counted(left, "circle is", "circles are")} outside this drawing.` : ""));
  },
};

let drawnRegions = null;

/** Shows the location of the machine, if the service has locations; draws only changes. */
export function showLocation(regions, connection) {
  const section = $("location");
  if (section.hidden === place.isServed) {
    section.hidden = !place.isServed;
    document.body.classList.toggle("with-location", place.isServed);
  }
  if (!place.isServed) return;
  map.resize();
  const { fix, heading, visit, sources } = place;
  const circles = measured(regions.filter(({ radius }) => radius != null), fix);
  const states = circles.map(({ circle }) => `${circle.name}\n${circle.state}`).join("\n");
  if (place.isChanged || states !== drawnRegions) {
    map.draw(circles);
    drawnRegions = states;
    place.isChanged = false;
  }
  const nearest = fix && circles[0];
  write($("boundary").children[0], nearest ? meters(Math.abs(nearest.boundary))
    : fix?.accuracy != null ? `±\u00a0${meters(fix.accuracy)}` : "");
  write($("boundary").children[1], nearest ? `${nearest.boundary < 0 ? "inside" : "outside"} ${nearest.circle.name}`
    : fix?.accuracy != null ? "accuracy" : "");
  write($("visit"), visit ? visitWords(visit) : "\u00a0");

  const angle = heading && (heading.trueHeading ?? heading.magneticHeading);
  fillFacts($("place-facts"), {
    Position: fix && positionWords(fix),
    Accuracy: fix?.accuracy != null && `± ${meters(fix.accuracy)}`,
    Speed: fix?.speed != null && `${digits(fix.speed)} m/s · ${digits(fix.speed * 3.6)} km/h`,
    Course: fix?.course != null && direction(fix.course),
    Heading: angle != null && direction(angle) + (heading.trueHeading == null ? ", magnetic" : ""),
    Altitude: fix?.altitude != null && `${String(Math.round(fix.altitude)).replace("-", "−")}\u00a0m${plusMinus(fix.verticalAccuracy)}`,
    Received: fix && ago(Date.parse(fix.time)),
  });
  const among = circles.slice(0, 10).map((one) =>
    `${isolated(one.circle.name)} (${one.circle.state})${fix ? `, the fix is ${boundaryWords(one)}` : ""}`);
  write($("map-summary"), [
    fix ? `The latest fix is at ${positionWords(fix)}${plusMinus(fix.accuracy)}.` : "No fix yet.",
    angle == null ? "" : `The device points to ${direction(angle)}.`,
    among.length ? `${counted(circles.length, "circle")}: ${among.join("; ")}.` : "No circle is registered.",
  ].join(" "));

  const faults = sources.filter(isFault);
  const words = connection === "connecting" ? ["", ""]
    : faults.length ? [faults.map((source) => sourceWords(source)[0]).join(", ") + " not available",
      faults.map(({ message, time }) => `${message} (since ${clock(Date.parse(time))})`).join(" · ")]
    : fix ? ["", ""]
    : ["No fix yet", sources.map(({ message }) => message).join(" · ") || "The location appears here with the first fix."];
  const strip = $("place-message");
  strip.hidden = !words[0];
  mark(strip, "data-kind", faults.length ? "strip" : "middle");
  write(strip.querySelector("h3"), words[0]);
  write(strip.querySelector("p"), words[1]);
  section.classList.toggle("faulty", sources.some((source) => isFault(source) && source.service !== "heading"));
}
