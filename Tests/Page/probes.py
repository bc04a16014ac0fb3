"""Expressions of JavaScript that read the page, for its checks and its pictures."""

LIVE = "document.getElementById('connection').dataset.state === 'live'"
LOADED = LIVE + " && document.querySelectorAll('#events li, #no-events:not([hidden])').length > 0"
ROWS = "document.querySelectorAll('#rows tr:not([data-zone=gone])').length"
# Where each beacon is drawn, as a distance read off the axis.
DRAWN = """(() => {
  const svg = document.getElementById("picture").getBoundingClientRect();
  const ticks = [...document.querySelectorAll(".tick-name[data-meters]")]
    .map((node) => [+node.dataset.x, Math.log10(node.dataset.meters)]);
  const [first, last] = [ticks[0], ticks.at(-1)];
  const read = (x) => 10 ** (first[1] + (x - first[0]) / (last[0] - first[0]) * (last[1] - first[1]));
  return Object.fromEntries([...document.querySelectorAll(".beacon:not(.gone)")].map((group) => {
    const dot = group.querySelector(".dot").getBoundingClientRect(), bar = group.querySelector(".bar").getBoundingClientRect();
    const ends = group.classList.contains("row") ? [read(bar.x - svg.x), read(bar.right - svg.x)] : [];
    return [group.dataset.key, [read(dot.x + dot.width / 2 - svg.x), ...ends]];
  }));
})()"""
OVERLAPS = """(() => {
  const boxes = [...document.querySelectorAll(".beacon.row:not(.gone) .label")].map((node) => node.getBoundingClientRect());
  let count = 0;
  boxes.forEach((one, index) => boxes.slice(index + 1).forEach((other) => {
    if (one.left + 2 < other.right && other.left + 2 < one.right && one.top + 4 < other.bottom && other.top + 4 < one.bottom) count += 1;
  }));
  return [boxes.length, count];
})()"""
# The contrast of each text with the ground that it stands on.
CONTRASTS = """(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const [r, g, b] = channels(color).map((value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const color = getComputedStyle(node).backgroundColor;
      if ((channels(color)[3] ?? 1) > 0.99) return color;
    }
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.getClientRects().length || node.closest(".unseen, noscript, script")) continue;
    const style = getComputedStyle(node), isShape = node.namespaceURI.endsWith("svg");
    if (isShape && !["text", "tspan"].includes(node.tagName)) continue;
    // In a drawing a text may stand on any of its grounds: the one that it differs least from counts.
    const rects = isShape ? [...node.closest("svg").querySelectorAll("rect.ground")] : [];
    const grounds = rects.length ? rects.map((rect) => getComputedStyle(rect).fill) : [ground(node)];
    for (const color of grounds) {
      const [one, other] = [light(isShape ? style.fill : style.color), light(color)].sort((a, b) => b - a);
      const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
      found.push([(one + 0.05) / (other + 0.05), isLarge ? 3 : 4.5, walker.currentNode.data.trim().slice(0, 40)]);
    }
  }
  return found;
})()"""
# Where the fix and the circles are drawn, in meters from the fix to the east and to the north, by the bar of the scale.
MAPPED = """(() => {
  const map = document.getElementById("map");
  const [length, unit] = document.getElementById("map-length").textContent.split(/\\s/);
  const meters = length * (unit === "km" ? 1000 : 1);
  const scale = meters / +document.getElementById("map-bar").getAttribute("d").match(/h([\\d.]+)/)[1];
  const [x, y] = document.getElementById("map-fix").getAttribute("transform").match(/-?[\\d.]+/g).map(Number);
  const number = (node, name) => +node.getAttribute(name);
  return { scale, width: map.clientWidth, height: map.clientHeight, fix: [x, y], accuracy: number(document.getElementById("map-accuracy"), "r") * scale,
    way: (document.getElementById("map-way").getAttribute("d") ?? "").split(/[ML]/).length - 1,
    circles: Object.fromEntries([...document.querySelectorAll("#map-circles g")].map((group) => { const disc = group.firstChild;
      return [group.dataset.name, [(number(disc, "cx") - x) * scale, (y - number(disc, "cy")) * scale, number(disc, "r") * scale, group.dataset.state]]; })) };
})()"""
