// What each part of the page uses: elements, words and the service's clock.
//
// Every text from outside is written as text, never as markup.

export const $ = (id) => document.getElementById(id);

// MARK: Elements

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

export const element = (name, attributes = {}, ...children) =>
  filled(document.createElement(name), attributes, children);
export const shape = (name, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

/** A line of a drawing. */
export const line = (kind, x1, y1, x2, y2) => shape("line", { class: kind, x1, y1, x2, y2 });

/** Sets a text if it differs from the one that is there. */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets the texts of several elements. */
export const writeAll = (nodes, texts) => texts.forEach((text, at) => write(nodes[at], text));

/** Sets an attribute if it differs from the one that is there; null removes it. */
export function mark(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Makes a list have an item for each value, and shows the value in it. */
export function fill(list, values, make, show) {
  const { children } = list;
  while (children.length > values.length) list.lastChild.remove();
  while (children.length < values.length) list.append(make());
  values.forEach((value, at) => show(children[at], value));
}

/** Shows facts with their names in a definition list; a fact that is not known is a dash. */
export function fillFacts(list, facts) {
  fill(list, Object.entries(facts), () => element("div", {}, element("dt"), element("dd")),
    (node, [name, value]) => writeAll(node.children, [name, value || "–"]));
}

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();
const family = getComputedStyle(document.body).fontFamily;

/** The width of a text in a drawing, in pixels. */
export function textWidth(text, weight, size) {
  const key = `${weight} ${size} ${text}`;
  if (!widths.has(key)) {
    if (widths.size > 5000) widths.clear();
    ruler.font = `${weight} ${size}px ${family}`;
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

// MARK: Time

// The service's clock: another machine's clock may differ from this one's.
const serviceClock = { time: Date.now(), at: performance.now() };
export const now = () => serviceClock.time + performance.now() - serviceClock.at;
export function setClock(time) {
  Object.assign(serviceClock, { time: Date.parse(time), at: performance.now() });
  return serviceClock.time;
}

const minute = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const short = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const long = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" });

/** A time of day, with its date where it is not of today. */
export function clock(time, ofToday = short) {
  if (time == null) return "–";
  const isToday = new Date(time).toDateString() === new Date(now()).toDateString();
  return (isToday ? ofToday : long).format(time);
}

/** A time of day without its seconds, with its date where it is not of today. */
export const clockMinute = (time) => clock(time, minute);

/** A duration in its largest unit. */
export function duration(length) {
  if (length < 60) return `${Math.max(0, Math.floor(length))} s`;
  if (length < 3600) return `${Math.floor(length / 60)} min`;
  if (length < 86400) return `${Math.floor(length / 3600)} h`;
  return counted(Math.floor(length / 86400), "day");
}

export function ago(time) {
  if (time == null) return "–";
  const age = (now() - time) / 1000;
  return age < 2.5 ? "now" : `${duration(age)} ago`;
}

// MARK: Words

export const counted = (number, noun, nouns = `${noun}s`) => `${number.toLocaleString()} ${number === 1 ? noun : nouns}`;

/** A number with so many digits as say something, by the size of a reference. */
export const digits = (value, reference = value) => value.toFixed(reference < 1 ? 2 : reference < 10 ? 1 : 0);

/** A length, in kilometers where it is long. */
export function meters(value) {
  if (value == null) return "–";
  return value < 10000 ? `${digits(value)}\u00a0m` : `${digits(value / 1000)}\u00a0km`;
}

/** A name whose direction of writing has no effect on the text around it. */
export const isolated = (text) => `\u2068${text}\u2069`;

const segmenter = new Intl.Segmenter();

/** The start of a text, with a mark where it was cut. */
export function clip(text, length) {
  if (text.length <= length) return text;
  const parts = Array.from(segmenter.segment(text.slice(0, 400)), ({ segment }) => segment);
  return parts.length <= length ? parts.join("") : `${parts.slice(0, length - 1).join("")}…`;
}
