// The floor plan: rooms with their counts, receivers by health, beacons at their places.
//
// It is drawn in pixels, so that texts and marks have one size at every scale.

import { $, element, isolated, mark, shape, textWidth, write } from "/elements.js";

const MOST_DOTS = 3000;
const MARGIN = 14;
/** Dots move smoothly while there are few. */
const MOST_MOVING = 300;

export const percent = (share) => `${Math.round(share * 100)} %`;

/** The center of an outline, or of its widest row if that is outside of it. */
function center(outline) {
  let [area, x, y] = [0, 0, 0];
  outline.forEach(([x1, y1], at) => {
    const [x2, y2] = outline[(at + 1) % outline.length];
    const cross = x1 * y2 - x2 * y1;
    area += cross;
    x += (x1 + x2) * cross;
    y += (y1 + y2) * cross;
  });
  if (!area) return outline[0];
  const [middle, row] = [x / (3 * area), y / (3 * area)];
  const span = widest(outline, row);
  return span && (middle < span[0] || middle > span[1]) ? [(span[0] + span[1]) / 2, row] : [middle, row];
}

/** The longest part of a row that is inside an outline. */
function widest(outline, row) {
  const edges = outline.map((from, at) => [from, outline[(at + 1) % outline.length]])
    .filter(([[, y1], [, y2]]) => (y1 > row) !== (y2 > row))
    .map(([[x1, y1], [x2, y2]]) => x1 + (row - y1) / (y2 - y1) * (x2 - x1)).sort((a, b) => a - b);
  let best = null;
  for (let at = 0; at + 1 < edges.length; at += 2)
    if (!best || edges[at + 1] - edges[at] > best[1] - best[0]) best = [edges[at], edges[at + 1]];
  return best;
}

export class Plan {
  constructor({ choose, describe, source }) {
    Object.assign(this, { choose, describe, source });
    this.svg = $("plan");
    this.dots = new Map();
    this.layers = Object.fromEntries(["image", "rooms", "receivers", "dots", "labels", "alarms", "mark"].map((name) => [name, $(`plan-${name}`)]));
    this.ring = shape("circle", { class: "ring", r: 11 });
    new ResizeObserver(() => { this.layout = null; this.draw(); }).observe(this.svg);
    this.svg.addEventListener("pointerover", ({ target }) => this.point(target.closest("[data-tip], .dot")));
    this.svg.addEventListener("pointerleave", () => this.point(null));
    for (const layer of [this.layers.dots, this.layers.alarms]) {
      layer.addEventListener("focusin", ({ target }) => this.point(target));
      layer.addEventListener("focusout", () => this.point(null));
      layer.addEventListener("click", ({ target }) => target.dataset.beacon && choose(target.dataset.beacon));
      layer.addEventListener("keydown", (event) => this.press(event));
    }
  }

  /** Shows a site, and the floor if it is given. */
  show(site, floor, chosen) {
    const isOther = this.site?.site !== site.site || this.floor !== floor
      || this.site.rooms.length !== site.rooms.length;
    Object.assign(this, { site, floor, chosen });
    if (isOther) {
      this.layout = null;
      for (const node of this.dots.values()) node.remove();
      this.dots.clear();
    }
    this.draw();
  }

  /** The meters that the plan shows, and the way from meters to pixels. */
  place() {
    const { width, height } = this.svg.getBoundingClientRect();
    const rooms = this.site.rooms.filter((room) => room.floor === this.floor && room.outline.length);
    const receivers = this.site.receivers.filter((one) => one.floor === this.floor && one.at);
    const points = [...rooms.flatMap((room) => room.outline), ...receivers.map((one) => one.at)];
    const picture = this.site.plans.find((plan) => plan.floor === this.floor);
    if (!width || !points.length) return null;
    const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const foot = 22;
    const scale = Math.min((width - 2 * MARGIN) / Math.max(right - left, 1), (height - 2 * MARGIN - foot) / Math.max(high - low, 1));
    const x0 = (width - scale * (right - left)) / 2 - scale * left;
    const y0 = (height - foot - scale * (high - low)) / 2 + scale * high;
    // Marks and names are smaller where there is little place.
    this.svg.classList.toggle("small", scale < 11);
    return { width, height, scale, rooms, receivers, picture, x: (x) => x0 + scale * x, y: (y) => y0 - scale * y };
  }

  draw() {
    if (!this.site || !this.svg.clientWidth) return;
    if (!this.layout) {
      this.layout = this.place();
      if (this.layout) this.drawGround();
    }
    this.svg.toggleAttribute("data-empty", !this.layout);
    if (!this.layout) return;
    this.drawRooms();
    this.drawReceivers();
    this.drawDots();
  }

  /** What changes with the size alone: the image, the outlines, the names and the bar of the scale. */
  drawGround() {
    const { x, y, scale, rooms, picture, height } = this.layout;
    const image = this.layers.image;
    mark(image, "hidden", picture ? null : "");
    if (picture) this.drawImage(image, picture);
    this.rooms = new Map();
    this.layers.rooms.replaceChildren();
    this.layers.labels.replaceChildren();
    for (const room of rooms) {
      const points = room.outline.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
      const area = shape("polygon", { points, class: "room", "data-tip": "" });
      const [cx, cy] = center(room.outline);
      const span = widest(room.outline, cy) ?? [cx, cx];
      const rows = room.outline.map(([, b]) => b);
      const wide = scale * (span[1] - span[0]) - 8, tall = scale * (Math.max(...rows) - Math.min(...rows));
      const name = shape("text", { class: "room-name", x: x(cx).toFixed(1) });
      const count = shape("text", { class: "room-count", x: x(cx).toFixed(1) });
      const hasBoth = tall > 40;
      const text = hasBoth || tall > 16 ? this.fit(room.room, wide) : "";
      name.textContent = text;
      mark(name, "y", (y(cy) + (hasBoth ? -4 : 4)).toFixed(1));
      mark(count, "y", (y(cy) + (hasBoth ? 15 : 5)).toFixed(1));
      const isCounted = hasBoth || !text && tall > 14;
      this.layers.rooms.append(area);
      this.layers.labels.append(name);
      if (isCounted) this.layers.labels.append(count);
      this.rooms.set(room.room, { area, count });
    }
    const length = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].find((meters) => meters * scale > 60) ?? 1000;
    mark($("plan-bar"), "d", `M${MARGIN} ${height - 14}v6h${(length * scale).toFixed(1)}v-6`);
    mark($("plan-length"), "x", MARGIN + length * scale + 8);
    mark($("plan-length"), "y", height - 7);
    write($("plan-length"), `${length} m`);
  }

  /** The image has its size only when it is loaded. */
  drawImage(image, picture) {
    const source = this.source(this.site.site, picture.floor);
    const place = ({ width, height }) => {
      if (!this.layout) return;
      const { x, y, scale } = this.layout, size = picture.metersPerPixel * scale;
      for (const [name, value] of Object.entries({
        x: x(picture.x), y: y(picture.y) - height * size, width: width * size, height: height * size,
      })) mark(image, name, value.toFixed(1));
    };
    if (this.picture?.source === source) return void (this.picture.size && place(this.picture.size));
    const loaded = new Image();
    const record = (this.picture = { source });
    loaded.onload = () => {
      record.size = { width: loaded.naturalWidth, height: loaded.naturalHeight };
      mark(image, "href", source);
      if (this.picture === record) place(record.size);
    };
    loaded.src = source;
  }

  /** A name, or as much of it as there is place for. */
  fit(name, width) {
    const size = parseFloat(getComputedStyle(this.svg).fontSize);
    if (textWidth(name, 600, size) <= width) return name;
    let length = Math.floor(name.length * width / textWidth(name, 600, size));
    while (length > 2 && textWidth(`${name.slice(0, length)}…`, 600, size) > width) length -= 1;
    return length > 2 ? `${name.slice(0, length)}…` : "";
  }

  drawRooms() {
    const rooms = this.site.rooms.filter((room) => room.floor === this.floor);
    const most = Math.max(4, ...rooms.map((room) => room.beacons));
    for (const room of rooms) {
      const drawn = this.rooms.get(room.room);
      if (!drawn) continue;
      mark(drawn.area, "data-level", room.beacons ? Math.ceil(4 * room.beacons / most) : 0);
      mark(drawn.area, "data-tip", `${isolated(room.room)}: ${room.beacons} ${room.beacons === 1 ? "beacon" : "beacons"}`);
      write(drawn.count, String(room.beacons));
    }
  }

  drawReceivers() {
    const { x, y, receivers } = this.layout;
    const { children } = this.layers.receivers;
    const current = this.site.receivers.filter((one) => one.floor === this.floor && one.at);
    if (children.length !== current.length) {
      this.layers.receivers.replaceChildren(...current.map(() =>
        shape("g", { class: "receiver-mark" }, shape("path", { class: "receiver" }), shape("path", { class: "cross" }))));
    }
    current.forEach((receiver, at) => {
      const node = children[at], { state, words } = this.describe.receiver(receiver);
      mark(node, "transform", `translate(${x(receiver.at[0]).toFixed(1)} ${y(receiver.at[1]).toFixed(1)})`);
      mark(node, "data-tip", `${isolated(receiver.receiver)}: ${words}`);
      const size = (state === "fault" ? 9 : 6) * (this.svg.classList.contains("small") ? 0.8 : 1);
      mark(node.firstChild, "data-state", state);
      mark(node.firstChild, "d", `M0 ${-size}L${size} 0L0 ${size}L${-size} 0Z`);
      mark(node.lastChild, "d", state === "fault" ? "M-3 -3L3 3M-3 3L3 -3" : "");
    });
    return receivers;
  }

  drawDots() {
    const { x, y } = this.layout;
    const floors = new Map(this.site.rooms.map((room) => [room.room, room.floor]));
    const shown = this.site.beacons.filter((beacon) => beacon.x != null && !beacon.isOutside
      && (floors.get(beacon.best) ?? this.floor) === this.floor).slice(0, MOST_DOTS);
    this.svg.classList.toggle("moving", shown.length <= MOST_MOVING);
    const r = Math.max(2.5, Math.min(4, this.layout.scale * 0.3)).toFixed(1);
    const seen = new Set();
    let ring = null;
    for (const beacon of shown) {
      seen.add(beacon.beacon);
      let node = this.dots.get(beacon.beacon);
      if (!node) {
        node = shape("path", { class: "dot", "data-beacon": beacon.beacon, role: "button", tabindex: -1 });
        this.dots.set(beacon.beacon, node);
      }
      node.beacon = beacon;
      const state = this.describe.state(beacon);
      // Those with an alarm are above the names.
      const layer = this.layers[state === "alarm" ? "alarms" : "dots"];
      if (node.parentNode !== layer) layer.append(node);
      mark(node, "data-state", state);
      mark(node, "d", state === "alarm" ? `M-${r} -${r}h${2 * r}v${2 * r}h${-2 * r}z` : `M-${r} 0a${r} ${r} 0 0 1 ${2 * r} 0a${r} ${r} 0 0 1 ${-2 * r} 0`);
      const place = `translate(${x(beacon.x).toFixed(1)}px,${y(beacon.y).toFixed(1)}px)`;
      if (node.place !== place) node.style.transform = node.place = place;
      mark(node, "aria-pressed", beacon.beacon === this.chosen ? "true" : null);
      if (beacon.beacon === this.chosen) ring = place;
    }
    for (const [name, node] of this.dots) {
      if (seen.has(name)) continue;
      node.remove();
      this.dots.delete(name);
    }
    if (ring) {
      this.ring.style.transform = ring;
      if (!this.ring.isConnected) this.layers.mark.append(this.ring);
    } else this.ring.remove();
    // One stop of the tabulator leads to the dots, the arrow keys go on from there.
    if (!this.stop?.isConnected) this.reach(this.dots.get(this.chosen) ?? this.layers.dots.firstChild);
    if (this.pointed) this.point(this.pointed);
  }

  reach(node) {
    if (this.stop) mark(this.stop, "tabindex", -1);
    this.stop = node;
    if (!node) return;
    mark(node, "tabindex", 0);
    mark(node, "aria-label", this.words(node));
  }

  words(node) {
    const { beacon } = node;
    return `${this.describe.name(beacon)}, ${beacon.room ?? "room not known"}, ${percent(beacon.room ? beacon.probability : beacon.bestProbability)}`;
  }

  /** Goes to the nearest dot in the direction of an arrow key. */
  press(event) {
    const { target, key } = event;
    if (key === "Enter" || key === " ") {
      event.preventDefault();
      return void this.choose(target.dataset.beacon);
    }
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key];
    if (!direction || !target.beacon) return;
    event.preventDefault();
    let [best, least] = [null, Infinity];
    for (const node of this.dots.values()) {
      const [dx, dy] = [node.beacon.x - target.beacon.x, node.beacon.y - target.beacon.y];
      const along = dx * direction[0] + dy * direction[1], across = Math.abs(dx * direction[1] + dy * direction[0]);
      if (along <= 0 || across > 2 * along) continue;
      const length = along + 2 * across;
      if (length < least) [best, least] = [node, length];
    }
    if (!best) return;
    this.reach(best);
    best.focus();
  }

  /** Shows the words of a mark beside it. */
  point(node) {
    const tip = $("tip");
    this.pointed = node?.isConnected ? node : null;
    tip.hidden = !this.pointed;
    if (!this.pointed) return;
    if (node.beacon) {
      const { beacon } = node;
      tip.replaceChildren(element("strong", {}, this.describe.name(beacon)),
        element("span", {}, beacon.room
          ? `${isolated(beacon.room)}, ${percent(beacon.probability)}`
          : `Room not known; ${isolated(beacon.best ?? "outside")} ${percent(beacon.bestProbability)}`));
      mark(node, "aria-label", this.words(node));
    } else {
      const [name, ...words] = node.dataset.tip.split(": ");
      tip.replaceChildren(element("strong", {}, name), element("span", {}, words.join(": ")));
    }
    const ground = this.svg.getBoundingClientRect(), at = node.getBoundingClientRect();
    const wide = tip.offsetWidth, high = tip.offsetHeight;
    const isLarge = at.width > 60;
    const middle = at.left + at.width / 2 - ground.left;
    const top = isLarge ? at.top + 6 - ground.top : at.top - ground.top - high - 6;
    tip.style.left = `${Math.max(0, Math.min(ground.width - wide, middle - wide / 2))}px`;
    tip.style.top = `${top < 0 ? at.bottom - ground.top + 6 : top}px`;
  }
}
